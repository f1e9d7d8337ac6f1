// Fields of a design by name.

#include "gradient/design_parts.h"
#include "model/fields.h"

#include <string.h>

#define GIVE(pointer, nrow, ncolumn)                                                        \
  dj_array(pointer, DJ_TYPE_OF(pointer), nrow, ncolumn, (size_t)(ncolumn) * sizeof(*(pointer)))

static bool findVariable(djArray* array, const djDesign* d, const char* name) {
  const djProblem* p = d->problem;
  if (p->nvariable < 1) return false;
#define X(field)                                                                            \
  if (strcmp(name, #field) == 0) {                                                          \
    *array = dj_array(&p->variable->field, DJ_TYPE_OF(&p->variable->field), p->nvariable, 1, \
                      sizeof(djVariable));                                                  \
    return true;                                                                            \
  }
  X(kind) X(n) X(nvalue) X(ntangent) X(picked)
#undef X
  return false;
}

static bool findList(djArray* array, const djDesign* d, const char* name) {
  int nterm = d->rollout.nloss;
#define X(field, pointer, rows, columns)                \
  if (strcmp(name, field) == 0) {                       \
    *array = GIVE(pointer, rows, columns);              \
    return true;                                        \
  }
  X("x0", d->x0, d->n, 1) X("x", d->x, d->n, 1) X("lower", d->lower, d->n, 1)
  X("upper", d->upper, d->n, 1) X("group", d->group, d->n, 1)
  X("adr", d->adr, d->problem->nvariable + 1, 1) X("value", d->value, d->nequal, 1)
  X("term", d->result.term, nterm, 1)
  int nentry = d->nequal > 0 ? d->equal_start[d->nequal] : 0;
  X("equal_start", d->equal_start, d->nequal + 1, 1) X("equal_index", d->equal_index, nentry, 1)
  X("equal", d->equal, nentry, 1)
#undef X
  if (strcmp(name, "term.type") != 0 || nterm < 1) return false;
  *array = dj_array(&d->rollout.loss->type, DJ_ARRAY_INT, nterm, 1, sizeof(djLossTerm));
  return true;
}

djStatus djd_designArray(djArray* array, const djDesign* d, const char* name) {
  if (!array) return DJ_INVALID;
  *array = (djArray){0};
  if (!d || !name) return DJ_INVALID;
#define X(field, pointer)                               \
  if (strcmp(name, field) == 0) {                       \
    *array = GIVE(pointer, 1, 1);                       \
    return DJ_OK;                                       \
  }
  X("n", &d->n) X("nvariable", &d->problem->nvariable) X("nterm", &d->rollout.nloss)
  X("nequal", &d->nequal) X("horizon", &d->rollout.horizon)
  X("evaluations", &dj_designMemory(d)->evaluations)
  X("unconverged_steps", &d->result.unconverged_steps)
  X("fallback_steps", &d->data->stats.fallback_steps)
  X("recovering_steps", &d->data->stats.recovering_steps)
  X("worst_residual", &d->result.worst_residual)
  X("worst_condition", &d->result.worst_condition)
#undef X
  if (strcmp(name, "inertia_from_geom") == 0) {
    *array = dj_array(&d->problem->inertia_from_geom, DJ_ARRAY_INT, 1, 1, sizeof(djInertiaRule));
    return DJ_OK;
  }
  if (strncmp(name, "variable.", 9) == 0) {
    return findVariable(array, d, name + 9) ? DJ_OK : DJ_INVALID;
  }
  return findList(array, d, name) ? DJ_OK : DJ_INVALID;
}

const char* djd_designError(const djDesign* d) { return d ? d->error.text : ""; }

const char* djd_variableName(const djDesign* d, int variable) {
  bool known = d && variable >= 0 && variable < d->problem->nvariable;
  return known ? d->problem->variable[variable].name : "";
}

int djd_variableIndex(const djDesign* d, int variable, int k) {
  bool known = d && variable >= 0 && variable < d->problem->nvariable;
  const djVariable* v = known ? &d->problem->variable[variable] : NULL;
  return v && k >= 0 && k < v->n ? v->index[k] : -1;
}
