// Coefficients of pairs that are set between steps count from the next step on, to the last bit as
// if they had been there all along, and nothing else of contact is made anew: the shapes are the
// same, and so is the list of near pairs.

#include "common/make_model.h"
#include "common/room.h"
#include "common/scene.h"
#include "common/test.h"
#include "contact/pairs/near.h"
#include "integrate/work.h"

// Boxes that slide on a floor; one may make a pair of its own with it.
static djModel* slide(djData** d, bool explicit) {
  static const djPairDef pair = {.name = "p", .geom1 = 0, .geom2 = 1, .condim = 3, .friction = 0.4,
                           .restitution = 0.2};
  Scene* s = newScene(2);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0)->friction[0] = 0.4;
  for (int b = 0; b < 2; b++) {
    int id = addBody(s, 0, DJ_FREE, b, 0, 0.05, 1, 0.05);
    djGeomDef* g = addGeom(s, id, DJ_BOX, 0.05, 0.05, 0.05);
    g->friction[0] = 0.4;
    g->restitution = 0.2;
  }
  s->def.pair = &pair;
  s->def.npair = explicit;
  djModel* m = startScene(d, s);
  for (int b = 0; b < 2; b++) (*d)->qvel[6 * b] = 1;
  return m;
}

static void take(const djModel* m, djData* d, int n) {
  for (int i = 0; i < n; i++) assert_int_equal(dj_step(m, d), DJ_OK);
}

typedef struct Change {
  const char* name;
  int n;
  double value[3];
  bool explicit, restitution;
} Change;

static const Change changes[] = {
    {"geom/#1/friction", 3, {0.9, 0.01, 0.001}, false, false},
    {"geom/#0/friction", 3, {0.7, 0, 0}, false, false},
    {"pair/p/friction", 1, {0.1}, true, false},
    {"pair/p/friction2", 1, {0.2}, true, false},
    {"geom/#1/restitution", 1, {0.5}, false, true},
    {"pair/p/restitution", 1, {0.5}, true, true},
};

static void testShapesStay(void) {
  for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
    const Change* change = &changes[k];
    djData* d;
    djModel* m = slide(&d, change->explicit);
    const djContacts* c = dj_contactsOf(&d->work->forces);
    const djParam p = djt_param(m, change->name);
    double old[3];
    assert_int_equal(p.nvalue, change->n);
    take(m, d, 3);
    const uint64_t shapes = m->collision->version, coefficients = m->collision->coefficients;
    assert_int_equal(dj_getParam(old, m, &p), DJ_OK);
    assert_int_equal(dj_setParam(m, &p, change->value, NULL), DJ_OK);
    assert_true(m->collision->version == shapes);
    assert_true(m->collision->coefficients != coefficients);
    assert_true(dj_isCurrent(c, m));
    assert_int_equal(dj_setParam(m, &p, old, NULL), DJ_OK);
    assert_true(m->collision->coefficients == coefficients);
    djt_delete(m, d);
  }
}

// Data that have listed the pairs before the change, beside such as have not.
static void testCounts(void) {
  for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
    const Change* change = &changes[k];
    djData* d;
    djModel* m = slide(&d, change->explicit);
    const djParam p = djt_param(m, change->name);
    if (change->restitution) d->qpos[2] += 0.01, d->qvel[2] = -1;
    take(m, d, 3);
    djData* fresh = djt_data(m);
    double* state = djt_room((size_t)dj_stateSize(m));
    assert_int_equal(dj_getState(state, m, d), DJ_OK);
    assert_int_equal(dj_setParam(m, &p, change->value, NULL), DJ_OK);
    assert_int_equal(dj_setState(fresh, m, state), DJ_OK);
    take(m, d, 8);
    take(m, fresh, 8);
    assert_memory_equal(d->qpos, fresh->qpos, (size_t)m->nq * sizeof(double));
    assert_memory_equal(d->qvel, fresh->qvel, (size_t)m->nv * sizeof(double));
    free(state);
    dj_deleteData(fresh);
    djt_delete(m, d);
  }
}

DJT_MAIN(testShapesStay, testCounts)
