"""A time limit for calls that have none of their own, such as looking up a name."""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Thread

AT_ONCE = 16  # calls that may hang at the same time
_free = BoundedSemaphore(AT_ONCE)


def answered_within[T](
    seconds: float, call: Callable[[], T], *, raising: tuple[type[Exception], ...]
) -> T:
    """What `call` returns, or raises of these kinds, if it does in time. Raises `TimeoutError` when
    it does not, or when too many others hang already; the call itself goes on unheard."""
    if not _free.acquire(blocking=False):
        raise TimeoutError("too many calls hang")
    told: SimpleQueue[tuple[T] | Exception] = SimpleQueue()

    def run() -> None:
        try:
            told.put((call(),))
        except raising as error:
            told.put(error)
        finally:
            _free.release()

    Thread(target=run, name="deadline", daemon=True).start()
    try:
        answer = told.get(timeout=max(0.0, seconds))
    except Empty:
        raise TimeoutError("no answer in time") from None
    if isinstance(answer, Exception):
        raise answer
    return answer[0]
