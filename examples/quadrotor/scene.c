// Reading the scene, and the least alpha along a straight piece of the path.
//
// With orientations fixed, the scaled bodies touch where the way r from the obstacle's origin to
// the quadrotor's lies on the surface of alpha (A + (-B)), the Minkowski sum of the obstacle and
// the quadrotor's mirror image: alpha(r) is the gauge of a convex body, and itself convex. Along a
// straight piece its least value is therefore where its derivative changes sign: what holds there
// holds on the whole piece.

#include "scene.h"

#include <cjson/cJSON.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------ reading --------------------------------------------

// n numbers of an array.
static bool readNumbers(double* out, int n, const cJSON* in, const char* key, djError* err) {
  if (!cJSON_IsArray(in) || cJSON_GetArraySize(in) != n) {
    return fail(err, "%s: %d numbers expected", key, n);
  }
  for (int i = 0; i < n; i++) {
    const cJSON* item = cJSON_GetArrayItem(in, i);
    if (!cJSON_IsNumber(item)) return fail(err, "%s[%d]: not a number", key, i);
    out[i] = item->valuedouble;
  }
  return true;
}

static bool readList(double* out, int n, const cJSON* in, const char* key, djError* err) {
  return readNumbers(out, n, cJSON_GetObjectItemCaseSensitive(in, key), key, err);
}

static bool readNumber(double* out, const cJSON* in, const char* key, djError* err) {
  const cJSON* item = cJSON_GetObjectItemCaseSensitive(in, key);
  if (!cJSON_IsNumber(item)) return fail(err, "%s: a number expected", key);
  *out = item->valuedouble;
  return true;
}

static bool readCount(int* out, int least, const cJSON* in, const char* key, djError* err) {
  double value = 0;
  if (!readNumber(&value, in, key, err)) return false;
  if (!(value >= least && value <= 1e6) || value != floor(value)) {
    return fail(err, "%s: a whole number from %d on expected", key, least);
  }
  *out = (int)value;
  return true;
}

// The facets of a smooth polytope: rows of A, b.
static bool readFacets(Body* body, const cJSON* in, djError* err) {
  const cJSON* A = cJSON_GetObjectItemCaseSensitive(in, "A");
  const int n = cJSON_GetArraySize(A);
  if (n < 1) return fail(err, "A: rows of 3 numbers expected");
  body->shape.nface = n;
  body->shape.nsize = 4 * n + 2;
  body->number = calloc((size_t)body->shape.nsize, sizeof(double));
  if (!body->number) return fail(err, "out of memory");
  for (int i = 0; i < n; i++) {
    if (!readNumbers(body->number + 3 * i, 3, cJSON_GetArrayItem(A, i), "A", err)) return false;
  }
  return readList(body->number + 3 * n, n, in, "b", err);
}

// The numbers of a family, as `dijoco contact` takes them: those that stand in a list, facets, then
// those with names of their own.
static bool readSizes(Body* body, int family, const cJSON* in, djError* err) {
  const char* list = djc_implicitList(family);
  int n = 0, first = 0;
  while (*djc_implicitNumber(family, n)) n++;
  if (strcmp(djc_implicitNumber(family, 0), "A") == 0) {
    if (!readFacets(body, in, err)) return false;
    first = 2;
  } else {
    body->shape.nsize = n;
    body->number = calloc((size_t)n, sizeof(double));
    if (!body->number) return fail(err, "out of memory");
    if (*list) {
      first = n - 1;
      if (!readList(body->number, first, in, list, err)) return false;
    }
  }
  for (int i = first; i < n; i++) {
    double* number = body->number + body->shape.nsize - n + i;
    if (!readNumber(number, in, djc_implicitNumber(family, i), err)) return false;
  }
  body->shape.size = body->number;
  return true;
}

