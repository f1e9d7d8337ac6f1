// Contact model mujoco: what a step lists of its contacts, beside the forces that MuJoCo tells.

#include "common/make_model.h"
#include "common/mj_physics.h"
#include "common/mj_zoo.h"
#include "common/test.h"

static const djContactForce* forceBetween(const djData* data, int body1, int body2) {
  for (int i = 0; i < data->ncontact; i++) {
    const djContactForce* f = &data->contact[i];
    if (f->body1 == body1 && f->body2 == body2) return f;
  }
  return NULL;
}

// Forces between bodies are those that stock steps tell; pairs have their sum about their point.
static int compareContacts(const djData* data, const djModel* model, const djStock* stock) {
  double gap = INFINITY, sum[3] = {0, 0, 0};
  for (int i = 0; i < stock->ncontact; i++) {
    const djContactForce* f = &stock->contact[i];
    const djContactForce* own = forceBetween(data, f->body1, f->body2);
    assert_non_null(own);
    assert_true(djt_distance(own->force, f->force, 3) < 1e-9);
    assert_true(djt_distance(own->torque, f->torque, 3) < 1e-9);
  }
  for (int k = 0; k < data->npair; k++) {
    const djContactPair* p = &data->pair[k];
    assert_true(p->geom1 < p->geom2);
    double high = model->geom_body[p->geom1] < model->geom_body[p->geom2] ? 1 : -1;
    mju_addToScl3(sum, p->force, high);
    assert_true(mju_dot3(p->force, p->normal) >= -1e-9);
    double along = mju_dot3(p->force, p->normal);
    assert_true(fabs(along - p->normal_force) < 1e-6 + 0.1 * p->normal_force);
    gap = fmin(gap, p->gap);
  }
  for (int i = 0; i < data->ncontact; i++) mju_subFrom3(sum, data->contact[i].force);
  assert_true(mju_norm3(sum) < 1e-9);
  assert_true(gap == data->stats.gap && data->stats.overlap == fmax(0, -gap));
  return stock->ncontact;
}

// Two stacks, the geoms of which are listed after those that they stand on, or before.
static const char kStacks[] =
    "<mujoco><worldbody><body name='top' pos='0 0 .3'><freejoint/><geom type='box' "
    "size='.1 .1 .1'/><geom type='box' size='.05 .05 .05' pos='.15 0 -.05'/></body>"
    "<body pos='.02 .01 .1'><freejoint/><geom type='box' size='.15 .1 .1'/></body>"
    "<geom type='plane' size='5 5 .1'/><body pos='.1 1 .1'><freejoint/><geom type='box' "
    "size='.1 .1 .1'/></body><body pos='.1 1 .31'><freejoint/><geom size='.11'/></body>"
    "</worldbody></mujoco>";

static void testContacts(void) {
  mjModel* m = djt_compile(kStacks);
  m->opt.tolerance = 1e-14;
  m->opt.disableflags |= mjDSBL_WARMSTART;
  djStock* stock;
  djError err;
  djModel* model = djt_chosen(m);
  djData *data = djt_dataOf(model), *copy = djt_dataOf(model);
  int listed = 0;
  assert_int_equal(dj_makeStock(&stock, m, &err), DJ_OK);
  for (int k = 0; k < 100; k++) {
    djt_takeState(data, stock->m, stock->d);
    djt_mustStep(model, data);
    assert_int_equal(dj_stepStock(stock, NULL, &err), DJ_OK);
    listed += compareContacts(data, model, stock);
  }
  assert_true(listed > 300 && data->npair > data->ncontact && data->stats.smallest_gap < 0);
  assert_int_equal(dj_copyData(copy, model, data), DJ_OK);
  assert_int_equal(copy->npair, data->npair);
  assert_memory_equal(copy->pair, data->pair, (size_t)data->npair * sizeof(*data->pair));
  assert_memory_equal(copy->contact, data->contact,
                      (size_t)data->ncontact * sizeof(*data->contact));
  dj_deleteData(data);
  djt_delete(model, copy);
  dj_deleteStock(stock);
  mj_deleteModel(m);
}

DJT_MAIN(testContacts)
