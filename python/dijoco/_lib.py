"""The C libraries: finding and loading them, prototypes, errors, fields by name.

Structs are not mirrored here, except for a few plain ones whose size the library confirms.
"""
from __future__ import annotations

import ctypes
import functools
import importlib
import os
import pathlib
import sys
import threading
import warnings
import weakref
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_void_p
from typing import (TYPE_CHECKING, Any, Callable, ClassVar, Dict, Iterable, List, NoReturn,
                    Sequence, SupportsIndex, Tuple)

import numpy as np

from ._types import Array, ArrayLike, NDArray, Path

OK, NOT_CONVERGED, SINGULAR, INVALID, UNSUPPORTED = 0, 1, 2, -1, -2
STATUS_TEXT = {SINGULAR: "a step's Jacobian could not be factored: there is no derivative",
               INVALID: "bad argument", UNSUPPORTED: "not supported", -3: "out of memory",
               -4: "shapes overlap at the start", -5: "a file cannot be read or written",
               -6: "cancelled"}


class Error(RuntimeError):
    """A call of the library failed. Its text is the library's, `status` its djStatus."""

    def __init__(self, text: str, status: int = INVALID) -> None:
        super().__init__(text)
        self.status = status


Error.__module__ = "dijoco"  # where users find it


class StepWarning(RuntimeWarning):
    """Steps of a run did not go as they should: they did not converge, another integrator took
    them, or shapes overlapped. Said at the first of each kind in a run; `Data.stats` counts all."""


StepWarning.__module__ = "dijoco"


def warn_steps(text: str) -> None:
    """A StepWarning where the user has called this package, be it through PyTorch or JAX."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in (
            "dijoco", "torch", "jax"):
        frame, level = frame.f_back, level + 1
    warnings.warn("dijoco: " + text, StepWarning, stacklevel=level)


# ---- structs ---------------------------------------------------------------------------------

class Struct(ctypes.Structure):
    """A struct of C's, whose fields `_fields_` names."""
    if TYPE_CHECKING:
        _fields_: ClassVar[Sequence[Any]]

        def __getattr__(self, name: str) -> Any: ...


class CError(Struct):
    _fields_ = [("text", ctypes.c_char * 512)]


class CParam(Struct):
    _fields_ = [("field", c_int), ("id", c_int), ("nvalue", c_int), ("ntangent", c_int)]


class CHullPoints(Struct):
    _fields_ = [("nvert", c_int), ("vert", c_void_p)]


class CHullOverlap(Struct):
    _fields_ = [("nhull", c_int), ("sum", c_double), ("whole", c_double), ("overlap", c_double),
                ("share", c_double), ("error", c_double)]


class CLandscape(Struct):
    _fields_ = [("range", c_double), ("total_variation", c_double),
                ("gradient_total_variation", c_double), ("reconstruction_error", c_double),
                ("sign_changes", c_int), ("missing", c_int), ("unconverged", c_int)]


class CArray(Struct):
    _fields_ = [("data", c_void_p), ("type", c_int), ("rows", c_int), ("columns", c_int),
                ("stride", c_int)]


class CWatch(Struct):
    _fields_ = [("progress", c_void_p), ("user", c_void_p)]


class CRollout(Struct):
    _fields_ = [("horizon", c_int), ("qpos0", c_void_p), ("qvel0", c_void_p), ("act0", c_void_p),
                ("history_qpos0", c_void_p), ("history_qvel0", c_void_p),
                ("ctrl", c_void_p), ("nloss", c_int), ("loss", c_void_p), ("callback", c_void_p),
                ("user", c_void_p), ("refinement_steps", c_int), ("loss_only", c_bool),
                ("checkpoint", c_int), ("compiled", c_void_p), ("watch", CWatch),
                ("along", c_void_p)]


