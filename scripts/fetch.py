#!/usr/bin/env python3
"""Downloads a pinned package into build/deps: `fetch.py mujoco`, `coacd`,
`gymnasium`, `dm_control`, `robosuite` or `metaworld`.

Wheels are taken by pip, for fixed platform tags whatever this Python is, and by checksum. What is
there already is not fetched again. DIJOCO_OFFLINE=1 forbids the network.
"""
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEPS = os.path.join(ROOT, "build", "deps")

MUJOCO_HASH = {
    "x86_64": "be28c0c7587347ef996b4de0487264e9da296282082b092bae211a9163e9aed6",
    "aarch64": "52d934614a56f7d75dcfc2bd8bb72f058b465ecc19a0583a56df242f9505bdb6",
}
COACD_HASH = {
    "x86_64": "6c135b717af096523bbebf1fd8d326e8950c024237fe9806ad46dedd8b4c31f0",
    "aarch64": "1242941fc9d49ebcb0368c68f31c86e278b9a6f1a255d11da2f1668797e2626e",
}
MACHINE = platform.machine()
SUITE = ("acrobot", "ball_in_cup", "cartpole", "cheetah", "dog", "finger", "fish", "hopper",
         "humanoid", "humanoid_CMU", "manipulator", "pendulum", "point_mass", "quadruped",
         "reacher", "stacker", "swimmer", "walker")
# name: (package, version, sha256, pip's platform options, {folder or file prefix: new prefix})
PACKAGES = {
    "mujoco": ("mujoco-core", "4.0.1", MUJOCO_HASH.get(MACHINE),
               ["--implementation", "cp", "--python-version", "3.11", "--abi", "cp311",
                "--platform", "manylinux_2_28_" + MACHINE],
               {"mujoco/include/": "include/", "mujoco/libmujoco.": "libmujoco.",
                "mujoco_core-4.0.1.dist-info/licenses/": "licenses/"}),
    "coacd": ("coacd", "1.0.14", COACD_HASH.get(MACHINE),
              ["--implementation", "cp", "--python-version", "3.11", "--abi", "abi3",
               "--platform", "manylinux2014_" + MACHINE],
              {"coacd/lib_coacd.": "coacd/lib_coacd.", "coacd.libs/": "coacd.libs/",
               "coacd-1.0.14.dist-info/LICENSE": "licenses/LICENSE"}),
    "gymnasium": ("gymnasium", "1.4.0",
                  "1cb947c59e7c72d8eabb2c2274c00cd20948e69f8452a9ef4092223be24fdf0e",
                  ["--python-version", "3.11"],
                  {"gymnasium/envs/mujoco/assets/": "",
                   "gymnasium-1.4.0.dist-info/licenses/": ""}),
    "dm_control": ("dm-control", "1.0.50",
                   "5434e1e51ff69016867426da7df6064b18d140e4d0a628f879bbcf0e7d0a586d",
                   ["--python-version", "3.11"],
                   {"dm_control/suite/common/materials.xml": "common/materials.xml",
                    "dm_control/suite/common/skybox.xml": "common/skybox.xml",
                    "dm_control/suite/common/visual.xml": "common/visual.xml",
                    "dm_control/suite/dog_assets/": "dog_assets/",
                    **{"dm_control/suite/%s.xml" % name: name + ".xml" for name in SUITE},
                    "dm_control-1.0.50.dist-info/licenses/": "licenses/"}),
    "robosuite": ("robosuite", "1.5.2",
                  "b9e02df55de8949739de6ba1d196d2ba59cf33c51a76efcfbe5c2f73cdcf99ce",
                  ["--python-version", "3.11"],
                  {"robosuite/models/assets/robots/": "",
                   "robosuite-1.5.2.dist-info/licenses/": "licenses/"}),
    "metaworld": ("metaworld", "3.1.1",
                  "99e25d9baf97f2f1a19ca89c0d2ca9c6a2b396d9a9be81729de64eedc683f0d3",
                  ["--python-version", "3.11"],
                  {"metaworld/assets/": "", "metaworld-3.1.1.dist-info/licenses/": "licenses/"}),
}


def extract(wheel, target, prefixes):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            for old, new in prefixes.items():
                if name.startswith(old) and not name.endswith("/"):
                    path = os.path.normpath(os.path.join(target, new + name[len(old):]))
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with archive.open(name) as source, open(path, "wb") as sink:
                        shutil.copyfileobj(source, sink)


def fetch(name):
    package, version, digest, options, prefixes = PACKAGES[name]
    what = "%s %s" % (package, version)
    if digest is None:
        return "%s: no pinned build for %s; set %s to your own" % (
            what, MACHINE, "DIJOCO_COACD" if name == "coacd" else "MUJOCO_DIR")
    # what is taken of the wheel is part of the stamp
    digest_of = hashlib.sha256(repr((digest, sorted(PACKAGES[name][4].items()))).encode())
    mark = digest_of.hexdigest()
    target = os.path.join(DEPS, name)
    stamp = os.path.join(target, ".sha256")
    if os.path.exists(stamp) and open(stamp).read() == mark:
        return None
    if os.environ.get("DIJOCO_OFFLINE", "0") == "1":
        return "%s is not in %s, and DIJOCO_OFFLINE=1" % (what, os.path.relpath(target, ROOT))

    print("fetch: %s" % what, flush=True)
    work = os.path.join(DEPS, "tmp", name)  # all temporary files stay in the tree, too
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    requirements = os.path.join(work, "requirements.txt")
    with open(requirements, "w") as f:
        f.write("%s==%s --hash=sha256:%s\n" % (package, version, digest))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-cache-dir",
               "--disable-pip-version-check", "--no-deps", "--require-hashes",
               "--only-binary=:all:"] + options + ["-d", work, "-r", requirements]
    if subprocess.run(command, env=dict(os.environ, TMPDIR=work)).returncode != 0:
        return "could not download %s" % what
    wheel = [f for f in os.listdir(work) if f.endswith(".whl")][0]
    extract(os.path.join(work, wheel), os.path.join(work, "tree"), prefixes)
    with open(os.path.join(work, "tree", ".sha256"), "w") as f:
        f.write(mark)
    shutil.rmtree(target, ignore_errors=True)
    os.rename(os.path.join(work, "tree"), target)  # complete or not there at all
    shutil.rmtree(work, ignore_errors=True)
    return None


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in PACKAGES:
        print("usage: fetch.py %s" % "|".join(PACKAGES), file=sys.stderr)
        return 2
    error = fetch(sys.argv[1])
    if error:
        print("fetch: %s" % error, file=sys.stderr)
    return 1 if error else 0


if __name__ == "__main__":
    sys.exit(main())
