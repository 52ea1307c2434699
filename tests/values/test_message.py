"""Conversations are values: what goes on from one leaves it as it was."""

from placet.values.message import AssistantMessage, Message, Transcript, UserMessage


def test_each_message_is_written_once_and_two_that_part_ways_keep_their_own_texts() -> None:
    written: list[str] = []

    def write(message: Message) -> str:
        assert isinstance(message, UserMessage | AssistantMessage)
        written.append(message.text)
        return message.text.upper()

    start = Transcript([UserMessage("one"), AssistantMessage("two")])
    left, right = start.append(UserMessage("left")), start.append(UserMessage("right"))

    assert left.texts(write) == ["ONE", "TWO", "LEFT"]
    assert right.texts(write) == ["ONE", "TWO", "RIGHT"]
    assert start.texts(write) == ["ONE", "TWO"]
    assert left.append(UserMessage("end")).texts(write, last=2) == ["LEFT", "END"]
    assert start.texts(write, last=9) == ["ONE", "TWO"]
    assert written == ["one", "two", "left", "one", "two", "right", "end"]
