"""What the library refuses, as exceptions.

Every one is a `SherdError`, and also the exception of Python that programs expect there: `NotFoundError` is a
`FileNotFoundError`, `CorruptError` a `ValueError`, and so on.
"""

from __future__ import annotations

from typing import Any


class SherdError(Exception):
    """What went wrong, in words that programs can use too.

    `code` is a general one ("corrupt"), `reason` a stable short word ("bad-crc"), `object` the file or object,
    `offset` the byte in it, `index` which of several things that a call was given is at fault.
    """

    code: str = "error"
    reason: str
    message: str
    object: str | None
    offset: int | None
    index: int | None

    def __init__(
        self,
        message: str,
        reason: str = "",
        object: str | None = None,
        offset: int | None = None,
        index: int | None = None,
        os_errno: int = 0,
    ) -> None:
        place = object or ""
        if offset is not None:
            place += f": byte {offset}" if place else f"byte {offset}"
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.reason = reason
        self.object = object
        self.offset = offset
        self.index = index
        self.os_errno = os_errno

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.message, self.reason, self.object, self.offset, self.index, self.os_errno))


class NoMemoryError(SherdError, MemoryError):
    code = "no-memory"


class StoreError(SherdError, OSError):
    """The disk, or the network, failed."""

    code = "io"


class NotFoundError(SherdError, FileNotFoundError):
    code = "not-found"


class ExistsError(SherdError, FileExistsError):
    code = "exists"


class CorruptError(SherdError, ValueError):
    """Bytes contradict their format or their checksum."""

    code = "corrupt"


class VersionError(SherdError, ValueError):
    """Well-formed, but newer than this library."""

    code = "version"


class LimitError(SherdError, ValueError):
    code = "limit"


class ArgumentError(SherdError, ValueError):
    code = "invalid"


class ConflictError(SherdError, RuntimeError):
    """Somebody else is writing, or published first."""

    code = "conflict"


class UnsupportedError(SherdError, ValueError):
    """This format, store or build cannot do that."""

    code = "unsupported"


class IncompleteError(SherdError, RuntimeError):
    """A set that was never committed, or waits for its ranks."""

    code = "incomplete"


class CancelledError(SherdError, RuntimeError):
    code = "cancelled"


class UnknownOutcomeError(SherdError, OSError):
    """A write got no answer: it has happened, or not. Look before anything else."""

    code = "unknown"


_BY_CODE: dict[int, type[SherdError]] = {
    -1: NoMemoryError,
    -2: StoreError,
    -3: NotFoundError,
    -4: ExistsError,
    -5: CorruptError,
    -6: VersionError,
    -7: LimitError,
    -8: ArgumentError,
    -9: ConflictError,
    -10: UnsupportedError,
    -11: IncompleteError,
    -12: CancelledError,
    -13: UnknownOutcomeError,
}


def error_of(
    code: int,
    reason: str,
    message: str,
    object: str | None,
    offset: int | None,
    index: int | None,
    os_errno: int,
) -> SherdError:
    """The exception for what the library said; `sherd._core` calls it."""
    error = _BY_CODE.get(code, SherdError)(message, reason, object, offset, index, os_errno)
    if isinstance(error, OSError) and os_errno:
        error.errno = os_errno
    return error
