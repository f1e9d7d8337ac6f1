// The table of what an optimizer takes: one row each.

#include "base/status.h"
#include "model/setting.h"

#include <dijoco/optimize.h>

#include <string.h>

#define KEY(name_)                                                                       \
  .name = #name_, .offset = offsetof(djOptimizer, name_), .size = 1, .kind = DJ_SETTING_REAL, \
  .ways = DJ_BY_TASK | DJ_BY_COMMAND
#define WHOLE(name_)                                                                     \
  .name = #name_, .offset = offsetof(djOptimizer, name_), .size = 1, .kind = DJ_SETTING_WHOLE, \
  .ways = DJ_BY_TASK | DJ_BY_COMMAND

static const djChoice directions[] = {{"mean", DJ_DIRECTION_MEAN},
                                      {"adam", DJ_DIRECTION_ADAM},
                                      {"gradient", DJ_DIRECTION_GRADIENT},
                                      {NULL, 0}};

static const djSetting rows[] = {
    {WHOLE(iterations), .unit = "", .symbol = "N", .standard = {100}, .zero = true,
     .help = "at most this many"},
    {KEY(rate), .unit = "", .symbol = "R", .standard = {0.01}, .help = "length of steps"},
    {KEY(beta1), .unit = "", .symbol = "B", .standard = {0.9}, .zero = true, .below = 1,
     .help = "weight of the past in the mean gradient"},
    {KEY(beta2), .unit = "", .symbol = "B", .standard = {0.999}, .zero = true, .below = 1,
     .help = "weight of the past in the mean square of the gradient"},
    {KEY(epsilon), .unit = "", .symbol = "E", .standard = {1e-8},
     .help = "added to the root of the mean square"},
    {WHOLE(normalize), .unit = "", .symbol = "0|1", .zero = true, .below = 2,
     .help = "1: each gradient is first divided by its length"},
    {KEY(radius), .unit = "", .symbol = "R", .standard = {0.1},
     .help = "length of the first step, largest one"},
    {KEY(control_radius), .unit = "", .symbol = "R", .zero = true,
     .help = "the same for controls and the start; 0: radius"},
    {.name = "direction", .offset = offsetof(djOptimizer, direction), .size = 1,
     .kind = DJ_SETTING_CHOICE, .choice = directions, .ways = DJ_BY_TASK | DJ_BY_COMMAND,
     .unit = "", .symbol = "NAME",
     .help = "of steps: mean gradients', Adam's, or gradients' in full"},
    {KEY(damping), .unit = "", .symbol = "D", .standard = {1e-3},
     .help = "of the first step, by the curvature's diagonal"},
    {WHOLE(memory), .unit = "", .symbol = "N", .standard = {10}, .help = "stored pairs"},
    {WHOLE(products), .unit = "", .symbol = "N", .standard = {20},
     .help = "Hessian-vector products of a step, at most"},
    {WHOLE(restarts), .unit = "", .symbol = "N", .standard = {16}, .zero = true,
     .help = "at a jump or kink, starts beside the best point in a row that lead nowhere"},
    {KEY(gradient_tolerance), .unit = "", .symbol = "T", .zero = true,
     .help = "ends where no entry of the projected gradient is larger"},
    {KEY(step_tolerance), .unit = "", .symbol = "T", .zero = true,
     .help = "ends after a step that is no longer; 0: never"},
    {WHOLE(patience), .unit = "", .symbol = "N", .zero = true,
     .help = "ends where the best fell by less than 0.1 % in so many iterations; 0: never"},
    {WHOLE(phases), .unit = "", .symbol = "N", .standard = {1},
     .help = "the loss is the mean over N starts, moved by j/N of a timestep along qvel0, j < N"},
};
enum { NROW = sizeof rows / sizeof rows[0] };

#undef WHOLE
#define WHOLE(name_)                                                                     \
  .name = #name_, .offset = offsetof(djReceding, name_), .size = 1, .kind = DJ_SETTING_WHOLE, \
  .ways = DJ_BY_TASK

