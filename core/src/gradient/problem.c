#include "gradient/problem.h"

#include "base/status.h"
#include "inertia/geom_moments.h"
#include "gradient/map.h"
#include "model/joint_type.h"
#include "model/param.h"

#include <stdlib.h>
#include <string.h>

// ---- parameters

// The list doubles its memory whenever its length is a power of two.
djStatus dj_listParam(int* index, djProblem* p, const djParam* param, djPool* pool, djError* err) {
  for (int k = 0; k < p->nparam; k++) {
    if (p->param[k].field != param->field || p->param[k].id != param->id) continue;
    *index = k;
    return DJ_OK;
  }
  int n = p->nparam;
  if ((n & (n - 1)) == 0) {
    djParam* grown = dj_poolTake(pool, n > 0 ? 2 * (size_t)n : 1, sizeof *grown);
    if (!grown) return dj_failMemory(err);
    if (n > 0) memcpy(grown, p->param, (size_t)n * sizeof *grown);
    p->param = grown;
  }
  p->param[p->nparam++] = *param;
  p->nparamtangent += param->ntangent;
  *index = n;
  return DJ_OK;
}

int dj_paramTangentAdr(const djProblem* p, int index) {
  int adr = 0;
  for (int k = 0; k < index; k++) adr += p->param[k].ntangent;
  return adr;
}

bool dj_variableIsRotation(const djProblem* p, const djModel* m, const djVariable* v, int k) {
  if (v->kind == DJ_VAR_PARAM) return dj_paramIsRotation(m, &p->param[v->param], k);
  bool qpos = v->kind == DJ_VAR_QPOS0 || v->kind == DJ_VAR_QPOS0_JOINT;
  if (!qpos && v->kind != DJ_VAR_HISTORY_QPOS0) return false;
  int dof = v->adr + k, first = dj_rotationDof(m, m->dof_jnt[dof]);
  return first >= 0 && dof >= first;
}

// ---- what varies once

// Entries start..end-1 of one of the vectors that variables are parts of.
typedef struct djSpan {
  int vector, object, start, end;
  const char* name;
} djSpan;

static int compareSpans(const void* a, const void* b) {
  const djSpan *x = a, *y = b;
  if (x->vector != y->vector) return x->vector < y->vector ? -1 : 1;
  if (x->object != y->object) return x->object < y->object ? -1 : 1;
  return x->start < y->start ? -1 : x->start > y->start;
}

static djSpan spanOf(const djVariable* v, bool parts) {
  djSpan s = {(int)v->kind, 0, v->adr, v->adr + v->ntangent, v->name};
  if (parts && v->kind == DJ_VAR_QPOS0_JOINT) s.vector = DJ_VAR_QPOS0;
  if (parts && v->kind == DJ_VAR_QVEL0_JOINT) s.vector = DJ_VAR_QVEL0;
  if (v->kind == DJ_VAR_FREE) s.object = v->free;
  return s;
}

// parts: whole vectors count beside picked entries, and the part of a joint is an entry of the
// whole vector.
static djStatus checkSpans(const djProblem* p, bool parts, djError* err) {
  size_t n = 0, used = 0;
  for (int i = 0; i < p->nvariable; i++) {
    n += p->variable[i].picked ? (size_t)p->variable[i].n : 1;
  }
  djSpan* span = malloc((n + 1) * sizeof *span);
  if (!span) return dj_failMemory(err);
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    djSpan whole = spanOf(v, parts);
    if (parts && !v->picked && v->ntangent > 0) span[used++] = whole;
    for (int k = 0; v->picked && k < v->n; k++) {
      span[used] = whole;
      span[used].start = v->adr + v->index[k];
      span[used].end = span[used].start + 1;
      used++;
    }
  }
  qsort(span, used, sizeof *span, compareSpans);
  djStatus status = DJ_OK;
  for (size_t i = 1; i < used && status == DJ_OK; i++) {
    const djSpan *a = &span[i - 1], *b = &span[i];
    if (b->vector != a->vector || b->object != a->object || b->start >= a->end) continue;
    if (strcmp(a->name, b->name) == 0) {
      status = dj_fail(err, DJ_INVALID, "variables: an entry of '%.100s' is listed twice", a->name);
    } else {
      status = dj_fail(err, DJ_INVALID, "variables: '%.100s' and '%.100s' have an entry in common",
                       a->name, b->name);
    }
  }
  free(span);
  return status;
}

djStatus dj_checkListed(const djProblem* p, djError* err) { return checkSpans(p, false, err); }

