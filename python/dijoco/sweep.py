"""Sweeps: a task at many samples, by any executor, as a table."""
from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import os
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from . import _lib
from ._lib import core
from ._types import Array, NDArray, Path, Samples, Task
from .file import File
from .receding import receding
from .task import Design, _over, _plain, optimize as _optimize

_STOPS = {"gradient": "gradient_tolerance", "step": "step_tolerance"}   # as the command has them
_KEPT = 4                      # tasks whose designs a thread keeps
_local = threading.local()


class Sweep:
    """What the samples of a sweep have come to, a row each in their order: `status` ("ok",
    "no_convergence", "singular", "failed"), `loss`, `unconverged_steps`, `x` and `gradient` (N, n),
    whose entries `names` names, `message` why a sample failed, `seconds` (N,) that it took. Failed
    samples have NaN. With check `errors` and `passed` (N, variables) of certificates, NaN where there
    is no verdict; with optimize `loss_last`, `iterations`, `stop` and `best` (N, n)."""

    if TYPE_CHECKING:   # columns, the last of sweeps that have them
        status: NDArray[np.str_]
        loss: Array
        unconverged_steps: Array
        x: Array
        gradient: Array
        message: NDArray[np.str_]
        errors: Array
        passed: Array
        loss_last: Array
        iterations: Array
        stop: NDArray[np.str_]
        best: Array

    def __init__(self, names: list[str], variables: list[str], rows: list[dict[str, Any]]) -> None:
        self.names, self.variables = names, variables
        self.seconds = np.array([row.pop("seconds") for row in rows])
        for key in rows[0]:
            setattr(self, key, np.array([row[key] for row in rows]))

    def __repr__(self) -> str:
        return _lib.line("Sweep", "%d samples, %d ok" % (len(self), np.sum(self.status == "ok")))

    def __len__(self) -> int:
        return len(self.status)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The table by columns, under the names that `dijoco sweep` gives them: (N,) each."""
        out = {"sample": np.arange(len(self)), "status": self.status, "loss": self.loss,
               "unconverged_steps": self.unconverged_steps}
        for before, field in (("", self.x), ("d ", self.gradient)):
            out.update(zip([before + name for name in self.names], field.T))
        if hasattr(self, "errors"):
            for k, name in enumerate(self.variables):
                out["error " + name], out["passed " + name] = self.errors[:, k], self.passed[:, k]
        if hasattr(self, "best"):
            out.update(loss_last=self.loss_last, iterations=self.iterations, stop=self.stop)
            out.update(zip(["best " + name for name in self.names], self.best.T))
        out["message"] = self.message
        return out

    def save(self, path: Path) -> None:
        """Write the table: .csv as the command does, to the same bits, or .parquet by pyarrow."""
        path, columns = os.fspath(path), self.columns()
        if path.endswith(".parquet"):
            try:
                import pyarrow
                import pyarrow.parquet
            except ImportError as error:
                raise ImportError("a .parquet file needs pyarrow (pip install pyarrow)") from error
            with File(path) as file:
                sink = pyarrow.BufferOutputStream()
                pyarrow.parquet.write_table(pyarrow.table(columns), sink)
                file.write(sink.getvalue().to_pybytes())
        elif path.endswith(".csv"):
            fields = [[_field(value) for value in column] for column in columns.values()]
            lines = [map(_field, columns), *zip(*fields)]
            with File(path) as file:
                file.write("".join(",".join(line) + "\n" for line in lines).encode())
        else:
            raise ValueError("%s: expected a path that ends with .csv or .parquet" % path)


def _field(value: Any) -> str:
    if isinstance(value, (str, np.str_)):
        quoted = any(c in value for c in ',"\n\r')
        text = value.replace('"', '""').replace("\n", " ").replace("\r", " ")
        return '"%s"' % text if quoted else text
    if np.isnan(value):
        return ""
    return core.dj_formatNumber(ctypes.create_string_buffer(32), float(value)).decode()


# ---- what workers do

class _Design(Design):
    """One whose scenes the caller has been told of."""
    _tells = False


def _merge(target: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    out = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = _merge(out.get(key), value)
    return out


def _labels(design: Design) -> list[str]:
    return ["%s[%d]" % (name, core.djd_variableIndex(design._address, i, k))
            for i, name in enumerate(design.names)
            for k in range(design.slice(name).stop - design.slice(name).start)]


def _design(payload: bytes) -> Design:
    """This thread's design of a task."""
    kept = _local.__dict__.setdefault("designs", {})
    key = hashlib.sha256(payload).digest()
    if key not in kept:
        while len(kept) >= _KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = _Design(*pickle.loads(payload))
    return kept[key]


def _empty(design: Design, check: bool, optimize: bool) -> dict[str, Any]:
    n, count = design.n, len(design.names)
    row = {"status": "failed", "loss": np.nan, "unconverged_steps": np.nan,
           "x": np.full(n, np.nan), "gradient": np.full(n, np.nan), "message": ""}
    if check:
        row.update(errors=np.full(count, np.nan), passed=np.full(count, np.nan))
    if optimize:
        row.update(loss_last=np.nan, iterations=np.nan, stop="", best=np.full(n, np.nan))
    return row


def _certificates(row: dict[str, Any], design: Design, x: Array) -> None:
    done = design._certify_all(row["loss"], row["gradient"], 0, 0, x)
    for k, certificate in enumerate(done):
        if certificate["runs"] > 0 and not certificate["surrogate"]:
            row["errors"][k] = certificate["relative_error"]
            row["passed"][k] = certificate["passed"]


