#!/usr/bin/env python3
"""Figures in README.md and docs: where they come from, and that they are those.

docs/figures/validate.json has what `make validate` measured, a record for each run, bench.json what
`make bench` did, a record for each timing: every record with its own commit, date and processor, so
that a part may be measured anew. Blocks

    <!-- figures: NAME -->
    ...
    <!-- end -->

are made of these (BLOCKS). `figures.py write` writes them, `figures.py check` says where one differs,
`figures.py bench FILE` records what `dijoco bench --json` printed.
"""
import datetime
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join("docs", "figures")
GENERATED = ("README.md", "docs", "CHANGELOG.md")   # changes there are none of what was measured
BLOCK = re.compile(r"(<!-- figures: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.S)
# Programs whose whole output is kept, as docs/figures/NAME.txt.
REPORTS = ("gradient_honesty", "mj_defaults", "mj_long_range")


def read(root, *path):
    with open(os.path.join(root, *path), encoding="utf-8") as file:
        return file.read()


def output_of(*command):
    try:
        return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, check=False).stdout.strip()
    except OSError:
        return ""


def machine():
    """When, of which commit and where something is measured."""
    cpu = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo", encoding="utf-8").read()
                    if os.path.exists("/proc/cpuinfo") else "")
    cache = read(ROOT, "build", "CMakeCache.txt")
    compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)", cache, re.M).group(1)
    native = re.search(r"^DIJOCO_NATIVE:\w+=(.*)", cache, re.M).group(1)
    commit = output_of("git", "rev-parse", "--short=8", "HEAD") or "no commit"
    if output_of("git", "status", "--porcelain", "--", ".", *(":!" + g for g in GENERATED)):
        commit += " with changes"
    return {"date": str(datetime.date.today()), "commit": commit,
            "processor": cpu.group(1).strip() if cpu else "unknown processor",
            "compiler": output_of(compiler, "--version").split("\n")[0]
            + ("" if native == "ON" else ", portable")}


# ---- records

def load(root, name):
    """{key: record}, in the order of the file."""
    path = os.path.join(root, FOLDER, name + ".json")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(root, name, records):
    """Records one a line, so that a change shows what was measured anew."""
    lines = ["%s: %s" % (json.dumps(key), json.dumps(value)) for key, value in records.items()]
    os.makedirs(os.path.join(root, FOLDER), exist_ok=True)
    with open(os.path.join(root, FOLDER, name + ".json"), "w", encoding="utf-8") as file:
        file.write("{\n%s\n}\n" % ",\n".join(lines))


def record_run(words, figures, verdict, seconds, where, text):
    """A run of a validation program takes the place of the one before."""
    records = load(ROOT, "validate")
    records[" ".join(words)] = dict(where, figures=figures, targets=verdict,
                                    seconds=round(seconds))
    save(ROOT, "validate", dict(sorted(records.items())))
    if words[0] in REPORTS and len(words) == 1:
        with open(os.path.join(ROOT, FOLDER, words[0] + ".txt"), "w", encoding="utf-8") as file:
            file.write("%s\n\n%s" % (told(where), text))


def record_bench(path):
    with open(path, encoding="utf-8") as file:
        results = json.load(file)["results"]
    where, records = machine(), load(ROOT, "bench")
    for row in results:
        kept = {key: row[key] for key in ("unit", "ours", "peer_name", "peer", "ratio", "note")
                if row.get(key) is not None}
        records[row["name"]] = dict(where, **kept)
    save(ROOT, "bench", records)
    return records


# ---- blocks

def told(where):
    return "%s, commit %s, %s, %s" % (where["date"], where["commit"], where["processor"],
                                      where["compiler"])


def places(records):
    """Where records were measured, as lines, each once."""
    found = []
    for record in records:
        if told(record) not in found:
            found.append(told(record))
    return "".join("- %s\n" % line for line in found)