djStatus djd_checkVariables(const djProblem* p, djError* err) {
  return p ? checkSpans(p, true, err) : dj_fail(err, DJ_INVALID, "problem: NULL");
}

// An entry of the variable is computed by the target.
static bool isTarget(const djVariable* v, const djMapTarget* t) {
  if (v->kind == DJ_VAR_PARAM) return t->param == v->param;
  if (v->kind != DJ_VAR_CTRL || t->param >= 0) return false;
  for (int k = 0; k < v->n; k++) {
    int place = v->index[k] - t->start;
    if (place >= 0 && place % t->stride == 0 && place / t->stride < t->n) return true;
  }
  return false;
}

bool dj_isMapped(const djProblem* p, const djParam* param) {
  for (int k = 0; k < p->nmap; k++) {
    for (int t = 0; t < p->map[k].ntarget; t++) {
      int i = p->map[k].target[t].param;
      if (i >= 0 && p->param[i].field == param->field && p->param[i].id == param->id) return true;
    }
  }
  return false;
}

djStatus dj_checkTargets(const djProblem* p, djError* err) {
  for (int i = 0; i < p->nvariable; i++) {
    for (int k = 0; k < p->nmap; k++) {
      const djMap* map = &p->map[k];
      for (int t = 0; t < map->ntarget; t++) {
        if (!isTarget(&p->variable[i], &map->target[t])) continue;
        return dj_fail(err, DJ_INVALID, "variables: '%.100s' is computed by maps[%d]",
                       p->variable[i].name, k);
      }
    }
  }
  return DJ_OK;
}

static bool hasEntry(const djMapTarget* t, int e) {
  int place = e - t->start;
  return place >= 0 && place % t->stride == 0 && place / t->stride < t->n;
}

static bool haveCommonEntry(const djMapTarget* a, const djMapTarget* b) {
  if (a->param != b->param) return false;
  for (int k = 0; k < a->n; k++) {
    if (hasEntry(b, a->start + k * a->stride)) return true;
  }
  return false;
}

djStatus dj_checkAlone(const djProblem* p, const djModel* m, djError* err) {
  for (int k = 0; k < p->nmap; k++) {
    for (int j = 0; j < k; j++) {
      const djMap *map = &p->map[k], *other = &p->map[j];
      if (!map->type->alone && !other->type->alone) continue;
      for (int t = 0; t < map->ntarget * other->ntarget; t++) {
        const djMapTarget* a = &map->target[t / other->ntarget];
        if (!haveCommonEntry(a, &other->target[t % other->ntarget])) continue;
        char name[128] = "ctrl";
        if (a->param >= 0) dj_paramName(name, sizeof name, m, &p->param[a->param]);
        return dj_fail(err, DJ_INVALID, "maps[%d]: '%.100s' is computed by maps[%d], too", k, name,
                       j);
      }
    }
  }
  return DJ_OK;
}

djStatus dj_checkTimestep(const djProblem* p, const djModel* m, djError* err) {
  for (int k = 0; k < p->nmap; k++) {
    double made = p->map[k].timestep;
    if (made == 0 || made == m->opt.timestep) continue;
    return dj_fail(err, DJ_INVALID, "maps[%d]: made for a timestep of %g s, the model's is %g s", k,
                   made, m->opt.timestep);
  }
  return DJ_OK;
}

bool dj_paramFollows(const djModel* m, const djParam* p) {
  bool inertial = p->field == DJ_FIELD_BODY_MASS || p->field == DJ_FIELD_BODY_INERTIA ||
                  p->field == DJ_FIELD_BODY_IPOS || p->field == DJ_FIELD_BODY_IQUAT;
  if (!inertial || m->body_mass[p->id] == 0) return false;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_body[g] == p->id && dj_isSolid(m->geom_type[g])) return true;
  }
  return false;
}

djStatus dj_checkFollowers(const djProblem* p, const djModel* m, djError* err) {
  for (int i = 0; i < p->nparam && p->inertia_from_geom; i++) {
    if (!dj_paramFollows(m, &p->param[i])) continue;
    const char* name = dj_id2name(m, DJ_OBJ_BODY, p->param[i].id);
    for (int k = 0; k < p->nvariable; k++) {
      if (p->variable[k].param == i) name = p->variable[k].name;
    }
    return dj_fail(err, DJ_INVALID, "inertia_from_geom: '%.100s' follows its geoms", name);
  }
  return DJ_OK;
}

void dj_deleteProblem(djProblem* problem) {
  if (!problem) return;
  dj_poolFree(problem->memory);
  free(problem->memory);
  free(problem);
}