def _improve(row: dict[str, Any], design: Design, x: Array) -> None:
    if design._recedes():
        result = dict(receding(design), stop="iterations")
    else:
        result = _optimize(design, x0=x, threads=1)
    row.update(loss_last=result["loss_last"], iterations=result["iterations"], best=result["x"],
               stop=_STOPS.get(result["stop"], result["stop"]))


def _fill(row: dict[str, Any], design: Design, labels: list[str], x: Array | None, check: bool,
          optimize: bool) -> None:
    if _labels(design) != labels:
        raise _lib.Error("variables: are not those of the task", _lib.INVALID)
    row["x"] = design.x0 if x is None else np.array(x)
    row["loss"], gradient, status, _ = design._try(row["x"])
    row["unconverged_steps"] = _over(design, "unconverged_steps", sum)
    row["status"] = "singular" if status == _lib.SINGULAR else (
        "no_convergence" if row["unconverged_steps"] > 0 else "ok")
    if status != _lib.SINGULAR:
        row["gradient"] = gradient
        if check:
            _certificates(row, design, row["x"])
    if optimize:
        _improve(row, design, row["x"])


def _work(payload: bytes, samples: list[Any], check: bool, optimize: bool) -> list[dict[str, Any]]:
    """Rows of some samples: each x, or a patch of the task, or None for the task itself."""
    base, rows = _design(payload), []
    labels = _labels(base)
    for sample in samples:
        row, start = _empty(base, check, optimize), time.perf_counter()
        try:
            design, x = base, sample
            if isinstance(sample, dict):
                task, *rest = pickle.loads(payload)
                design, x = _Design(_merge(task, sample), *rest), None
            _fill(row, design, labels, x, check, optimize)
        except (_lib.Error, ValueError, TypeError) as error:
            row["status"], row["message"] = "failed", str(error)
        row["seconds"] = time.perf_counter() - start
        rows.append(row)
    return rows


# ---- the table

def _samples(samples: Samples, design: Design) -> list[Any]:
    if isinstance(samples, (list, tuple)) and samples and all(
            isinstance(sample, dict) for sample in samples):
        return [json.loads(json.dumps(sample, default=_plain)) for sample in samples]
    out = np.asarray(samples, dtype=float)
    if out.ndim != 2 or out.shape[1] != design.n:
        raise ValueError("samples: expected a list of dicts, or numbers (N, %d), not %s"
                         % (design.n, out.shape))
    if not np.isfinite(out).all():
        raise ValueError("samples: there is a number that is not finite")
    return list(out)


def _start(executor: Any, work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """A function that waits for the result."""
    if hasattr(executor, "submit"):             # concurrent.futures, mpi4py.futures, Dask's client
        return executor.submit(work, *arguments).result
    if hasattr(executor, "apply_async"):        # multiprocessing's pools, and Ray's
        return executor.apply_async(work, arguments).get
    raise TypeError("executor: expected one with submit or apply_async, not a %s"
                    % type(executor).__name__)


def sweep(task: Task, samples: Samples, executor: Any = None, check: bool = False,
          optimize: bool = False, folder: Path | None = None, allow_ignored: bool = False,
          chunk: int = 1, callback: Callable[[int], object] | None = None) -> Sweep:
    """Loss and gradient of a task at many samples: a `Sweep`, with the same bits whoever does what.

        table = dijoco.sweep("task.json", np.random.default_rng(0).normal(size=(100, 3)))
        table.save("samples.csv")

    samples: numbers (N, n), each a point x of the task's `Design`, or a list of dicts, each of which
    is merged into the task (RFC 7396: other starts, parameters, scenes, optimizers; None takes a key
    away). executor: anything of `concurrent.futures`, `mpi4py.futures`, Dask's client or Ray's pool,
    which workers `import dijoco` for; None: threads of this process. It is given `chunk` samples at
    a time; tasks travel to workers as bytes, models that the task holds among them, and are unpacked
    once in each. check: certificates, as `grad` has; optimize: also optimize from each sample, as
    the task's optimizer says. callback(done) is told how many samples are done. Other arguments: see
    `Design`. A sample that fails is a row which says why.
    """
    if not isinstance(task, dict):
        path = os.path.abspath(os.fspath(task))
        folder = os.path.dirname(path)
        with open(path, encoding="utf-8") as file:
            task = json.load(file)
    folder, chunk = os.path.abspath(folder or os.curdir), _lib.integer(chunk, "chunk")
    if chunk < 1:
        raise ValueError("chunk: must be positive")
    design = Design(task, folder, allow_ignored, 1)
    points = _samples(samples, design)
    if not points:
        raise ValueError("samples: there are none")
    if optimize and design._recedes() and not isinstance(points[0], dict):
        raise ValueError("receding windows start from the task's own values: give samples as dicts")
    payload = pickle.dumps((task, folder, allow_ignored, 1))
    workers = (ThreadPoolExecutor(os.cpu_count() or 1) if executor is None
               else contextlib.nullcontext(executor))
    with workers as given:
        rows = _gather(given, payload, points, check, optimize, chunk, callback)
    return Sweep(_labels(design), design.names, rows)


def _gather(executor: Any, payload: bytes, points: list[Any], check: bool, optimize: bool,
            chunk: int, callback: Callable[[int], object] | None) -> list[dict[str, Any]]:
    start = functools.partial(_start, executor, _work, payload)
    waiting = [start(points[i:i + chunk], check, optimize) for i in range(0, len(points), chunk)]
    rows = []
    for wait in waiting:
        rows += wait()
        if callback:
            callback(len(rows))
    return rows
