"""PNG files from numpy arrays, still or animated, without an image library."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from ._types import ArrayLike, NDArray, Path
from .file import File


def _chunk(kind: bytes, data: bytes) -> bytes:
    crc = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)


def _rows(image: NDArray[np.uint8], level: int) -> bytes:
    """The compressed rows of an image, each as its difference from the row above (filter 2)."""
    height = image.shape[0]
    rows = np.empty((height, 1 + image[0].size), np.uint8)
    rows[:, 0] = 2
    rows[0, 1:] = image[0].ravel()
    rows[1:, 1:] = (image[1:] - image[:-1]).reshape(height - 1, -1)
    return zlib.compress(rows.tobytes(), level)


def _check(image: ArrayLike) -> NDArray[np.uint8]:
    image = np.ascontiguousarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
        raise ValueError("an image is a (height, width, 3) array of uint8, not %s of %s"
                         % (image.shape, image.dtype))
    return image


class Writer:
    """Writes a PNG file image by image, whole or not at all (dijoco.file); with `delay` (seconds
    per image) an animated one.

    All images are (height, width, 3) uint8 and of one size. `count` is their number, which the
    format wants first. Viewers that know no animation show the first image. `level` is zlib's:
    9 makes the smallest files, and takes several times as long as 6.
    """

    def __init__(self, path: Path, count: int = 1, delay: float | None = None,
                 level: int = 6) -> None:
        self._file = File(path)
        self._count, self._delay, self._level = count, delay, level
        self._sequence = 0
        self._shape: tuple[int, ...] | None = None

    def _begin(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._file.write(b"\x89PNG\r\n\x1a\n")
        header = struct.pack(">IIBBBBB", shape[1], shape[0], 8, 2, 0, 0, 0)
        self._file.write(_chunk(b"IHDR", header))
        if self._delay is not None:
            self._file.write(_chunk(b"acTL", struct.pack(">II", self._count, 0)))

    def write(self, image: NDArray[np.uint8]) -> None:
        image = _check(image)
        first = self._shape is None
        if first:
            self._begin(image.shape)
        elif image.shape != self._shape:
            raise ValueError("image of %s among images of %s" % (image.shape, self._shape))
        if self._delay is not None:
            milliseconds = min(65535, max(1, round(1000 * self._delay)))
            self._file.write(_chunk(b"fcTL", struct.pack(
                ">IIIIIHHBB", self._sequence, image.shape[1], image.shape[0], 0, 0,
                milliseconds, 1000, 0, 0)))
            self._sequence += 1
        data = _rows(image, self._level)
        if first:
            self._file.write(_chunk(b"IDAT", data))
        else:
            self._file.write(_chunk(b"fdAT", struct.pack(">I", self._sequence) + data))
            self._sequence += 1

    def close(self) -> None:
        if self._shape is not None:
            self._file.write(_chunk(b"IEND", b""))
        self._file.commit()

    def discard(self) -> None:
        """Leave the file as it was."""
        self._file.discard()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()


def write_png(path: Path, image: NDArray[np.uint8], level: int = 6) -> None:
    """Writes one image, (height, width, 3) uint8."""
    image = _check(image)
    with Writer(path, level=level) as writer:
        writer.write(image)
