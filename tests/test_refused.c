// Definitions of models with one bad number each: every one is refused, and the message names the
// element and what is wrong with it. Of arrays the last number is the bad one.

#include "common/scene.h"
#include "common/test.h"

enum { OPTION, BODY, JOINT, GEOM, ACTUATOR, PAIR };

typedef struct Row {
  int kind, element;
  size_t place;
  double value;
  bool integer;
  const char* text;
} Row;

// Numbers, and integers or enumerations.
#define NUMBER(kind, element, type, field, k, value, text) \
  {kind, element, offsetof(type, field) + (k) * sizeof(double), value, false, text}
#define INTEGER(kind, element, type, field, value, text) \
  {kind, element, offsetof(type, field), value, true, text}

#define OPT(field, k, value, text) NUMBER(OPTION, 0, djOption, field, k, value, "option: " text)
#define OPTI(field, value, text) INTEGER(OPTION, 0, djOption, field, value, "option: " text)
#define BODYN(field, k, value, text) NUMBER(BODY, 2, djBodyDef, field, k, value, "body #2: " text)
#define JNT(field, k, value, text) NUMBER(JOINT, 1, djJointDef, field, k, value, "joint #1: " text)
#define GEO(field, k, value, text) NUMBER(GEOM, 1, djGeomDef, field, k, value, "geom #1: " text)
#define ACT(field, k, value, text) \
  NUMBER(ACTUATOR, 0, djActuatorDef, field, k, value, "actuator #0: " text)

static const Row rows[] = {
    OPT(timestep, 0, 0, "timestep must be positive"),
    OPT(timestep, 0, NAN, "timestep is not finite"),
    OPT(gravity, 2, INFINITY, "gravity is not finite"),
    OPT(wind, 2, NAN, "wind is not finite"),
    OPT(density, 0, -1, "density must not be negative"),
    OPT(viscosity, 0, -1, "viscosity must not be negative"),
    OPT(length_scale, 0, 0, "length_scale must be positive"),
    OPT(length_scale, 0, -1, "length_scale must be positive"),
    OPT(stiffness, 0, 0, "stiffness must be positive"),
    OPT(stiffness, 0, NAN, "stiffness is not finite"),
    OPT(skin, 0, NAN, "skin is not finite"),
    OPT(friction_eps, 0, 0, "friction_eps must be positive"),
    OPT(friction_eps, 0, INFINITY, "friction_eps is not finite"),
    OPT(tolerance, 0, 0, "tolerance must be positive"),
    OPT(frictionloss_eps, 0, 0, "frictionloss_eps must be positive"),
    OPTI(max_iterations, 0, "max_iterations must be positive"),
    OPTI(impact_steps, -1, "impact_steps must not be negative"),
    OPTI(contact, DJ_NCONTACT, "contact: unknown value '"),
    OPTI(overlap, 7, "overlap: unknown value '7', expected one of recover, error"),
    OPTI(friction_arms, 7, "friction_arms: unknown value '7', expected one of plane, paper"),
    OPTI(friction_cap, 7, "friction_cap: unknown value '7', expected one of magnitude, paper"),
    OPTI(barrier, 2, "barrier: unknown value '2', expected one of sdrs, log"),
    INTEGER(BODY, 0, djBodyDef, parent, 1, "the world has no parent"),
    INTEGER(BODY, 2, djBodyDef, parent, 2, "body #2: "),
    BODYN(pos, 2, NAN, "pos is not finite"),
    BODYN(quat, 3, INFINITY, "quat is zero or not finite"),
    BODYN(ipos, 2, NAN, "ipos is not finite"),
    BODYN(iquat, 3, NAN, "iquat is zero or not finite"),
    BODYN(mass, 0, -1, "mass is negative or not finite"),
    BODYN(inertia, 2, -1, "inertia is negative or not finite"),
    BODYN(inertia, 2, 100, ""),
    BODYN(gravcomp, 0, NAN, "gravcomp is not finite"),
    JNT(pos, 2, NAN, "pos is not finite"),
    JNT(axis, 2, NAN, "axis is zero or not finite"),
    JNT(qpos0, 0, NAN, "qpos0 is not finite"),
    JNT(springref, 0, INFINITY, "springref is not finite"),
    JNT(stiffness, 0, -1, "stiffness is negative or not finite"),
    JNT(stiffnesspoly, 1, NAN, "stiffnesspoly is not finite"),
    JNT(damping, 0, -1, "damping is negative or not finite"),
    JNT(dampingpoly, 1, NAN, "dampingpoly is not finite"),
    JNT(armature, 0, -1, "armature is negative or not finite"),
    JNT(frictionloss, 0, -1, "frictionloss is negative or not finite"),
    JNT(margin, 0, NAN, "margin is not finite"),
    JNT(limit_stiffness, 0, -1, "limit_stiffness is negative"),
    JNT(limit_damping, 0, -1, "limit_damping is negative"),
    JNT(range, 1, -2, "range is reversed"),
    JNT(range, 1, -1, "range is empty"),
    JNT(range, 1, INFINITY, "range is not finite"),
    JNT(actfrcrange, 1, -2, "actfrcrange is reversed"),
    INTEGER(JOINT, 1, djJointDef, type, 9, "joint #1: unknown type"),
    INTEGER(JOINT, 1, djJointDef, type, DJ_FREE, "joint #1: a free joint"),
    INTEGER(JOINT, 1, djJointDef, body, 9, "joint #1: its body does not exist"),
    INTEGER(JOINT, 0, djJointDef, body, 0, "joint #0: the world cannot have joints"),
    NUMBER(JOINT, 2, djJointDef, axis, 0, NAN, "joint #2: axis is not finite"),
    NUMBER(JOINT, 2, djJointDef, range, 1, -1,
           "joint #2: range of a ball joint must end at a positive angle"),
    NUMBER(JOINT, 2, djJointDef, qpos0, 3, INFINITY, "joint #2: qpos0 is not finite"),
    GEO(size, 2, -1, "size is negative or not finite"),
    GEO(size, 2, 0, "size must be positive"),
    GEO(pos, 2, NAN, "pos is not finite"),
    GEO(quat, 3, NAN, "quat is zero or not finite"),
    GEO(friction, 2, -1, "friction is negative or not finite"),
    GEO(restitution, 0, 1.01, "restitution is not between 0 and 1"),
    GEO(restitution, 0, NAN, "restitution is not between 0 and 1"),
    GEO(solref_restitution, 0, -0.1, "solref_restitution is not between 0 and 1"),
    GEO(margin, 0, NAN, "margin is not finite"),
    GEO(gap, 0, NAN, "gap is not finite"),
    INTEGER(GEOM, 1, djGeomDef, type, 99, "geom #1: unknown type"),
    INTEGER(GEOM, 1, djGeomDef, mesh, 0, "geom #1: only geoms of type mesh have a mesh"),
    INTEGER(GEOM, 1, djGeomDef, body, 9, "geom #1: its body does not exist"),
    ACT(gear, 5, NAN, "gear is not finite"),
    ACT(gainprm, 2, NAN, "gainprm is not finite"),
    ACT(biasprm, 2, NAN, "biasprm is not finite"),
    ACT(tau, 0, NAN, "tau is not finite"),
    ACT(tau, 0, 0, "tau must be positive"),
    ACT(armature, 0, -1, "armature is negative or not finite"),
    ACT(damping, 0, -1, "damping is negative or not finite"),
    ACT(dampingpoly, 1, NAN, "dampingpoly is not finite"),
    INTEGER(ACTUATOR, 0, djActuatorDef, joint, 9, "actuator #0: its joint does not exist"),
    INTEGER(ACTUATOR, 0, djActuatorDef, gain, 9, "actuator #0: unknown gain"),
    INTEGER(ACTUATOR, 0, djActuatorDef, bias, 9, "actuator #0: unknown bias"),
    INTEGER(ACTUATOR, 0, djActuatorDef, dyn, 9, "actuator #0: unknown dynamics"),
    INTEGER(PAIR, 0, djPairDef, geom1, 9, "pair #0: its first geom does not exist"),
    NUMBER(PAIR, 0, djPairDef, restitution, 0, -1e-9,
           "pair #0: restitution is not between 0 and 1"),
    NUMBER(PAIR, 0, djPairDef, solref_restitution, 0, 2,
           "pair #0: solref_restitution is not between 0 and 1"),
    NUMBER(PAIR, 0, djPairDef, margin, 0, NAN, "pair #0: margin is not finite"),
    NUMBER(PAIR, 0, djPairDef, gap, 0, NAN, "pair #0: gap is not finite"),
};