static bool readBody(Body* body, const cJSON* in, djError* err) {
  const char* name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(in, "shape"));
  double pose[7] = {0, 0, 0, 1, 0, 0, 0}, norm = 0;
  int family = 0;
  while (*djc_implicitFamily(family) && strcmp(djc_implicitFamily(family), name ? name : "") != 0)
    family++;
  body->shape.family = djc_implicitFamily(family);
  if (!*body->shape.family) return fail(err, "shape: unknown family '%.60s'", name ? name : "");
  if (cJSON_HasObjectItem(in, "pose") && !readList(pose, 7, in, "pose", err)) return false;
  for (int k = 3; k < 7; k++) norm = hypot(norm, pose[k]);
  if (!(norm > 0)) return fail(err, "pose: its quaternion is zero");
  for (int k = 0; k < 3; k++) body->pos[k] = pose[k];
  for (int k = 0; k < 4; k++) body->quat[k] = pose[3 + k] / norm;
  return readSizes(body, family, in, err);
}

static bool readQuadrotor(Scene* scene, const cJSON* in, djError* err) {
  djError why = {""};
  return readBody(&scene->quadrotor, cJSON_GetObjectItemCaseSensitive(in, "quadrotor"), &why) ||
         fail(err, "quadrotor: %s", why.text);
}

static bool readObstacles(Scene* scene, const cJSON* in, djError* err) {
  const cJSON* list = cJSON_GetObjectItemCaseSensitive(in, "obstacles");
  const int n = cJSON_GetArraySize(list);
  if (n < 1) return fail(err, "obstacles: there are none");
  scene->obstacle = calloc((size_t)n, sizeof *scene->obstacle);
  scene->pair = calloc((size_t)n, sizeof(djcImplicitPair*));
  if (!scene->obstacle || !scene->pair) return fail(err, "out of memory");
  scene->nobstacle = n;
  for (int j = 0; j < n; j++) {
    Body* body = &scene->obstacle[j];
    djError why = {""};
    if (!readBody(body, cJSON_GetArrayItem(list, j), &why) ||
        djc_makeImplicitPair(&scene->pair[j], &body->shape, &scene->quadrotor.shape, &why) < 0) {
      return fail(err, "obstacles[%d]: %s", j, why.text);
    }
  }
  return true;
}

static bool isClear(Scene* s, const double p[3], const char* key, djError* err) {
  const double alpha = leastOfAll(s, p, p);
  return alpha >= 1 + s->margin || fail(err, "%s: too near to an obstacle, alpha %.4f", key, alpha);
}

static bool readPlan(Scene* s, const cJSON* in, djError* err) {
  const cJSON* bounds = cJSON_GetObjectItemCaseSensitive(in, "bounds");
  const cJSON* rrt = cJSON_GetObjectItemCaseSensitive(in, "rrt");
  if (!readNumbers(s->low, 3, cJSON_GetArrayItem(bounds, 0), "bounds[0]", err) ||
      !readNumbers(s->high, 3, cJSON_GetArrayItem(bounds, 1), "bounds[1]", err) ||
      !readList(s->start, 3, in, "start", err) || !readList(s->goal, 3, in, "goal", err) ||
      !readCount(&s->knots, 3, in, "knots", err) || !readNumber(&s->margin, in, "margin", err) ||
      !readNumber(&s->bending, in, "bending", err) || !readNumber(&s->rrt_step, rrt, "step", err) ||
      !readNumber(&s->rrt_goal_bias, rrt, "goal_bias", err) ||
      !readCount(&s->rrt_samples, 1, rrt, "samples", err)) {
    return false;
  }
  if (!(s->margin >= 0)) return fail(err, "margin: at least 0");
  if (!(s->bending > 0) || !(s->rrt_step > 0)) return fail(err, "bending, rrt.step: positive");
  if (!(distance(s->start, s->goal) > 0)) return fail(err, "start, goal: the same place");
  for (int k = 0; k < 3; k++) {
    if (!(s->low[k] <= fmin(s->start[k], s->goal[k])) ||
        !(s->high[k] >= fmax(s->start[k], s->goal[k])))
      return fail(err, "start, goal: outside of bounds");
  }
  return isClear(s, s->start, "start", err) && isClear(s, s->goal, "goal", err);
}

