#include "contact_damped.h"

#include "verbs.h"

#include <dijoco/damped.h>
#include <dijoco/setting.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A choice of the contact model's row of that name.
static int read_choice(Reader* r, const cJSON* in, const char* key, int standard) {
  const char* text = read_text(r, in, "params", key, false);
  const djSetting* row;
  int model;
  for (int i = 0; text && (row = dj_contactSetting(&model, i)); i++) {
    if (model != DJ_DAMPED || strcmp(row->name, key) != 0) continue;
    for (const djChoice* c = row->choice; c->name; c++) {
      if (strcmp(c->name, text) == 0) return c->value;
    }
    read_fail(r, "params", key, "unknown value '%.60s'", text);
  }
  return standard;
}

static void read_params(Reader* r, djcDampedQuery* q, const cJSON* entry) {
  static const char* const keys[] = {"law",          "sigma",        "kn", "alpha",
                                     "damping_time", "detect",       "mu", "friction_law",
                                     "sigma_t",      "friction_eps", NULL};
  const char* const name[] = {"sigma", "kn", "alpha", "detect", "mu", "sigma_t", "friction_eps"};
  double* const value[] = {&q->sigma, &q->kn,      &q->alpha,       &q->detect,
                           &q->mu,    &q->sigma_t, &q->friction_eps};
  const cJSON* in = read_object(r, entry, "", "params", true);
  if (!in || !read_keys(r, in, "params", keys)) return;
  double time = NAN;
  q->alpha = NAN;
  q->law = (djLaw)read_choice(r, in, "law", DJ_LAW_PERTURBED);
  q->friction_law = (djPointFriction)read_choice(r, in, "friction_law", DJ_POINT_FRICTION_SMOOTH);
  for (int k = 0; k < 7; k++) read_number(r, in, "params", name[k], value[k]);
  read_number(r, in, "params", "damping_time", &time);
  if (!isnan(time) && !isnan(q->alpha)) {
    read_fail(r, "params", "damping_time", "alpha is given, too: one of them says the other");
  }
  if (!isnan(time)) q->alpha = time / q->dt;
  if (isnan(q->alpha)) q->alpha = 0;
}

static double* read_a(Reader* r, djcDampedQuery* q, const cJSON* entry) {
  static const char* const keys[] = {"points", "origin", NULL};
  const cJSON* in = read_object(r, entry, "", "a", true);
  if (!in || !read_keys(r, in, "a", keys)) return NULL;
  double* point = read_points(r, in, "a", "points", &q->npoint);
  q->point = point;
  read_vector(r, in, "a", "origin", 3, 3, q->origin);
  return point;
}

static void read_b(Reader* r, djcDampedQuery* q, const cJSON* entry) {
  static const char* const keys[] = {"geom", "size", "pose", NULL};
  const cJSON* in = read_object(r, entry, "", "b", true);
  if (!in || !read_keys(r, in, "b", keys)) return;
  const char* name = read_text(r, in, "b", "geom", true);
  if (!name) return;
  int type = 0, nsize;
  const char* known = dj_geomName(&nsize, DJ_PLANE);
  while (known[0] && strcmp(known, name) != 0) known = dj_geomName(&nsize, (djGeomType)++type);
  if (!known[0])
    read_fail(r, "b", "geom", "unknown geom '%.60s'", name);
  else if (nsize < 0)
    read_fail(r, "b", "geom", "%.60s: has no sizes of its own", name);
  if (r->failed) return;
  q->geom = (djGeomType)type;
  if (nsize > 0 && !read_list(r, in, "b", "size", true)) return;
  read_vector(r, in, "b", "size", nsize, 3, q->size);
  double pose[7] = {0, 0, 0, 1, 0, 0, 0};
  read_vector(r, in, "b", "pose", 7, 7, pose);
  for (int i = 0; i < 3; i++) q->pos[i] = pose[i];
  for (int i = 0; i < 4; i++) q->quat[i] = pose[3 + i];
}

static void write_answer(Json* out, const djcDamped* p, const djcDampedPoint* point, int n) {
  json_object(out, NULL);
  json_text(out, "status", "ok");
  json_vector(out, "wrench_a", 6, p->wrench_a);
  json_vector(out, "wrench_b", 6, p->wrench_b);
  json_list(out, "points");
  for (int i = 0; i < n; i++) {
    json_object(out, NULL);
    json_number(out, "gap", point[i].gap);
    json_number(out, "gap_damped", point[i].gap_damped);
    json_vector(out, "normal", 3, point[i].normal);
    json_matrix(out, "hessian", 3, 3, point[i].hessian);
    json_vector(out, "force", 3, point[i].force);
    json_end(out);
  }
  json_end(out);
  json_matrix(out, "pose_jacobian", 12, 12, p->pose_jac);
  json_matrix(out, "twist_jacobian", 12, 12, p->twist_jac);
  json_end(out);
}

int answer_damped(Json* out, const cJSON* entry, char* message, size_t size) {
  static const char* const keys[] = {"model",    "params",   "a",  "b",
                                     "motion_a", "motion_b", "dt", NULL};
  Reader r = {0};
  djcDampedQuery q = {
      .quat = {1}, .dt = NAN, .sigma = 1, .kn = 1, .detect = 1, .sigma_t = 1, .friction_eps = 1e-8};
  double* point = NULL;
  djError err = {""};
  if (read_keys(&r, entry, "", keys)) {
    read_number(&r, entry, "", "dt", &q.dt);
    if (isnan(q.dt)) read_fail(&r, "", "dt", "missing");
    read_params(&r, &q, entry);
    point = read_a(&r, &q, entry);
    read_b(&r, &q, entry);
    read_vector(&r, entry, "", "motion_a", 6, 6, q.motion_a);
    read_vector(&r, entry, "", "motion_b", 6, 6, q.motion_b);
  }
  djcDamped found;
  djcDampedPoint* points = r.failed ? NULL : tool_alloc((size_t)q.npoint, sizeof *points);
  const bool done = points && djc_damped(&found, points, &q, &err) >= 0;
  if (done)
    write_answer(out, &found, points, q.npoint);
  else if (r.failed)
    snprintf(message, size, "%s%s%s", r.element, *r.element ? ": " : "", r.message);
  else
    snprintf(message, size, "%s", err.text);
  free(points);
  free(point);
  return done ? EXIT_DONE : EXIT_BAD_INPUT;
}
