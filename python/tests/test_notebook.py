"""The notebooks of python/notebooks run from their first cell to the last, and draw; as they are kept
they hold no results."""
import json
import os

import pytest

from conftest import ROOT

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

FOLDER = ROOT / "python" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
DRAWS = {"side_by_side": "wall_friction"}   # by MuJoCo, which takes off-screen rendering


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path):
    if path.stem in DRAWS and os.environ.get("MUJOCO_GL") == "off":
        pytest.skip("no off-screen rendering")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    assert path.stat().st_size < 20000 and json.loads(path.read_text())["nbformat"] == 4
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(FOLDER)}}).execute()
    pictures = [out for cell in notebook.cells for out in cell.get("outputs", ())
                if "image/png" in out.get("data", {})]
    assert len(pictures) >= 2 and all(len(out["data"]["image/png"]) > 4000 for out in pictures)


def test_a_wrong_cell_is_an_error():
    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    notebook.cells = [nbformat.v4.new_code_cell("assert 1 < 0")]
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="AssertionError"):
        nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3",
                                resources={"metadata": {"path": str(FOLDER)}}).execute()