static char* readText(const char* file) {
  FILE* in = fopen(file, "rb");
  char* text = NULL;
  long size = -1;
  if (in && fseek(in, 0, SEEK_END) == 0) size = ftell(in);
  if (size >= 0 && fseek(in, 0, SEEK_SET) == 0) text = calloc((size_t)size + 1, 1);
  if (text && fread(text, 1, (size_t)size, in) != (size_t)size) {
    free(text);
    text = NULL;
  }
  if (in) fclose(in);
  return text;
}

bool readScene(Scene* scene, const char* file, djError* err) {
  djError why = {""};
  char* text = readText(file);
  cJSON* in = text ? cJSON_Parse(text) : NULL;
  memset(scene, 0, sizeof *scene);
  bool done = false;
  if (!text)
    fail(&why, "cannot be read");
  else if (!in)
    fail(&why, "not JSON");
  else
    done = readQuadrotor(scene, in, &why) && readObstacles(scene, in, &why) &&
           readPlan(scene, in, &why);
  if (!done) fail(err, "%.200s: %.200s", file, why.text);
  cJSON_Delete(in);
  free(text);
  if (!done) freeScene(scene);
  return done;
}

void freeScene(Scene* scene) {
  for (int j = 0; j < scene->nobstacle; j++) {
    djc_deleteImplicitPair(scene->pair[j]);
    free(scene->obstacle[j].number);
  }
  free(scene->pair);
  free(scene->obstacle);
  free(scene->quadrotor.number);
  memset(scene, 0, sizeof *scene);
}

// ------------------------------------------ alpha ----------------------------------------------

Touch touchAt(Scene* scene, int j, const double p[3]) {
  const Body* body = &scene->obstacle[j];
  djcImplicit o;
  const djStatus status = djc_evalImplicitPair(&o, scene->pair[j], body->pos, body->quat, p,
                                               scene->quadrotor.quat, DJC_DERIVATIVES);
  scene->queries++;
  scene->failed += status != DJ_OK;
  return (Touch){o.alpha, {o.dalpha[9], o.dalpha[10], o.dalpha[11]}};
}

static double along(const Touch* touch, const double way[3]) {
  return touch->grad[0] * way[0] + touch->grad[1] * way[1] + touch->grad[2] * way[2];
}

// Where a cubic with these values and derivatives at a and b, falling at a and rising at b, is
// least.
static double cubicLeast(double a, double fa, double da, double b, double fb, double db) {
  const double s = da + db - 3 * (fb - fa) / (b - a), root = sqrt(fmax(s * s - da * db, 0));
  const double t = b - (b - a) * (db + root - s) / (db - da + 2 * root);
  return t > a && t < b ? t : (a + b) / 2;
}

Touch leastTouch(Scene* scene, int j, const double p[3], const double q[3], const Touch ends[2],
                 double* t) {
  const double way[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
  double at[2] = {0, 1};
  Touch end[2] = {ends[0], ends[1]};
  double slope[2] = {along(&end[0], way), along(&end[1], way)};
  if (slope[0] >= 0 || slope[1] <= 0) {
    *t = slope[0] >= 0 ? 0 : 1;
    return end[slope[0] >= 0 ? 0 : 1];
  }
  for (int i = 0; i < 50; i++) {
    *t = cubicLeast(at[0], end[0].alpha, slope[0], at[1], end[1].alpha, slope[1]);
    const double m[3] = {p[0] + *t * way[0], p[1] + *t * way[1], p[2] + *t * way[2]};
    const Touch touch = touchAt(scene, j, m);
    const double rate = along(&touch, way);
    if (fabs(rate) * (at[1] - at[0]) < 1e-12) return touch;
    const int side = rate > 0;
    at[side] = *t;
    end[side] = touch;
    slope[side] = rate;
  }
  const int side = end[1].alpha < end[0].alpha;
  *t = at[side];
  return end[side];
}

double leastOfAll(Scene* scene, const double p[3], const double q[3]) {
  double least = INFINITY;
  for (int j = 0; j < scene->nobstacle; j++) {
    const Touch ends[2] = {touchAt(scene, j, p), touchAt(scene, j, q)};
    double t;
    least = fmin(least, leastTouch(scene, j, p, q, ends, &t).alpha);
  }
  return least;
}
