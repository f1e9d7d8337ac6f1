// Smoothed gaps of geoms and bodies of a model, and their Jacobians.

#include "common/make_model.h"
#include "common/random_shape.h"
#include "common/sample_model.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/gap.h>

#define CHECK(x) assert_true(x)

typedef struct Scene {
  djSample sample;
  djModel* model;
  djData* data;
} Scene;

static void makeScene(Scene* s) {
  djt_fillSample(&s->sample);
  s->sample.def.option.contact = DJ_CONTACT_NONE;
  djError err;
  djStatus status = dj_makeModel(&s->model, &s->sample.def, &err);
  if (!status) status = dj_makeData(&s->data, s->model, &err);
  if (status) fail_msg("%s", err.text);
}

static void freeScene(Scene* s) { djt_delete(s->model, s->data); }

// Jacobians of geoms and bodies, moving or static, of one tree or two, against differences.
static void testModel(void) {
  static const struct {
    djObject type;
    int a, b;
  } pairs[] = {{DJ_OBJ_GEOM, 0, 3}, {DJ_OBJ_GEOM, 1, 2}, {DJ_OBJ_GEOM, 3, 4}, {DJ_OBJ_GEOM, 2, 0},
               {DJ_OBJ_BODY, 1, 3}, {DJ_OBJ_BODY, 0, 5}, {DJ_OBJ_BODY, 2, 3}};
  Scene s;
  Random r = {4};
  makeScene(&s);
  const djModel* m = s.model;
  djData* d = s.data;
  int nv = m->nv, nq = m->nq;
  double worst = 0, largest = 0, *J = malloc(10 * (size_t)nv * sizeof *J);
  double *q = malloc((size_t)nq * sizeof *q), *v = malloc((size_t)nv * sizeof *v);
  CHECK(J && q && v);
  for (int i = 0; i < 7 * 20; i++) {
    double y[3][10], e = 1e-6;
    djGapPair* pair;
    djError err;
    for (int k = 0; k < nv; k++) v[k] = uniform(&r, -1, 1);
    dj_integratePos(d->qpos, m, m->qpos0, v, 1);
    djt_failIf(
        dj_makeGapPair(&pair, m, pairs[i % 7].type, pairs[i % 7].a, pairs[i % 7].b, 0.01, &err),
        "%s", err.text);
    memcpy(q, d->qpos, (size_t)nq * sizeof *q);
    djStatus status = dj_evalGapPair(y[0], y[0] + 1, y[0] + 4, y[0] + 7, J, pair, m, d);
    CHECK(status >= 0);
    assert_memory_equal(q, d->qpos, (size_t)nq * sizeof *q);
    for (int k = 0; k < nv; k++) v[k] = uniform(&r, -1, 1);
    for (int side = 0; side < 2; side++) {
      dj_integratePos(d->qpos, m, q, v, side ? -e : e);
      CHECK(dj_evalGapPair(y[1 + side], y[1 + side] + 1, y[1 + side] + 4, y[1 + side] + 7, NULL,
                           pair, m, d) == status);
    }
    for (int k = 0; k < 10 && status == DJ_OK; k++) {
      double sum = 0, difference = (y[1][k] - y[2][k]) / (2 * e);
      for (int j = 0; j < nv; j++) sum += J[k * nv + j] * v[j];
      worst = djt_worst(worst, fabs(sum - difference) / (1 + fabs(sum)));
      largest = djt_worst(largest, fabs(sum));
    }
    dj_deleteGapPair(pair);
  }
  print_message("models: %.2g of %.3g\n", worst, largest);
  CHECK(worst < 1e-5 && largest > 1);
  free(J);
  free(q);
  free(v);
  freeScene(&s);
}

static void testModelMisuse(void) {
  Scene s;
  makeScene(&s);
  double y[10];
  djError err;
  djGapPair* pair;
  const djModel* m = s.model;
  CHECK(dj_makeGapPair(&pair, m, DJ_OBJ_GEOM, 0, 9, -1, &err) == DJ_INVALID && !pair);
  CHECK(strstr(err.text, "#9"));
  CHECK(dj_makeGapPair(&pair, m, DJ_OBJ_GEOM, 1, 1, -1, &err) == DJ_INVALID);
  CHECK(dj_makeGapPair(&pair, m, DJ_OBJ_BODY, 1, 4, -1, &err) == DJ_INVALID);
  CHECK(strstr(err.text, "target"));
  CHECK(dj_makeGapPair(&pair, m, DJ_OBJ_SITE, 0, 1, -1, &err) == DJ_INVALID);
  CHECK(dj_gap(y, y + 1, y + 4, y + 7, NULL, m, s.data, DJ_OBJ_GEOM, 0, 9, -1) == DJ_INVALID);
  CHECK(strstr(dj_errorText(s.data), "#9"));
  CHECK(dj_gap(y, y + 1, y + 4, y + 7, NULL, m, s.data, DJ_OBJ_GEOM, 1, 2, -1) == DJ_OK);
  s.data->qpos[0] = NAN;
  CHECK(dj_gap(y, y + 1, y + 4, y + 7, NULL, m, s.data, DJ_OBJ_GEOM, 1, 2, -1) == DJ_INVALID);
  CHECK(strstr(dj_errorText(s.data), "qpos[0]"));
  CHECK(dj_evalGapPair(y, y, y, y, NULL, NULL, m, s.data) == DJ_INVALID);
  dj_deleteGapPair(NULL);
  freeScene(&s);
}

DJT_MAIN(testModel, testModelMisuse)
