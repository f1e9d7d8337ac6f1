#include "options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind { FLAG, TEXT, CHOICE, NONNEGATIVE, COUNT, SEED, SET } Kind;

typedef struct Row {
  const char* name;
  const char* value;  // as shown in help; the choices of a CHOICE, separated by |
  Kind kind;
  int groups;
  size_t offset;
  const char* help;
} Row;

#define AT(field) offsetof(Options, field)
static const Row table[] = {
    {"--time", "T", NONNEGATIVE, GROUP_RUN, AT(time),
     "seconds to simulate: round(T/timestep) steps"},
    {"--engine", "dijoco|mujoco", CHOICE, GROUP_ENGINE, AT(engine),
     "who simulates (default dijoco)"},
    {"--qpos", "FILE", TEXT, GROUP_START, AT(qpos), "start positions: nq numbers"},
    {"--qvel", "FILE", TEXT, GROUP_START, AT(qvel), "start velocities: nv numbers"},
    {"--state", "FILE", TEXT, GROUP_STATE, AT(state),
     "start state, as --save-state writes it, with the integrator's history"},
    {"--save-state", "FILE", TEXT, GROUP_STATE, AT(save_state),
     "write the state at the end (JSON), from which a run goes on to the last bit"},
    {"--player", "FILE.html", TEXT, GROUP_RUN, AT(player),
     "write a page that plays what was simulated, with contacts; it needs nothing else"},
    {"--ctrl", "FILE.csv", TEXT, GROUP_RUN, AT(ctrl),
     "controls, one row per step (header ctrl[0],...); the last row holds"},
    {"--ctrl-seed", "S", SEED, GROUP_RUN, AT(ctrl_seed),
     "random controls within ctrlrange (or [-1,1]), held for 10 steps"},
    {"--every", "K", COUNT, GROUP_RUN, AT(every), "write every K-th step (default 1)"},
    {"--check", NULL, FLAG, GROUP_CHECK, AT(check),
     "compare every gradient with differences, and tell whether it leads (6 runs a variable)"},
    {"--check-seed", "S", SEED, GROUP_CHECK, AT(check_seed),
     "of the random directions (default 0); implies --check"},
    {"--check-runs", "N", COUNT, GROUP_CHECK, AT(check_runs),
     "most runs for one variable (default 800), and N/8 more for each in all; implies --check"},
    {"--optimizer", "TYPE", TEXT, GROUP_OPTIMIZE, AT(optimizer), "how (default: the task's)"},
    {"--out", "FILE", TEXT, GROUP_FILE, AT(out), "file to write"},
    {"--out", "DIR", TEXT, GROUP_FOLDER, AT(out),
     "folder to write into; made if it does not exist"},
    {"--surface", NULL, FLAG, GROUP_SURFACE, AT(surface),
     "geoms as meshes of their implicit surfaces, for stock MuJoCo (.xml)"},
    {"--surface-error", "E", NONNEGATIVE, GROUP_SURFACE, AT(surface_error),
     "of these meshes, over the outer radius (default 0.005)"},
    {"--export", "stl|obj", CHOICE, GROUP_EXPORT, AT(export),
     "links as closed shells for building, in metres, into the folder --out"},
    {"--method", "coacd|blocks|shells", CHOICE, GROUP_DECOMPOSE, AT(method),
     "by CoACD, by cells of a grid, or a hull for each shell (default coacd where it is found)"},
    {"--hulls", "N", COUNT, GROUP_DECOMPOSE, AT(hulls),
     "at most so many (default: 16 blocks; as many as CoACD wants, as there are shells)"},
    {"--vertices", "M", COUNT, GROUP_DECOMPOSE, AT(vertices),
     "at most so many of a hull, 4 or more (default 64)"},
    {"--seed", "S", SEED, GROUP_DECOMPOSE, AT(seed), "of CoACD's search (default 0)"},
    {"--samples", "FILE.csv|.json", TEXT, GROUP_SWEEP, AT(samples),
     "rows of numbers under names of entries, or a list of objects with keys of the task"},
    {"--random", "N", COUNT, GROUP_SWEEP, AT(random),
     "samples of all variables, uniform between their bounds"},
    {"--spread", "D", NONNEGATIVE, GROUP_SWEEP, AT(spread),
     "standard deviation of entries without bounds, about the task's values"},
    {"--seed", "S", SEED, GROUP_SWEEP, AT(seed), "of random samples (default 0)"},
    {"--optimize", NULL, FLAG, GROUP_SWEEP, AT(optimize),
     "also optimize from each sample, as the task's optimizer says"},
    {"--step", "N", COUNT, GROUP_REPLAY, AT(step), "stop after step N and print the state there"},
    {"--grid", "A,B,C", TEXT, GROUP_DECOMPOSE, AT(grid),
     "cells along x, y and z of blocks (default: by --hulls)"},
    {"--variable", "NAME", TEXT, GROUP_LINE, AT(variable), "which variable of the tasks varies"},
    {"--index", "I", SEED, GROUP_LINE, AT(index), "which of its entries that vary (default 0)"},
    {"--range", "A,B", TEXT, GROUP_LINE, AT(range), "from A to B, in the entry's units"},
    {"--samples", "N", COUNT, GROUP_LINE, AT(count), "values in that range (default 101)"},
    {"--max-position", "D", NONNEGATIVE, GROUP_LIMITS, AT(max_position),
     "exit 1 if a body's position differs by more (m)"},
    {"--max-rotation", "R", NONNEGATIVE, GROUP_LIMITS, AT(max_rotation),
     "exit 1 if a body's rotation differs by more (rad)"},
    {"--filter", "TEXT", TEXT, GROUP_FILTER, AT(filter), "only what has TEXT in its name"},
    {"--models", "DIR", TEXT, GROUP_FILTER, AT(models),
     "folder of gymnasium's models (default: $DIJOCO_GYMNASIUM)"},
    {"--pairs", "FILE", TEXT, GROUP_FILTER, AT(pairs),
     "write hull pairs that were timed, for other programs (JSON)"},
    {"--set", "NAME=V[,V...]", SET, GROUP_SETTINGS, 0,
     "set a parameter, e.g. geom/foot/size=0.1,0.05,0.02 (repeatable)"},
    {"--guide-bodies", "NAMES", TEXT, GROUP_SETTINGS, AT(guide_bodies),
     "between which a guide acts, as \"rod box, rod cube*\" (default all)"},
    {"--keyframe", "NAME|INDEX", TEXT, GROUP_SETTINGS, AT(keyframe),
     "start from this keyframe of the scene"},
    {"--allow-ignored", NULL, FLAG, GROUP_SETTINGS, AT(allow_ignored),
     "run even if a feature that changes the motion is left out"},
    {"--quiet", NULL, FLAG, GROUP_QUIET, AT(quiet),
     "do not tell what of the scene is not as in MuJoCo"},
    {"--all", NULL, FLAG, GROUP_ALL, AT(all), "every element by itself, not the worst of each feature"},
    {"--threads", "N", COUNT, GROUP_SETTINGS, AT(threads),
     "one rollout uses one thread; phases of a timestep share them (all)"},
    {"--markdown", NULL, FLAG, GROUP_MARKDOWN, AT(markdown), "as it stands in the documentation"},
    {"--json", NULL, FLAG, GROUP_JSON, AT(json), "print one JSON object instead of text"},
    {"--help", NULL, FLAG, ~0, AT(help), "this text"},
};
#undef AT
enum { NROWS = sizeof table / sizeof table[0] };

