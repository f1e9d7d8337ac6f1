"""The table of settings, and every row of it by option and by keyword."""
import command
import numpy as np
import pytest

import dijoco

TABLE = dijoco.settings()
NAMES = [s.name for s in TABLE]


def another(setting):
    """A value that is not the default, and some that are refused."""
    if setting.kind == "choice":
        rest = [n for n in setting.choices if n != setting.default]
        return (rest or list(setting.choices))[0], ["nothing", 77]
    if setting.kind == "flags":
        return 5, [1 << 20, ["nothing"]]
    if setting.kind == "whole":
        return 37, [-1, 1.5] + ([0] if setting.name == "max_iterations" else [])
    if setting.size == 3:
        return [0.5, -0.25, 0.125], [[1, 2], [0, 0, np.inf]]
    bad = [np.nan, np.inf, "fast"] + ([] if setting.automatic else [-1])
    if setting.least:
        bad.append(0.99 * setting.least)
    return max(0.0123, 1.23 * setting.least), bad


def beside(setting):
    """What it goes with."""
    return {"guide_backward_only": True} if setting.name == "guide_decay" else {}


def test_table(box):
    assert len(set(NAMES)) == len(NAMES) >= 20 and NAMES == list(box.option)
    for setting in TABLE:
        assert setting.help and "scene" in setting.ways and setting.size in (1, 3)
        assert setting.automatic == (setting.default is None) == bool(setting.rule)
    assert dict(zip(NAMES, TABLE))["friction_eps"].unit == "m2/s2"


@pytest.mark.parametrize("setting", TABLE, ids=NAMES)
def test_option(box, setting):
    value, bad = another(setting)
    for name, more in beside(setting).items():
        box.option[name] = more
    before = dict(box.option)
    for wrong in bad:
        with pytest.raises((ValueError, TypeError, dijoco.Error), match=setting.name):
            box.option[setting.name] = wrong
        np.testing.assert_equal(dict(box.option), before)
    box.option[setting.name] = value
    np.testing.assert_equal(box.option[setting.name], value)
    np.testing.assert_equal(dict(box.option, **{setting.name: 0}),
                            dict(before, **{setting.name: 0}))


@pytest.mark.parametrize("setting", TABLE, ids=NAMES)
def test_keyword(box, root, tmp_path, setting):
    value, bad = another(setting)
    path = root / "examples" / "box.json"
    given = dict(beside(setting), **{setting.name: value})
    for model in (dijoco.Model.load(path, **given),
                  dijoco.Model.from_text(path.read_text(), **given), box.copy(**given)):
        np.testing.assert_equal(model.option[setting.name], value)
    for wrong in bad:
        with pytest.raises((ValueError, TypeError, dijoco.Error), match=setting.name):
            dijoco.Model.load(path, **dict(given, **{setting.name: wrong}))
    model.save(tmp_path / "saved.json")
    np.testing.assert_equal(dijoco.Model.load(tmp_path / "saved.json").option[setting.name], value)


@pytest.mark.parametrize("setting", [s for s in TABLE if "task" in s.ways],
                         ids=[s.name for s in TABLE if "task" in s.ways])
def test_task(root, setting):
    value, _ = another(setting)
    task = {"scene": str(root / "examples" / "box.json"), "horizon": 1,
            "loss": [{"type": "com", "target": [0, 0, 0]}], "variables": [{"name": "qvel0"}]}
    try:
        found = dijoco.grad(dict(task, **{setting.name: value}))
    except dijoco.Error as error:   # a key of `contact`
        assert setting.name in str(error)
        found = dijoco.grad(dict(task, contact=dict(beside(setting), **{setting.name: value})))
    assert found["settings"][setting.name] == value


def test_guide_decay(box):
    """In any order with what it goes with; alone it is refused."""
    with pytest.raises(dijoco.Error, match="guide_backward_only"):
        box.option["guide_decay"] = 0.25
    for names in (["guide_decay", "guide_backward_only"], ["guide_backward_only", "guide_decay"]):
        for values in ((0.25, True), (1.5, False)):
            box.option.update({n: values[n != "guide_decay"] for n in names})
            assert box.option["guide_decay"] == values[0]
    with pytest.raises(dijoco.Error, match="guide_backward_only"):
        box.copy(guide_backward_only=True, guide_decay=0.25).option["guide_backward_only"] = False


def test_flags_by_name(box):
    box.option["disable"] = ["contact", "limit"]
    assert box.option["disable"] == 3
    box.option["disable"] = []
    assert box.option["disable"] == 0


def test_unknown(root):
    with pytest.raises(TypeError, match="colour.*friction_eps"):
        dijoco.Model.load(root / "examples" / "box.json", colour=1)


def test_command_has_the_same():
    found = command.run("help", "settings", "--json")
    assert [row["name"] for row in found["rows"]] == NAMES