class CRolloutResult(Struct):
    _fields_ = [("loss", c_double), ("term", c_void_p), ("grad_qpos0", c_void_p),
                ("grad_qvel0", c_void_p), ("grad_act0", c_void_p),
                ("grad_history_qpos0", c_void_p), ("grad_history_qvel0", c_void_p),
                ("grad_ctrl", c_void_p),
                ("nparam", c_int), ("param", POINTER(CParam)), ("grad_param", c_void_p),
                ("unconverged_steps", c_int), ("worst_residual", c_double),
                ("worst_condition", c_double), ("forward_s", c_double), ("backward_s", c_double)]


class CBatchResult(Struct):
    _fields_ = [(name, c_void_p) for name in (
        "loss", "term", "qpos", "qvel", "act", "grad_qpos0", "grad_qvel0", "grad_act0",
        "grad_history_qpos0", "grad_history_qvel0", "grad_ctrl")] + [
            ("nparam", c_int), ("param", POINTER(CParam)), ("grad_param", c_void_p)]


class CVariation(Struct):
    _fields_ = [("qpos0", c_void_p), ("qvel0", c_void_p), ("act0", c_void_p),
                ("history_qpos0", c_void_p), ("history_qvel0", c_void_p), ("ctrl", c_void_p),
                ("nparam", c_int), ("param", POINTER(CParam)), ("value", c_void_p)]


# ---- prototypes: name: (result, arguments); P is any pointer ------------------------------------

