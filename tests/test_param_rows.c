// The rows of the table of parameters: each is the array that its name says, its rule takes and
// refuses what the row promises, and writing it changes its own numbers alone.

#include "model/param_row.h"
#include "model/restitution.h"

#include "common/make_model.h"
#include "common/near.h"
#include "common/test.h"
#include "model/geom_row.h"

#include <dijoco/array.h>

// A model in which coefficients of restitution are all given.
static djModel* plainModel(void) {
  djModel* m = djt_sampleModel(NULL);
  memset(m->geom_solref_restitution, 0, sizeof(double) * (size_t)m->ngeom);
  memset(m->pair_solref_restitution, 0, sizeof(double) * (size_t)m->npair);
  return m;
}

// The sample's first two actuators as motors with all states.
static djModel* motorModel(void) {
  static const double gain[DJ_NPRM] = {2, 0.5, 0.004, 20, 3, 2, 0.4, 9};
  static const double bias[DJ_NPRM] = {0.2, 3, 0.3, 0.4, 0.6, 0.8};
  static const double own[DJ_NMOTORPRM] = {0.02, 900, 2, 3, 25, 20, 0.3};
  djSample sample;
  djt_fillSample(&sample);
  for (int i = 0; i < 2; i++) {
    djActuatorDef* a = &sample.actuator[i];
    *a = dj_defaultActuatorDef();
    a->joint = i;
    a->gain = DJ_GAIN_DCMOTOR;
    a->bias = DJ_BIAS_DCMOTOR;
    a->input = DJ_INPUT_POSITION;
    memcpy(a->gainprm, gain, sizeof gain);
    memcpy(a->biasprm, bias, sizeof bias);
    memcpy(a->motorprm, own, sizeof own);
  }
  sample.def.nu = 2;
  sample.def.nkey = 0;
  return djt_makeModel(&sample.def);
}

// The array of a row, by its name.
static djArray arrayOf(const djModel* m, const djFieldRow* row) {
  static const char* const own[][2] = {{"springref", "qpos_spring"},
                                       {"surface", "surface_number"},
                                       {"points", "point_pos"},
                                       {"springlength", "tendon_lengthspring"},
                                       {"heights", "hfield_height"},
                                       {"gravity", "opt.gravity"}};
  char name[60];
  const char* kind = row->object == DJ_OBJ_JOINT      ? "jnt"
                     : row->object == DJ_OBJ_EQUALITY ? "eq"
                                                      : row->kind;
  snprintf(name, sizeof name, "%s_%s", kind, row->name);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    if (strcmp(row->name, own[i][0]) == 0) snprintf(name, sizeof name, "%s", own[i][1]);
  }
  if (row->rule == RULE_REST) snprintf(name, sizeof name, "flexvert_rest");
  djArray array;
  if (dj_modelArray(&array, m, name) != DJ_OK) fail_msg("there is no array '%s'", name);
  assert_int_equal(array.type, DJ_ARRAY_DOUBLE);
  return array;
}

// All of one field, but the world's frame; motors are not among the sample's actuators.
static int listParams(djParam* list, const djModel* m, djField f) {
  int n = 0;
  for (int id = 0; id < 20; id++) n += dj_makeParam(&list[n], m, f, id);
  assert_true((n > 0 || f == DJ_FIELD_ACTUATOR_MOTORPRM) && n < 20);
  return n;
}

// What is tested of each parameter: in a copy of the model, which is to be as it was afterwards.
typedef void ParamTest(djModel* copy, const djModel* m, const djParam* p);

static void forParams(ParamTest* test) {
  djModel *m = plainModel(), *copy = NULL;
  assert_int_equal(dj_copyModel(&copy, m, NULL), DJ_OK);
  for (int f = 0; f < DJ_FIELD_SETTING; f++) {
    djParam list[20];
    int n = listParams(list, m, (djField)f);
    for (int i = 0; i < n; i++) test(copy, m, &list[i]);
  }
  dj_deleteModel(copy);
  dj_deleteModel(m);
}

