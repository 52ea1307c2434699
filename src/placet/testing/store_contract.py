"""The contract of a store, as laws that your own store can be tried with.

Every law is a coroutine function that asserts; its name is the sentence it keeps. It takes a
store that is open and empty, or, for `SHARED_LAWS`, a function that opens one more store
object over the same empty memory. With pytest:

```python
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
async def test_my_store(law: Law, tmp_path: Path) -> None:
    store = MyStore(tmp_path / "store")
    await store.open()
    try:
        await law(store)
    finally:
        await store.close()
```

Do not run them under `python -O`, which takes assertions out.
"""

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from placet.ports import Store
from placet.testing import store_laws_approvals, store_laws_audit, store_laws_effects, store_laws_runs
from placet.testing.store_laws_shared import SHARED_LAWS, OpenStore

Law: TypeAlias = Callable[[Store], Awaitable[None]]
SharedLaw: TypeAlias = Callable[[OpenStore], Awaitable[None]]

LAWS: Final[tuple[Law, ...]] = (
    *store_laws_runs.LAWS,
    *store_laws_approvals.LAWS,
    *store_laws_effects.LAWS,
    *store_laws_audit.LAWS,
)

__all__ = ["LAWS", "SHARED_LAWS", "Law", "OpenStore", "SharedLaw"]
