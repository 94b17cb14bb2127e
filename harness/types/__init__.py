"""The nouns: every value that travels between the parts of harness.

Data goes one way::

    Suite → Trial → (Session × Model) → Transcript → CheckResult → TrialResult → Report

This package is the ground floor: it imports nothing else of harness, and everything in it is an
immutable value: a frozen dataclass, a ``Literal`` or an alias. Times named ``*_s`` are seconds,
times named ``*_at`` are UTC in ISO 8601, money is US dollars, and ``None`` always means *unknown*
or *absent*, never zero.
"""

from harness.types.access import NOT_SEARCHED as NOT_SEARCHED
from harness.types.access import Access as Access
from harness.types.access import AccessCell as AccessCell
from harness.types.access import AccessReport as AccessReport
from harness.types.access import AccessRow as AccessRow
from harness.types.access import Decision as Decision
from harness.types.access import Leak as Leak
from harness.types.access import RefusalShape as RefusalShape
from harness.types.basics import HasEntrant as HasEntrant
from harness.types.basics import JsonObject as JsonObject
from harness.types.basics import JsonPath as JsonPath
from harness.types.basics import Location as Location
from harness.types.basics import NamedTool as NamedTool
from harness.types.basics import ScriptedCall as ScriptedCall
from harness.types.basics import Status as Status
from harness.types.basics import name_entrant as name_entrant
from harness.types.basics import written_fields as written_fields
from harness.types.case_parts import DEFAULT_TIMEOUT_S as DEFAULT_TIMEOUT_S
from harness.types.case_parts import FLAWS as FLAWS
from harness.types.case_parts import RECALLED as RECALLED
from harness.types.case_parts import Alteration as Alteration
from harness.types.case_parts import Caller as Caller
from harness.types.case_parts import Credential as Credential
from harness.types.case_parts import DataSet as DataSet
from harness.types.case_parts import DependentTool as DependentTool
from harness.types.case_parts import Interruption as Interruption
from harness.types.case_parts import LeaderboardRules as LeaderboardRules
from harness.types.case_parts import LeakRule as LeakRule
from harness.types.case_parts import Limits as Limits
from harness.types.case_parts import Repeats as Repeats
from harness.types.case_parts import TokenFlaw as TokenFlaw
from harness.types.cases import GREETING as GREETING
from harness.types.cases import Case as Case
from harness.types.cases import CaseFacts as CaseFacts
from harness.types.cases import Check as Check
from harness.types.cases import CheckTrait as CheckTrait
from harness.types.cases import Severity as Severity
from harness.types.cases import SimulatedUser as SimulatedUser
from harness.types.cases import Suite as Suite
from harness.types.cases import Turn as Turn
from harness.types.outcomes import NOT_LOADED as NOT_LOADED
from harness.types.outcomes import NOT_SENT as NOT_SENT
from harness.types.outcomes import NOT_SHOWN as NOT_SHOWN
from harness.types.outcomes import SEARCH as SEARCH
from harness.types.outcomes import UNANSWERED as UNANSWERED
from harness.types.outcomes import CallCounts as CallCounts
from harness.types.outcomes import Counts as Counts
from harness.types.outcomes import Outcome as Outcome
from harness.types.outcomes import Review as Review
from harness.types.outcomes import count_needed_passes as count_needed_passes
from harness.types.replies import UNKNOWN_USAGE as UNKNOWN_USAGE
from harness.types.replies import Reply as Reply
from harness.types.replies import ReplyStop as ReplyStop
from harness.types.replies import ToolRequest as ToolRequest
from harness.types.replies import Usage as Usage
from harness.types.replies import known_sum as known_sum
from harness.types.results import DECIDED as DECIDED
from harness.types.results import HELD_BACK as HELD_BACK
from harness.types.results import UNMARKED_FAILURE as UNMARKED_FAILURE
from harness.types.results import WRITTEN_CALL as WRITTEN_CALL
from harness.types.results import CaseResult as CaseResult
from harness.types.results import CheckResult as CheckResult
from harness.types.results import Conversations as Conversations
from harness.types.results import Judgement as Judgement
from harness.types.results import Report as Report
from harness.types.results import Trial as Trial
from harness.types.results import TrialResult as TrialResult
from harness.types.results import Verdict as Verdict
from harness.types.specs import CLIENT_CAN as CLIENT_CAN
from harness.types.specs import RESERVED_CLAIMS as RESERVED_CLAIMS
from harness.types.specs import THE_LIST as THE_LIST
from harness.types.specs import USER_CONTEXT_META_KEY as USER_CONTEXT_META_KEY
from harness.types.specs import AgentFacts as AgentFacts
from harness.types.specs import AgentSpec as AgentSpec
from harness.types.specs import GuardRails as GuardRails
from harness.types.specs import IdentitySpec as IdentitySpec
from harness.types.specs import Isolation as Isolation
from harness.types.specs import ModelSpec as ModelSpec
from harness.types.specs import Protocol as Protocol
from harness.types.specs import Secret as Secret
from harness.types.specs import ServerSpec as ServerSpec
from harness.types.specs import StateQuery as StateQuery
from harness.types.specs import TokenAlgorithm as TokenAlgorithm
from harness.types.specs import Tool as Tool
from harness.types.specs import ToolList as ToolList
from harness.types.specs import ToolProblem as ToolProblem
from harness.types.specs import Transport as Transport
from harness.types.specs import TransportSpec as TransportSpec
from harness.types.thinking import extract_thinking as extract_thinking
from harness.types.thinking import is_visible as is_visible
from harness.types.transcripts import STDERR as STDERR
from harness.types.transcripts import AssistantMessage as AssistantMessage
from harness.types.transcripts import ErrorKind as ErrorKind
from harness.types.transcripts import Message as Message
from harness.types.transcripts import Refusal as Refusal
from harness.types.transcripts import SideContent as SideContent
from harness.types.transcripts import StateReading as StateReading
from harness.types.transcripts import Stop as Stop
from harness.types.transcripts import ToolAnswer as ToolAnswer
from harness.types.transcripts import ToolCall as ToolCall
from harness.types.transcripts import ToolMessage as ToolMessage
from harness.types.transcripts import Transcript as Transcript
from harness.types.transcripts import TrialError as TrialError
from harness.types.transcripts import UserMessage as UserMessage
from harness.types.transcripts import Wire as Wire
from harness.types.transcripts import WireMessage as WireMessage
from harness.types.transcripts import sum_server_waits as sum_server_waits
from harness.types.variants import COPY_LETTERS as COPY_LETTERS
from harness.types.variants import DecoyKind as DecoyKind
from harness.types.variants import Decoys as Decoys
from harness.types.variants import ParameterEdit as ParameterEdit
from harness.types.variants import Presentation as Presentation
from harness.types.variants import PresentedTool as PresentedTool
from harness.types.variants import ToolEdit as ToolEdit
from harness.types.variants import ToolSearch as ToolSearch
from harness.types.variants import Variant as Variant