// An option: a row of the table above, a setting, or a key of the optimizer.
typedef struct Option {
  const Row* row;
  const djSetting* setting;
  int key;                   // of the optimizer: which; -1: it is a setting of the scene
  const char* value;         // after '=', or NULL
} Option;

OptionName opt_nameOf(const djSetting* setting) {
  OptionName name;
  const djSetting* scene = dj_findSetting(setting->name, DJ_BY_COMMAND);
  bool taken = scene && scene != setting;   // by a setting: this is a key of the optimizer
  snprintf(name.text, sizeof name.text, "--%s%s", taken ? "optimizer-" : "", setting->name);
  for (char* c = name.text; *c; c++) {
    if (*c == '_') *c = '-';
  }
  return name;
}

static bool is_named(const char* argument, const char* name) {
  size_t n = strcspn(argument, "=");
  return strlen(name) == n && strncmp(name, argument, n) == 0;
}

// Settings that the verb takes on the command line, then keys of the optimizer: the next one from
// *i on, or NULL after the last. *key: which of these keys it is, or -1.
static const djSetting* next_setting(int* i, int* key, int groups) {
  const djSetting* s;
  int n = 0;
  while (dj_setting(n)) n++;
  for (*key = -1; *i < n;) {
    s = dj_setting((*i)++);
    if ((groups & GROUP_SETTINGS) && (s->ways & DJ_BY_COMMAND)) return s;
  }
  *key = (*i)++ - n;
  return groups & GROUP_OPTIMIZE ? dj_optimizerKey(*key) : NULL;
}

