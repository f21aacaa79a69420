"""Progress: a callback of (done, total), or True for a bar on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

Progress = Callable[[int, int], object] | bool | None


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


class Bar:
    """A line that is drawn anew, where the stream is a terminal; nothing elsewhere.

    >>> import io
    >>> with Bar("load", io.StringIO()) as bar:   # no terminal: silent
    ...     bar(1, 2)
    """

    def __init__(self, what: str = "", stream: TextIO | None = None) -> None:
        self.what = what
        self.stream = stream if stream is not None else sys.stderr
        self.shown = bool(getattr(self.stream, "isatty", lambda: False)())
        self.began = time.monotonic()
        self.drawn = 0.0
        self.width = 0

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not self.shown or (now - self.drawn < 0.1 and done < total):
            return
        self.drawn = now
        seconds = max(now - self.began, 1e-9)
        share = done / total if total else 0.0
        text = f"{self.what} " if self.what else ""
        if total:
            filled = int(share * 30)
            text += f"{share:4.0%} |{'█' * filled}{' ' * (30 - filled)}| "
        text += f"{_size(done)}{f' of {_size(total)}' if total else ''}, {_size(done / seconds)}/s"
        self.stream.write("\r" + text.ljust(self.width))
        self.stream.flush()
        self.width = len(text)

    def close(self) -> None:
        if self.shown and self.width:
            self.stream.write("\n")
            self.stream.flush()
        self.width = 0


class watched:
    """What the extension is to call: `with watched(progress, "load") as callback`."""

    def __init__(self, progress: Progress, what: str) -> None:
        self.bar = Bar(what) if progress is True else None
        self.callback = self.bar if self.bar else progress if callable(progress) else None

    def __enter__(self) -> Callable[[int, int], object] | None:
        return self.callback

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.bar:
            self.bar.close()