// Elements lie one after the other and fill the array; so do gradients.
static void testPlaces(void) {
  djModel* m = plainModel();
  double* grad = calloc(dj_paramGradSize(m) + 1, sizeof(double));
  double* end = grad;
  assert_non_null(grad);
  for (int f = 0; f < DJ_FIELD_SETTING; f++) {
    const djFieldRow* row = &dj_paramRows[f];
    djArray array = arrayOf(m, row);
    djParam list[20];
    int n = listParams(list, m, (djField)f);
    if (n == 0) end += array.rows * array.columns;
    if (n == 0) continue;
    bool world = list[0].id == 1;
    double* next = (double*)array.data + (world ? row->nvalue : 0);
    if (world) end += row->ntangent;
    for (int i = 0; i < n; i++) {
      assert_int_equal(list[i].id, i + world);
      assert_ptr_equal(dj_paramData(m, &list[i]), next);
      assert_ptr_equal(dj_paramEntry(grad, m, (djField)f, list[i].id), end);
      bool law = f == DJ_FIELD_ACTUATOR_GAINPRM || f == DJ_FIELD_ACTUATOR_BIASPRM;
      if (law) assert_int_equal(list[i].nvalue, 3);   // of DJ_NPRM
      else if (row->nvalue > 0) assert_int_equal(list[i].nvalue, row->nvalue);
      next += law ? row->nvalue : list[i].nvalue;
      end += law ? row->ntangent : list[i].ntangent;
    }
    assert_ptr_equal(next, (double*)array.data + array.rows * array.columns);
  }
  free(grad);
  dj_deleteModel(m);
}

// Names are found, and belong to no other row; units and help are there.
static void testNames(void) {
  djModel* m = plainModel();
  for (int f = 0; f < DJ_FIELD_SETTING; f++) {
    const djFieldRow* row = &dj_paramRows[f];
    bool whole = row->object == DJ_NOBJ;
    char name[80];
    snprintf(name, sizeof name, whole ? "%s/%s" : "%s/N/%s", row->kind, row->name);
    assert_string_equal(row->entry.name, name);
    assert_true(row->entry.unit && row->entry.help && row->entry.help[0]);
    if (!whole) assert_string_equal(dj_objectName(row->object), row->kind);
    int last = whole ? 0 : dj_objectCount(m, row->object) - 1;
    if (f == DJ_FIELD_GEOM_SURFACE || f == DJ_FIELD_GEOM_POINTS) last = 1;
    if (f == DJ_FIELD_ACTUATOR_MOTORPRM) continue;
    if (whole) snprintf(name, sizeof name, "%s/%s", row->kind, row->name);
    else snprintf(name, sizeof name, "%s/#%d/%s", row->kind, last, row->name);
    djParam p = djt_param(m, name);
    assert_int_equal(p.field, f);
    assert_int_equal(p.id, last);
  }
  dj_deleteModel(m);
}

// How many of the values are used: types of geoms have fewer sizes.
static int usedValues(const djModel* m, const djParam* p) {
  bool size = dj_paramRows[p->field].rule == RULE_SIZE;
  return size ? dj_geomRow(m->geom_type[p->id])->nsize : p->nvalue;
}

// A value that the rule takes, other than what the model has; sizes that are not used stay.
static void goodValue(double* value, const djModel* m, const djParam* p) {
  djRule rule = dj_paramRows[p->field].rule;
  assert_int_equal(dj_getParam(value, m, p), DJ_OK);
  for (int k = 0; k < usedValues(m, p); k++) {
    value[k] = 0.5 + 1.25 * fabs(value[k]) + 1e-3 * k;
    if (rule == RULE_RANGE || rule == RULE_LENGTHS) value[k] = 1 + k;
    if (rule == RULE_INERTIA) value[k] = 2 + 0.1 * k;
    if (rule == RULE_BOUNCE) value[k] = 1 - 0.5 * value[k];
    if (p->field == DJ_FIELD_FLEX_POISSON) value[k] = 0.05 + 0.5 * dj_paramData(m, p)[k];
  }
}

// Ropes have a stiffness of edges, cloth and solids Young's modulus: of the others that is 0, and
// takes nothing else.
static bool mustVanish(const djModel* m, const djParam* p) {
  bool rope = dj_paramRows[p->field].object == DJ_OBJ_FLEX && m->flex_dim[p->id] == 1;
  return p->field == DJ_FIELD_FLEX_YOUNG ? rope : p->field == DJ_FIELD_FLEX_EDGESTIFFNESS && !rope;
}

// An array or number of the model that follows from the parameter.
static bool isDerived(const djParam* p, const char* name) {
  static const char* const flex[] = {"flexedge_length0", "flexedge_bending", "flexelem_stiffness"};
  if (p->field == DJ_FIELD_BODY_MASS) return strcmp(name, "masses") == 0;
  bool is = false;
  for (int k = 0; k < 3; k++) is = is || strcmp(name, flex[k]) == 0;
  return is && dj_paramRows[p->field].object == DJ_OBJ_FLEX;
}

