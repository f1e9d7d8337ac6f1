"""Copies of the project to break: one per worker, and one that knows what each test runs.

Everything lies in build-mutation: base/ has the line coverage of every test, worker-N/ a copy of
the sources (tree/) and its build. Programs and tests take the code from shared libraries there
(DIJOCO_SHARED_TESTS), so that a mutant costs one compilation and one link.
"""
import concurrent.futures
import gzip
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOME = os.path.join(ROOT, "build-mutation")
LIBRARIES = ("libdijoco.so", "libdijoco_mujoco.so", "libdijoco_plugin.so")
# What builds the project anew, needs another Python, reads only texts, mostly waits, or compares
# with stored results (a mutant that only those notice counts as alive).
LEFT_OUT = re.compile(r"^(references|consumer|core_only|docs|layers|mutants|symbols|mj_readme|"
                      r"python_.*|(mj_)?cli_interrupt|validation_lists|figures)$")
MEMORY = 12 << 30
FILE_SIZE = 1 << 30
lock = threading.Lock()


def tracked():
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    return [os.fsdecode(n) for n in names.split(b"\0") if n]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Tree:
    def __init__(self, name, kind, flags):
        self.name = name
        self.source = os.path.join(HOME, name, "tree")
        self.build = os.path.join(HOME, name, "build")
        self.arguments = ["-DCMAKE_BUILD_TYPE=" + kind, "-DCMAKE_C_FLAGS=" + flags]
        self.log = os.path.join(HOME, name, "log.txt")

    def update(self):
        """Makes the copy equal to the project; files that are equal keep their times."""
        names = [n for n in tracked() if os.path.isfile(os.path.join(ROOT, n))]
        for name in names:
            new, old = os.path.join(ROOT, name), os.path.join(self.source, name)
            if not (os.path.exists(old) and open(old, "rb").read() == open(new, "rb").read()):
                os.makedirs(os.path.dirname(old), exist_ok=True)
                shutil.copy(new, old)
        keep = set(names)
        for path, folders, files in os.walk(self.source):
            folders[:] = [d for d in folders if not (path == self.source and d == "build")]
            for file in files:
                full = os.path.join(path, file)
                if os.path.relpath(full, self.source) not in keep:
                    os.remove(full)
        deps = os.path.join(self.source, "build", "deps")
        if not os.path.islink(deps):
            os.makedirs(os.path.dirname(deps), exist_ok=True)
            os.symlink(os.path.join(ROOT, "build", "deps"), deps)

    def run(self, *command):
        with open(self.log, "w") as log:
            return subprocess.run(command, stdout=log, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL).returncode == 0

    def configure(self):
        os.makedirs(self.build, exist_ok=True)
        mujoco = os.environ.get("MUJOCO_DIR") or os.path.join(ROOT, "build", "deps", "mujoco")
        command = ["cmake", "-S", self.source, "-B", self.build, "-DDIJOCO_SHARED_TESTS=ON",
                   "-DDIJOCO_WERROR=OFF", "-DMUJOCO_DIR=" + os.path.abspath(mujoco)]
        if shutil.which("ninja"):
            command += ["-G", "Ninja"]
        if shutil.which("ccache"):
            command += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"]
        if not self.run(*command, *self.arguments):
            raise SystemExit("mutate: " + read(self.log))

    def make(self, *targets):
        command = ["cmake", "--build", self.build, "-j", "1" if targets else str(os.cpu_count())]
        for target in targets:
            command += ["--target", target]
        return self.run(*command)

    def prepare(self):
        os.makedirs(os.path.join(HOME, self.name), exist_ok=True)
        self.update()
        self.configure()
        if not self.make():
            raise SystemExit("mutate: %s does not build: %s" % (self.name, read(self.log)[-3000:]))

    def digest(self):
        """Of the code in the libraries."""
        h = hashlib.sha256()
        for name in LIBRARIES:
            path = os.path.join(self.build, "lib", name)
            if os.path.exists(path):
                h.update(open(path, "rb").read())
        return h.digest()

    def tests(self):
        text = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.build, check=True,
                              stdout=subprocess.PIPE).stdout
        tests = [Test(t) for t in json.loads(text)["tests"] if "command" in t]
        return {t.name: t for t in tests if not LEFT_OUT.match(t.name)}


def limits():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Test:
    def __init__(self, entry):
        self.name, self.command = entry["name"], entry["command"]
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        self.folder = properties.get("WORKING_DIRECTORY")
        self.skip = properties.get("SKIP_RETURN_CODE", 77)
        self.environment = dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", []))

    def program(self):
        """Name of the program that is the test, for tests of C."""
        return os.path.basename(self.command[-1])

    def run(self, seconds, **environment):
        """'passed', 'skipped', 'failed' or 'late', and how long it took."""
        begin = time.time()
        process = subprocess.Popen(
            self.command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=limits,
            env=dict(os.environ, **self.environment, **environment))
        try:
            status = process.wait(timeout=seconds)
            result = "passed" if status == 0 else "skipped" if status == self.skip else "failed"
        except subprocess.TimeoutExpired:
            result = "late"
        try:  # and what it left running
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        return result, time.time() - begin