Prototypes = Dict[str, Tuple[Any, List[Any]]]
P, ERR = c_void_p, POINTER(CError)
CORE: Prototypes = {
    "dj_version": (c_char_p, []),
    "dj_sizeOf": (c_size_t, [c_char_p]),
    "dj_loadModel": (c_int, [P, c_char_p, ERR]),
    "dj_loadModelText": (c_int, [P, c_char_p, ERR]),
    "dj_saveModel": (c_int, [P, c_char_p, ERR]),
    "dj_saveModelText": (c_int, [P, P, ERR]),
    "dj_deleteText": (None, [P]),
    "dj_readTriangles": (c_int, [P, c_char_p, ERR]),
    "dj_freeTriangles": (None, [P]),
    "dj_checkSolid": (c_int, [P, P, ERR]),
    "dj_mergePieces": (c_int, [P, c_int, c_int, ERR]),
    "dj_addPiece": (c_int, [P, c_int, P, P, c_int, ERR]),
    "dj_freePieces": (None, [P]),
    "dj_cutBlocks": (c_int, [P, P, P, c_int, P, ERR]),
    "dj_chooseGrid": (c_int, [P, P, c_int, ERR]),
    "dj_cutShells": (c_int, [P, P, c_int, ERR]),
    "dj_comparePieces": (c_int, [P, P, P, ERR]),
    "dj_compareShells": (c_int, [P, P, P, P, ERR]),
    "dj_openFile": (c_int, [P, c_char_p, ERR]),
    "dj_writeFile": (None, [P, c_char_p, c_size_t]),
    "dj_commitFile": (c_int, [P, ERR]),
    "dj_discardFile": (None, [P]),
    "dj_copyModel": (c_int, [P, P, ERR]),
    "dj_deleteModel": (None, [P]),
    "dj_modelArray": (c_int, [POINTER(CArray), P, c_char_p]),
    "dj_modelArrayName": (c_char_p, [c_int]),
    "dj_setOptionEntry": (c_int, [P, c_char_p, P, c_int, ERR]),
    "dj_setting": (P, [c_int]),
    "dj_findSetting": (P, [c_char_p, ctypes.c_uint]),
    "dj_giveSetting": (c_int, [P, P, P, ERR]),
    "dj_lossEntry": (P, [c_int]),
    "dj_mapEntry": (P, [c_int]),
    "dj_optimizerEntry": (P, [c_int]),
    "dj_parameterEntry": (P, [c_int]),
    "dj_optimizerKey": (P, [c_int]),
    "dj_setOptimizerType": (c_int, [P, c_char_p, ERR]),
    "dj_setOptimizer": (c_int, [P, c_char_p, c_double, ERR]),
    "dj_setOptimizerText": (c_int, [P, c_char_p, c_char_p, ERR]),
    "dj_checkOptimizerKey": (c_int, [P, c_char_p, ERR]),
    "dj_copyStages": (c_int, [P, P, c_int]),
    "dj_recedingKey": (P, [c_int]),
    "dj_getReceding": (c_double, [P, P]),
    "dj_setReceding": (c_int, [P, c_char_p, c_double, ERR]),
    "dj_guidesDerivatives": (c_bool, [P]),
    "dj_setGuideBodies": (c_int, [P, c_int, POINTER(c_char_p), ERR]),
    "dj_objectCount": (c_int, [P, c_int]),
    "dj_id2name": (c_char_p, [P, c_int, c_int]),
    "dj_name2id": (c_int, [P, c_int, c_char_p]),
    "dj_paramId": (c_int, [POINTER(CParam), P, c_char_p, ERR]),
    "dj_matchParams": (c_int, [P, c_int, P, c_char_p, ERR]),
    "dj_paramName": (c_char_p, [c_char_p, c_size_t, P, POINTER(CParam)]),
    "dj_paramNameSize": (c_size_t, [P, POINTER(CParam)]),
    "dj_getParam": (c_int, [P, P, POINTER(CParam)]),
    "dj_setParam": (c_int, [P, POINTER(CParam), P, ERR]),
    "dj_followGeoms": (c_int, [P, P, ERR]),
    "dj_followGeomsBy": (c_int, [P, P, c_int, ERR]),
    "dj_inertiaRuleByName": (c_int, [c_char_p]),
    "dj_inertiaRuleName": (c_char_p, [c_int]),
    "dj_renewFacets": (c_int, [POINTER(c_int), P, P, ERR]),
    "dj_overlapOfHulls": (c_int, [POINTER(CHullOverlap), c_int, P, ERR]),
    "dj_bodyOverlap": (c_int, [POINTER(CHullOverlap), P, c_int, ERR]),
    "djd_renewFacets": (c_int, [POINTER(c_int), P]),
    "dj_integratePos": (None, [P, P, P, P, c_double]),
    "dj_differentiatePos": (None, [P, P, c_double, P, P]),
    "dj_makeData": (c_int, [P, P, ERR]),
    "dj_deleteData": (None, [P]),
    "dj_copyData": (c_int, [P, P, P]),
    "dj_resetData": (c_int, [P, P]),
    "dj_resetKey": (c_int, [P, P, c_int]),
    "dj_stateSize": (c_int, [P]),
    "dj_tangentSize": (c_int, [P]),
    "dj_getState": (c_int, [P, P, P]),
    "dj_setState": (c_int, [P, P, P]),
    "dj_getHistory": (c_bool, [P, P, P, P]),
    "dj_setHistory": (c_int, [P, P, P, P]),
    "dj_getMocapVelocity": (c_int, [P, P, P]),
    "dj_setMocapVelocity": (c_int, [P, P, P]),
    "dj_startRecord": (c_int, [P, P, c_char_p, ERR]),
    "dj_startRecordBeside": (c_int, [P, P, c_char_p, ERR]),
    "dj_stopRecord": (c_int, [P, ERR]),
    "dj_recordPath": (c_char_p, [P]),
    "dj_dataArray": (c_int, [POINTER(CArray), P, P, c_char_p]),
    "dj_dataArrayName": (c_char_p, [c_int]),
    "dj_errorText": (c_char_p, [P]),
    "dj_step": (c_int, [P, P]),
    "dj_forward": (c_int, [P, P]),
    "dj_angularMomentum": (c_int, [P, P, P]),
    "dj_totalMomentum": (c_int, [P, P, P]),
    "djd_transition": (c_int, [P, P, P, P]),
    "djd_lastTransition": (c_int, [P, P, P, P]),
    "djd_lastParams": (c_int, [P, P, P, c_int, POINTER(CParam)]),
    "djd_stepJvp": (c_int, [P, P, P, P, P]),
    "djd_stepVjp": (c_int, [P, P, P, P, P]),
    "djd_makeTape": (c_int, [P, P, c_int, ERR]),
    "djd_deleteTape": (None, [P]),
    "djd_rolloutForward": (c_int, [POINTER(CRolloutResult), P, P, POINTER(CRollout), P]),
    "djd_rolloutBackward": (c_int, [POINTER(CRolloutResult), P, P, POINTER(CRollout), P]),
    "djd_tapeStates": (c_int, [P, P, P, P, P]),
    "djd_setCotangents": (c_int, [P, P, P, P]),
    "djd_makeHessian": (c_int, [P, P, c_int, ERR]),
    "djd_deleteHessian": (None, [P]),
    "djd_rolloutJvp": (c_int, [P, POINTER(CVariation), P, P, POINTER(CRollout), P, P]),
    "djd_rolloutHvp": (c_int, [POINTER(CVariation), POINTER(CVariation), P, P, POINTER(CRollout),
                               P, P]),
    "djd_setCotangentRates": (c_int, [P, P, P, P, P]),
    "dj_makeBatch": (c_int, [P, P, c_int, c_int, ERR]),
    "dj_deleteBatch": (None, [P]),
    "dj_batchBytes": (c_size_t, [P]),
    "dj_batchArray": (c_int, [POINTER(CArray), P, c_char_p]),
    "dj_batchArrayName": (c_char_p, [c_int]),
    "dj_ownBatchModel": (c_int, [P, P, c_int, ERR]),
    "dj_setBatchParams": (c_int, [P, c_int, POINTER(CParam), P, ERR]),
    "dj_resetBatch": (c_int, [P, c_int, c_int]),
    "dj_getWorld": (c_int, [P, P, c_int]),
    "dj_setWorld": (c_int, [P, c_int, P]),
    "dj_batchErrorText": (c_char_p, [P, c_int]),
    "dj_batchStep": (c_int, [P, c_int]),
    "dj_batchForward": (c_int, [P]),
    "dj_batchRollout": (c_int, [P, c_int, P, P, P, P]),
    "djd_batchTransition": (c_int, [P, P, P]),
    "djd_makeBatchTape": (c_int, [P, P, c_int, c_int, ERR]),
    "djd_deleteBatchTape": (None, [P]),
    "djd_batchTapeBytes": (c_size_t, [P]),
    "djd_batchRolloutForward": (c_int, [POINTER(CBatchResult), P, POINTER(CRollout), P]),
    "djd_batchRolloutBackward": (c_int, [POINTER(CBatchResult), P, POINTER(CRollout), P, P, P]),
    "dj_formatNumber": (c_char_p, [P, c_double]),
    "dj_loadTask": (c_int, [P, c_char_p, ERR]),
    "dj_loadTaskText": (c_int, [P, c_char_p, c_char_p, ERR]),
    "dj_deleteTask": (None, [P]),
    "dj_taskScene": (c_char_p, [P]),
    "dj_taskOptimizer": (P, [P]),
    "dj_taskScenes": (c_int, [P]),
    "dj_taskOfScene": (P, [P, c_int]),
    "dj_taskName": (c_char_p, [P]),
    "dj_taskWeight": (c_double, [P]),
    "dj_applyTask": (c_int, [P, P, ERR]),
    "dj_resolveTask": (c_int, [P, P, P, ERR]),
    "dj_deleteProblem": (None, [P]),
    "djd_makeDesign": (c_int, [P, P, P, ERR]),
    "djd_deleteDesign": (None, [P]),
    "djd_designArray": (c_int, [POINTER(CArray), P, c_char_p]),
    "djd_designError": (c_char_p, [P]),
    "djd_variableName": (c_char_p, [P, c_int]),
    "djd_variableIndex": (c_int, [P, c_int, c_int]),
    "djd_moveDesign": (c_int, [P, P]),
    "djd_designModel": (P, [P]),
    "djd_isSurrogate": (c_bool, [P]),
    "djd_countPieces": (c_int, [P, P, ERR]),
    "djd_forwardPhases": (c_int, [P, P, P, c_bool]),
    "djd_backwardPhases": (c_int, [P, P]),
    "djd_designObjective": (c_int, [P, P, P, P]),
    "djd_designValue": (None, [P, P, c_int]),
    "djd_certifyAt": (c_int, [P, P, P, c_int, c_double, P, ctypes.c_ulong, c_int]),
    "djd_checkBudget": (c_int, [c_int, c_int, ctypes.c_long]),
    "djd_checkVariables": (c_int, [P, ERR]),
    "djd_makeScenes": (c_int, [P, c_int, P, P, c_int, c_int, ERR]),
    "djd_sceneLoss": (c_double, [P, c_int]),
    "djd_deletePhases": (None, [P]),
    "djd_phaseSpread": (c_int, [P, P, P]),
    "djd_landscape": (c_int, [POINTER(CLandscape), P, P, P, P, c_int, P, c_int, c_double, c_double,
                              ERR]),
    "djd_designHvp": (c_int, [P, P, P, P]),
    "djd_phasesHvp": (c_int, [P, P, P, P]),
    "djd_optimizeScenes": (c_int, [P, P, c_int, P, P, P, c_int, P, P, ERR]),
    "djd_makeReceding": (c_int, [P, P, P, ERR]),
    "djd_deleteReceding": (None, [P]),
    "djd_receding": (c_int, [P, P, ERR]),
    "djd_recedingArray": (c_int, [POINTER(CArray), P, c_char_p]),
    "dj_makeGapPair": (c_int, [P, P, c_int, c_int, c_int, c_double, ERR]),
    "dj_deleteGapPair": (None, [P]),
    "dj_evalGapPair": (c_int, [P, P, P, P, P, P, P, P]),
    "djc_gap": (c_int, [P, P, P, c_double]),
    "dj_contactName": (c_char_p, [c_int]),
    "dj_geomName": (c_char_p, [POINTER(c_int), c_int]),
    "dj_kinkName": (c_char_p, [c_int]),
    "djc_pair": (c_int, [P, P, P, P, P, P, P]),
    "djc_distance": (c_int, [P, P, P, P, P, P]),
    "djc_implicitFamily": (c_char_p, [c_int]),
    "djc_implicitNumber": (c_char_p, [c_int, c_int]),
    "djc_implicitList": (c_char_p, [c_int]),
    "djc_energyAngle": (c_double, [P]),
    "djc_makeImplicitPair": (c_int, [P, P, P, ERR]),
    "djc_deleteImplicitPair": (None, [P]),
    "djc_evalImplicitPair": (c_int, [P, P, P, P, P, P, c_int]),
    "djc_implicitBySize": (c_int, [P, P, c_int]),
    "djc_implicitDistance": (c_int, [P, P, P, P, c_int]),
    "djc_penalty": (c_int, [P, P, P, P, ERR]),
    "djc_penaltyMesh": (c_int, [P, P, P, P, P, P, ERR]),
    "djc_makeField": (c_int, [P, P, c_int, P, c_int, P, ERR]),
    "djc_deleteField": (None, [P]),
}
PLUGIN: Prototypes = {
    "dj_importMuJoCo": (c_int, [P, P, P, ERR]),
    "dj_loadMJCF": (c_int, [P, P, P, c_char_p, ERR]),
    "dj_deleteReport": (None, [P]),
    "dj_reportLines": (c_int, [P]),
    "dj_reportLine": (c_char_p, [P, c_int]),
    "dj_reportWorst": (c_int, [P, c_int]),
    "djm_writeMJCF": (c_int, [c_char_p, c_char_p, P, P, ERR]),
    "djm_makeContextWith": (c_int, [P, P, P, P, ERR]),
    "djm_changes": (ctypes.c_long, [P]),
    "djm_takeChange": (c_bool, [P, P, P, P]),
    "djm_deleteContext": (None, [P]),
    "djm_model": (P, [P]),
    "djm_data": (P, [P]),
    "djm_errorText": (c_char_p, [P]),
    "djm_makeBatch": (c_int, [P, P, P, c_int, P, ERR]),
    "djm_deleteBatch": (None, [P]),
    "djm_batchThreads": (c_int, [P]),
    "djm_batchOption": (P, [P]),
    "djm_batchErrorText": (c_char_p, [P, c_int]),
    "djm_batchStep": (c_int, [P, P, c_int, c_int, P, P]),
    "djm_batchRollout": (c_int, [P, P, c_int, c_int, P, P, P, P, P, P]),
    "djm_batchTransition": (c_int, [P, P, c_int, P, P, P, P, P, P]),
    "djm_pluginContext": (P, [P, P]),
    "djm_stepOption": (P, [P]),
    "djm_step": (c_int, [P, P, P]),
    "djm_getMocapVelocity": (c_int, [P, P, P, P]),
    "djm_setMocapVelocity": (c_int, [P, P, P, P]),
    "djm_forward": (c_int, [P, P, P]),
    "djm_transition": (c_int, [P, P, P, P, P, P, P]),
    "djm_sensorIsAnalytic": (c_bool, [P, c_int]),
    "djm_makeTransitionWork": (c_int, [P, P, ERR]),
    "djm_deleteTransitionWork": (None, [P]),
    "djm_transitionInfo": (P, [P]),
    "djm_transitionMuJoCoWith": (c_int, [P, P, P, P, P, P, P, ERR]),
    "djm_featureName": (c_char_p, [c_int]),
    "djm_kinkText": (None, [P, P, P]),
    "djm_gap": (c_int, [P, P, P, P, c_int, c_int, c_int, c_double, ERR]),
    "djm_isGapSensor": (c_bool, [P, c_int]),
    "djm_gapSensor": (c_int, [P, P, P, c_int]),
    "djm_registerPlugins": (c_int, [ERR]),
}

