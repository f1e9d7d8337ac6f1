// The tables of fields, a row for each. The order is that of keys in model files.

#include "model/activation.h"
#include "model/check.h"
#include "model/element.h"
#include "model/equality.h"
#include "model/flex.h"
#include "model/force_law.h"
#include "model/geom_row.h"
#include "model/joint_type.h"
#include "model/motor.h"
#include "model/points.h"

#include <math.h>
#include <string.h>

// ---- checks of single fields -------------------------------------------------------------------

static const double* numbersOf(const djElementField* f, const void* element) {
  return (const double*)(const void*)((const char*)element + f->at);
}

static int integerOf(const djElementField* f, const void* element) {
  return *(const int*)(const void*)((const char*)element + f->at);
}

static const char* allFinite(const djElementField* f, const void* element) {
  return dj_allFinite(numbersOf(f, element), f->count) ? NULL : "is not finite";
}

static const char* nonnegative(const djElementField* f, const void* element) {
  return dj_allNonnegative(numbersOf(f, element), f->count) ? NULL : "is negative or not finite";
}

static const char* notNegative(const djElementField* f, const void* element) {
  return nonnegative(f, element) ? "is negative" : NULL;
}

static const char* depth(const djElementField* f, const void* element) {
  return nonnegative(f, element) ? "is not 0 or more" : NULL;
}

static const char* factor(const djElementField* f, const void* element) {
  double x = *numbersOf(f, element);
  return x >= 0 && x <= DJ_LARGEST ? NULL : "must not be negative";
}

static const char* unit(const djElementField* f, const void* element) {
  double v[4];
  return dj_makeUnit(v, numbersOf(f, element), f->count) ? NULL : "is zero or not finite";
}

static const char* part(const djElementField* f, const void* element) {
  double x = *numbersOf(f, element);
  return x >= 0 && x <= 1 ? NULL : "is not between 0 and 1";
}

static const char* share(const djElementField* f, const void* element) {
  double x = *numbersOf(f, element);
  return x > 0 && x < 1 ? NULL : "is not in (0, 1)";
}

static bool isLimited(const djElementField* f, const void* element) {
  return *((const bool*)element + f->flag);
}

static const char* motorNumbers(const djElementField* f, const void* element) {
  const char* problem = allFinite(f, element);
  return problem ? problem : dj_motorOwnProblem(numbersOf(f, element));
}

static const char* range(const djElementField* f, const void* element) {
  return dj_rangeProblem(numbersOf(f, element), isLimited(f, element));
}

static const char* lengths(const djElementField* f, const void* element) {
  const double* v = numbersOf(f, element);
  const char* problem = allFinite(f, element);
  return problem || v[0] <= v[1] ? problem : "is reversed";
}

static const char* impedance(const djElementField* f, const void* element) {
  return dj_impedanceProblem(numbersOf(f, element)) ? "is out of range" : NULL;
}

static const char* condim(const djElementField* f, const void* element) {
  int n = integerOf(f, element);
  return n == 1 || n == 3 || n == 4 || n == 6 ? NULL : "must be 1, 3, 4 or 6";
}

// Of joints: a ball's or free joint's quaternion may be zero (not given).
static const char* coordinates(const djElementField* f, const void* element) {
  const djJointDef* j = element;
  return dj_allFinite(numbersOf(f, j), dj_jointNq((int)j->type)) ? NULL : "is not finite";
}

static const char* axis(const djElementField* f, const void* element) {
  const djJointDef* j = element;
  return dj_isScalarJoint((int)j->type) ? unit(f, j) : allFinite(f, j);
}

static const char* jointRange(const djElementField* f, const void* element) {
  const djJointDef* j = element;
  if (!dj_jointRows[j->type].quat) return range(f, j);
  if (j->limited && !(isfinite(j->range[1]) && j->range[1] > 0)) {
    return "of a ball joint must end at a positive angle";
  }
  return dj_rangeProblem(j->range, false);
}

