#include "options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind { FLAG, TEXT, CHOICE, POSITIVE, NONNEGATIVE, FRACTION, COUNT, SEED, SET } Kind;

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
    {"--ctrl", "FILE.csv", TEXT, GROUP_RUN, AT(ctrl),
     "controls, one row per step (header ctrl[0],...); the last row holds"},
    {"--ctrl-seed", "S", SEED, GROUP_RUN, AT(ctrl_seed),
     "random controls within ctrlrange (or [-1,1]), held for 10 steps"},
    {"--every", "K", COUNT, GROUP_RUN, AT(every), "write every K-th step (default 1)"},
    {"--check", NULL, FLAG, GROUP_CHECK, AT(check), "compare every gradient with differences"},
    {"--check-seed", "S", SEED, GROUP_CHECK, AT(check_seed),
     "of the random directions (default 0); implies --check"},
    {"--iterations", "N", COUNT, GROUP_OPTIMIZE, AT(iterations),
     "at most this many (default: the task's)"},
    {"--out", "FILE", TEXT, GROUP_FILE, AT(out), "file to write"},
    {"--out", "DIR", TEXT, GROUP_FOLDER, AT(out),
     "folder to write into; made if it does not exist"},
    {"--max-position", "D", NONNEGATIVE, GROUP_LIMITS, AT(max_position),
     "exit 1 if a body's position differs by more (m)"},
    {"--max-rotation", "R", NONNEGATIVE, GROUP_LIMITS, AT(max_rotation),
     "exit 1 if a body's rotation differs by more (rad)"},
    {"--filter", "TEXT", TEXT, GROUP_FILTER, AT(filter), "only what has TEXT in its name"},
    {"--models", "DIR", TEXT, GROUP_FILTER, AT(models),
     "folder of gymnasium's models (default: $DIJOCO_GYMNASIUM)"},
    {"--pairs", "FILE", TEXT, GROUP_FILTER, AT(pairs),
     "write hull pairs that were timed, for other programs (JSON)"},
    {"--timestep", "H", POSITIVE, GROUP_SETTINGS, AT(timestep), "seconds"},
    {"--contact", "separating_plane|none", CHOICE, GROUP_SETTINGS, AT(contact), "contact model"},
    {"--integrator", "position|variational", CHOICE, GROUP_SETTINGS, AT(integrator),
     "time integration (default position)"},
    {"--set", "NAME=V[,V...]", SET, GROUP_SETTINGS, 0,
     "set a parameter, e.g. geom/foot/size=0.1,0.05,0.02 (repeatable)"},
    {"--support", "S", FRACTION, GROUP_SETTINGS, AT(support),
     "the barrier's s: where contact begins, 0 < s < 1"},
    {"--length-scale", "L", POSITIVE, GROUP_SETTINGS, AT(length_scale), "length unit of s (m)"},
    {"--stiffness", "K", POSITIVE, GROUP_SETTINGS, AT(stiffness), "of contact (J)"},
    {"--skin", "D", NONNEGATIVE, GROUP_SETTINGS, AT(skin), "erosion of contact shapes (m)"},
    {"--friction-eps", "E", POSITIVE, GROUP_SETTINGS, AT(friction_eps),
     "square of the velocity below which friction is viscous (m2/s2)"},
    {"--overlap", "recover|error", CHOICE, GROUP_SETTINGS, AT(overlap),
     "what to do with geoms that overlap at the start (default recover)"},
    {"--tolerance", "T", POSITIVE, GROUP_SETTINGS, AT(tolerance), "relative, of Newton's method"},
    {"--keyframe", "NAME|INDEX", TEXT, GROUP_SETTINGS, AT(keyframe),
     "start from this keyframe of the scene"},
    {"--gravity-ramp", "T", NONNEGATIVE, GROUP_SETTINGS, AT(gravity_ramp),
     "raise gravity from 0 over the first T seconds (simulate, compare)"},
    {"--allow-ignored", NULL, FLAG, GROUP_SETTINGS, AT(allow_ignored),
     "run even if a feature that changes the motion is left out"},
    {"--threads", "N", COUNT, GROUP_SETTINGS, AT(threads), "one rollout uses one thread"},
    {"--json", NULL, FLAG, GROUP_JSON, AT(json), "print one JSON object instead of text"},
    {"--help", NULL, FLAG, ~0, AT(help), "this text"},
};
#undef AT
enum { NROWS = sizeof table / sizeof table[0] };

// The row of an option, with any value after '='. groups: those of the verb.
static const Row* find_row(const char* argument, int groups, const char** value) {
  size_t n = strcspn(argument, "=");
  for (int i = 0; i < NROWS; i++) {
    if (!(table[i].groups & groups)) continue;
    if (strlen(table[i].name) == n && strncmp(table[i].name, argument, n) == 0) {
      *value = argument[n] ? argument + n + 1 : NULL;
      return &table[i];
    }
  }
  return NULL;
}