static double normOf(const double* v, int n) {
  double sum = 0;
  for (int k = 0; k < n; k++) sum += v[k] * v[k];
  return sqrt(sum);
}

static void expectWriting(djModel* copy, const djModel* m, const djParam* p) {
  double value[24], *data = dj_paramData(copy, p);
  djError err = {""};
  goodValue(value, m, p);
  if (mustVanish(m, p)) {
    assert_int_equal(dj_writeParam(copy, p, value, NULL), DJ_INVALID);
    assert_int_equal(dj_writeParam(copy, p, dj_paramData(m, p), NULL), DJ_OK);
    return;
  }
  if (dj_writeParam(copy, p, value, &err) != DJ_OK) fail_msg("%s", err.text);
  bool unit = dj_paramRows[p->field].rule == RULE_QUAT || dj_paramIsAxis(m, p);
  for (int k = 0; k < p->nvalue && unit; k++) {
    djt_near(data[k], value[k] / normOf(value, p->nvalue), 1e-15);
  }
  bool turned = dj_paramIsRotation(m, p, p->ntangent - 1);
  assert_true(turned == (p->nvalue == p->ntangent + 1));
  if (!turned && !unit) assert_memory_equal(data, value, sizeof(double) * (size_t)p->nvalue);
  assert_true((djt_difference(m, copy) != NULL) == (usedValues(m, p) > 0));
  memcpy(data, dj_paramData(m, p), sizeof(double) * (size_t)p->nvalue);
  const char* other = djt_difference(m, copy);
  djt_failIf(other && !isDerived(p, other), "%s changes %s", dj_paramRows[p->field].entry.name,
             other);
  assert_int_equal(dj_writeParam(copy, p, data, NULL), DJ_OK);   // and what is derived follows
  assert_null(djt_difference(m, copy));
}

static void testWriting(void) { forParams(expectWriting); }

// Numbers of motors: so many, where they are, alone.
static void testMotors(void) {
  static const struct {
    djField field;
    int nvalue;
  } of[] = {{DJ_FIELD_ACTUATOR_GAINPRM, 8}, {DJ_FIELD_ACTUATOR_BIASPRM, 6},
            {DJ_FIELD_ACTUATOR_MOTORPRM, DJ_NMOTORPRM}};
  djModel *m = motorModel(), *copy = djt_copy(m);
  for (int k = 0; k < 3; k++) {
    const djFieldRow* row = &dj_paramRows[of[k].field];
    djArray array = arrayOf(m, row);
    djParam list[20];
    assert_int_equal(listParams(list, m, of[k].field), 2);
    for (int i = 0; i < 2; i++) {
      char name[80];
      snprintf(name, sizeof name, "actuator/#%d/%s", i, row->name);
      djParam named = djt_param(m, name);
      assert_memory_equal(&named, &list[i], sizeof named);
      assert_int_equal(list[i].nvalue, of[k].nvalue);
      assert_ptr_equal(dj_paramData(m, &list[i]),
                       (double*)array.data + (size_t)i * array.columns);
      expectWriting(copy, m, &list[i]);
    }
  }
  dj_deleteModel(copy);
  dj_deleteModel(m);
}

// ---- rules ------------------------------------------------------------------------------------

// Whether a good value is still taken when all or the last of its numbers are x. It never stays.
static bool taken(djModel* copy, const djModel* m, const djParam* p, bool all, double x) {
  double value[24];
  djError err = {""};
  goodValue(value, m, p);
  for (int k = all ? 0 : p->nvalue - 1; k < p->nvalue; k++) value[k] = x;
  djStatus status = dj_writeParam(copy, p, value, &err);
  assert_true(status == DJ_OK || (status == DJ_INVALID && err.text[0]));
  if (status != DJ_OK) assert_null(djt_difference(m, copy));
  assert_int_equal(dj_getParam(value, m, p), DJ_OK);
  assert_int_equal(dj_writeParam(copy, p, value, NULL), DJ_OK);
  return status == DJ_OK;
}

