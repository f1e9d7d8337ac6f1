// Fields of models and data by name, options one by one, sizes of structs.

#include "common/make_model.h"
#include "common/sample_model.h"
#include "common/scene.h"
#include "common/test.h"

static djModel* sample(void) {
  djSample s;
  djt_fillSample(&s);
  djModel* m = NULL;
  djError err = {""};
  if (dj_makeModel(&m, &s.def, &err) < 0) print_message("%s\n", err.text);
  assert_non_null(m);
  return m;
}

static size_t entrySize(djArrayType type) {
  const size_t size[] = {sizeof(double), sizeof(int), sizeof(long), sizeof(bool), sizeof(char)};
  return size[type];
}

static djArray ofModel(const djModel* m, const char* name) {
  djArray a;
  if (dj_modelArray(&a, m, name) < 0) fail_msg("no field %s", name);
  return a;
}

static void expect(djArray a, const void* data, djArrayType type, int rows, int columns) {
  assert_ptr_equal(a.data, data);
  assert_int_equal(a.type, type);
  assert_int_equal(a.rows, rows);
  assert_int_equal(a.columns, columns);
}

static void testModel(void) {
  djModel* m = sample();
  expect(ofModel(m, "nq"), &m->nq, DJ_ARRAY_INT, 1, 1);
  expect(ofModel(m, "total_mass"), &m->total_mass, DJ_ARRAY_DOUBLE, 1, 1);
  expect(ofModel(m, "opt.gravity"), m->opt.gravity, DJ_ARRAY_DOUBLE, 1, 3);
  expect(ofModel(m, "opt.timestep"), &m->opt.timestep, DJ_ARRAY_DOUBLE, 1, 1);
  expect(ofModel(m, "opt.contact"), &m->opt.contact, DJ_ARRAY_INT, 1, 1);
  expect(ofModel(m, "opt.integrator"), &m->opt.integrator, DJ_ARRAY_INT, 1, 1);
  expect(ofModel(m, "contact.stiffness"), &m->contact.stiffness, DJ_ARRAY_DOUBLE, 1, 1);
  expect(ofModel(m, "body_inertia"), m->body_inertia, DJ_ARRAY_DOUBLE, m->nbody, 3);
  expect(ofModel(m, "jnt_type"), m->jnt_type, DJ_ARRAY_INT, m->njnt, 1);
  expect(ofModel(m, "key_qpos"), m->key_qpos, DJ_ARRAY_DOUBLE, m->nkey, m->nq);
  expect(ofModel(m, "key_mpos"), m->key_mpos, DJ_ARRAY_DOUBLE, m->nkey, 3 * m->nmocap);
  expect(ofModel(m, "names"), m->names, DJ_ARRAY_CHAR, m->nnames, 1);
  // Every name that is listed is found, once, and the last entry is the model's memory.
  int n = 0;
  for (const char* name; (name = dj_modelArrayName(n)); n++) {
    djArray a = ofModel(m, name);
    assert_non_null(a.data);
    assert_int_equal(a.stride, a.columns * (int)entrySize(a.type));
    for (int k = 0; k < n; k++) assert_string_not_equal(name, dj_modelArrayName(k));
  }
  assert_true(n > 120);
  assert_null(dj_modelArrayName(-1));
  assert_null(dj_modelArrayName(n));
  djArray a;
  const char* const wrong[] = {"", "nothing", "opt.", "opt.nothing", "contact.nothing", "buffer"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(dj_modelArray(&a, m, wrong[i]), DJ_INVALID);
    assert_null(a.data);
  }
  assert_int_equal(dj_modelArray(&a, NULL, "nq"), DJ_INVALID);
  assert_int_equal(dj_modelArray(&a, m, NULL), DJ_INVALID);
  assert_int_equal(dj_modelArray(NULL, m, "nq"), DJ_INVALID);
  dj_deleteModel(m);
}

static djArray ofData(const djModel* m, djData* d, const char* name) {
  djArray a;
  if (dj_dataArray(&a, m, d, name) < 0) fail_msg("no field %s", name);
  return a;
}

// Entry k of row r, as C reads it.
static double number(djArray a, int r, int k) {
  const char* row = (const char*)a.data + (size_t)r * (size_t)a.stride;
  const char* p = row + (size_t)k * entrySize(a.type);
  switch (a.type) {
    case DJ_ARRAY_DOUBLE: return *(const double*)p;
    case DJ_ARRAY_INT: return *(const int*)p;
    case DJ_ARRAY_LONG: return (double)*(const long*)p;
    case DJ_ARRAY_BOOL: return *(const bool*)p;
    case DJ_ARRAY_CHAR: break;
  }
  return NAN;
}

static void checkContacts(const djModel* m, djData* d) {
  djArray geom2 = ofData(m, d, "pair.geom2"), force = ofData(m, d, "pair.force");
  djArray recovering = ofData(m, d, "pair.recovering"), body1 = ofData(m, d, "contact.body1");
  djArray torque = ofData(m, d, "contact.torque");
  expect(force, d->pair[0].force, DJ_ARRAY_DOUBLE, d->npair, 3);
  expect(torque, d->contact[0].torque, DJ_ARRAY_DOUBLE, d->ncontact, 3);
  assert_int_equal(recovering.type, DJ_ARRAY_BOOL);
  for (int i = 0; i < d->npair; i++) {
    assert_true(number(geom2, i, 0) == d->pair[i].geom2);
    assert_true(number(force, i, 2) == d->pair[i].force[2]);
    assert_true(number(recovering, i, 0) == d->pair[i].recovering);
  }
  for (int i = 0; i < d->ncontact; i++) {
    assert_true(number(body1, i, 0) == d->contact[i].body1);
    assert_true(number(torque, i, 1) == d->contact[i].torque[1]);
  }
}