static const char* jointForces(const djElementField* f, const void* element) {
  const djJointDef* j = element;
  if (j->actfrclimited && !dj_isScalarJoint((int)j->type)) {
    return "is for slide and hinge joints only";
  }
  return range(f, j);
}

static const char* tendonForces(const djElementField* f, const void* element) {
  const double* v = numbersOf(f, element);
  const char* problem = range(f, element);
  if (problem || !isLimited(f, element)) return problem;
  return v[0] <= 0 && v[1] >= 0 ? NULL : "does not hold 0";
}

static const char* size(const djElementField* f, const void* element) {
  const djGeomDef* g = element;
  const char* problem = nonnegative(f, g);
  for (int k = 0; k < dj_geomRow((int)g->type)->nsize && !problem; k++) {
    if (g->size[k] <= 0) problem = "must be positive";
  }
  return problem;
}

static const char* pointCount(const djElementField* f, const void* element) {
  int n = integerOf(f, element);
  return n >= -1 && n <= DJ_MOST_POINTS ? NULL : "must be -1 or between 0 and 10000000";
}

static const char* field(const djElementField* f, const void* element) {
  int n = integerOf(f, element);
  return n >= -1 && n <= 1 ? NULL : "must be 0, 1 or -1";
}

static const char* inside(const djElementField* f, const void* element) {
  int n = integerOf(f, element);
  return n == 0 || n == 1 ? NULL : "must be 0 or 1";
}

static const char* material(const djElementField* f, const void* element) {
  const djFlexDef* x = element;
  const char* name;
  double v = *numbersOf(f, x);
  if (f->most > 0 && !(v >= 0 && v <= f->most)) return "is negative or too large";
  const char* problem = dj_flexProblem(&name, x->dim, x->young, x->poisson, x->edgestiffness);
  return problem && strcmp(name, f->name) == 0 ? problem : NULL;
}

// ---- rows --------------------------------------------------------------------------------------

#define OF(struct_, name_) .name = #name_, .at = offsetof(struct_, name_)
#define TO(array_) .array = offsetof(djModel, array_)
#define PART(array_, column_, columns_) TO(array_), .column = column_, .columns = columns_
// Types.
#define NAME(struct_) {OF(struct_, name), .type = DJ_IS_TEXT}
#define REAL(n, unit_) .type = DJ_IS_REAL, .count = n, .unit = unit_
#define REALS(n, unit_) .type = DJ_IS_REALS, .count = n, .unit = unit_
#define INT .type = DJ_IS_INT, .count = 1
#define BOOL .type = DJ_IS_BOOL, .count = 1
#define NAMED(names) .type = DJ_IS_NAMED, .count = 1, .choice = names
#define REFERENCE(kind) .type = DJ_IS_REFERENCE, .count = 1, .object = DJ_OBJ_##kind
#define QUAT REAL(4, ""), .check = unit, .unit_length = true, STANDARD(1)
#define PLACE REAL(3, "m"), .check = allFinite, NUMBER
// Checks.
#define CHECK(check_) .check = check_
#define NUMBER .most = DJ_LARGEST
#define FORCE .most = DJ_LARGEST_FORCE
#define IF(struct_, flag_) .flag = offsetof(struct_, flag_)
#define ALWAYS .always = true
#define STANDARD(...) .standard = {__VA_ARGS__}
#define NONE STANDARD(-1)

// MuJoCo's default solref (0.02, 1) and solimp: k = 1/(dmax s0 s1)^2, b = 2/(dmax s0).
#define DMAX 0.95
#define TIMECONST 0.02
#define LIMIT_STIFFNESS STANDARD(1 / (DMAX * DMAX * TIMECONST * TIMECONST))
#define LIMIT_DAMPING STANDARD(2 / (DMAX * TIMECONST))
#define IMPEDANCE REAL(5, ""), STANDARD(0.9, DMAX, 0.001, 0.5, 2)