static void expectRule(djModel* copy, const djModel* m, const djParam* p) {
  const djFieldRow* row = &dj_paramRows[p->field];
  djRule rule = row->rule;
  bool unit = rule == RULE_QUAT || rule == RULE_AXIS;
  bool quat = dj_paramIsRotation(m, p, p->ntangent - 1);
  bool one_sided = rule == RULE_NONNEGATIVE || rule == RULE_MASS || rule == RULE_INERTIA ||
                   rule == RULE_SHARPNESS || rule == RULE_BOUNCE || rule == RULE_FLEX;
  bool ordered = rule == RULE_RANGE || rule == RULE_LENGTHS;
  bool moves = row->object != DJ_OBJ_BODY || m->body_lastdof[p->id] >= 0;
  assert_false(taken(copy, m, p, false, NAN));
  assert_false(taken(copy, m, p, true, NAN));
  if (!ordered) assert_false(taken(copy, m, p, true, INFINITY));
  if (rule == RULE_REST || mustVanish(m, p)) {
    assert_true(taken(copy, m, p, true, 0) == (rule != RULE_REST));   // all in one place
    assert_false(taken(copy, m, p, true, 1));
    assert_false(taken(copy, m, p, true, -1));
    return;
  }
  bool bounded = rule == RULE_RANGE || rule == RULE_BOUNCE || p->field == DJ_FIELD_FLEX_POISSON;
  assert_true(taken(copy, m, p, true, 1e19) || bounded);
  if (!ordered && !quat && !unit) {
    assert_true(taken(copy, m, p, true, 1e59) == row->force);
    assert_false(taken(copy, m, p, true, 1e61));
  }
  if (rule == RULE_SIZE) {
    bool used = usedValues(m, p) > 0;
    assert_true(taken(copy, m, p, true, 0) == !used);
    assert_true(taken(copy, m, p, true, -1) == !used);
  } else if (ordered) {
    bool tendon = row->object == DJ_OBJ_TENDON;
    bool idle = rule == RULE_RANGE && !(tendon ? m->tendon_limited : m->jnt_limited)[p->id];
    assert_true(taken(copy, m, p, false, 0.9) == idle);   // before the first, 1
  } else {
    assert_true(taken(copy, m, p, true, -1) == !one_sided);
    assert_true(taken(copy, m, p, true, 0) == !(unit || quat || rule == RULE_SHARPNESS ||
                                                    (rule == RULE_MASS && moves)));
  }
  if (rule == RULE_INERTIA) {
    assert_true(taken(copy, m, p, false, 4));
    assert_false(taken(copy, m, p, false, 4.3));   // larger than the sum of 2 and 2.1
  }
  if (rule == RULE_BOUNCE) {
    assert_true(taken(copy, m, p, true, 1));
    assert_false(taken(copy, m, p, true, 1.0001));
  }
  if (p->field == DJ_FIELD_FLEX_POISSON) {
    assert_true(taken(copy, m, p, true, 0.4999));
    assert_false(taken(copy, m, p, true, 0.5));
  }
}

static void testRules(void) { forParams(expectRule); }

// Whether definitions take the numbers, too.
static bool defined(const djModel* m, const djParam* p, bool all, double x) {
  double value[24];
  djModel* made = NULL;
  djModelDef def;
  void* storage;
  djError err = {""};
  goodValue(value, m, p);
  for (int k = all ? 0 : p->nvalue - 1; k < p->nvalue; k++) value[k] = x;
  djModel* copy = djt_copy(m);
  memcpy(dj_paramData(copy, p), value, sizeof(double) * (size_t)p->nvalue);
  assert_int_equal(dj_getDef(&def, &storage, copy, &err), DJ_OK);
  djStatus status = dj_makeModel(&made, &def, &err);
  dj_freeDef(storage);
  dj_deleteModel(made);
  dj_deleteModel(copy);
  return status == DJ_OK;
}

// What cannot be compared: parameters do not let a mass, an axis or a quaternion vanish that
// definitions do not need; what a body must carry, and whether vertices have a hull and numbers a
// surface with their sharpness, is seen when the model is made; sizes that a type has not are not
// stored. A sharpness of 0 is none.
static bool differs(const djModel* m, const djParam* p, bool all, double x) {
  djRule rule = dj_paramRows[p->field].rule;
  if (rule == RULE_SIZE) return usedValues(m, p) < (all ? 1 : 3);
  bool vanishes = rule == RULE_MASS || rule == RULE_INERTIA || rule == RULE_AXIS ||
                  rule == RULE_COORDINATES;
  if (rule == RULE_SHARPNESS) return x == 0 || x > 1e6;
  return (vanishes && x == 0) || p->field == DJ_FIELD_MESH_VERT ||
         p->field == DJ_FIELD_GEOM_SURFACE;
}

static void expectDefinition(djModel* copy, const djModel* m, const djParam* p) {
  static const double probe[] = {NAN, INFINITY, -INFINITY, -1, 0, 0.9, 4, 4.3, 1e19, 1e30, 1e61};
  for (size_t i = 0; i < 2 * sizeof probe / sizeof probe[0]; i++) {
    bool all = i % 2;
    double x = probe[i / 2];
    if (differs(m, p, all, x)) continue;
    bool takes = taken(copy, m, p, all, x);
    if (takes == defined(m, p, all, x)) continue;
    fail_msg("%s takes %g: %d", dj_paramRows[p->field].entry.name, x, takes);
  }
}