static const djSetting receding_rows[] = {
    {WHOLE(horizon), .unit = "steps", .symbol = "N", .help = "length of the windows"},
    {WHOLE(apply), .unit = "steps", .symbol = "N", .standard = {1},
     .help = "so many are executed of each before the next one begins"},
    {WHOLE(frame), .unit = "steps", .symbol = "N", .zero = true,
     .help = "where the first window begins, after steps that are executed as given"},
    {WHOLE(candidates), .unit = "", .symbol = "K", .standard = {1}, .most = 1e6,
     .help = "plans, its own and changes of it, of which a window begins with the best"},
    {.name = "spread", .offset = offsetof(djReceding, spread), .size = 1,
     .kind = DJ_SETTING_REAL, .ways = DJ_BY_TASK, .unit = "", .symbol = "S", .zero = true,
     .help = "what changes deviate by at the window's end"},
    {WHOLE(seed), .unit = "", .symbol = "N", .zero = true, .help = "of the changes"},
};
enum { NRECEDING = sizeof receding_rows / sizeof receding_rows[0] };

const djSetting* dj_recedingKey(int i) {
  return i >= 0 && i < NRECEDING ? &receding_rows[i] : NULL;
}

const djSetting* dj_optimizerKey(int i) { return i >= 0 && i < NROW ? &rows[i] : NULL; }

double dj_getOptimizer(const djOptimizer* o, const djSetting* key) {
  double value = 0;
  if (o && key) dj_readRow(&value, o, key);
  return value;
}

// The row of a name; an error lists those that there are.
static djStatus setByName(void* out, const djSetting* table, int n, const char* key, double value,
                          djError* err) {
  djProblemText what = {""};
  for (int i = 0; i < n; i++) {
    if (strcmp(table[i].name, key) != 0) continue;
    const char* problem = dj_rowProblem(&what, &table[i], &value, false);
    if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", key, problem);
    dj_storeRow(out, &table[i], &value);
    return DJ_OK;
  }
  for (int i = 0; i < n; i++) {
    dj_expectName(what.text, sizeof what.text, table[i].name, i == 0);
  }
  return dj_fail(err, DJ_INVALID, "%.100s: unknown key%s", key, what.text);
}

djStatus dj_setOptimizer(djOptimizer* o, const char* key, double value, djError* err) {
  if (!o || !key) return dj_fail(err, DJ_INVALID, "optimizer or key: NULL");
  return setByName(o, rows, NROW, key, value, err);
}

djStatus dj_setOptimizerText(djOptimizer* o, const char* key, const char* text, djError* err) {
  if (!o || !key || !text) return dj_fail(err, DJ_INVALID, "optimizer, key or text: NULL");
  for (int i = 0; i < NROW; i++) {
    const djSetting* row = &rows[i];
    if (strcmp(row->name, key) != 0 || !row->choice) continue;
    for (const djChoice* c = row->choice; c->name; c++) {
      if (strcmp(c->name, text) == 0) return dj_setOptimizer(o, key, c->value, err);
    }
    djProblemText what;
    dj_unknownChoice(what.text, sizeof what.text, text, row->choice);
    return dj_fail(err, DJ_INVALID, "%s: %s", key, what.text);
  }
  return dj_fail(err, DJ_INVALID, "%.100s: takes no text", key);
}

double dj_getReceding(const djOptimizer* o, const djSetting* key) {
  double value = 0;
  if (o && key) dj_readRow(&value, &o->receding, key);
  return value;
}

djStatus dj_setReceding(djOptimizer* o, const char* key, double value, djError* err) {
  if (!o || !key) return dj_fail(err, DJ_INVALID, "optimizer or key: NULL");
  djReceding r = o->receding;
  for (int i = 0; i < NRECEDING && r.horizon == 0; i++) {
    dj_storeRow(&r, &receding_rows[i], receding_rows[i].standard);
  }
  djStatus status = setByName(&r, receding_rows, NRECEDING, key, value, err);
  if (status < 0) return dj_prefix(err, status, "receding");
  o->receding = r;
  return DJ_OK;
}

int dj_copyStages(djOptimizer* o, djStage* stage, int iterations) {
  if (!o) return 0;
  for (int i = 0; i < o->nstage && stage; i++) {
    stage[i] = o->stage[i];
    if (iterations >= 0) stage[i].iterations = iterations;
  }
  if (stage) o->stage = stage;
  return o->nstage;
}

djOptimizer dj_defaultOptimizer(void) {
  djOptimizer o = {.type = dj_optimizerEntry(0)->name, .shrink = 1};
  for (int i = 0; i < NROW; i++) dj_storeRow(&o, &rows[i], rows[i].standard);
  return o;
}
