"""Names of types that the package's signatures share."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Mapping, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

    from .model import Model

    AnyModel = Union[Model, MjModel]

    class ArrayField:
        """An array of a data or a batch, which takes what it is set to."""

        def __get__(self, owner: object, kind: type | None = None) -> Array: ...
        def __set__(self, owner: object, value: ArrayLike) -> None: ...
else:   # MuJoCo's package need not be there
    AnyModel = ArrayField = MjData = MjModel = Any

Array = NDArray[np.float64]
Path = Union[str, "os.PathLike[str]"]
Task = Union[Path, Dict[str, Any]]               # a file, or what it holds
Shape = Mapping[str, Any]                        # of `pair` and its like
History = Tuple[ArrayLike, ArrayLike]            # qpos, qvel one timestep before
Samples = Union[ArrayLike, Sequence[Mapping[str, Any]]]
Grid = Sequence[int]

__all__ = ["AnyModel", "Array", "ArrayField", "ArrayLike", "Grid", "History", "MjData",
           "MjModel", "NDArray", "Path", "Samples", "Shape", "Task"]