// A parameter takes what a definition takes.
static void testDefinitions(void) { forParams(expectDefinition); }

// What kinds of values go with what rules, mirrors and contact shapes.
static void testKinds(void) {
  for (int f = 0; f < DJ_NFIELD; f++) {
    const djFieldRow* row = &dj_paramRows[f];
    djParam p = {f, 0, 0, 0};
    bool place = strcmp(row->name, "pos") == 0 || strcmp(row->name, "ipos") == 0;
    bool mesh = f == DJ_FIELD_MESH_VERT, vert = mesh || f == DJ_FIELD_FLEX_VERT;
    bool gravity = f == DJ_FIELD_GRAVITY;
    bool geom = row->object == DJ_OBJ_GEOM;
    bool turn = row->rule == RULE_QUAT;
    assert_true(row->nvalue - row->ntangent == turn);
    assert_true((dj_paramMirror(&p) == DJ_MIRROR_QUAT) == turn);
    assert_true((dj_paramMirror(&p) == DJ_MIRROR_PLACES) == (place || vert || gravity || f == DJ_FIELD_GEOM_POINTS));
    assert_true((dj_paramMirror(&p) == DJ_MIRROR_AXIS) == (row->rule == RULE_AXIS));
    bool pair = row->object == DJ_OBJ_PAIR;   // all of theirs
    bool coefficient = pair || strcmp(row->name, "friction") == 0 || row->rule == RULE_BOUNCE;
    assert_true(dj_paramMovesShapes(&p) == (mesh || f == DJ_FIELD_HFIELD_HEIGHTS || (geom && !coefficient)));
    assert_true(dj_paramIsCoefficient(&p) == coefficient);
  }
  djParam none[2] = {{-1, 0, 0, 0}, {DJ_NFIELD, 0, 0, 0}};
  assert_false(dj_paramMovesShapes(&none[0]) || dj_paramMovesShapes(&none[1]));
}

// A coefficient of restitution is the number that counts. What is set counts whatever solref is, and
// what is there already stays where it is from.
static void testRestitution(void) {
  static const struct {
    djObject object;
    int id;
    const char* name;
    double given, solref;
  } of[] = {{DJ_OBJ_GEOM, 4, "geom/#4/restitution", 0, 1.0 / 7},
            {DJ_OBJ_PAIR, 0, "pair/pair/restitution", 0.3, 0.2}};
  static const double set[] = {0.875, 0, 1};
  for (int k = 0; k < 4; k++) {
    for (int j = 0; j < 3; j++) {
      djModel *m = djt_sampleModel(NULL), *copy = NULL;
      djOption option = m->opt;
      option.restitution = k % 2 ? DJ_RESTITUTION_SOLREF : DJ_RESTITUTION_GIVEN;
      assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
      assert_int_equal(dj_copyModel(&copy, m, NULL), DJ_OK);
      int geom = k < 2 ? of[0].id : -1, pair = k < 2 ? -1 : of[1].id;
      double is = k % 2 ? of[k / 2].solref : of[k / 2].given, value;
      djParam p = djt_param(m, of[k / 2].name);
      assert_int_equal(dj_getParam(&value, m, &p), DJ_OK);
      assert_true(value == is && dj_restitution(m, geom, pair) == is);
      assert_ptr_equal(dj_restitutionPlace(m, of[k / 2].object, p.id), dj_paramData(m, &p));
      assert_int_equal(dj_setParam(m, &p, &is, NULL), DJ_OK);
      assert_null(djt_difference(m, copy));
      assert_int_equal(dj_setParam(m, &p, &set[j], NULL), DJ_OK);
      assert_int_equal(dj_getParam(&value, m, &p), DJ_OK);
      assert_true(value == set[j] && dj_restitution(m, geom, pair) == set[j]);
      option.restitution = k % 2 ? DJ_RESTITUTION_GIVEN : DJ_RESTITUTION_SOLREF;
      if (is != set[j]) assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
      assert_true(dj_restitution(m, geom, pair) == set[j]);
      dj_deleteModel(copy);
      dj_deleteModel(m);
    }
  }
}

DJT_MAIN(testPlaces, testNames, testWriting, testMotors, testRules, testKinds, testDefinitions, testRestitution)