// groups: those of the verb. Neither row nor setting: there is no such option.
static Option find_option(const char* argument, int groups) {
  size_t n = strcspn(argument, "=");
  Option found = {.key = -1, .value = argument[n] ? argument + n + 1 : NULL};
  for (int i = 0; i < NROWS; i++) {
    if ((table[i].groups & groups) && is_named(argument, table[i].name)) found.row = &table[i];
    if (found.row) return found;
  }
  const djSetting* s;
  for (int i = 0; (s = next_setting(&i, &found.key, groups));) {
    OptionName name = opt_nameOf(s);
    if (is_named(argument, name.text)) found.setting = s;
    if (found.setting) return found;
  }
  return found;
}

static bool is_known(const Option* option) { return option->row || option->setting; }

static bool is_option(const char* argument) {
  return argument[0] == '-' && argument[1] != 0 && strcmp(argument, "--") != 0;
}

static bool is_flag(const Option* option) { return option->row && option->row->kind == FLAG; }

int opt_findVerb(int argc, char* const* argv) {
  for (int i = 1; i < argc; i++) {
    if (!is_option(argv[i])) return i;
    Option option = find_option(argv[i], ~0);
    if (is_known(&option) && !is_flag(&option) && !option.value) i++;
  }
  return 0;
}

static void* field(Options* o, const Row* row) { return (char*)o + row->offset; }

static int bad(const Options* o, const Row* row, const char* value, const char* expected) {
  return tool_fail(o->verb, NULL, row->name, "%s, not '%s'", expected, value);
}

static bool is_choice(const char* choices, const char* value) {
  size_t n = strlen(value);
  for (const char* c = choices; *c;) {
    size_t length = strcspn(c, "|");
    if (length == n && strncmp(c, value, n) == 0) return true;
    c += length;
    if (*c == '|') c++;
  }
  return false;
}

static int take_number(Options* o, const Row* row, const char* value) {
  double number;
  if (!tool_number(&number, value) || !isfinite(number)) {
    return bad(o, row, value, "expected a finite number");
  }
  if (!(number >= 0)) return bad(o, row, value, "must not be negative");
  *(double*)field(o, row) = number;
  return 0;
}

static int take_integer(Options* o, const Row* row, const char* value) {
  char* end;
  errno = 0;
  long number = strtol(value, &end, 10);
  long least = row->kind == COUNT ? 1 : 0;
  if (end == value || *end || errno || number < least || number > INT_MAX) {
    return bad(o, row, value,
               row->kind == COUNT ? "expected a positive integer"
                                  : "expected an integer that is not negative");
  }
  *(long*)field(o, row) = number;
  return 0;
}

static int take_set(Options* o, const char* value) {
  const char* equals = strchr(value, '=');
  if (!equals || equals == value) {
    return tool_fail(o->verb, NULL, "--set", "expected NAME=V[,V...], not '%s'", value);
  }
  if (o->nset == MAX_SETS) return tool_fail(o->verb, NULL, "--set", "more than %d", MAX_SETS);
  o->set[o->nset++] = value;
  return 0;
}

