// The desk of docs/policies.md, with the TypeScript SDK. Identities travel in `_meta`.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const customers = JSON.parse(process.env.DESK_CUSTOMERS);
if (process.env.DESK_EMAIL) customers[0].email = process.env.DESK_EMAIL;

const role = (extra) => (extra._meta?.["harness/user_context"] ?? {}).role;

function shown({ email, ...rest }, extra) {
  if (role(extra) === "admin") return { ...rest, email };
  if (role(extra) === "agent") return rest;
  throw new Error("Access denied: customers are shown to agents and administrators only");
}

const answer = (value) => ({
  content: [{ type: "text", text: JSON.stringify(value) }],
  structuredContent: value,
});

const server = new McpServer({ name: "desk", version: "1.0.0" });
const reads = { readOnlyHint: true };

server.registerTool(
  "get_customer",
  {
    description: "Look up a customer by id, such as C-17.",
    inputSchema: { customer_id: z.string() },
    annotations: reads,
  },
  ({ customer_id }, extra) => {
    const found = customers.find((one) => one.id === customer_id);
    if (!found) throw new Error("There is no such customer");
    return answer(shown(found, extra));
  },
);

server.registerTool(
  "list_customers",
  {
    description: "List all customers in a city, such as Oslo.",
    inputSchema: { city: z.string() },
    annotations: reads,
  },
  ({ city }, extra) => {
    const found = customers.filter((one) => one.city === city);
    return answer({ customers: found.map((one) => shown(one, extra)) });
  },
);

await server.connect(new StdioServerTransport());