#define BODY(name_) OF(djBodyDef, name_), TO(body_##name_)
static const djElementField bodyFields[] = {
    NAME(djBodyDef),
    {BODY(parent), REFERENCE(BODY)},
    {BODY(pos), PLACE},
    {BODY(quat), QUAT},
    {BODY(ipos), PLACE},
    {BODY(iquat), QUAT},
    {BODY(mass), REAL(1, "kg"), CHECK(nonnegative), FORCE},
    {BODY(inertia), REAL(3, "kg m2"), CHECK(nonnegative), FORCE},
    {BODY(gravcomp), REAL(1, ""), CHECK(allFinite), NUMBER},
    {OF(djBodyDef, mocap), BOOL},
    {.name = NULL}};

#define JOINT(name_) OF(djJointDef, name_), TO(jnt_##name_)
static const djElementField jointFields[] = {
    NAME(djJointDef),
    {JOINT(type), NAMED(dj_jointNames), ALWAYS, STANDARD(DJ_HINGE)},
    {JOINT(body), REFERENCE(BODY), ALWAYS},
    {JOINT(pos), PLACE},
    {JOINT(axis), REAL(3, ""), CHECK(axis), STANDARD(0, 0, 1)},
    {OF(djJointDef, qpos0), .type = DJ_IS_COORD, .count = 7, CHECK(coordinates), NUMBER},
    {OF(djJointDef, springref), .type = DJ_IS_COORD, .count = 7, CHECK(coordinates), NUMBER},
    {JOINT(stiffness), REAL(1, "N/m or N m/rad"), CHECK(nonnegative), FORCE},
    {JOINT(stiffnesspoly), REAL(2, "its unit by m or rad, m2 or rad2"), CHECK(allFinite), FORCE},
    {JOINT(damping), REAL(1, "N s/m or N m s/rad"), CHECK(nonnegative), FORCE},
    {JOINT(dampingpoly), REAL(2, "its unit by m/s or rad/s, their square"), CHECK(allFinite),
     FORCE},
    {JOINT(armature), REAL(1, "kg or kg m2"), CHECK(nonnegative), FORCE},
    {JOINT(frictionloss), REAL(1, "N or N m"), CHECK(nonnegative), FORCE},
    {JOINT(limited), BOOL},
    {JOINT(range), REAL(2, "m or rad"), CHECK(jointRange), NUMBER, IF(djJointDef, limited)},
    {JOINT(margin), REAL(1, "m or rad"), CHECK(allFinite), NUMBER},
    {JOINT(limit_stiffness), REAL(1, "1/s2"), CHECK(notNegative), NUMBER, LIMIT_STIFFNESS},
    {JOINT(limit_damping), REAL(1, "1/s"), CHECK(notNegative), NUMBER, LIMIT_DAMPING},
    {JOINT(limit_impedance), IMPEDANCE},
    {JOINT(frictionloss_damping), REAL(1, "1/s"), CHECK(notNegative), NUMBER, LIMIT_DAMPING},
    {JOINT(frictionloss_impedance), REAL(1, ""), CHECK(share), STANDARD(0.9)},
    {JOINT(actfrclimited), BOOL},
    {JOINT(actfrcrange), REAL(2, "N or N m"), CHECK(jointForces), FORCE,
     IF(djJointDef, actfrclimited)},
    {JOINT(actgravcomp), BOOL},
    {.name = NULL}};