# ---- loading -----------------------------------------------------------------------------------


# Levels of x86-64 for which a wheel may have libraries in lib/LEVEL, the best first, and what of
# /proc/cpuinfo they take (as gcc's -march of these names).
_V3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
_LEVELS = {"x86-64-v4": _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
           "x86-64-v3": _V3}


def _best(folder: pathlib.Path) -> pathlib.Path:
    """Of a wheel's libraries those that suit this processor; DIJOCO_CPU names other ones."""
    levels = [level for level in _LEVELS if (folder / level).is_dir()]
    if not levels:
        return folder
    wanted = os.environ.get("DIJOCO_CPU")
    if wanted:
        return folder / wanted if wanted in levels else folder
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return folder
    line = next((x for x in text.splitlines() if x.startswith("flags")), "")
    flags = set(line.partition(":")[2].split())
    return next((folder / level for level in levels if _LEVELS[level] <= flags), folder)


@functools.lru_cache(maxsize=None)
def library_dir() -> pathlib.Path:
    """The folder of the C libraries: `lib` in this package, else DIJOCO_LIBRARY_DIR, else the
    source tree's build/lib."""
    here = pathlib.Path(__file__).resolve().parent
    given = os.environ.get("DIJOCO_LIBRARY_DIR")
    folders = [here / "lib", pathlib.Path(given) if given else here.parents[1] / "build" / "lib"]
    for folder in folders:
        if any(folder.glob("libdijoco.so*")):
            return _best(folder)
    raise ImportError("dijoco: there is no libdijoco.so in %s. Build it (make build) or set "
                      "DIJOCO_LIBRARY_DIR" % " or ".join(str(f) for f in folders))


