"""A program of the package's users, for mypy alone (tests/python/types.sh): what calls give has these
types, and a line that ends with `E:` and a code has that error."""
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import dijoco
import dijoco.mujoco
from dijoco.named import Element

Array = NDArray[np.float64]

model = dijoco.Model.load("scene.xml", contact="penalty")
assert_type(model, dijoco.Model)
assert_type(model.nq, int)
assert_type(model.param("body/cart/mass"), Array)
assert_type(model.body("cart"), Element)
assert_type(model.report[0].note, str)
model.set_param("body/cart/mass", 2)
model.set_param(3, 2)                                   # E: arg-type
model.nq + "1"                                          # E: operator

data = dijoco.Data(model)
assert_type(data.qpos, Array)
data.qpos = [0, 1]
data.qpos = None                                        # E: assignment
data.ctrl[0] = 1
assert_type(data.step(100), int)
data.step("100")                                        # E: arg-type
assert_type(data.stats.unconverged_steps, int)
data.stats.unconverged                                  # E: attr-defined
A, B = data.transition()
assert_type(A, Array)

run = dijoco.rollout(model, np.zeros((10, 1)), data=data)
assert_type(run.vjp(qpos=np.zeros((11, 1)), params="body/cart/mass").params["body/cart/mass"], Array)
batch = dijoco.Batch(model, 16, threads=2)
assert_type(batch.rollout(np.zeros((16, 10, 1))), dijoco.Run)
assert_type(batch.rollout(np.zeros((16, 10, 1)), gradient=True).vjp(), dijoco.Gradient)

design = dijoco.Design({"scene": model, "horizon": 10})
loss, gradient = design.evaluate(design.x0)
assert_type(gradient, Array)
assert_type(design.evaluate(design.x0, gradient=False)[1], Optional[Array])
dijoco.optimize(design, callback=lambda k, loss, x: loss > 1)
dijoco.optimize(design, callback=7)                     # E: arg-type
dijoco.optimize(design, 5, threads="2")                 # E: arg-type
assert_type(dijoco.grad("task.json")["loss"], Any)
assert_type(dijoco.sweep("task.json", [{"horizon": 3}]).gradient, Array)
dijoco.nothing                                          # E: attr-defined