static bool is_option(const char* argument) {
  return argument[0] == '-' && argument[1] != 0 && strcmp(argument, "--") != 0;
}

int opt_findVerb(int argc, char* const* argv) {
  for (int i = 1; i < argc; i++) {
    if (!is_option(argv[i])) return i;
    const char* value;
    const Row* row = find_row(argv[i], ~0, &value);
    if (row && row->kind != FLAG && !value) i++;
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
  if (row->kind == POSITIVE && !(number > 0)) return bad(o, row, value, "must be positive");
  if (row->kind == NONNEGATIVE && !(number >= 0)) {
    return bad(o, row, value, "must not be negative");
  }
  if (row->kind == FRACTION && !(number > 0 && number < 1)) {
    return bad(o, row, value, "must lie between 0 and 1");
  }
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
    case POSITIVE:
    case NONNEGATIVE:
    case FRACTION:
      return take_number(o, row, value);
    case COUNT:
    case SEED:
      return take_integer(o, row, value);
    case SET:
      return take_set(o, value);
  }
  return 0;
}

static Options no_options(const Verb* verb) {
  Options o = {.verb = verb->name};
  o.timestep = o.support = o.length_scale = o.stiffness = o.skin = o.friction_eps = NAN;
  o.tolerance = o.gravity_ramp = o.time = o.max_position = o.max_rotation = NAN;
  o.threads = o.ctrl_seed = o.every = o.check_seed = o.iterations = -1;
  return o;
}

int opt_parse(Options* o, const Verb* verb, int argc, char* const* argv, int verb_place) {
  *o = no_options(verb);
  bool ended = false, given[NROWS] = {false};
  int groups = verb->groups;
  for (int i = 1; i < argc; i++) {
    if (i == verb_place) continue;
    const char* value;
    if (!ended && strcmp(argv[i], "--") == 0) {
      ended = true;
    } else if (!ended && strcmp(argv[i], "-h") == 0) {
      o->help = true;
    } else if (!ended && is_option(argv[i])) {
      const Row* row = find_row(argv[i], groups, &value);
      if (!row) return tool_fail(verb->name, NULL, argv[i], "unknown option (see dijoco %s --help)",
                                 verb->name);
      if (row->kind == FLAG && value) {
        return tool_fail(verb->name, NULL, row->name, "takes no value");
      }
      if (row->kind != FLAG && !value) {
        if (i + 1 >= argc || i + 1 == verb_place) {
          return tool_fail(verb->name, NULL, row->name, "needs a value: %s", row->value);
        }
        value = argv[++i];
      }
      if (given[row - table] && row->kind != SET) {
        return tool_fail(verb->name, NULL, row->name, "is given twice");
      }
      given[row - table] = true;
      int status = take_value(o, row, value);
      if (status) return status;
    } else if (o->nargument == verb->nargument) {
      return tool_fail(verb->name, NULL, argv[i], "one argument too many (usage: dijoco %s %s)",
                       verb->name, verb->arguments);
    } else {
      o->argument[o->nargument++] = argv[i];
    }
  }
  if (o->help) return 0;
  if (o->nargument < verb->nargument) {
    return tool_fail(verb->name, NULL, verb->arguments, "missing (see dijoco %s --help)",
                     verb->name);
  }
  return 0;
}

static void print_group(const Verb* verb, int group, const char* title) {
  if (!(verb->groups & group)) return;
  printf("\n%s\n", title);
  for (int i = 0; i < NROWS; i++) {
    if (table[i].groups == ~0 || !(table[i].groups & verb->groups & group)) continue;
    char left[64];
    snprintf(left, sizeof left, "%s %s", table[i].name, table[i].value ? table[i].value : "");
    if (strlen(left) > 27) {
      printf("  %s\n  %27s %s\n", left, "", table[i].help);
    } else {
      printf("  %-27s %s\n", left, table[i].help);
    }
  }
}

void opt_printHelp(const Verb* verb) {
  printf("dijoco %s %s\n\n%s\n", verb->name, verb->arguments, verb->help);
  int general = GROUP_JSON;
  print_group(verb, GROUP_START | GROUP_RUN | GROUP_ENGINE | GROUP_FILE | GROUP_FOLDER |
                        GROUP_LIMITS | GROUP_CHECK | GROUP_FILTER | GROUP_OPTIMIZE,
              "Options:");
  print_group(verb, GROUP_SETTINGS & ~general, "Settings (stronger than those in files):");
  print_group(verb, general, "Output:");
  printf("  %-27s %s\n", "--help", "this text");
  printf("\nExit status: 0 done; 1 it ran, but something did not hold; 2 bad input or usage.\n");
}

void opt_print(Buffer* text) {
  if (text->text) fwrite(text->text, 1, text->size, stdout);
  fflush(stdout);
  buf_free(text);
}