def _declare(library: ctypes.CDLL, prototypes: Prototypes, path: object) -> None:
    for name, (result, arguments) in prototypes.items():
        if not hasattr(library, name):
            raise ImportError("dijoco: %s is not of this package's version: it has no %s"
                              % (path, name))
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


def _load_core() -> ctypes.CDLL:
    path = sorted(library_dir().glob("libdijoco.so*"))[0]
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError("dijoco: %s. Needed are the system's cjson, qhull, OpenBLAS, LAPACKE, "
                          "AMD and KLU (Debian: apt install libcjson1 libqhull-r8.0 "
                          "libopenblas0-serial liblapacke libamd2 libklu1)" % error) from error
    _declare(library, CORE, path)
    return library


# Of C's structs, by their names; python/tests/test_structs.py compares all with C's.
MIRRORS: dict[str, type[ctypes.Structure]] = {}


def check_structs(structs: dict[str, type[ctypes.Structure]]) -> None:
    """The library's structs are as large as those here."""
    MIRRORS.update(structs)
    for name, struct in structs.items():
        if core.dj_sizeOf(name.encode()) != ctypes.sizeof(struct):
            raise ImportError("dijoco: %s is not of this package's version: %s differs"
                              % (library_dir(), name))


core = _load_core()
check_structs({"djError": CError, "djParam": CParam, "djArray": CArray, "djWatch": CWatch,
               "djHullPoints": CHullPoints, "djHullOverlap": CHullOverlap,
               "djLandscape": CLandscape,
               "djRollout": CRollout, "djRolloutResult": CRolloutResult,
               "djVariation": CVariation, "djBatchResult": CBatchResult})