static int take_value(Options* o, const Row* row, const char* value) {
  switch (row->kind) {
    case FLAG:
      *(bool*)field(o, row) = true;
      return 0;
    case TEXT:
      if (!*value) return tool_fail(o->verb, NULL, row->name, "the value is empty");
      *(const char**)field(o, row) = value;
      return 0;
    case CHOICE:
      if (!is_choice(row->value, value)) {
        return tool_fail(o->verb, NULL, row->name, "expected %s, not '%s'", row->value, value);
      }
      *(const char**)field(o, row) = value;
      return 0;
    case NONNEGATIVE:
      return take_number(o, row, value);
    case COUNT:
    case SEED:
      return take_integer(o, row, value);
    case SET:
      return take_set(o, value);
  }
  return 0;
}

static int take_setting(Options* o, const djSetting* setting, int key, const char* value) {
  djError err = {""};
  OptionName name = opt_nameOf(setting);
  if (key < 0 ? dj_isGiven(&o->settings, setting) : o->how_given >> key & 1) {
    return tool_fail(o->verb, NULL, name.text, "is given twice");
  }
  double number;
  bool choice = setting->kind == DJ_SETTING_CHOICE ||
                (setting->automatic_by && strcmp(value, "auto") == 0);
  if (!choice && (!tool_number(&number, value) || !isfinite(number))) {
    return tool_fail(o->verb, NULL, name.text, "expected a finite number, not '%s'", value);
  }
  djStatus status;
  if (key < 0) {
    status = choice ? dj_parseSetting(&o->settings, setting->name, value, &err)
                    : dj_giveSetting(&o->settings, setting, &number, &err);
  } else {
    status = choice ? dj_setOptimizerText(&o->how, setting->name, value, &err)
                    : dj_setOptimizer(&o->how, setting->name, number, &err);
  }
  if (key >= 0) o->how_given |= 1ULL << key;
  if (status == DJ_OK) return 0;
  const char* what = strchr(err.text, ':');   // after the setting's name
  what = what ? what + 2 : err.text;
  return choice ? tool_fail(o->verb, NULL, name.text, "%s", what)
                : tool_fail(o->verb, NULL, name.text, "%s, not '%s'", what, value);
}

static Options no_options(const Verb* verb) {
  Options o = {.verb = verb->name};
  o.settings.option = dj_defaultOption();
  o.time = o.max_position = o.max_rotation = o.surface_error = o.spread = NAN;
  o.threads = o.ctrl_seed = o.every = o.check_seed = o.check_runs = -1;
  o.hulls = o.vertices = o.seed = o.random = o.step = o.index = o.count = -1;
  return o;
}

// The option in argv[*i], with its value there or in the next argument.
static int take_option(Options* o, bool given[NROWS], const Verb* verb, int argc,
                       char* const* argv, int verb_place, int* i) {
  Option option = find_option(argv[*i], verb->groups);
  if (!is_known(&option)) {
    return tool_fail(verb->name, NULL, argv[*i], "unknown option (see dijoco %s --help)",
                     verb->name);
  }
  const Row* row = option.row;
  OptionName name = {""};
  if (option.setting) name = opt_nameOf(option.setting);
  const char *value = option.value, *shown = row ? row->name : name.text;
  if (is_flag(&option) && value) return tool_fail(verb->name, NULL, shown, "takes no value");
  if (!is_flag(&option) && !value) {
    if (*i + 1 >= argc || *i + 1 == verb_place) {
      return tool_fail(verb->name, NULL, shown, "needs a value: %s",
                       row ? row->value : option.setting->symbol);
    }
    value = argv[++*i];
  }
  if (option.setting) return take_setting(o, option.setting, option.key, value);
  if (given[row - table] && row->kind != SET) {
    return tool_fail(verb->name, NULL, shown, "is given twice");
  }
  given[row - table] = true;
  return take_value(o, row, value);
}

