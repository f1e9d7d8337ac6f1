"""dijoco.sweep: the command's table, by executors of all kinds to the same bits."""
import csv
import json
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import command
import dijoco
from test_task import SWING

TASK = dict(SWING, optimizer={"type": "lbfgsb", "iterations": 3})


@pytest.fixture
def folder(root, tmp_path):
    (tmp_path / "cartpole.json").write_text((root / "examples" / "cartpole.json").read_text())
    (tmp_path / "task.json").write_text(json.dumps(TASK))
    return tmp_path


def equal(a, b):
    return all(u == v and np.array_equal(p, q, equal_nan=p.dtype.kind == "f")
               for (u, p), (v, q) in zip(a.columns().items(), b.columns().items()))


def points(design, n):
    return design.x0 + 0.1 * np.random.default_rng(0).normal(size=(n, design.n))


def test_is_the_commands(folder):
    design = dijoco.Design(folder / "task.json")
    x = points(design, 4)
    table = dijoco.sweep(folder / "task.json", x, check=True, optimize=True)
    rows = [",".join('"%s"' % name for name in table.names)]
    rows += [",".join(map(repr, row.tolist())) for row in x]
    (folder / "s.csv").write_text("\n".join(rows))
    command.run("sweep", folder / "task.json", "--samples", folder / "s.csv", "--check",
                "--optimize", "--out", folder / "out", "--json")
    table.save(folder / "table.csv")
    assert (folder / "table.csv").read_text() == (folder / "out" / "samples.csv").read_text()
    assert (table.status == "ok").all() and (table.passed == 1).all() and len(table) == 4
    assert (table.loss_last < table.loss).all() and (table.seconds > 0).all()
    for k in range(4):
        loss, gradient = design.evaluate(x[k])
        assert loss == table.loss[k]
        np.testing.assert_array_equal(gradient, table.gradient[k])
        assert dijoco.optimize(design, x0=x[k])["loss_last"] == table.loss_last[k]


def test_patches(folder):
    samples = [{}, {"initial": {"qvel": [0.3, np.float64(0.1)]}}, {"horizon": 0},
               {"variables": [{"name": "qvel0"}]}, {"scene": "none.json"}]
    table = dijoco.sweep(folder / "task.json", samples, chunk=2)
    assert table.status.tolist() == ["ok", "ok", "failed", "failed", "failed"]
    assert "horizon" in table.message[2] and "variables" in table.message[3]
    assert np.isnan(table.loss[2:]).all() and not table.message[0]
    start = dict(TASK["initial"], qvel=[0.3, 0.1])
    assert table.loss[1] == dijoco.grad(dict(TASK, initial=start), folder=folder)["loss"]
    table.save(folder / "t.csv")
    with open(folder / "t.csv", newline="") as file:
        assert [row["loss"] for row in csv.DictReader(file)][2:] == ["", "", ""]


def test_executors(folder):
    design = dijoco.Design(folder / "task.json")
    x = points(design, 12)
    table = dijoco.sweep(folder / "task.json", x)
    done = []
    with ThreadPoolExecutor(3) as threads:
        assert equal(table, dijoco.sweep(TASK, x, threads, folder=folder, chunk=5,
                                         callback=done.append))
    assert done == [5, 10, 12]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as processes:
        assert equal(table, dijoco.sweep(folder / "task.json", x, processes))
    with spawn.Pool(2) as pool:
        assert equal(table, dijoco.sweep(folder / "task.json", x, pool, chunk=4))


def test_models_travel(folder):
    model = dijoco.Model.load(folder / "cartpole.json")
    model.set_param("body/cart/mass", [2.0])
    task = dict(TASK, scene=model)
    x = points(dijoco.Design(task), 4)
    table = dijoco.sweep(task, x)
    assert table.loss[1] == dijoco.Design(task).evaluate(x[1])[0]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        assert equal(table, dijoco.sweep(task, x, processes))


def test_refused(folder):
    task = folder / "task.json"
    with pytest.raises(ValueError, match="samples: expected"):
        dijoco.sweep(task, [[1.0]])
    with pytest.raises(ValueError, match="not finite"):
        dijoco.sweep(task, np.full((2, dijoco.Design(task).n), np.nan))
    with pytest.raises(ValueError, match="there are none"):
        dijoco.sweep(task, np.zeros((0, dijoco.Design(task).n)))
    with pytest.raises(ValueError, match="chunk"):
        dijoco.sweep(task, [{}], chunk=0)
    with pytest.raises(TypeError, match="executor"):
        dijoco.sweep(task, [{}], executor=3)
    with pytest.raises(ValueError, match="csv or .parquet"):
        dijoco.sweep(task, [{}]).save("table.txt")
    with pytest.raises(dijoco.Error, match="none.json"):
        dijoco.sweep(dict(TASK, scene="none.json"), [{}], folder=folder)


def test_parquet(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = dijoco.sweep(folder / "task.json", [{}, {"horizon": 0}])
    table.save(folder / "t.parquet")
    back = parquet.read_table(folder / "t.parquet").to_pydict()
    assert list(back) == list(table.columns())
    assert back["loss"][0] == table.loss[0] and back["status"] == ["ok", "failed"]


def test_dask(folder):
    distributed = pytest.importorskip("distributed")
    x = points(dijoco.Design(folder / "task.json"), 8)
    table = dijoco.sweep(folder / "task.json", x)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                  local_directory=str(folder)) as cluster:
        with distributed.Client(cluster) as client:
            assert equal(table, dijoco.sweep(folder / "task.json", x, client))
            assert equal(table, dijoco.sweep(folder / "task.json", x, client.get_executor()))


MPI = """
import json, sys
import dijoco
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    task, points = sys.argv[1], json.load(open(sys.argv[2]))
    with MPIPoolExecutor() as ranks:
        dijoco.sweep(task, points, ranks).save(sys.argv[3])
"""


def test_mpi(folder):
    """Ranks of MPI, of which the first hands out."""
    pytest.importorskip("mpi4py")
    mpirun = shutil.which("mpirun")
    if not mpirun:
        pytest.skip("there is no mpirun")
    x = points(dijoco.Design(folder / "task.json"), 8)
    (folder / "x.json").write_text(json.dumps(x.tolist()))
    (folder / "run.py").write_text(MPI)
    path = os.pathsep.join(filter(None, [str(pathlib.Path(dijoco.__file__).parents[1]),
                                         os.environ.get("PYTHONPATH")]))
    subprocess.run([mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "4", sys.executable,
                    "-m", "mpi4py.futures", "run.py", "task.json", "x.json", "table.csv"],
                   cwd=folder, check=True, env=dict(os.environ, PYTHONPATH=path))
    dijoco.sweep(folder / "task.json", x).save(folder / "one.csv")
    assert (folder / "table.csv").read_text() == (folder / "one.csv").read_text()


def test_ray(folder):
    pool = pytest.importorskip("ray.util.multiprocessing")
    x = points(dijoco.Design(folder / "task.json"), 8)
    with pool.Pool(2) as workers:
        table = dijoco.sweep(folder / "task.json", x, workers)
    assert equal(table, dijoco.sweep(folder / "task.json", x))