static void testData(void) {
  djData* d;
  djModel* m = startPile(&d, newMixedPile(4));
  assert_int_equal(ofData(m, d, "pair.gap").rows, 0);
  int contacts = 0;
  for (int k = 0; k < 100; k++) {
    assert_true(dj_step(m, d) >= 0);
    checkContacts(m, d);
    contacts += d->npair > 1 && d->ncontact > 1;
  }
  assert_true(contacts > 0);
  expect(ofData(m, d, "qpos"), d->qpos, DJ_ARRAY_DOUBLE, m->nq, 1);
  expect(ofData(m, d, "xfrc_applied"), d->xfrc_applied, DJ_ARRAY_DOUBLE, m->nbody, 6);
  expect(ofData(m, d, "time"), &d->time, DJ_ARRAY_DOUBLE, 1, 1);
  expect(ofData(m, d, "energy"), d->energy, DJ_ARRAY_DOUBLE, 1, 2);
  expect(ofData(m, d, "stats.steps"), &d->stats.steps, DJ_ARRAY_LONG, 1, 1);
  expect(ofData(m, d, "stats.iterations"), &d->stats.iterations, DJ_ARRAY_INT, 1, 1);
  assert_true(number(ofData(m, d, "stats.steps"), 0, 0) == 100);
  int n = 0;
  for (const char* name; (name = dj_dataArrayName(n)); n++) {
    assert_non_null(ofData(m, d, name).data);
    for (int k = 0; k < n; k++) assert_string_not_equal(name, dj_dataArrayName(k));
  }
  assert_int_equal(n, 17 + 4 + 3 + 31 + 12);
  djArray a;
  assert_int_equal(dj_dataArray(&a, m, d, "stats.nothing"), DJ_INVALID);
  assert_int_equal(dj_dataArray(&a, m, NULL, "qpos"), DJ_INVALID);
  assert_int_equal(dj_dataArray(&a, NULL, d, "qpos"), DJ_INVALID);
  assert_int_equal(dj_dataArray(NULL, m, d, "qpos"), DJ_INVALID);
  djt_delete(m, d);
}

static void refuse(djModel* m, const char* name, double value, int n, const char* text) {
  djError err = {""};
  djOption before = m->opt;
  const double values[3] = {value, 0, 0};
  assert_true(dj_setOptionEntry(m, name, values, n, &err) < 0);
  if (!strstr(err.text, text)) fail_msg("'%s' does not say '%s'", err.text, text);
  assert_memory_equal(&before, &m->opt, sizeof before);
}

static void testOptions(void) {
  djModel* m = sample();
  djError err = {""};
  const double h = 0.003, gravity[3] = {1, 2, 3}, none = DJ_CONTACT_NONE, one = 1, small = 0.05;
  assert_int_equal(dj_setOptionEntry(m, "timestep", &h, 1, &err), DJ_OK);
  assert_int_equal(dj_setOptionEntry(m, "gravity", gravity, 3, &err), DJ_OK);
  assert_int_equal(dj_setOptionEntry(m, "contact", &none, 1, &err), DJ_OK);
  assert_int_equal(dj_setOptionEntry(m, "integrator", &one, 1, &err), DJ_OK);
  assert_int_equal(dj_setOptionEntry(m, "support", &small, 1, &err), DJ_OK);
  assert_true(m->opt.timestep == h && m->opt.gravity[1] == 2);
  assert_true(m->opt.contact == DJ_CONTACT_NONE && m->opt.integrator == DJ_VARIATIONAL);
  assert_true(m->contact.support == small);   // settings in force follow
  refuse(m, "timestep", -1, 1, "timestep");
  refuse(m, "timestep", NAN, 1, "timestep");
  refuse(m, "timestep", 1, 3, "expected 1 number");
  refuse(m, "gravity", 1, 1, "expected 3 numbers");
  refuse(m, "integrator", 0.5, 1, "0.5 is not an integer");
  refuse(m, "integrator", NAN, 1, "not an integer");
  refuse(m, "integrator", 77, 1, "integrator");
  refuse(m, "nothing", 1, 1, "nothing: unknown option");
  assert_int_equal(dj_setOptionEntry(NULL, "timestep", &h, 1, &err), DJ_INVALID);
  assert_int_equal(dj_setOptionEntry(m, "timestep", NULL, 1, NULL), DJ_INVALID);
  dj_deleteModel(m);
}

static void testSizes(void) {
  assert_int_equal(dj_sizeOf("djError"), sizeof(djError));
  assert_int_equal(dj_sizeOf("djRolloutResult"), sizeof(djRolloutResult));
  assert_int_equal(dj_sizeOf("djcResult"), sizeof(djcResult));
  assert_int_equal(dj_sizeOf("nothing"), 0);
  assert_int_equal(dj_sizeOf(NULL), 0);
}

DJT_MAIN(testModel, testData, testOptions, testSizes)