static void testEach(void) {
  Scene* s = newScene(3);
  int a = addBody(s, 0, DJ_FREE, 0, 0, 1, 1, 0.1), b = addBody(s, a, DJ_HINGE, 0.5, 0, 0, 1, 0.1);
  addBody(s, b, DJ_BALL, 0.5, 0, 0, 1, 0.1);
  addGeom(s, a, DJ_SPHERE, 0.1, 0, 0);
  addGeom(s, b, DJ_BOX, 0.1, 0.1, 0.1);
  for (int j = 1; j < 3; j++) {
    s->joint[j].limited = true;
    s->joint[j].range[0] = j == 1 ? -1 : 0;
    s->joint[j].range[1] = 1;
  }
  s->joint[1].actfrclimited = true;
  s->joint[1].actfrcrange[0] = -1;
  s->joint[1].actfrcrange[1] = 1;
  s->actuator[0] = dj_defaultActuatorDef();
  s->actuator[0].joint = 1;
  s->actuator[0].dyn = DJ_DYN_FILTER;
  s->actuator[0].tau = 0.1;
  s->def.nu = 1;
  djPairDef pair = {.geom1 = 0, .geom2 = 1, .condim = 3, .friction = 0.5};
  s->def.pair = &pair;
  s->def.npair = 1;
  dj_deleteModel(sceneModel(s));   // it is good
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const Row* row = &rows[i];
    char* const element[] = {(char*)&s->def.option, (char*)&s->body[row->element],
                             (char*)&s->joint[row->element], (char*)&s->geom[row->element],
                             (char*)&s->actuator[row->element], (char*)&pair};
    char* place = element[row->kind] + row->place;
    size_t size = row->integer ? sizeof(int) : sizeof(double);
    char kept[sizeof(double)];
    int number = row->integer ? (int)row->value : 0;
    memcpy(kept, place, size);
    memcpy(place, row->integer ? (const void*)&number : (const void*)&row->value, size);
    djModel* m = NULL;
    djError err = {""};
    djStatus status = dj_makeModel(&m, &s->def, &err);
    djt_failIf(status != DJ_INVALID || !strstr(err.text, row->text), "status %d, '%s' for: %s",
               status, err.text, row->text);
    assert_null(m);
    memcpy(place, kept, size);
  }
  dj_deleteModel(sceneModel(s));
  freeScene(s);
}

DJT_MAIN(testEach)