def claims(root):
    """{program: claim}, in the order of validation/claims.txt."""
    lines = [line for line in read(root, "validation", "claims.txt").splitlines()
             if line.strip() and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def number(value):
    """"nan" and its kin, as the command writes them, are texts."""
    if isinstance(value, str):
        return ""
    return "%.3g" % value if abs(value) < 1000 else "%.0f" % value


def validation_block(root):
    """Every run, and every program without one."""
    records, text = load(root, "validate"), ""
    text += "| run | claim | measured | targets met | of commit | CPU s |\n|---|---|---|---|---|---|\n"
    for name, claim in claims(root).items():
        runs = [key for key in records if key.split()[0] == name]
        for key in runs:
            r = records[key]
            text += "| `%s` | %s | %s | %s | %s | %d |\n" % (
                key, claim, r["figures"], r["targets"], r["commit"], r["seconds"])
            claim = "the same"
        if not runs:
            text += "| `%s` | %s | not recorded yet | | | |\n" % (name, claim)
    return text + "\nMeasured:\n\n" + places(records.values())


def checked_block(root):
    """What README says of them."""
    records = load(root, "validate")
    met = sum(r["targets"][0].isdigit() for r in records.values())
    return "%d runs are recorded; %d met all of their targets.\n" % (len(records), met)


def reports_block(root):
    """Outputs that are kept whole."""
    there = [name for name in REPORTS
             if os.path.exists(os.path.join(root, FOLDER, name + ".txt"))]
    return "".join("- [`%s`](%s/%s.txt): %s\n" % (
        name, os.path.basename(FOLDER), name, claims(root)[name]) for name in there) or \
        "None is recorded yet.\n"


def bench_rows(root, wanted):
    """Timings of these names, or all."""
    records = load(root, "bench")
    rows = {key: records[key] for key in wanted or records if key in records}
    if not rows:
        return "Not recorded yet: `make bench` does.\n"
    text = "| | ours | beside | | ratio |\n|---|---|---|---|---|\n"
    for key, r in rows.items():
        peer = number(r.get("peer", "nan"))
        peer += " " + r["unit"] if peer else ""
        text += "| %s%s | %s %s | %s | %s | %s |\n" % (
            key, " (%s)" % r["note"] if r.get("note") else "", number(r["ours"]), r["unit"],
            r["peer_name"] if peer else "", peer, number(r.get("ratio", "nan")))
    return text + "\n" + places(rows.values())


def speed_block(root):
    """README's timings, by what they are."""
    records = load(root, "bench")
    rows = {key: records[key] for key in SPEED if key in records}
    if not rows:
        return "Not recorded yet: `make bench` does.\n"
    text = "| | ours | beside | | ratio |\n|---|---|---|---|---|\n"
    for key, r in rows.items():
        text += "| %s | %s %s | %s | %s %s | %s |\n" % (
            SPEED[key], number(r["ours"]), r["unit"], r["peer_name"], number(r["peer"]), r["unit"],
            number(r["ratio"]))
    return text + "\n" + places(rows.values())


BLOCKS = {
    "validation": validation_block,
    "checked": checked_block,
    "reports": reports_block,
    "bench": lambda root: bench_rows(root, None),
    "speed": speed_block,
    "transition": lambda root: bench_rows(root, TRANSITION),
    "mujoco": lambda root: bench_rows(root, MUJOCO),
}
# Timings of README, of docs/mujoco.md and of docs/mujoco_derivatives.md.
SPEED = {
    "run/hopper": "a step in a run, hopper",
    "run/humanoid": "a step in a run, humanoid",
    "stack/20": "a step of 20 stacked planks",
    "stack/40": "a step of 40 stacked planks",
    "step+transition/humanoid": "a step with its A and B, humanoid",
    "mujoco_transition/humanoid": "MuJoCo's own step with its A and B, humanoid",
    "rollout_forward/humanoid": "a run, recorded for its adjoint, humanoid",
    "rollout_adjoint/humanoid": "its gradient by all controls",
    "rollout_adjoint_params/humanoid": "... and by all of its design",
}
TRANSITION = ("transition/hopper", "transition/ant", "transition/humanoid")
MUJOCO = tuple("mujoco_transition/" + name for name in ("hopper", "half_cheetah", "ant", "humanoid"))


def pages(root):
    folder = os.path.join(root, "docs")
    return ["README.md"] + sorted("docs/" + name for name in os.listdir(folder)
                                  if name.endswith(".md"))


def renewed(root, page):
    """(text of a page, with its blocks as they are to be, what is wrong with its marks)."""
    text, wrong = read(root, page), []
    for name in set(re.findall(r"<!-- figures: (.*?) -->", text)) - set(BLOCKS):
        wrong.append("%s: there are no figures %s" % (page, name))
    if text.count("<!-- figures:") != len(BLOCK.findall(text)):
        wrong.append("%s: figures without an end" % page)
    if wrong:
        return text, wrong
    return BLOCK.sub(lambda m: m.group(1) + BLOCKS[m.group(2)](root) + m.group(4), text), wrong


def reports_wrong(root):
    """Kept outputs that are not of the run that is recorded."""
    records, wrong = load(root, "validate"), []
    for name in REPORTS:
        path = os.path.join(root, FOLDER, name + ".txt")
        if not os.path.exists(path):
            continue
        first = read(root, FOLDER, name + ".txt").split("\n")[0]
        if name not in records or first != told(records[name]):
            wrong.append("%s/%s.txt is not of the run that is recorded" % (FOLDER, name))
    return wrong


def check(root):
    """What is wrong, as lines."""
    found, blocks, timings = reports_wrong(root), set(), load(root, "bench")
    if timings:
        found += ["bench.json has no timing %s" % name for name in (*SPEED, *TRANSITION)
                  if name not in timings]
    for page in pages(root):
        text = read(root, page)
        blocks.update(name for _, name, _, _ in BLOCK.findall(text))
        new, wrong = renewed(root, page)
        found += wrong
        old_lines, new_lines = text.splitlines(), new.splitlines()
        for i, line in enumerate(old_lines):
            if line not in new_lines[max(0, i - 500):i + 500]:
                found.append("%s:%d: not what is recorded: %s" % (page, i + 1, line[:120]))
        if new != text and not wrong:
            found.append("%s: scripts/figures.py write renews its figures" % page)
    return found + ["no page has the figures %s" % name for name in sorted(set(BLOCKS) - blocks)]


def write(root):
    for page in pages(root):
        new, wrong = renewed(root, page)
        if wrong:
            return wrong
        with open(os.path.join(root, page), "w", encoding="utf-8") as file:
            file.write(new)
    return []


def main():
    if sys.argv[1:2] == ["bench"] and len(sys.argv) == 3:
        record_bench(sys.argv[2])
        found = write(ROOT)
    elif sys.argv[1:] == ["write"]:
        found = write(ROOT)
    elif sys.argv[1:] == ["check"]:
        found = check(ROOT)
    else:
        found = ["usage: figures.py write | check | bench FILE"]
    for line in found:
        print("figures: " + line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
