// The optimizer of a task.

#include "io/task_parse.h"

#include <stdio.h>
#include <string.h>

// What a number must be.
typedef enum djOptimizerRule { RULE_POSITIVE, RULE_NONNEGATIVE, RULE_BELOW_ONE } djOptimizerRule;

static const char* problemOf(double value, djOptimizerRule rule) {
  if (rule == RULE_POSITIVE) return value > 0 ? NULL : "must be positive";
  if (value < 0) return rule == RULE_BELOW_ONE ? "must be in [0, 1)" : "must not be negative";
  return rule == RULE_BELOW_ONE && value >= 1 ? "must be in [0, 1)" : NULL;
}

djStatus dj_parseOptimizer(djOptimizer* o, const cJSON* item, djError* err) {
  static const char* const keys[] = {"type", "iterations", "memory", "rate", "beta1", "beta2",
                                     "epsilon", "radius", "control_radius", "gradient_tolerance",
                                     "step_tolerance", NULL};
  const struct {
    const char* key;
    double* value;
    djOptimizerRule rule;
  } numbers[] = {{"rate", &o->rate, RULE_POSITIVE},
                 {"beta1", &o->beta1, RULE_BELOW_ONE},
                 {"beta2", &o->beta2, RULE_BELOW_ONE},
                 {"epsilon", &o->epsilon, RULE_POSITIVE},
                 {"radius", &o->radius, RULE_POSITIVE},
                 {"control_radius", &o->control_radius, RULE_POSITIVE},
                 {"gradient_tolerance", &o->gradient_tolerance, RULE_NONNEGATIVE},
                 {"step_tolerance", &o->step_tolerance, RULE_NONNEGATIVE}};
  djAt at = {err, "optimizer"};
  djStatus status = dj_jsonKeys(item, keys, &at);
  if (status < 0) return status;
  o->given = true;
  const cJSON* type = dj_jsonGet(item, "type");
  const cJSON* iterations = dj_jsonGet(item, "iterations");
  const cJSON* memory = dj_jsonGet(item, "memory");
  if (type) status = dj_jsonText(&o->type, type, &at);
  if (status == DJ_OK && !dj_isOptimizer(o->type)) {
    char what[128];
    snprintf(what, sizeof what, "unknown optimizer '%.100s'", o->type);
    status = dj_jsonFail(&at, "type", what);
  }
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers && status == DJ_OK; k++) {
    const cJSON* c = dj_jsonGet(item, numbers[k].key);
    if (!c) continue;
    status = dj_jsonNumber(numbers[k].value, c, &at);
    const char* problem = problemOf(*numbers[k].value, numbers[k].rule);
    if (status == DJ_OK && problem) status = dj_jsonFail(&at, numbers[k].key, problem);
  }
  if (status == DJ_OK && iterations) status = dj_jsonInt(&o->iterations, iterations, &at);
  if (status == DJ_OK && memory) status = dj_jsonInt(&o->memory, memory, &at);
  if (status < 0) return status;
  if (o->iterations < 0) return dj_jsonFail(&at, "iterations", "must not be negative");
  return o->memory < 1 ? dj_jsonFail(&at, "memory", "must be positive") : DJ_OK;
}