#define GEOM(name_) OF(djGeomDef, name_), TO(geom_##name_)
static const djElementField geomFields[] = {
    NAME(djGeomDef),
    {GEOM(type), NAMED(dj_geomNames), ALWAYS, STANDARD(DJ_SPHERE)},
    {GEOM(body), REFERENCE(BODY), ALWAYS},
    {GEOM(size), REAL(3, "m"), CHECK(size), NUMBER},
    {GEOM(pos), PLACE},
    {GEOM(quat), QUAT},
    {GEOM(mesh), REFERENCE(MESH), NONE},
    {GEOM(hfield), REFERENCE(HFIELD), NONE},
    {GEOM(contype), INT, STANDARD(1)},
    {GEOM(conaffinity), INT, STANDARD(1)},
    {GEOM(condim), INT, CHECK(condim), STANDARD(3)},
    {GEOM(priority), INT},
    {GEOM(friction), REAL(3, "1, m, m"), CHECK(nonnegative), NUMBER, STANDARD(1, 0.005, 0.0001)},
    {GEOM(restitution), REAL(1, ""), CHECK(part)},
    {GEOM(solref_restitution), REAL(1, ""), CHECK(part)},
    {GEOM(margin), REAL(1, "m"), CHECK(allFinite), NUMBER},
    {GEOM(gap), REAL(1, "m"), CHECK(allFinite), NUMBER},
    {GEOM(soft_depth), REAL(1, "m"), CHECK(depth), NUMBER},
    {OF(djGeomDef, contact), .type = DJ_IS_TEXT},
    {OF(djGeomDef, sharpness), REAL(1, "")},
    {OF(djGeomDef, point_count), TO(geom_pointcount), INT, CHECK(pointCount), NONE},
    {GEOM(field), INT, CHECK(field), NONE},
    {GEOM(inside), INT, CHECK(inside)},
    {GEOM(contact_scale), REAL(1, ""), CHECK(factor), STANDARD(1)},
    {GEOM(flex), REFERENCE(FLEX), NONE},
    {.name = NULL}};

#define SITE(name_) OF(djSiteDef, name_), TO(site_##name_)
static const djElementField siteFields[] = {
    NAME(djSiteDef),
    {SITE(body), REFERENCE(BODY), ALWAYS},
    {SITE(pos), PLACE},
    {SITE(quat), QUAT},
    {.name = NULL}};

// Beside `joints` and `coef`, or `path`.
#define TENDON(name_) OF(djTendonDef, name_), TO(tendon_##name_)
static const djElementField tendonFields[] = {
    NAME(djTendonDef),
    {OF(djTendonDef, springlength), TO(tendon_lengthspring), REAL(2, "m"), CHECK(lengths), NUMBER,
     STANDARD(-1, -1)},
    {TENDON(stiffness), REAL(1, "N/m"), CHECK(nonnegative), FORCE},
    {TENDON(stiffnesspoly), REAL(2, "N/m2, N/m3"), CHECK(allFinite), FORCE},
    {TENDON(damping), REAL(1, "N s/m"), CHECK(nonnegative), FORCE},
    {TENDON(dampingpoly), REAL(2, "N s2/m2, N s3/m3"), CHECK(allFinite), FORCE},
    {TENDON(frictionloss), REAL(1, "N"), CHECK(nonnegative), FORCE},
    {TENDON(armature), REAL(1, "kg"), CHECK(nonnegative), FORCE},
    {TENDON(limited), BOOL},
    {TENDON(range), REAL(2, "m"), CHECK(range), NUMBER, IF(djTendonDef, limited)},
    {TENDON(margin), REAL(1, "m"), CHECK(allFinite), NUMBER},
    {TENDON(limit_stiffness), REAL(1, "1/s2"), CHECK(notNegative), NUMBER, LIMIT_STIFFNESS},
    {TENDON(limit_damping), REAL(1, "1/s"), CHECK(notNegative), NUMBER, LIMIT_DAMPING},
    {TENDON(limit_impedance), IMPEDANCE},
    {TENDON(frictionloss_damping), REAL(1, "1/s"), CHECK(notNegative), NUMBER, LIMIT_DAMPING},
    {TENDON(frictionloss_impedance), REAL(1, ""), CHECK(share), STANDARD(0.9)},
    {TENDON(actfrclimited), BOOL},
    {TENDON(actfrcrange), REAL(2, "N"), CHECK(tendonForces), FORCE,
     IF(djTendonDef, actfrclimited)},
    {.name = NULL}};

