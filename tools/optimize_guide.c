// What a guide came to: how near the bodies that it acts between came in the run of the result, and
// where they never touched which controls and variables are at their bounds.

#include "optimize_run.h"

#include <dijoco/gap.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 8, NAMES = 3 };   // at most, in text

// ---- finding

typedef struct Gaps {
  int n;
  Reach* reach;             // (n)
  djGapPair** pair;         // (n)
} Gaps;

static void measure(Gaps* g, const djModel* m, djData* d) {
  double gap, normal[3], point1[3], point2[3];
  for (int i = 0; i < g->n; i++) {
    Reach* r = &g->reach[i];
    if (!g->pair[i]) continue;
    if (dj_evalGapPair(&gap, normal, point1, point2, NULL, g->pair[i], m, d) < 0) continue;
    if (isnan(r->first)) r->first = r->least = gap;
    r->least = fmin(r->least, gap);
    r->touched |= gap <= 0;
  }
}

// Pairs that pressed in the last step, by more than a tail.
static void feel(Gaps* g, const djModel* m, const djData* d) {
  for (int k = 0; k < d->npair; k++) {
    const djContactPair* p = &d->pair[k];
    int one = m->geom_body[p->geom1], two = m->geom_body[p->geom2];
    bool presses = p->normal_force > 0 && p->gap <= m->contact.range;
    for (int i = 0; i < g->n && presses; i++) {
      const int* body = g->reach[i].body;
      bool same = (body[0] == one && body[1] == two) || (body[0] == two && body[1] == one);
      g->reach[i].touched |= same;
    }
  }
}

// Through the design's present point.
static void follow(Gaps* g, const djDesign* d) {
  const djModel* m = d->model;
  const djRollout* rollout = &d->rollout;
  size_t nu = (size_t)m->nu;
  djData* data = grad_begin(d);
  if (!data) return;
  measure(g, m, data);
  for (int k = 0; k < rollout->horizon; k++) {
    if (nu > 0) memcpy(data->ctrl, rollout->ctrl + (size_t)k * nu, nu * sizeof(double));
    if (dj_step(m, data) < 0) break;
    feel(g, m, data);
    measure(g, m, data);
  }
  dj_deleteData(data);
}

void reach_find(OptimizeRun* r) {
  for (int k = 0; k < r->grad.nscene; k++) {
    const djDesign* d = r->grad.part[k].design;
    const djModel* m = d->model;
    int n = dj_guidedBodies(NULL, 0, m);
    if (n == 0) continue;
    int* body = tool_alloc(2 * (size_t)n, sizeof *body);
    dj_guidedBodies(body, n, m);
    r->reach = tool_grow(r->reach, (size_t)(r->nreach + n), sizeof *r->reach);
    Gaps g = {n, r->reach + r->nreach, tool_alloc((size_t)n, sizeof *g.pair)};
    r->nreach += n;
    for (int i = 0; i < n; i++) {
      const int* of = body + 2 * i;
      g.reach[i] = (Reach){.scene = k, .body = {of[0], of[1]}, .first = NAN, .least = NAN};
      dj_makeGapPair(&g.pair[i], m, DJ_OBJ_BODY, of[0], of[1], 0, NULL);
    }
    follow(&g, d);
    for (int i = 0; i < n; i++) dj_deleteGapPair(g.pair[i]);
    free(g.pair);
    free(body);
  }
}

// ---- telling

void reach_write(Json* out, const OptimizeRun* r) {
  json_list(out, "guide");
  for (int i = 0; i < r->nreach; i++) {
    const Reach* one = &r->reach[i];
    const djModel* m = r->grad.part[one->scene].design->model;
    char name[16];
    json_object(out, NULL);
    if (r->grad.nscene > 1) json_text(out, "scene", grad_sceneName(&r->grad, one->scene));
    json_list(out, "bodies");
    for (int k = 0; k < 2; k++) json_text(out, NULL, scene_bodyName(name, m, one->body[k]));
    json_end(out);
    json_number(out, "distance_first", one->first);
    json_number(out, "distance_least", one->least);
    json_bool(out, "touched", one->touched);
    json_end(out);
  }
  json_end(out);
}

typedef struct NameList {
  char text[160];
  int n;
} NameList;

static void add_name(NameList* list, const char* name) {
  size_t n = strlen(list->text);
  if (list->n < NAMES) {
    snprintf(list->text + n, sizeof list->text - n, "%s%.40s", list->n ? ", " : "", name);
  } else if (list->n == NAMES) {
    snprintf(list->text + n, sizeof list->text - n, ", ...");
  }
  list->n++;
}

static bool is_at(double value, double low, double high) {
  double near = 1e-9 * (high - low);
  return isfinite(near) && (value <= low + near || value >= high - near);
}

// Controls of the last step, and other variables.
static NameList at_bounds(const djDesign* d) {
  NameList list = {.text = ""};
  const djModel* m = d->model;
  const djProblem* p = d->problem;
  int last = (d->rollout.horizon - 1) * m->nu;
  for (int i = 0; i < m->nu; i++) {
    const double* range = m->actuator_ctrlrange + 2 * i;
    if (!m->actuator_ctrllimited[i] || !is_at(d->rollout.ctrl[last + i], range[0], range[1])) {
      continue;
    }
    char number[24];
    const char* name = dj_id2name(m, DJ_OBJ_ACTUATOR, i);
    snprintf(number, sizeof number, "actuator #%d", i);
    add_name(&list, name && *name ? name : number);
  }
  for (int i = 0; i < p->nvariable; i++) {
    bool at = false;
    for (int k = d->adr[i]; k < d->adr[i + 1] && p->variable[i].kind != DJ_VAR_CTRL; k++) {
      at |= is_at(d->x[k], d->lower[k], d->upper[k]);
    }
    if (at) add_name(&list, p->variable[i].name);
  }
  return list;
}

static void print_pair(const OptimizeRun* r, const Reach* one) {
  const djDesign* d = r->grad.part[one->scene].design;
  char name[2][16], of[100] = "";
  NameList bounds = at_bounds(d);
  if (r->grad.nscene > 1) {
    snprintf(of, sizeof of, " in %.80s", grad_sceneName(&r->grad, one->scene));
  }
  const char* first = scene_bodyName(name[0], d->model, one->body[0]);
  const char* second = scene_bodyName(name[1], d->model, one->body[1]);
  printf("  %s never came nearer to %s than %.2g m%s", first, second, one->least, of);
  if (bounds.n > 0) printf("; %s at %s", bounds.text, bounds.n > 1 ? "their bounds" : "its bound");
  printf("\n");
}

void reach_print(const OptimizeRun* r) {
  int apart = 0;
  for (int i = 0; i < r->nreach; i++) apart += !r->reach[i].touched;
  if (apart > LINES) {
    printf("  %d of %d pairs of bodies that the guide acts between never touched: see final.json\n",
           apart, r->nreach);
    return;
  }
  for (int i = 0; i < r->nreach; i++) {
    if (!r->reach[i].touched) print_pair(r, &r->reach[i]);
  }
}
