"""What a docstring says of a tool and of its parameters."""

import logging

import pytest

from placet.tools.docstring import read_docstring


def test_the_text_is_all_but_the_sections_for_programmers() -> None:
    doc = read_docstring(
        """Refund an order.

        Use when the customer
        was charged wrongly:

            keep this block

        Args:
            order: Its number.
            cents: How much,
                in cents.

        Note:
            Never twice.

        Raises:
            ToolError: It does not exist.
        """
    )

    assert doc.text == (
        "Refund an order.\n\nUse when the customer\nwas charged wrongly:\n\n    keep this block\n\n"
        "Note:\n    Never twice."
    )
    assert doc.parameters == {"order": "Its number.", "cents": "How much, in cents."}


@pytest.mark.parametrize(
    "header", ["Args", "Arguments", "Parameters", "Params", "Keyword Args", "Other Parameters", "args"]
)
def test_every_header_of_parameters_is_one(header: str) -> None:
    doc = read_docstring(f"Look.\n\n{header}:\n    city: Where.\n")

    assert doc.text == "Look."


def test_types_in_a_docstring_are_left_out() -> None:
    assert read_docstring("Look.\n\nArgs:\n    city (str, optional): Where.\n").parameters == {"city": "Where."}


@pytest.mark.parametrize("doc", ["", "Look.", "Args are ignored.", "Look: Args:"])
def test_a_docstring_without_parameters_has_none(doc: str) -> None:
    read = read_docstring(doc)

    assert (read.text, read.parameters) == (doc, {})


def test_a_sloppy_docstring_makes_no_noise(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        doc = read_docstring("Look.\n\nArgs:\n    city where\n    **more: What.\n    days: How long.\n")

    assert not caplog.records
    assert doc.parameters["days"] == "How long."