#define ACTUATOR(name_) OF(djActuatorDef, name_), TO(actuator_##name_)
#define SITES(name_, array_, column_) \
  {OF(djActuatorDef, name_), PART(actuator_##array_, column_, 2), REFERENCE(SITE), NONE}
static const djElementField actuatorFields[] = {
    NAME(djActuatorDef),
    {ACTUATOR(joint), REFERENCE(JOINT), NONE},
    {ACTUATOR(tendon), REFERENCE(TENDON), NONE},
    SITES(site, site, 0),
    SITES(refsite, site, 1),
    SITES(cranksite, crank, 0),
    SITES(slidersite, crank, 1),
    {ACTUATOR(cranklength), REAL(1, "m"), NUMBER},
    {ACTUATOR(body), REFERENCE(BODY), NONE},
    {OF(djActuatorDef, adds_to), TO(actuator_addsto), INT, NONE},
    {OF(djActuatorDef, in_parent), TO(actuator_inparent), BOOL},
    {ACTUATOR(gear), REAL(6, "1 or m"), CHECK(allFinite), NUMBER, STANDARD(1)},
    {ACTUATOR(gain), NAMED(dj_gainNames)},
    {ACTUATOR(gainprm), REALS(DJ_NPRM, "N or N m by the input's"), CHECK(allFinite), FORCE,
     STANDARD(1)},
    {ACTUATOR(bias), NAMED(dj_biasNames)},
    {ACTUATOR(biasprm), REALS(DJ_NPRM, "N or N m"), CHECK(allFinite), FORCE},
    {ACTUATOR(input), NAMED(dj_inputNames)},
    {ACTUATOR(motorprm), REALS(DJ_NMOTORPRM, "s, A/s, K/W, J/K, C, N m/rad, N m s/rad"),
     CHECK(motorNumbers), FORCE},
    {ACTUATOR(lengthrange), REAL(2, "m or rad"), CHECK(allFinite), NUMBER},
    {ACTUATOR(acc0), REAL(1, "1/kg or 1/(kg m)"), CHECK(allFinite), FORCE},
    {ACTUATOR(dyn), NAMED(dj_dynNames)},
    {ACTUATOR(tau), REAL(1, "s"), CHECK(allFinite), FORCE, STANDARD(1)},
    {ACTUATOR(tau_deactivation), REAL(1, "s"), CHECK(allFinite), FORCE},
    {ACTUATOR(tau_smooth), REAL(1, "the input's"), CHECK(nonnegative), NUMBER},
    {ACTUATOR(integral), REAL(1, "N or N m by the input's and s"), CHECK(allFinite),
     FORCE},
    {ACTUATOR(integral_limit), REAL(1, "the input's and s"), CHECK(nonnegative), NUMBER},
    {ACTUATOR(integral_clipped), BOOL},
    {ACTUATOR(actearly), BOOL},
    {ACTUATOR(ctrllimited), BOOL},
    {ACTUATOR(forcelimited), BOOL},
    {ACTUATOR(actlimited), BOOL},
    {ACTUATOR(ctrlrange), REAL(2, "the input's"), CHECK(range), NUMBER,
     IF(djActuatorDef, ctrllimited)},
    {ACTUATOR(forcerange), REAL(2, "N or N m"), CHECK(range), FORCE,
     IF(djActuatorDef, forcelimited)},
    {ACTUATOR(actrange), REAL(2, "the input's"), CHECK(range), NUMBER,
     IF(djActuatorDef, actlimited)},
    {ACTUATOR(armature), REAL(1, "kg or kg m2"), CHECK(nonnegative), FORCE},
    {ACTUATOR(damping), REAL(1, "N s/m or N m s/rad"), CHECK(nonnegative), FORCE},
    {ACTUATOR(dampingpoly), REAL(2, "its unit by m/s or rad/s, their square"), CHECK(allFinite),
     FORCE},
    {.name = NULL}};

#define PAIR(name_) OF(djPairDef, name_), TO(pair_##name_)
static const djElementField pairFields[] = {
    NAME(djPairDef),
    {PAIR(geom1), REFERENCE(GEOM), ALWAYS},
    {PAIR(geom2), REFERENCE(GEOM), ALWAYS},
    {PAIR(condim), INT, CHECK(condim), STANDARD(3)},
    {PAIR(friction), REAL(1, ""), CHECK(nonnegative), NUMBER, STANDARD(1)},
    {PAIR(friction2), REAL(1, ""), CHECK(nonnegative), NUMBER},
    {PAIR(torsion), REAL(1, "m"), CHECK(nonnegative), NUMBER},
    {PAIR(rolling), REAL(2, "m"), CHECK(nonnegative), NUMBER},
    {PAIR(restitution), REAL(1, ""), CHECK(part)},
    {PAIR(solref_restitution), REAL(1, ""), CHECK(part)},
    {PAIR(margin), REAL(1, "m"), CHECK(allFinite), NUMBER},
    {PAIR(gap), REAL(1, "m"), CHECK(allFinite), NUMBER},
    {PAIR(soft_depth), REAL(1, "m"), CHECK(depth), NUMBER},
    {OF(djPairDef, contact), .type = DJ_IS_TEXT},
    {.name = NULL}};

static const djElementField excludeFields[] = {
    {OF(djExcludeDef, body1), TO(exclude_body1), REFERENCE(BODY), ALWAYS},
    {OF(djExcludeDef, body2), TO(exclude_body2), REFERENCE(BODY), ALWAYS},
    {.name = NULL}};

static const djElementField guideFields[] = {
    {OF(djExcludeDef, body1), TO(guide_body1), REFERENCE(BODY), ALWAYS},
    {OF(djExcludeDef, body2), TO(guide_body2), REFERENCE(BODY), ALWAYS},
    {.name = NULL}};

// Those of the two sides that the type has go to eq_pair.
#define EQUALITY(name_) OF(djEqualityDef, name_), TO(eq_##name_)
#define SIDE(name_, kind) {OF(djEqualityDef, name_), REFERENCE(kind), NONE}
static const djElementField equalityFields[] = {
    NAME(djEqualityDef),
    {EQUALITY(type), NAMED(dj_equalityNames), ALWAYS, STANDARD(DJ_EQ_CONNECT)},
    {OF(djEqualityDef, active), TO(eq_active0), BOOL, STANDARD(true)},
    SIDE(joint1, JOINT),
    SIDE(joint2, JOINT),
    SIDE(tendon1, TENDON),
    SIDE(tendon2, TENDON),
    SIDE(body1, BODY),
    SIDE(body2, BODY),
    {OF(djEqualityDef, site1), PART(eq_site, 0, 2), REFERENCE(SITE), NONE},
    {OF(djEqualityDef, site2), PART(eq_site, 1, 2), REFERENCE(SITE), NONE},
    {EQUALITY(polycoef), REAL(5, "m or rad"), CHECK(allFinite), NUMBER, STANDARD(0, 1)},
    {OF(djEqualityDef, anchor1), PART(eq_anchor, 0, 6), REAL(3, "m"), NUMBER},
    {OF(djEqualityDef, anchor2), PART(eq_anchor, 3, 6), REAL(3, "m"), NUMBER},
    {EQUALITY(quat), REAL(4, ""), .unit_length = true, STANDARD(1)},
    {EQUALITY(torquescale), REAL(1, "m"), NUMBER, STANDARD(1)},
    // k dmax^2/(1 - dmax), b dmax/(1 - dmax)
    {EQUALITY(stiffness), REAL(1, "1/s2"), CHECK(nonnegative), NUMBER,
     STANDARD(1 / ((1 - DMAX) * TIMECONST * TIMECONST))},
    {EQUALITY(damping), REAL(1, "1/s"), CHECK(nonnegative), NUMBER,
     STANDARD(2 / ((1 - DMAX) * TIMECONST))},
    {EQUALITY(impedance), IMPEDANCE, CHECK(impedance)},
    {.name = NULL}};

// Beside `bodies`, `pos`, `vert` and `elements`.
#define FLEX(name_) OF(djFlexDef, name_), TO(flex_##name_)
static const djElementField flexFields[] = {
    NAME(djFlexDef),
    {FLEX(dim), INT, ALWAYS, STANDARD(2)},
    {FLEX(elastic2d), NAMED(dj_elastic2dNames)},
    {FLEX(young), REAL(1, "N/m2"), CHECK(material), FORCE},
    {FLEX(poisson), REAL(1, ""), CHECK(material)},
    {FLEX(thickness), REAL(1, "m"), CHECK(material), NUMBER},
    {FLEX(damping), REAL(1, "s"), CHECK(material), NUMBER},
    {FLEX(edgestiffness), REAL(1, "N/m"), CHECK(material), FORCE},
    {FLEX(edgedamping), REAL(1, "N s/m"), CHECK(material), FORCE},
    {FLEX(radius), REAL(1, "m"), CHECK(material), NUMBER, STANDARD(0.005)},
    {.name = NULL}};

static const djElementField noFields[] = {{.name = NULL}};

// ---- kinds -------------------------------------------------------------------------------------

#define KIND(name_, list_, words_, fields, struct_, n_, array_)                                  \
  .name = name_, .list = list_, .words = words_, .field = fields, .size = sizeof(struct_),       \
  .n = offsetof(djModelDef, n_), .array = offsetof(djModelDef, array_),                          \
  .count = offsetof(djModel, n_)
#define NAMES(array_) .name_offset = offsetof(djModel, array_)

const djElementKind dj_elementKinds[DJ_NELEMENT] = {
    [DJ_OBJ_BODY] = {KIND("body", "bodies", "bodies", bodyFields, djBodyDef, nbody, body),
                     NAMES(name_body), dj_bodyBefore, dj_bodyAfter},
    [DJ_OBJ_JOINT] = {KIND("joint", "joints", "joints", jointFields, djJointDef, njnt, joint),
                      NAMES(name_jnt), dj_jointBefore, dj_jointAfter},
    [DJ_OBJ_GEOM] = {KIND("geom", "geoms", "geoms", geomFields, djGeomDef, ngeom, geom),
                     NAMES(name_geom), dj_geomBefore, NULL},
    [DJ_OBJ_MESH] = {KIND("mesh", "meshes", "meshes", noFields, djMeshDef, nmesh, mesh),
                     NAMES(name_mesh), dj_meshBefore, NULL},
    [DJ_OBJ_SITE] = {KIND("site", "sites", "sites", siteFields, djSiteDef, nsite, site),
                     NAMES(name_site), dj_siteBefore, NULL},
    [DJ_OBJ_ACTUATOR] = {KIND("actuator", "actuators", "actuators", actuatorFields, djActuatorDef,
                              nu, actuator),
                         NAMES(name_actuator), dj_actuatorBefore, dj_actuatorAfter},
    [DJ_OBJ_KEY] = {KIND("key", "keys", "keys", noFields, djKeyDef, nkey, key), NAMES(name_key),
                    NULL, NULL},
    [DJ_OBJ_TENDON] = {KIND("tendon", "tendons", "tendons", tendonFields, djTendonDef, ntendon,
                            tendon),
                       NAMES(name_tendon), dj_tendonBefore, dj_tendonAfter},
    [DJ_OBJ_PAIR] = {KIND("pair", "pairs", "pairs", pairFields, djPairDef, npair, pair),
                     NAMES(name_pair), dj_pairBefore, dj_pairAfter},
    [DJ_OBJ_EQUALITY] = {KIND("equality", "equalities", "equality constraints", equalityFields,
                              djEqualityDef, nequality, equality),
                         NAMES(name_equality), dj_equalityBefore, dj_equalityAfter},
    [DJ_OBJ_HFIELD] = {KIND("hfield", "hfields", "height fields", noFields, djHfieldDef, nhfield,
                            hfield),
                       NAMES(name_hfield), dj_hfieldBefore, NULL},
    [DJ_OBJ_FLEX] = {KIND("flex", "flexes", "flexes", flexFields, djFlexDef, nflex, flex),
                     NAMES(name_flex), dj_flexBefore, NULL},
    [DJ_ELEMENT_EXCLUDE] = {KIND("exclude", "excludes", "excludes", excludeFields, djExcludeDef,
                                 nexclude, exclude),
                            0, dj_excludeBefore, NULL},
    [DJ_ELEMENT_GUIDE] = {KIND("guide", "guides", "guides", guideFields, djExcludeDef, nguide,
                               guide),
                          0, dj_guideBefore, NULL},
};
