"""What is declared of AgentDojo's 74 tools, and the policies that are compared.

The rules are general ones about tools and arguments. They were worked out on the banking suite;
what they say of the other three suites' tools follows from what a tool is for, not from the tasks.
"""

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any, Final

from bench.agentdojo.suites import Function
from placet import Confirmation, Context, Tool
from placet.values.approval import ApprovalRule

PERSON: Final = "person"

DANGEROUS: Final = frozenset(
    [
        "send_money",
        "schedule_transaction",
        "update_scheduled_transaction",
        "update_password",
        "update_user_info",
        "add_user_to_channel",
        "send_direct_message",
        "send_channel_message",
        "invite_user_to_slack",
        "remove_user_from_slack",
        "post_webpage",
        "reserve_hotel",
        "reserve_car_rental",
        "reserve_restaurant",
        "send_email",
        "delete_email",
        "create_calendar_event",
        "cancel_calendar_event",
        "reschedule_calendar_event",
        "add_calendar_event_participants",
        "append_to_file",
        "create_file",
        "delete_file",
        "share_file",
    ]
)
"""Tools that change something."""

OPEN_WORLD: Final = frozenset({"get_webpage", "post_webpage"})
"""Tools that call out. One of them is a read, and can carry data away all the same."""

OWN_DATA: Final = frozenset(
    [
        "get_iban",
        "get_balance",
        "get_scheduled_transactions",
        "get_user_info",
        "get_current_day",
        "get_user_information",
        "send_money",
        "schedule_transaction",
        "update_scheduled_transaction",
        "update_password",
        "update_user_info",
    ]
)
"""Tools whose output holds what only the person or the house has written. The output of all others is untrusted."""

MEASURES: Final = frozenset(
    ["amount", "date", "recurring", "start_time", "end_time", "new_start_time", "new_end_time", "start_day", "end_day"]
)
"""Arguments that say how much and when. All others say whom, what and where, and have to be trusted."""

DESTINATIONS: Final = frozenset(
    ["recipient", "recipients", "cc", "bcc", "participants", "email", "user", "user_email", "channel", "url"]
)
"""Arguments that say whom or where a call reaches."""

CEILING: Final = 500
"""Above this amount of money a person is asked, wherever the arguments come from."""


class Policy(Enum):
    """What is asked for before a dangerous tool or one that calls out may run."""

    NAIVE = "no gate"
    CONFIRM = "a question before every dangerous call and every read that calls out"
    DESTINATION = "a question where a destination is not trusted"
    PROVENANCE = "a question where an argument is not trusted, or more than the ceiling is moved"


Handler = Callable[[dict[str, Any], Context[Any]], Awaitable[Any]]


def declare(function: Function, handler: Handler, policy: Policy) -> Tool:
    """Return the tool that placet is given for a function of a suite."""
    name = function.name
    guarded = name in DANGEROUS | OPEN_WORLD
    schema = function.parameters.model_json_schema()
    return Tool.define(
        name=name,
        description=function.description,
        parameters=schema,
        effect="write" if name in DANGEROUS else "read",
        handler=handler,
        roles={PERSON},
        open_world=name in OPEN_WORLD,
        writable_output=name not in OWN_DATA,
        approval=approval(schema, policy) if guarded else None,
        trusted_arguments=trusted(schema, policy) if guarded else frozenset(),
        max_result_bytes=1_000_000,
    )


def trusted(schema: dict[str, Any], policy: Policy) -> frozenset[str]:
    """Return the arguments that must not come from untrusted output without a question."""
    arguments = frozenset(schema["properties"])
    match policy:
        case Policy.DESTINATION:
            return arguments & DESTINATIONS or arguments - MEASURES
        case Policy.PROVENANCE:
            return arguments - MEASURES
        case _:
            return frozenset()


def approval(schema: dict[str, Any], policy: Policy) -> ApprovalRule:
    """Return what the tool asks for beside that."""
    if policy is Policy.CONFIRM:
        return Confirmation.always()
    if policy is Policy.PROVENANCE and "amount" in schema["properties"]:
        return Confirmation.when(_above_the_ceiling)
    return Confirmation.when(_never)


def _above_the_ceiling(arguments: Any) -> bool:
    return "amount" in arguments and arguments.amount is not None and bool(arguments.amount > CEILING)


def _never(arguments: Any) -> bool:
    del arguments
    return False
