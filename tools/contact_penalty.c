#include "contact_penalty.h"

#include "verbs.h"

#include <dijoco/penalty.h>
#include <dijoco/setting.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_params(Reader* r, djcPenaltyQuery* q, const cJSON* entry) {
  static const char* const keys[] = {"kn", "kt", "kd", "mu", "scale", NULL};
  double* const value[] = {&q->kn, &q->kt, &q->kd, &q->mu, &q->scale};
  const cJSON* in = read_object(r, entry, "", "params", true);
  q->kn = NAN;
  q->scale = 1;
  if (!in || !read_keys(r, in, "params", keys)) return;
  for (int k = 0; k < 5; k++) {
    read_number(r, in, "params", keys[k], value[k]);
    if (k == 0 && isnan(q->kn)) read_fail(r, "params", "kn", "missing");
    if (k == 0 && !(q->kn > 0)) read_fail(r, "params", "kn", "must be positive");
    if (!(*value[k] >= 0)) read_fail(r, "params", keys[k], "must not be negative");
  }
}

static double* read_a(Reader* r, djcPenaltyQuery* q, const cJSON* entry) {
  static const char* const keys[] = {"points", "origin", "twist", NULL};
  const cJSON* in = read_object(r, entry, "", "a", true);
  if (!in || !read_keys(r, in, "a", keys)) return NULL;
  double* point = read_points(r, in, "a", "points", &q->npoint);
  q->point = point;
  read_vector(r, in, "a", "origin", 3, 3, q->origin);
  read_vector(r, in, "a", "twist", 6, 6, q->twist_a);
  return point;
}

// A geom of sizes.
static void read_size(Reader* r, djcPenaltyQuery* q, const cJSON* in, const char* name) {
  static const char* const keys[] = {"geom", "size", "pose", "twist", NULL};
  if (!read_keys(r, in, "b", keys)) return;
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
  for (int i = 0; i < nsize && !r->failed; i++) {
    if (!(q->size[i] > 0)) read_fail(r, "b", "size", "[%d] must be positive", i);
  }
}

// A closed mesh, as scenes in .json have it.
typedef struct Mesh {
  int nvert;
  double error;    // m
  djcField* field; // or NULL
} Mesh;

static void make_field(Reader* r, Mesh* mesh, const double* vert, const double* corner, int ntri) {
  int* tri = tool_alloc((size_t)ntri, 3 * sizeof *tri);
  djError err = {""};
  for (int i = 0; i < 3 * ntri && !r->failed; i++) {
    tri[i] = corner[i] >= 0 && corner[i] < mesh->nvert ? (int)corner[i] : -1;
    if (tri[i] == corner[i]) continue;
    read_fail(r, "b", "triangles", "[%d]: %g is no vertex", i / 3, corner[i]);
  }
  if (!r->failed && djc_makeField(&mesh->field, &mesh->error, mesh->nvert, vert, ntri, tri, &err)) {
    read_fail(r, "b", "triangles", "%s", err.text);
  }
  free(tri);
}

static void read_mesh(Reader* r, Mesh* mesh, const cJSON* in) {
  static const char* const keys[] = {"geom", "vert", "triangles", "pose", "twist", NULL};
  if (!read_keys(r, in, "b", keys)) return;
  int ntri;
  double* vert = read_points(r, in, "b", "vert", &mesh->nvert);
  double* corner = vert ? read_points(r, in, "b", "triangles", &ntri) : NULL;
  if (corner) make_field(r, mesh, vert, corner, ntri);
  free(corner);
  free(vert);
}