# ---- coverage -----------------------------------------------------------------------------------

def lines_of(notes, counts):
    """{source: {line: whether it ran}} by one object's counters, from gcov."""
    shutil.copy(notes, os.path.splitext(counts)[0] + ".gcno")
    text = subprocess.run(["gcov", "--json-format", "--stdout", os.path.basename(counts)],
                          cwd=os.path.dirname(counts), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    seen = {}
    if text[:2] == b"\x1f\x8b":
        text = gzip.decompress(text)
    report = json.loads(text or b'{"files":[]}')
    for entry in report["files"]:
        source = os.path.join(report["current_working_directory"], entry["file"])
        lines = seen.setdefault(os.path.normpath(source), {})
        for line in entry["lines"]:
            lines[line["line_number"]] = lines.get(line["line_number"], False) or line["count"] > 0
    return seen


def coverage_of(tree, test):
    """{source (relative): [lines that a test runs, other lines with a counter]}, or None where it
    does not pass."""
    prefix = os.path.join(HOME, tree.name, "counts-" + test.name)
    # Also the test's own: what it takes from headers.
    ours = re.compile(r"CMakeFiles/(dijoco_(objects|mujoco|plugin|plugin_objects)|%s)\.dir/"
                      % re.escape(test.name))
    shutil.rmtree(prefix, ignore_errors=True)
    result, seconds = test.run(1800, GCOV_PREFIX=prefix)
    seen = {}
    for path, _, files in os.walk(prefix if result == "passed" else ""):
        for file in files:
            if file.endswith(".gcda"):
                counts = os.path.join(path, file)
                notes = os.path.splitext(counts)[0][len(prefix):] + ".gcno"
                if not os.path.exists(notes) or not ours.search(notes):
                    continue
                for source, lines in lines_of(notes, counts).items():
                    if source.startswith(tree.source + os.sep):
                        known = seen.setdefault(os.path.relpath(source, tree.source), {})
                        for line, ran in lines.items():
                            known[line] = known.get(line, False) or ran
    shutil.rmtree(prefix, ignore_errors=True)
    if result != "passed":
        return None, seconds
    return {source: [sorted(l for l in lines if lines[l]), sorted(l for l in lines if not lines[l])]
            for source, lines in seen.items()}, seconds


def digest_of(names):
    h = hashlib.sha256()
    for name in sorted(names):
        path = os.path.join(ROOT, name)
        if os.path.isfile(path):
            h.update(name.encode() + b"\0" + open(path, "rb").read())
    return h


def state_of(tree, test, code, scripts):
    """Changes when what a test runs may have changed: the code, its own program, the scripts."""
    h = code.copy()
    for word in test.command:
        path = os.path.join(test.folder or tree.build, word)
        if os.path.isfile(path):
            h.update(open(path, "rb").read())
            if word.endswith((".py", ".sh")):
                h.update(scripts)
    h.update(repr(test.command).encode())
    return h.hexdigest()


def coverage(say, jobs):
    """({test: {source: set of lines}}, {source: set of lines with a counter}, {test: seconds}):
    measured once for each state of a test. None instead of lines: the test does not pass with
    counters, which allocate memory and write files themselves."""
    tree = Tree("base", "Debug", "--coverage")
    store = os.path.join(HOME, "coverage.json")
    say("building with line counters")
    tree.prepare()
    tests = tree.tests()
    code = digest_of(n for n in tracked() if re.match(
        r"(core|mujoco_plugin|tools|cmake|models|tests/data)/|CMakeLists", n))
    ours = (n for n in tracked() if re.match(r"(tests|validation)/.*[.]py$", n))
    scripts = digest_of(ours).digest()
    known = json.loads(read(store)) if os.path.exists(store) else {}
    states = {name: state_of(tree, test, code, scripts) for name, test in tests.items()}
    known = {name: k for name, k in known.items() if states.get(name) == k["state"]}
    missing = [name for name in sorted(tests) if name not in known]

    def measure(name):
        lines, seconds = coverage_of(tree, tests[name])
        with lock:
            known[name] = {"state": states[name], "lines": lines, "seconds": seconds}
            say("what does each test run: %d of %d, %s" % (len(known), len(tests), name))
            with open(store + ".part", "w") as f:
                json.dump(known, f)
            os.replace(store + ".part", store)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(measure, missing))
    counted, ran = {}, {}
    for name, t in known.items():
        ran[name] = None if t["lines"] is None else {}
        for source, (yes, no) in (t["lines"] or {}).items():
            counted.setdefault(source, set()).update(yes, no)
            if yes:
                ran[name][source] = set(yes)
    return ran, counted, {name: t["seconds"] for name, t in known.items()}
