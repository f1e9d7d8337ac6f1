"""Lets the package `mujoco` 4.0.0, plain Python, stand in front of the bindings of 4.0.1.

4.0.1's own front is not on every index. 4.0.0's wants to see the bindings of its own release; this
loader changes that one line of it as it is read, in memory: installed files stay as they are.
scripts/python_env.sh puts this module, and a .pth file that imports it, into the environment.
"""
import importlib.machinery
import sys

OLD, NEW = (b"\n_EXPECTED_VERSION = '%s'\n" % version for version in (b"4.0.0", b"4.0.1"))


class Front(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):  # never from a compiled file, which has the line as it was
        source = self.get_data(self.path)
        if source.count(OLD) != 1:
            raise ImportError("%s: not the front of MuJoCo 4.0.0" % self.path)
        return self.source_to_code(source.replace(OLD, NEW), self.path)


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "mujoco":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and spec.origin:
            spec.loader = Front(name, spec.origin)
        return spec


sys.meta_path.insert(0, Finder)
