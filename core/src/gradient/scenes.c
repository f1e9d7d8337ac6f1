#include "base/status.h"
#include "gradient/phases.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

djStatus dj_prefixScene(djError* err, djStatus status, const djDesign* d) {
  return dj_sceneOf(d)[0] ? dj_prefix(err, status, dj_sceneOf(d)) : status;
}

// Relative difference of numbers that count as the same: a scene may have them by another way.
static const double same = 1e-9;

static bool isSame(const double* a, const double* b, int n) {
  for (int k = 0; k < n; k++) {
    if (!(fabs(a[k] - b[k]) <= same * (1 + fabs(a[k])))) return false;
  }
  return true;
}

// "scenes[1] 'cup'", or the number where the problem is of no task with a list.
static djStatus fail(djError* err, const djDesign* d, int scene, const char* variable,
                     const char* what) {
  char number[32];
  snprintf(number, sizeof number, "scenes[%d]", scene);
  const char* element = dj_sceneOf(d)[0] ? dj_sceneOf(d) : number;
  return dj_fail(err, DJ_INVALID, "%s: variable '%.100s' %s", element, variable, what);
}

// Entries that vary, where they are plain numbers; else the whole value.
static bool hasSameValues(const djDesign* first, const djDesign* d, int variable, double* scratch) {
  const djVariable* v = &d->problem->variable[variable];
  int adr = d->adr[variable];
  if (v->nvalue == v->ntangent) return isSame(first->x0 + adr, d->x0 + adr, v->n);
  djd_designValue(scratch, first, variable);
  djd_designValue(scratch + v->nvalue, d, variable);
  return isSame(scratch, scratch + v->nvalue, v->nvalue);
}

// Of equation r. An entry that one has, and the other not, is 0 there.
static bool hasSameRow(const djDesign* a, const djDesign* b, int r) {
  int i = a->equal_start[r], j = b->equal_start[r];
  const int iend = a->equal_start[r + 1], jend = b->equal_start[r + 1];
  while (i < iend || j < jend) {
    int at = i < iend ? a->equal_index[i] : INT_MAX, other = j < jend ? b->equal_index[j] : INT_MAX;
    double x = at <= other ? a->equal[i++] : 0, y = other <= at ? b->equal[j++] : 0;
    if (!isSame(&x, &y, 1)) return false;
  }
  return true;
}

static djStatus checkVariables(const djDesign* first, const djDesign* d, int scene, djError* err) {
  const djProblem *p = first->problem, *q = d->problem;
  int n = p->nvariable > q->nvariable ? p->nvariable : q->nvariable, most = 0;
  for (int i = 0; i < n; i++) { // names first: one that lacks moves the others
    const djVariable *a = &p->variable[i], *b = &q->variable[i];
    if (i < p->nvariable && i < q->nvariable && strcmp(a->name, b->name) == 0) continue;
    bool lacks = i < p->nvariable;
    return fail(err, d, scene, lacks ? a->name : b->name,
                lacks ? "is missing" : "is not one of the first scene's");
  }
  for (int i = 0; i < n; i++) {
    const djVariable *a = &p->variable[i], *b = &q->variable[i];
    bool whole = a->nvalue == b->nvalue && a->ntangent == b->ntangent;
    bool picked = a->picked && b->picked && a->nvalue == a->ntangent && b->nvalue == b->ntangent;
    bool alike = a->kind == b->kind && a->n == b->n && (whole || picked) &&
                 (a->n == 0 || memcmp(a->index, b->index, (size_t)a->n * sizeof(int)) == 0);
    if (!alike) return fail(err, d, scene, a->name, "has another size than in the first scene");
    most = a->nvalue > most ? a->nvalue : most;
  }
  double* scratch = calloc(2 * (size_t)most + 1, sizeof *scratch);
  if (!scratch) return dj_failMemory(err);
  djStatus status = DJ_OK;
  for (int i = 0; i < n && status == DJ_OK; i++) {
    if (hasSameValues(first, d, i, scratch)) continue;
    status = fail(err, d, scene, p->variable[i].name,
                  "begins with other values than in the first "
                  "scene");
  }
  free(scratch);
  return status;
}

djStatus dj_checkScenesAlike(int nscene, djDesign* const* design, const double* weight,
                             djError* err) {
  for (int s = 0; s < nscene; s++) {
    if (!design[s]) return dj_fail(err, DJ_INVALID, "design: NULL");
    if (weight && !(weight[s] > 0 && isfinite(weight[s]))) {
      return dj_fail(err, DJ_INVALID, "scenes[%d]: weight: must be positive", s);
    }
    if (s == 0) continue;
    for (int k = 0; k < s; k++) {
      if (design[k] == design[s]) return dj_fail(err, DJ_INVALID, "scenes[%d]: given twice", s);
    }
    djStatus status = checkVariables(design[0], design[s], s, err);
    if (status < 0) return status;
    const djDesign *a = design[0], *b = design[s];
    bool alike = a->nequal == b->nequal && isSame(a->value, b->value, a->nequal);
    for (int r = 0; r < a->nequal && alike; r++) alike = hasSameRow(a, b, r);
    if (alike) continue;
    return dj_fail(err, DJ_INVALID, "%s: connect: has other equations than the first scene",
                   dj_sceneOf(b)[0] ? dj_sceneOf(b) : "scenes");
  }
  return DJ_OK;
}
