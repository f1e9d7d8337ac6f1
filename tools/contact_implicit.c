#include "contact_implicit.h"

#include "verbs.h"

#include <dijoco/implicit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Side {
  djcImplicitShape shape;
  double* number; // owned; the shape's
  double pos[3], quat[4];
} Side;

// Facets: rows of A, of three numbers each, and as many of b; L.
static void read_facets(Reader* r, Side* s, const cJSON* in, const char* path) {
  int m = 0;
  double* A = read_points(r, in, path, "A", &m);
  if (!A) return;
  s->shape.nface = m;
  s->shape.nsize = 4 * m + 2;
  s->number = tool_alloc((size_t)s->shape.nsize, sizeof(double));
  memcpy(s->number, A, 3 * (size_t)m * sizeof(double));
  free(A);
  if (read_list(r, in, path, "b", true)) read_vector(r, in, path, "b", m, m, s->number + 3 * m);
}

// The numbers that have names of their own, or stand in a list `size`.
static void read_numbers(Reader* r, Side* s, int family, const cJSON* in, const char* path) {
  const char* list = djc_implicitList(family);
  const bool facets = strcmp(s->shape.family, "smooth_polytope") == 0;
  int n = 0;
  while (*djc_implicitNumber(family, n)) n++;
  if (facets) {
    read_facets(r, s, in, path);
  } else {
    s->shape.nsize = n;
    s->number = tool_alloc((size_t)n, sizeof(double));
    if (*list && read_list(r, in, path, list, true)) {
      read_vector(r, in, path, list, n - 1, n - 1, s->number);
    }
  }
  for (int i = *list ? n - 1 : facets ? 2 : 0; i < n && !r->failed; i++) {
    double value = NAN;
    const char* name = djc_implicitNumber(family, i);
    read_number(r, in, path, name, &value);
    if (isnan(value))
      read_fail(r, path, name, "missing");
    else
      s->number[s->shape.nsize - n + i] = value;
  }
  s->shape.size = s->number;
}

static void read_pose(Reader* r, Side* s, const cJSON* in, const char* path) {
  double pose[7] = {0, 0, 0, 1, 0, 0, 0}, norm = 0;
  read_vector(r, in, path, "pose", 7, 7, pose);
  for (int i = 3; i < 7; i++) norm = hypot(norm, pose[i]);
  if (!(norm > 0) || !isfinite(norm)) read_fail(r, path, "pose", "its quaternion is zero");
  for (int i = 0; i < 3; i++) s->pos[i] = pose[i];
  for (int i = 0; i < 4; i++) s->quat[i] = pose[3 + i] / norm;
}

// A plane, which has no numbers.
static void read_plane(Reader* r, Side* s, const cJSON* in, const char* path) {
  static const char* const keys[] = {"geom", "pose", NULL};
  const char* name = read_text(r, in, path, "geom", true);
  if (!name || !read_keys(r, in, path, keys)) return;
  if (strcmp(name, "plane") != 0) {
    read_fail(r, path, "geom", "only a plane is a surface as a geom, not '%.60s'", name);
  }
  s->shape.family = "plane";
  read_pose(r, s, in, path);
}

static void read_side(Reader* r, Side* s, const cJSON* entry, const char* path) {
  const cJSON* in = read_object(r, entry, "", path, true);
  if (in && cJSON_GetObjectItemCaseSensitive(in, "geom")) {
    read_plane(r, s, in, path);
    return;
  }
  const char* name = in ? read_text(r, in, path, "shape", true) : NULL;
  if (!name) return;
  const int family = djc_implicitNamed(name);
  if (family < 0) {
    read_fail(r, path, "shape", "unknown family '%.60s'", name);
    return;
  }
  s->shape.family = djc_implicitFamily(family);
  const char* keys[12] = {"shape", "pose"};
  int n = 2;
  const char* list = djc_implicitList(family);
  if (*list) keys[n++] = list;
  for (int i = 0; *djc_implicitNumber(family, i); i++) {
    const bool sharp = !*djc_implicitNumber(family, i + 1);
    if (!*list || sharp) keys[n++] = djc_implicitNumber(family, i);
  }
  if (!read_keys(r, in, path, keys)) return;
  read_pose(r, s, in, path);
  read_numbers(r, s, family, in, path);
}

typedef struct Answer {
  bool derivatives, sizes, distance; // asked for
  djStatus status, status_distance;
  djcImplicit touch;
  djcImplicitDistance apart;
  double *by[2], *by_distance[2]; // owned; by sizes
} Answer;

// The Euclidean distance along a direction from a to b, with the points of both.
static void write_distance(Json* out, const djcImplicitDistance* d, djStatus status,
                           bool derivatives) {
  double points[6], dpoints[72];
  memcpy(points, d->point_a, sizeof d->point_a);
  memcpy(points + 3, d->point_b, sizeof d->point_b);
  json_text(out, "distance_status", status == DJ_OK         ? "ok"
                                    : status == DJ_SINGULAR ? "singular"
                                                            : "no_convergence");
  json_number(out, "distance", d->distance);
  json_vector(out, "direction", 3, d->normal);
  json_matrix(out, "points", 2, 3, points);
  if (!derivatives) return;
  memcpy(dpoints, d->dpoint_a, sizeof d->dpoint_a);
  memcpy(dpoints + 36, d->dpoint_b, sizeof d->dpoint_b);
  json_vector(out, "ddistance", 12, d->ddistance);
  json_matrix(out, "ddirection", 3, 12, d->dnormal);
  json_matrix(out, "dpoints", 6, 12, dpoints);
}

