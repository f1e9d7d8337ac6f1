"""Differentiable joint dynamics with contact.

    import dijoco

    model = dijoco.Model.load("scene.xml")
    data = dijoco.Data(model)
    data.step(100)
    A, B = data.transition()

docs/python.md is a tour.
"""
from ._lib import Error, StepWarning, core as _core, plugin_library
from .batch import Batch, BatchRollout, Run
from .contact import distance, pair
from .data import Data, Stats
from .decompose import Decomposition, Hull, decompose
from .entry import Entry, tables
from .gap import Gap, GapValue, gap, mj_gap, mj_gap_sensor
from .implicit import ImplicitPair, implicit
from .mj_batch import ContextBatch
from .model import Model, ModelWarning, Option, ReportEntry
from .mujoco import Context, register_plugins
from .penalty import Field, penalty
from .receding import receding
from .rollout import Gradient, Rollout, rollout
from .setting import Setting, settings
from .sweep import Sweep, sweep
from .task import Design, grad, optimize

__version__ = _core.dj_version().decode()
__all__ = ["Batch", "BatchRollout", "Context", "ContextBatch", "Data", "Decomposition", "Design",
           "Entry", "Error", "Field", "Gap", "GapValue", "Gradient", "Hull", "ImplicitPair",
           "Model", "ModelWarning", "Option", "ReportEntry", "Rollout", "Run", "Setting", "Stats",
           "StepWarning", "Sweep", "decompose", "distance", "gap", "grad", "implicit", "mj_gap",
           "mj_gap_sensor", "optimize", "pair", "penalty", "plugin_library", "receding",
           "register_plugins", "rollout", "settings", "sweep", "tables"]
