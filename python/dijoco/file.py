"""Files that are written whole or not at all: the library's writer, dijoco/file.h."""
from __future__ import annotations

import weakref
from ctypes import byref, c_void_p
from typing import Any

from . import _lib
from ._lib import core
from ._types import Path


class File:
    """Writes bytes to a temporary file beside `path`, which takes its place in `commit`. Devices
    and pipes are written straight. As a context manager: commits at the end, discards after an
    exception. What was not committed when the object is dropped is discarded. Raises Error."""

    def __init__(self, path: Path) -> None:
        address = c_void_p()
        _lib.call(core.dj_openFile, byref(address), _lib.path_bytes(path))
        self._address = address.value
        self._finalizer = weakref.finalize(self, core.dj_discardFile, self._address)

    def write(self, data: bytes) -> None:
        """Failures show in `commit`."""
        self._check()
        data = bytes(data)
        core.dj_writeFile(self._address, data, len(data))

    def commit(self) -> None:
        self._check()
        self._finalizer.detach()
        _lib.call(core.dj_commitFile, self._address)

    def discard(self) -> None:
        self._finalizer()

    def _check(self) -> None:
        if not self._finalizer.alive:
            raise ValueError("the file is closed")

    def __enter__(self) -> File:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is not None:
            self.discard()
        elif self._finalizer.alive:
            self.commit()
