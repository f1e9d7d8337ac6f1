"""What is declared for type checkers alone is what there is (mypy itself: tests/python/types.sh)."""
import ast
import pathlib

import pytest

import dijoco
import mj  # noqa: F401
from dijoco import batch, data, model

FOLDER = pathlib.Path(dijoco.__file__).parent


def declared(module, name):
    """Names of the block `if TYPE_CHECKING` of a class: fields, and methods."""
    tree = ast.parse((FOLDER / (module + ".py")).read_text())
    cls, = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name]
    block, = [n for n in cls.body if isinstance(n, ast.If) and
              getattr(n.test, "id", "") == "TYPE_CHECKING"]
    fields = {n.target.id for n in block.body if isinstance(n, ast.AnnAssign)} | {
        n.targets[0].id for n in block.body if isinstance(n, ast.Assign)}
    return fields, {n.name for n in block.body if isinstance(n, ast.FunctionDef)}


def test_batch():
    fields, methods = declared("batch", "Batch")
    shared, _ = declared("data", "Arrays")
    assert not fields & shared and fields | shared == set(batch._NAMES) and not methods


def test_data():
    fields, methods = declared("data", "Data")
    shared, _ = declared("data", "Arrays")
    plain = {n for n in data._FIELDS if "." not in n}
    # properties that the class writes out
    own = {"time", "gravity_scale", "energy", "history", "ncontact", "npair"}
    assert not fields & shared and fields | shared == plain - own
    assert methods == {"body", "joint", "geom", "site", "actuator"}
    assert all(callable(getattr(dijoco.Data, name)) for name in methods)
    assert list(data.Stats._fields) == data._STATS


def test_model():
    fields, methods = declared("model", "Model")
    assert fields <= model._SIZES and methods == set(model.KINDS)


@pytest.mark.filterwarnings("ignore::dijoco.ModelWarning")
def test_sweep(root):
    made = dijoco.sweep(root / "models" / "throw" / "task.json", [{"horizon": 2}], check=True,
                        optimize=True)
    fields, _ = declared("sweep", "Sweep")
    assert fields == set(vars(made)) - {"names", "variables", "seconds"}


@pytest.mark.parametrize("name", [n for n in dijoco.__all__ if callable(getattr(dijoco, n))])
def test_public_functions(name):
    """Signatures of what the package exports are whole."""
    thing = getattr(dijoco, name)
    functions = [thing] if not isinstance(thing, type) else [
        f for key, f in vars(thing).items()
        if not key.startswith("_") and hasattr(f, "__annotations__") and hasattr(f, "__code__") and
        f.__qualname__ == "%s.%s" % (name, key)]
    for function in functions:
        code = function.__code__
        given = set(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]) - {"self", "cls"}
        assert given <= set(function.__annotations__), function.__qualname__
        assert "return" in function.__annotations__, function.__qualname__