_plugin: ctypes.CDLL | None = None
_plugin_lock = threading.RLock()


def plugin_library() -> str:
    """Path of libdijoco_plugin.so, for mujoco.mj_loadPluginLibrary."""
    path = library_dir() / "libdijoco_plugin.so"
    if not path.exists():
        raise ImportError("dijoco: %s is missing: this build is without MuJoCo" % path)
    return str(path)


def plugin() -> ctypes.CDLL:
    """The MuJoCo side, loaded at its first use after MuJoCo itself."""
    global _plugin
    with _plugin_lock:
        if _plugin is not None:
            return _plugin
        try:
            # Loads libmujoco, also where only the core bindings are installed.
            importlib.import_module("mujoco._structs")
        except ImportError as error:
            raise ImportError("dijoco: MuJoCo's objects and .xml and .mjb files need the package "
                              "mujoco (pip install mujoco): %s" % error) from error
        if _plugin is None:  # else the import came by here through an entry point
            try:
                library = ctypes.CDLL(plugin_library())
            except OSError as error:
                raise ImportError("dijoco: %s" % error) from error
            _declare(library, PLUGIN, plugin_library())
            _plugin = library
        return _plugin


# ---- errors ------------------------------------------------------------------------------------

def fail(status: int, text: str = "") -> NoReturn:
    raise Error(text or STATUS_TEXT.get(status, "status %d" % status), status)