int opt_parse(Options* o, const Verb* verb, int argc, char* const* argv, int verb_place) {
  *o = no_options(verb);
  bool ended = false, given[NROWS] = {false};
  for (int i = 1; i < argc; i++) {
    if (i == verb_place) continue;
    if (!ended && strcmp(argv[i], "--") == 0) {
      ended = true;
    } else if (!ended && strcmp(argv[i], "-h") == 0) {
      o->help = true;
    } else if (!ended && is_option(argv[i])) {
      int status = take_option(o, given, verb, argc, argv, verb_place, &i);
      if (status) return status;
    } else if (o->nargument == verb->nargument) {
      return tool_fail(verb->name, NULL, argv[i], "one argument too many (usage: dijoco %s %s)",
                       verb->name, verb->arguments);
    } else {
      o->argument[o->nargument++] = argv[i];
    }
  }
  if (o->help) return 0;
  if (o->nargument < verb->nargument && verb->arguments[0] != '[') {
    return tool_fail(verb->name, NULL, verb->arguments, "missing (see dijoco %s --help)",
                     verb->name);
  }
  return 0;
}

// In lines of at most 100 columns.
static void print_option(const char* name, const char* value, const char* help) {
  char left[96];
  snprintf(left, sizeof left, "%s %s", name, value ? value : "");
  if (strlen(left) > 27) {
    printf("  %s\n", left);
    left[0] = 0;
  }
  while (strlen(help) > 70) {
    int n = 70;
    while (n > 0 && help[n] != ' ') n--;
    printf("  %-27s %.*s\n", left, n, help);
    left[0] = 0;
    help += n + 1;
  }
  printf("  %-27s %s\n", left, help);
}

// "--overlap recover|error    what to do with ... (default recover)"
static void print_setting(const djSetting* s) {
  char values[64] = "", help[200];
  for (const djChoice* c = s->choice; c && c->name; c++) {
    size_t n = strlen(values);
    snprintf(values + n, sizeof values - n, "%s%s", n ? "|" : "", c->name);
  }
  OptionName name = opt_nameOf(s);
  const char* standard = dj_choiceName(s, (int)s->standard[0]);
  if (s->choice) snprintf(help, sizeof help, "%s (default %s)", s->help, standard);
  else snprintf(help, sizeof help, *s->unit ? "%s (%s)" : "%s", s->help, s->unit);
  print_option(name.text, s->choice ? values : s->symbol, help);
}

static void print_group(const Verb* verb, int group, const char* title) {
  if (!(verb->groups & group)) return;
  printf("\n%s\n", title);
  for (int i = 0; i < NROWS; i++) {
    if (table[i].groups == ~0 || !(table[i].groups & verb->groups & group)) continue;
    print_option(table[i].name, table[i].value, table[i].help);
  }
}

static void print_settings(const Verb* verb) {
  const djSetting* s;
  if (!(verb->groups & GROUP_SETTINGS)) return;
  bool keys = false;
  printf("\nSettings (stronger than those in files; `dijoco help settings` says more):\n");
  for (int i = 0, key; (s = next_setting(&i, &key, verb->groups));) {
    if (key >= 0 && !keys) printf("\nOf the optimizer (`dijoco help optimizers` says more):\n");
    keys = key >= 0;
    print_setting(s);
  }
}

void opt_printHelp(const Verb* verb) {
  printf("dijoco %s %s\n\n%s\n", verb->name, verb->arguments, verb->help);
  int general = GROUP_JSON;
  print_group(verb, ~(GROUP_SETTINGS | general), "Options:");
  print_settings(verb);
  print_group(verb, GROUP_SETTINGS, "Scene:");
  print_group(verb, general, "Output:");
  printf("  %-27s %s\n", "--help", "this text");
  printf("\nExit status: 0 done; 1 it ran, but something did not hold; 2 bad input or usage.\n");
}

void opt_print(Buffer* text) {
  if (text->text) fwrite(text->text, 1, text->size, stdout);
  fflush(stdout);
  buf_free(text);
}
