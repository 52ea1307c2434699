from pydantic import BaseModel

from placet.words.names import names_in_schema


class Line(BaseModel):
    sku: str
    extra: dict[str, str]


class Order(BaseModel):
    id: int
    lines: list[Line]
    parent: "Order | None" = None


def test_names_come_from_properties_lists_and_references() -> None:
    names = names_in_schema(Order.model_json_schema())

    assert {
        "id",
        "lines",
        "lines.sku",
        "lines.extra",
        "lines.extra.*",
        "parent",
        "parent.id",
        "parent.lines.sku",
    } <= names
    assert "sku" not in names


def test_a_schema_that_refers_to_itself_ends_in_an_open_name() -> None:
    assert any(
        name.startswith("parent.parent.") and name.endswith(".*") for name in names_in_schema(Order.model_json_schema())
    )


def test_an_open_object_leaves_its_names_open() -> None:
    assert names_in_schema({"type": "object"}) == {"*"}
    assert names_in_schema({"type": "object", "properties": {}, "additionalProperties": False}) == frozenset()


def test_free_text_and_references_that_lead_nowhere_give_no_names() -> None:
    assert names_in_schema(None) == frozenset()
    assert names_in_schema({"$ref": "https://example.com/schema"}) == frozenset()
    assert names_in_schema({"$ref": "#/$defs/Gone"}) == frozenset()