def call(function: Callable[..., Any], *args: Any) -> int:
    """Call a function whose last argument is a djError; raises Error, returns the status."""
    error = CError()
    status = function(*args, byref(error))
    if status < 0:
        fail(status, error.text.decode(errors="replace"))
    return status


def call_valued(function: Callable[..., Any], *args: Any) -> int:
    """As call; what the library does not take is a ValueError."""
    try:
        return call(function, *args)
    except Error as error:
        if error.status == INVALID:
            raise ValueError(str(error)) from None
        raise


# ---- texts ---------------------------------------------------------------------------------------

def line(kind: str, text: object) -> str:
    """A repr: what kind of object it is, and what is to be known of it, in one short line."""
    text = " ".join(str(text).split())
    room = 98 - len("<dijoco. >") - len(kind)
    return "<dijoco.%s %s>" % (kind, text if len(text) <= room else text[:room - 3] + "...")


def named(names: Iterable[str], most: int = 4) -> str:
    """The first of some names."""
    names = list(names)
    more = ["and %d more" % (len(names) - most)] if len(names) > most else []
    return ", ".join(names[:most] + more)


# ---- memory ------------------------------------------------------------------------------------

class Handle:
    """Owns a C object: deletes it when nothing refers to the handle any more. `keep` are objects
    that have to live as long."""

    __slots__ = ("address", "keep", "__weakref__")

    def __init__(self, address: int | None, delete: Callable[[int | None], object] | None = None,
                 keep: object = ()) -> None:
        self.address = address
        self.keep = keep
        if delete is not None:
            weakref.finalize(self, delete, address).atexit = False

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("objects of the C library cannot be pickled")


