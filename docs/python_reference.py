#!/usr/bin/env python3
"""Reference of the Python package in Markdown, as Sphinx reads it: `python_reference.py FOLDER`
prints it from the docstrings in FOLDER (python/dijoco), which it parses and does not import. What
is public and has no docstring is an error.

Public is what `__all__` of a module (MODULES) names, else all without an underscore at the front,
with what it imports from other modules of the package.
"""
import ast
import inspect
import os
import re
import sys

# Modules that users import, and how the page calls them.
MODULES = {"__init__": "dijoco", "mujoco": "dijoco.mujoco", "torch": "dijoco.torch",
           "jax": "dijoco.jax", "gym": "dijoco.gym"}


def escaped(text):
    """Text with what Markdown takes for marks escaped, outside of `code`."""
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"[\\*_<>#|{}\[\]$]", lambda m: "\\" + m[0], parts[i])
    return "`".join(parts)


def markdown(doc):
    """A docstring: what is indented is code."""
    out, code = [], []
    for line in inspect.cleandoc(doc).split("\n") + [""]:
        if line.startswith("  ") or (not line and code):
            code.append(line)
            continue
        if code:
            while code and not code[-1]:
                code.pop()
            out += ["", "```text", *inspect.cleandoc("\n" + "\n".join(code)).split("\n"), "```", ""]
            code = []
        out.append(escaped(line))
    if code:
        out += ["", "```text", *inspect.cleandoc("\n" + "\n".join(code)).split("\n"), "```"]
    return "\n".join(out).strip("\n")


class Module:
    """What one file defines: nodes by name, names that it imports."""

    def __init__(self, folder, name):
        with open(os.path.join(folder, name + ".py"), encoding="utf-8") as f:
            tree = ast.parse(f.read())
        self.doc = ast.get_docstring(tree, clean=False) or ""
        self.node, self.imported, self.all = {}, {}, None
        for node in tree.body:
            self.take(node)

    def take(self, node):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self.node[node.name] = node
        elif isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            for alias in node.names:
                self.imported[alias.asname or alias.name] = (node.module, alias.name)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name) and target.id == "__all__":
                self.all = ast.literal_eval(node.value)

    def public(self):
        if self.all is not None:
            return [name for name in self.all if name in self.node or name in self.imported]
        own = [name for name in self.node if not name.startswith("_")]
        return own + [name for name, (home, _) in self.imported.items()
                      if not name.startswith("_") and not home.startswith("_")]


def is_overload(node):
    return any(isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list)


def arguments(node, method):
    args = node.args
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
    if method and not static:
        first = (args.posonlyargs or args.args)
        if first:
            first.pop(0)
    return "(%s)" % ast.unparse(args)


class Page:
    def __init__(self, folder):
        self.folder, self.modules, self.wrong, self.seen = folder, {}, [], set()

    def module(self, name):
        if name not in self.modules:
            self.modules[name] = Module(self.folder, name)
        return self.modules[name]

    def resolve(self, module, name):
        """(module that defines it, its name there), or None of what is a value."""
        while name not in self.module(module).node:
            if name not in self.module(module).imported:
                return None
            module, name = self.module(module).imported[name]
        return module, name

    def text(self, doc, what):
        if not doc:
            self.wrong.append("%s: no docstring" % what)
        return markdown(doc or "")

    def function(self, node, name, fence, kind):
        kinds = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
        options = ""
        if kind == "method" and "property" in kinds:
            kind, signature = "property", ""
        else:
            signature = arguments(node, kind == "method")
            options = "".join(":%s:\n" % k for k in ("classmethod", "staticmethod") if k in kinds)
        doc = self.text(ast.get_docstring(node, clean=False), name)
        short = name.split(".")[-1] if kind in ("method", "property") else name
        return "%s{py:%s} %s%s\n%s\n%s\n%s\n" % (fence, kind, short, signature, options, doc, fence)

    def entry(self, home, name, shown):
        """One public name of a module."""
        module = self.module(home)
        node = module.node[name]
        if isinstance(node, ast.FunctionDef):
            return self.function(node, shown, ":::", "function")
        signature, members = "", ""
        for inner in node.body:
            if not isinstance(inner, ast.FunctionDef) or is_overload(inner):
                continue
            if inner.name == "__init__":
                signature = arguments(inner, True)
            setter = any(isinstance(d, ast.Attribute) for d in inner.decorator_list)
            if not inner.name.startswith("_") and not setter:
                members += "\n" + self.function(inner, shown + "." + inner.name, ":::", "method")
        doc = self.text(ast.get_docstring(node, clean=False), shown)
        return "::::{py:class} %s%s\n\n%s\n%s::::\n" % (shown, signature, doc, members)

    def page(self):
        out = "# Python reference\n\nFrom the docstrings of the package.\n"
        for file, title in MODULES.items():
            module = self.module(file)
            out += "\n## %s\n\n%s\n\n" % (title, markdown(module.doc))
            for name in sorted(module.public(), key=str.lower):
                home = self.resolve(file, name)
                if home and home not in self.seen:
                    self.seen.add(home)
                    out += self.entry(*home, title + "." + name) + "\n"
        return out


def main():
    page = Page(sys.argv[1])
    text = page.page()
    for line in page.wrong:
        print("python_reference: " + line, file=sys.stderr)
    sys.stdout.write(text)
    return 1 if page.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
