// The page of settings, and the table of presets.

#include "help_table.h"

#include "options.h"

#include <dijoco/csv.h>
#include <dijoco/setting.h>

#include <string.h>

static const char before[] =
    "Written by `dijoco help settings --markdown` from the table in\n"
    "`core/src/model/setting_rows.c`.\n"
    "\n"
    "A setting is the same wherever it is given. Strongest first: the command's option\n"
    "(`--friction-eps 1e-8`), a key of a task (settings of contact in its `contact`), a key of\n"
    "the plugin's instance (`<config key=\"friction_eps\" value=\"1e-8\"/>`), a field of an MJCF\n"
    "scene (`<custom><numeric name=\"dijoco_friction_eps\" data=\"1e-8\"/></custom>`; choices as\n"
    "`<text name=\"dijoco_overlap\" data=\"error\"/>`), a key of a .json scene's `option`, the\n"
    "default. In Python all are keys of `Model.option` and keyword arguments of `Model.load`; in\n"
    "C, fields of `djOption` (dijoco/setting.h).";

static const char after[] =
    "Where a default is a rule, r is the smallest inner radius of the geoms that collide, W the\n"
    "weight of all bodies that move, g the larger of gravity and 9.81 m/s2. `dijoco inspect\n"
    "--json` prints the values in force, and as `without_effect` those of contact models by which\n"
    "no geoms touch.";

static const char* number(char text[32], double value) { return dj_formatNumber(text, value); }

static void add_names(Buffer* out, const djChoice* choice) {
  for (const djChoice* c = choice; c->name; c++) {
    buf_addf(out, "%s%s", c == choice ? "" : ", ", c->name);
  }
}

// "more than 0, less than 1", or the names of choices.
static void add_rule(Buffer* out, const djSetting* s) {
  char text[32];
  if (s->choice) {
    add_names(out, s->choice);
    return;
  }
  if (s->size > 1) buf_addf(out, "%d numbers", s->size);
  else if (s->kind == DJ_SETTING_WHOLE)
    buf_addf(out, "a whole number, at least %d", s->zero ? 0 : 1);
  else if (!s->zero && s->least >= 1) buf_addf(out, "at least %s", number(text, s->least));
  else if (!s->negative) buf_add(out, s->zero ? "at least 0" : "more than 0");
  if (s->below > 0) buf_addf(out, ", less than %s", number(text, s->below));
  if (s->also > 0) buf_addf(out, ", or %s", number(text, s->also));
}

static void add_standard(Buffer* out, const djSetting* s) {
  char text[32];
  if (s->automatic) buf_add(out, s->rule);
  else if (s->kind == DJ_SETTING_CHOICE) buf_add(out, dj_choiceName(s, (int)s->standard[0]));
  else if (s->kind == DJ_SETTING_FLAGS) buf_add(out, "none");
  else {
    for (int k = 0; k < s->size; k++) {
      buf_addf(out, "%s%s", k > 0 ? " " : "", number(text, s->standard[k]));
    }
  }
}

static void add_ways(Buffer* out, const djSetting* s) {
  static const struct {
    unsigned way;
    const char* name;
  } ways[] = {{DJ_BY_COMMAND, "command"}, {DJ_BY_TASK, "task"}, {DJ_BY_PLUGIN, "plugin"},
              {DJ_BY_MJCF, "custom"},     {DJ_BY_PAIR, "pair"}};
  const char* between = "";
  if (s->mujoco) buf_add(out, "MJCF's `<option>`"), between = ", ";
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    if (!(s->ways & ways[i].way)) continue;
    buf_addf(out, "%s%s", between, ways[i].name);
    between = ", ";
  }
}

void help_settings(HelpTable* t) {
  *t = (HelpTable){.title = "Settings", .before = before, .after = after, .ncolumn = 6,
                   .column = {"name", "unit", "values", "default", "also by", "what it is"}};
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    Buffer rule = {0}, standard = {0}, ways = {0};
    add_rule(&rule, s);
    add_standard(&standard, s);
    add_ways(&ways, s);
    const char* cell[HELP_COLUMNS] = {s->name, s->unit, rule.text, standard.text,
                                      ways.text, s->help};
    help_add(t, cell);
    buf_free(&rule);
    buf_free(&standard);
    buf_free(&ways);
  }
}

// "`support_scale` 10, ..."
static void add_preset(Buffer* out, const djPreset* preset) {
  const char* between = "";
  const djSetting* s;
  for (int i = 0; i < DJ_MAX_PRESET && (s = dj_contactSetting(NULL, i)); i++) {
    char text[32];
    if (preset->value[i] == 0) continue;
    buf_addf(out, "%s`%s` %s", between, s->name, number(text, preset->value[i]));
    between = ", ";
  }
}

void help_presets(HelpTable* t) {
  *t = (HelpTable){.ncolumn = 3, .column = {"preset", "sets", "what it is for, and its price"}};
  const djPreset* preset;
  for (int i = 0; (preset = dj_preset(i)); i++) {
    Buffer values = {0};
    add_preset(&values, preset);
    const char* cell[HELP_COLUMNS] = {preset->name, values.text, preset->help};
    help_add(t, cell);
    buf_free(&values);
  }
}
