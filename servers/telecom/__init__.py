"""tau2-bench's phone company: accounts, lines, bills, and the phone of a customer.

Both sides have tools: the company's agent those of its systems, the customer those of the phone in
their hand, and what one does shows on the other. The data are fetched (``harness fetch tau2``);
without them the server says so and ends. Changes last as long as the process, or until its state
is reset.
"""
