#!/usr/bin/env python3
"""The code that README.md and the manual show runs: every block of sh, C, XML and JSON alone, in a
folder that looks like the tree's root, with what it writes elsewhere; every block says its language, or
why it is not run. Blocks of Python: python/tests/test_docs.py and its kin; of CMake: consumer.sh.

Parts are completed: C without main is put into one, on a model m and data d of MuJoCo; XML without
<mujoco> into a scene with a box, and keys of JSON into a task on a scene with what they name.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
SOURCE, BUILD, DIJOCO = (os.environ[k] for k in ("DIJOCO_SOURCE", "DIJOCO_BUILD", "DIJOCO_BIN"))
sys.path.insert(0, os.path.join(SOURCE, "tests/common"))
import pages  # noqa: E402

WORK = os.path.join(os.environ["TMPDIR"], "pages")

BODIES = """
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="box" pos="0 0 .2"><freejoint name="box"/>
      <geom name="fingertip" type="box" size=".1 .1 .1"/></body>
    <body pos="1 0 .2"><freejoint/><geom name="cup" size=".1"/></body>"""
# What keys of tasks in the manual name.
SCENE = """<mujoco>
  <asset><mesh name="hull" vertex="-.1 -.1 -.1 .1 -.1 -.1 -.1 .1 -.1 .1 .1 -.1
                                   -.1 -.1 .1 .1 -.1 .1 -.1 .1 .1 .1 .1 .1"/></asset>
  <worldbody>""" + BODIES + """
    <body name="rod" pos="-1 0 .5"><freejoint/><geom size=".1"/></body>
    <body name="cube1" pos="0 1 .5"><freejoint/><geom size=".1"/></body>
    <body pos="0 -1 .5"><joint name="hinge" axis="0 1 0"/>
      <geom name="head" type="mesh" mesh="hull"/>
      <body name="finger"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".01"/>
        <body name="phalanx" pos=".3 0 0"><joint axis="0 1 0"/>
          <geom type="box" size=".012 .013 .013" pos=".012 0 0"/></body></body></body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge"/></actuator>
  <keyframe><key name="start"/></keyframe>