static void write_sizes(Json* out, const char* key, const Answer* answer, int side, int n) {
  const double *by = answer->by[side], *apart = answer->by_distance[side];
  json_object(out, key);
  json_vector(out, "alpha", (size_t)n, by);
  json_matrix(out, "point", 3, (size_t)n, by + n);
  json_matrix(out, "normal", 3, (size_t)n, by + 4 * n);
  json_vector(out, "gap", (size_t)n, by + 7 * n);
  if (apart) {
    json_vector(out, "distance", (size_t)n, apart);
    json_matrix(out, "direction", 3, (size_t)n, apart + n);
    json_matrix(out, "points", 6, (size_t)n, apart + 4 * n);
  }
  json_end(out);
}

static void write_touch(Json* out, const Answer* answer, const Side side[2]) {
  const djcImplicit* o = &answer->touch;
  json_object(out, NULL);
  json_text(out, "status", answer->status == DJ_NOT_CONVERGED ? "no_convergence" : "ok");
  json_number(out, "alpha", o->alpha);
  json_vector(out, "x", 3, o->x);
  json_vector(out, "normal", 3, o->normal);
  json_number(out, "gap", o->gap);
  json_number(out, "energy_angle", djc_energyAngle(o));
  json_vector(out, "point_a", 3, o->point_a);
  json_vector(out, "point_b", 3, o->point_b);
  json_vector(out, "multipliers", 2, o->multipliers);
  json_number(out, "condition", o->condition);
  json_bool(out, "degenerate", o->degenerate);
  json_integer(out, "iterations", o->iterations);
  if (answer->derivatives) {
    json_vector(out, "dalpha", 12, o->dalpha);
    json_matrix(out, "dx", 3, 12, o->dx);
    json_matrix(out, "dnormal", 3, 12, o->dnormal);
    json_vector(out, "dgap", 12, o->dgap);
    json_matrix(out, "dpoint_a", 3, 12, o->dpoint_a);
    json_matrix(out, "dpoint_b", 3, 12, o->dpoint_b);
  }
  if (answer->status == DJ_OK) {
    if (answer->distance) {
      write_distance(out, &answer->apart, answer->status_distance, answer->derivatives);
    }
    if (answer->sizes) write_sizes(out, "sizes_a", answer, 0, side[0].shape.nsize);
    if (answer->sizes) write_sizes(out, "sizes_b", answer, 1, side[1].shape.nsize);
  }
  json_end(out);
}

// What is asked for, of both sides.
static djStatus find(Answer* answer, const Side side[2], djError* err) {
  djcImplicitPair* pair;
  const djStatus status = djc_makeImplicitPair(&pair, &side[0].shape, &side[1].shape, err);
  if (status) return status;
  for (int k = 0; k < 2 && answer->sizes; k++) {
    const size_t n = (size_t)side[k].shape.nsize + 1;
    answer->by[k] = tool_alloc(n, 8 * sizeof(double));
    if (answer->distance) answer->by_distance[k] = tool_alloc(n, 10 * sizeof(double));
  }
  answer->status = djc_evalImplicitPair(&answer->touch, pair, side[0].pos, side[0].quat,
                                        side[1].pos, side[1].quat,
                                        DJC_CONDITION | DJC_DERIVATIVES);
  if (answer->status < 0) snprintf(err->text, sizeof err->text, "a and b: poses are not finite");
  for (int k = 0; k < 2 && answer->sizes && answer->status == DJ_OK; k++) {
    djc_implicitBySize(answer->by[k], pair, k);
  }
  if (answer->distance && answer->status == DJ_OK) {
    answer->status_distance =
        djc_implicitDistance(&answer->apart, answer->by_distance[0], answer->by_distance[1], pair,
                             DJC_DERIVATIVES);
  }
  djc_deleteImplicitPair(pair);
  return answer->status;
}

int answer_implicit(Json* out, const cJSON* entry, char* message, size_t size) {
  static const char* const keys[] = {"model",    "params", "derivatives", "sizes",
                                     "distance", "a",      "b",           NULL};
  static const char* const none[] = {NULL};
  Reader r = {0};
  Side side[2] = {{.quat = {1}}, {.quat = {1}}};
  Answer answer = {.derivatives = false};
  if (read_keys(&r, entry, "", keys)) {
    const cJSON* params = read_object(&r, entry, "", "params", false);
    if (params) read_keys(&r, params, "params", none);
    read_bool(&r, entry, "", "derivatives", &answer.derivatives);
    read_bool(&r, entry, "", "sizes", &answer.sizes);
    read_bool(&r, entry, "", "distance", &answer.distance);
    read_side(&r, &side[0], entry, "a");
    read_side(&r, &side[1], entry, "b");
  }
  djStatus status = DJ_INVALID;
  if (r.failed) {
    snprintf(message, size, "%s%s%s", r.element, *r.element ? ": " : "", r.message);
  } else {
    djError err = {""};
    status = find(&answer, side, &err);
    if (status < 0)
      snprintf(message, size, "%s", err.text);
    else
      write_touch(out, &answer, side);
    for (int k = 0; k < 2; k++) {
      free(answer.by[k]);
      free(answer.by_distance[k]);
    }
  }
  free(side[0].number);
  free(side[1].number);
  if (status < 0) return EXIT_BAD_INPUT;
  return status > 0 || answer.status_distance > 0 ? EXIT_NOT_HELD : EXIT_DONE;
}