static void read_b(Reader* r, djcPenaltyQuery* q, Mesh* mesh, const cJSON* entry) {
  const cJSON* in = read_object(r, entry, "", "b", true);
  const char* name = in ? read_text(r, in, "b", "geom", true) : NULL;
  if (!name) return;
  if (strcmp(name, "mesh") == 0)
    read_mesh(r, mesh, in);
  else
    read_size(r, q, in, name);
  double pose[7] = {0, 0, 0, 1, 0, 0, 0}, norm = 0;
  read_vector(r, in, "b", "pose", 7, 7, pose);
  for (int i = 3; i < 7; i++) norm = hypot(norm, pose[i]);
  if (!(norm > 0) || !isfinite(norm)) read_fail(r, "b", "pose", "its quaternion is zero");
  for (int i = 0; i < 3; i++) q->pos[i] = pose[i];
  for (int i = 0; i < 4; i++) q->quat[i] = pose[3 + i];
  read_vector(r, in, "b", "twist", 6, 6, q->twist_b);
}

static void write_answer(Json* out, const djcPenalty* p, const djcPenaltyPoint* point,
                         const double* by_point, int n, const double* by_vert, const Mesh* mesh) {
  static const char* const state[] = {"free", "stick", "slip"};
  json_object(out, NULL);
  json_text(out, "status", "ok");
  json_vector(out, "wrench_a", 6, p->wrench_a);
  json_vector(out, "wrench_b", 6, p->wrench_b);
  json_list(out, "points");
  for (int i = 0; i < n; i++) {
    json_object(out, NULL);
    json_number(out, "distance", point[i].distance);
    json_vector(out, "normal", 3, point[i].normal);
    json_vector(out, "force", 3, point[i].force);
    json_text(out, "state", state[point[i].state]);
    json_end(out);
  }
  json_end(out);
  json_matrix(out, "pose_jacobian", 12, 12, p->pose_jac);
  json_matrix(out, "twist_jacobian", 12, 12, p->twist_jac);
  json_object(out, "gradient");
  json_matrix(out, "points", (size_t)n, 3, by_point);
  if (mesh->field) json_matrix(out, "vert", (size_t)mesh->nvert, 3, by_vert);
  json_number(out, "kn", p->by_kn);
  json_number(out, "kd", p->by_kd);
  json_number(out, "kt", p->by_kt);
  json_number(out, "mu", p->by_mu);
  json_number(out, "scale", p->by_scale);
  json_end(out);
  if (mesh->field) json_number(out, "grid_error", mesh->error);
  json_end(out);
}

// False: the message says why not.
static bool answer(Json* out, const djcPenaltyQuery* q, const Mesh* mesh, djError* err) {
  const size_t n = (size_t)q->npoint;
  djcPenalty found;
  djcPenaltyPoint* points = tool_alloc(n, sizeof *points);
  double* by_point = tool_alloc(n, 3 * sizeof *by_point);
  double* by_vert = mesh->field ? tool_alloc((size_t)mesh->nvert, 3 * sizeof *by_vert) : NULL;
  const djStatus status =
      mesh->field ? djc_penaltyMesh(&found, points, by_point, by_vert, q, mesh->field, err)
                  : djc_penalty(&found, points, by_point, q, err);
  if (status >= 0) write_answer(out, &found, points, by_point, q->npoint, by_vert, mesh);
  free(points);
  free(by_point);
  free(by_vert);
  return status >= 0;
}

int answer_penalty(Json* out, const cJSON* entry, char* message, size_t size) {
  static const char* const keys[] = {"model", "params", "a", "b", "lambda", NULL};
  Reader r = {0};
  djcPenaltyQuery q = {.quat = {1}};
  Mesh mesh = {0};
  double* point = NULL;
  djError err = {""};
  if (read_keys(&r, entry, "", keys)) {
    read_params(&r, &q, entry);
    point = read_a(&r, &q, entry);
    read_b(&r, &q, &mesh, entry);
    read_vector(&r, entry, "", "lambda", 12, 12, q.lambda);
  }
  const bool done = !r.failed && answer(out, &q, &mesh, &err);
  if (r.failed)
    snprintf(message, size, "%s%s%s", r.element, *r.element ? ": " : "", r.message);
  else if (!done)
    snprintf(message, size, "%s", err.text);
  djc_deleteField(mesh.field);
  free(point);
  return done ? EXIT_DONE : EXIT_BAD_INPUT;
}
