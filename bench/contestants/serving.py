"""Serve measures, one line each. Imports nothing beyond the standard library."""

import asyncio
import gc
import sys
import time
from collections.abc import Awaitable, Callable

Measure = Callable[[], Awaitable[float]]


def serve(measures: dict[str, Measure]) -> None:
    """Answer each name on standard input with the CPU microseconds of one unit."""

    async def loop() -> None:
        for line in sys.stdin:
            name = line.strip()
            if name == "?":
                print(",".join(measures), flush=True)
                continue
            gc.collect()
            gc.disable()
            try:
                print(f"{await measures[name]():.3f}", flush=True)
            finally:
                gc.enable()

    asyncio.run(loop())


async def cpu(work: Callable[[], Awaitable[object]], times: int = 1) -> float:
    """Return the CPU microseconds that one run of the work takes, all threads included."""
    began = time.process_time()
    for _ in range(times):
        await work()
    return (time.process_time() - began) / times * 1e6