# Models and data by their addresses, for PyTorch's operators.
OBJECTS: weakref.WeakValueDictionary[int | None, Any] = weakref.WeakValueDictionary()

DTYPES = (np.dtype(np.float64), np.dtype(np.intc), np.dtype("long"), np.dtype(np.bool_),
          np.dtype("S1"))


def view(field: CArray, handle: Handle, flat: bool, writable: bool = False) -> NDArray[Any]:
    """ndarray on the memory of a field; flat: one axis where there is one column."""
    shape = (field.rows,) if flat and field.columns == 1 else (field.rows, field.columns)
    dtype = DTYPES[field.type]
    if 0 in shape:
        array = np.zeros(shape, dtype)
        array.flags.writeable = writable
        return array
    size = (field.rows - 1) * field.stride + field.columns * dtype.itemsize
    memory = (ctypes.c_char * size).from_address(field.data)
    memory.owner = handle  # lives as long as any array on it
    strides = (field.stride, dtype.itemsize)[:len(shape)]
    array = np.ndarray(shape, dtype, memory, strides=strides)
    array.flags.writeable = writable
    return array


def pointer(array: NDArray[Any] | None) -> int | None:
    """Address of an array's numbers; None stays None."""
    return None if array is None else array.ctypes.data


def numbers(value: ArrayLike | None, shape: tuple[int, ...], name: str) -> Array:
    """A contiguous float64 array of this shape; ValueError if that is not what the value is. The
    value itself where it is such an array."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise ValueError("%s: expected numbers, not %s" % (name, array.dtype))
    if array.shape != shape:
        raise ValueError("%s: expected shape %s, not %s" % (name, shape, array.shape))
    return np.asarray(array, np.float64, order="C")


def integer(value: SupportsIndex, name: str) -> int:
    """A Python int; TypeError for anything that is not an integer."""
    try:
        return value.__index__()
    except AttributeError:
        raise TypeError("%s: expected an integer, not %r" % (name, value)) from None


def text(value: str, name: str) -> bytes:
    """A str for C."""
    if not isinstance(value, str):
        raise TypeError("%s: expected a str, not %s" % (name, type(value).__name__))
    return _without_zeros(value.encode(), name)


def path_bytes(path: Path) -> bytes:
    """A path for C."""
    return _without_zeros(os.fsencode(path), "path")


def _without_zeros(value: bytes, name: str) -> bytes:
    if b"\0" in value:
        raise ValueError("%s: a text cannot hold a zero" % name)
    return value


def expect(thing: object, kind: type, name: str) -> None:
    """TypeError unless it is one."""
    if not isinstance(thing, kind):
        raise TypeError("%s: expected a dijoco.%s, not %s"
                        % (name, kind.__name__, type(thing).__name__))


def count(value: SupportsIndex, name: str) -> int:
    """An integer that is not negative."""
    value = integer(value, name)
    if value < 0:
        raise ValueError("%s: %d is negative" % (name, value))
    return value
