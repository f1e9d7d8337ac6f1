"""Closed meshes, or several in one file, as unions of convex hulls."""
from __future__ import annotations

import ctypes
import importlib
import os
from ctypes import POINTER, byref, c_double, c_int
from typing import Any, SupportsIndex

import numpy as np

from . import _lib
from ._lib import call_valued, core
from ._types import Array, Grid, NDArray, Path


class _CTriangles(_lib.Struct):
    _fields_ = [("nvert", c_int), ("vert", POINTER(c_double)), ("ntri", c_int),
                ("tri", POINTER(c_int))]


class _CPieces(_lib.Struct):
    _fields_ = [("n", c_int), ("hull", POINTER(_CTriangles)), ("volume", POINTER(c_double))]


class _CReport(_lib.Struct):
    _fields_ = [("volume_ratio", c_double), ("overlap", c_double), ("hausdorff", c_double),
                ("hausdorff_error", c_double)]


_lib.check_structs({"djTriangles": _CTriangles, "djPieces": _CPieces, "djPieceReport": _CReport})


class Hull:
    """A convex hull: vert (n, 3) m, triangles (m, 3) outward, volume m3."""

    __slots__ = ("vert", "triangles", "volume")

    def __init__(self, vert: Array, triangles: NDArray[np.intc], volume: float) -> None:
        self.vert, self.triangles, self.volume = vert, triangles, volume

    def __repr__(self) -> str:
        return "<dijoco.Hull of %d vertices, %.4g m3>" % (len(self.vert), self.volume)


class Decomposition:
    """hulls: a list of Hull; method; grid of blocks (else None); volume of the mesh, m3, of shells
    that of their union; volume_ratio, of the hulls' union over that (both nan where shells meet and
    a concave one's hull overlaps another); overlap, the share of the sum of the hulls' volumes that
    counts again; hausdorff (m), between the surfaces of mesh and union, up to hausdorff_error."""

    __slots__ = ("hulls", "method", "grid", "volume", "volume_ratio", "overlap", "hausdorff",
                 "hausdorff_error")

    hulls: list[Hull]
    method: str
    grid: tuple[int, ...] | None
    volume: float
    volume_ratio: float
    overlap: float
    hausdorff: float
    hausdorff_error: float

    def __repr__(self) -> str:
        return ("<dijoco.Decomposition by %s: %d hulls, volume ratio %.4g, overlap %.2g>"
                % (self.method, len(self.hulls), self.volume_ratio, self.overlap))


def _array(pointer: Any, shape: tuple[int, ...], dtype: type) -> NDArray[Any]:
    return np.ctypeslib.as_array(pointer, shape).astype(dtype)


def _limit(value: SupportsIndex, name: str, least: int) -> int:
    value = _lib.integer(value, name)
    if not least <= value <= 1 << 24:
        raise ValueError("%s: expected %d or more, not %d" % (name, least, value))
    return value


def _coacd() -> Any:
    """The package, or None."""
    try:
        return importlib.import_module("coacd")
    except ImportError:
        return None


def _run_coacd(pieces: _CPieces, mesh: _CTriangles, hulls: int | None, grid: Grid | None,
               vertices: int, seed: int) -> None:
    package = _coacd()
    if package is None:
        raise ValueError("method 'coacd' needs the package coacd (pip install coacd==1.0.14)")
    package.set_log_level("off")
    found = package.run_coacd(
        package.Mesh(_array(mesh.vert, (mesh.nvert, 3), np.float64),
                     _array(mesh.tri, (mesh.ntri, 3), np.int32)),
        max_convex_hull=-1 if hulls is None else hulls, seed=seed)
    for vert, _ in found:
        vert = np.ascontiguousarray(vert, np.float64)
        call_valued(core.dj_addPiece, byref(pieces), len(vert), vert.ctypes.data, None, vertices)
    if hulls is not None:
        call_valued(core.dj_mergePieces, byref(pieces), hulls, vertices)