</mujoco>"""
TASK = {"scene": "scene.xml", "horizon": 3, "variables": [{"name": "qvel0"}],
        "loss": [{"type": "effort"}, {"type": "com", "target": [0, 0, 0]}]}

PROGRAM = """#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <dijoco/mujoco.h>
%s
int main(void) {
  char text[1000] = "";
%s
  mjModel* m = mj_loadXML("models/push_arm/scene.xml", NULL, text, sizeof text);
  if (!m) return puts(text);
  mjData* d = mj_makeData(m);
  size_t nx = (size_t)(2 * m->nv + m->na), ns = (size_t)m->nsensordata, nu = (size_t)m->nu;
  double* A = calloc(nx * nx + 1, sizeof *A);
  double* B = calloc(nx * nu + 1, sizeof *B);
  double* C = calloc(ns * nx + 1, sizeof *C);
  double* D = calloc(ns * nu + 1, sizeof *D);
  djError error;
  error.text[0] = 0;
  {
%s
  }
  if (error.text[0]) puts(error.text);
  free(A);
  free(B);
  free(C);
  free(D);
  mj_deleteData(d);
  mj_deleteModel(m);
  return error.text[0] != 0;
}
"""


def call(arguments, cwd, **more):
    """What it printed, or an error."""
    done = subprocess.run(arguments, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, **more)
    if done.returncode != 0:
        raise RuntimeError("exit status %d\n%s" % (done.returncode, done.stdout))
    return done.stdout


def python_env():
    """The environment whose Python has MuJoCo's package, or None where there are no wheels."""
    done = subprocess.run(["sh", os.path.join(SOURCE, "scripts/python_env.sh"), "mujoco-4.0.0"],
                          stdout=subprocess.PIPE, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def folder(name):
    """A new folder that has what the tree's root has, and the programs of this build."""
    path = os.path.join(WORK, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(os.path.join(path, "build"))
    for part in ("models", "examples", "tests", "docs", "scripts"):
        os.symlink(os.path.join(SOURCE, part), os.path.join(path, part))
    os.symlink(os.path.join(BUILD, "bin"), os.path.join(path, "build", "bin"))
    return path


def run_sh(block, path):
    environment = dict(os.environ, PATH=os.path.dirname(DIJOCO) + ":" + os.environ["PATH"])
    if re.search(r"(?m)^python ", block.code):
        env = python_env()
        if env is None:
            return "no wheels for this Python"
        environment.update(PATH=environment["PATH"].replace(":", ":%s/bin:" % env, 1),
                           PYTHONPATH=os.path.join(SOURCE, "python"),
                           DIJOCO_LIBRARY_DIR=os.path.join(BUILD, "lib"))
        if subprocess.run(["python", "-c", "import ctypes; ctypes.CDLL('libOSMesa.so.8')"],
                          env=environment, stderr=subprocess.DEVNULL).returncode != 0:
            return "no off-screen rendering"
    call(["sh", "-euc", block.code], path, env=environment)
    return None


def run_c(block, path):
    code = block.code
    if "int main" not in code:
        lines = code.replace("/path/to/", os.path.join(BUILD, "lib") + "/").splitlines()
        # what loads plugins comes before the scene
        early = [line for line in lines if "registerPlugins" in line or "loadPlugin" in line]
        code = PROGRAM % ("\n".join(x for x in lines if x.startswith("#")),
                          "\n".join(["  djError error;"] + early + ["  (void)error;"]) if early
                          else "",
                          "\n".join(x for x in lines if not x.startswith("#") and x not in early))
        if early:
            code = code.replace("  djError error;\n  error.text", "  error.text")
    with open(os.path.join(path, "page.c"), "w", encoding="utf-8") as f:
        f.write(code)
    mujoco = os.path.join(SOURCE, "build/deps/mujoco")
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as f:
        found = re.search(r"(?m)^MUJOCO_DIR:\w+=(.+)$", f.read())
    mujoco = found[1] if found else mujoco
    library = [os.path.join(mujoco, n) for n in sorted(os.listdir(mujoco))
               if n.startswith("libmujoco.so")][0]
    lib = os.path.join(BUILD, "lib")
    call([os.environ["DIJOCO_CC"], "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", "page",
          "-I" + os.path.join(SOURCE, "core/include"),
          "-I" + os.path.join(SOURCE, "mujoco_plugin/include"),
          "-isystem", os.path.join(mujoco, "include"), "page.c", library, "-L" + lib,
          "-ldijoco_plugin", "-ldijoco", "-Wl,-rpath,%s:%s" % (lib, mujoco)], path)
    # a program of its own runs beside its models
    call([os.path.join(path, "page")],
         path if code is not block.code else os.path.join(path, "examples"))


def run_xml(block, path):
    text = block.code.replace("...", "")
    text = text if "<mujoco>" in text else "<mujoco>" + text
    if "</mujoco>" not in text:
        text += "<worldbody>%s</worldbody></mujoco>" % BODIES
    with open(os.path.join(path, "scene.xml"), "w", encoding="utf-8") as f:
        f.write(text)
    call([DIJOCO, "simulate", "scene.xml", "--time", "0.1", "--quiet", "--engine", "dijoco"], path)


def run_json(block, path):
    text = block.code.strip()
    given = json.loads(text if text.startswith("{") else "{%s}" % text)
    if "model" in given:   # a pair
        call([DIJOCO, "contact", "-"], path, input=text)
        return
    if "scene" in given:   # a task of a shipped scene
        path, task = os.path.join(path, "models/throw"), given
    else:
        task = {**TASK, **given}
        if "penalty" in text:
            task["contact"] = "penalty"
        for name in ("scene.xml", "torus.xml", "rod.xml"):
            with open(os.path.join(path, name), "w", encoding="utf-8") as f:
                f.write(SCENE)
    with open(os.path.join(WORK, "task.json"), "w", encoding="utf-8") as f:
        json.dump({**task, "scene": os.path.join(path, task["scene"])}, f)
    if "scenes" in task:   # whose paths are relative
        shutil.copy(os.path.join(WORK, "task.json"), os.path.join(path, "task.json"))
        call([DIJOCO, "grad", "task.json", "--quiet"], path)
    else:
        call([DIJOCO, "grad", os.path.join(WORK, "task.json"), "--quiet"], path)


RUN = {"sh": run_sh, "c": run_c, "xml": run_xml, "json": run_json}


def main():
    bad = pages.of_text("p.md", "```\na\n```\n<!-- not run: no -->\n```sh\nb\n```\n```c\nd\n```\n")
    assert [(b.line, b.language, b.reason) for b in bad] == [(2, "", None), (6, "sh", "no"),
                                                            (9, "c", None)]
    errors = list(pages.problems(SOURCE))
    wanted = sys.argv[1:]
    ran = 0
    for block in pages.blocks(SOURCE):
        where = "%s:%d" % (block.page, block.line)
        if block.language not in RUN or (wanted and not any(w in where for w in wanted)):
            continue
        if os.environ["DIJOCO_FLAVOUR"] != "release":
            continue
        try:
            left = RUN[block.language](block, folder("run"))
            ran += not left
            if left:
                print("%s: left out: %s" % (where, left))
        except (RuntimeError, ValueError) as error:
            errors.append("%s: %s\n%s" % (where, error, block.code))
    for error in errors:
        print(error)
    print("pages: %d blocks ran" % ran)
    shutil.rmtree(WORK, ignore_errors=True)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