def _cut_blocks(pieces: _CPieces, mesh: _CTriangles, hulls: int | None, grid: Grid | None,
                vertices: int, seed: int) -> tuple[int, ...]:
    numbers = (c_int * 3)()
    if grid is None:
        call_valued(core.dj_chooseGrid, numbers, byref(mesh), 16 if hulls is None else hulls)
    else:
        numbers = (c_int * 3)(*grid)
    call_valued(core.dj_cutBlocks, byref(pieces), byref(mesh), numbers, vertices, None)
    return tuple(numbers)


def _cut_shells(pieces: _CPieces, mesh: _CTriangles, hulls: int | None, grid: Grid | None,
                vertices: int, seed: int) -> None:
    call_valued(core.dj_cutShells, byref(pieces), byref(mesh), vertices)
    if hulls is not None:
        call_valued(core.dj_mergePieces, byref(pieces), hulls, vertices)


# Each gives the grid, or None; pieces, mesh, hulls, grid, vertices, seed.
_METHODS = {"coacd": _run_coacd, "blocks": _cut_blocks, "shells": _cut_shells}


def _fill(out: Decomposition, pieces: _CPieces, mesh: _CTriangles, volume: c_double) -> None:
    report = _CReport()
    if out.method == "shells":
        call_valued(core.dj_compareShells, byref(report), byref(volume), byref(pieces), byref(mesh))
    else:
        call_valued(core.dj_comparePieces, byref(report), byref(pieces), byref(mesh))
    out.volume = volume.value
    for name, _ in _CReport._fields_:
        setattr(out, name, getattr(report, name))
    out.hulls = []
    for i in range(pieces.n):
        hull = pieces.hull[i]
        out.hulls.append(Hull(_array(hull.vert, (hull.nvert, 3), np.float64),
                              _array(hull.tri, (hull.ntri, 3), np.intc), pieces.volume[i]))


def decompose(path: Path, method: str | None = None, hulls: int | None = None, vertices: int = 64,
              seed: int | None = None, grid: Grid | None = None) -> Decomposition:
    """The closed mesh of an OBJ or STL file as a union of convex hulls, as `dijoco decompose` has
    it: a Decomposition.

    method: "blocks", cells of a grid over the mesh's box, "coacd", by the package of that name, or
    "shells", a hull for each closed surface of a file of several; None: coacd where that is
    installed and no grid is given. hulls: at most so many (None: 16 blocks, as many as CoACD wants,
    as there are shells). vertices: at most so many of a hull. grid: numbers of cells along x, y and
    z, of blocks. seed: of coacd. ValueError names what makes a mesh no solid."""
    if method is not None and method not in _METHODS:
        raise ValueError("method: expected %s, not %r"
                         % (" or ".join(map(repr, _METHODS)), method))
    if grid is not None:
        if method not in (None, "blocks") or hulls is not None:
            raise ValueError("grid: is of method 'blocks', and takes no hulls")
        grid = [_limit(n, "grid", 1) for n in grid]
        if len(grid) != 3:
            raise ValueError("grid: expected three numbers, not %d" % len(grid))
    hulls = None if hulls is None else _limit(hulls, "hulls", 1)
    if seed is not None and method == "shells":
        raise ValueError("seed: does not go with method 'shells'")
    vertices = _limit(vertices, "vertices", 4)
    seed = 0 if seed is None else _limit(seed, "seed", 0)
    if method is None:
        method = "coacd" if grid is None and _coacd() is not None else "blocks"
    mesh, pieces, volume, out = _CTriangles(), _CPieces(), c_double(), Decomposition()
    out.method, out.grid = method, None
    try:
        call_valued(core.dj_readTriangles, byref(mesh), _lib.path_bytes(path))
        if method != "shells":
            call_valued(core.dj_checkSolid, byref(volume), byref(mesh))
        out.grid = _METHODS[method](pieces, mesh, hulls, grid, vertices, seed)
        _fill(out, pieces, mesh, volume)
    except ValueError as error:
        name = os.fsdecode(path)
        raise error if name in str(error) else ValueError("%s: %s" % (name, error)) from None
    finally:
        core.dj_freePieces(byref(pieces))
        core.dj_freeTriangles(byref(mesh))
    return out
