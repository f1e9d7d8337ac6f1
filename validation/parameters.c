// Certificates of the gradient by every kind of parameter, for every pair of geom types.
//
// A body on springs (three slides, a ball joint; limits, friction loss, actuators, drag) is struck
// and pushed by a free body, or a free body slides on a plane. From six steps before the first
// touch 20 steps are differentiated by all parameters, and compared with Richardson differences of
// the same loss along random directions: relative error at most 1e-6, and the error of the linear
// prediction falls with the square of the step. And by the start and controls. With implicit
// surfaces (--law NAME; --sunk D) boxes and cylinders have n = 8, the others beta = 20, as in
// iDCOL, with cones among them.

#include "common/fields.h"
#include "common/vec3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE = 6, HORIZON = 20, MAX_SCENE = 40, LATEST = 400 };

// A cone is a surface as given for a cylinder: by laws of implicit surfaces alone.
typedef struct Shape {
  djGeomType type;
  const char* name;
  double sharpness; // of implicit surfaces; 0: as the default rule has it
  bool cone;
} Shape;
static const Shape shapes[] = {
    {DJ_PLANE, "plane", 0, false},         {DJ_SPHERE, "sphere", 0, false},
    {DJ_CAPSULE, "capsule", 20, false},    {DJ_BOX, "box", 8, false},
    {DJ_MESH, "mesh", 20, false},          {DJ_CYLINDER, "cylinder", 8, false},
    {DJ_ELLIPSOID, "ellipsoid", 0, false}, {DJ_CYLINDER, "cone", 0, true}};
enum { NSHAPE = sizeof shapes / sizeof shapes[0] };

// ------------------------------------------ scenes ---------------------------------------------

static void addShape(djvScene* s, int body, const Shape* shape, djvRandom* random) {
  const djGeomType type = shape->type;
  double size[3], quat[4];
  const double pos[3] = {0.01, -0.02, 0.015};
  for (int k = 0; k < 3; k++) size[k] = djv_uniform(random, 0.06, 0.1);
  djv_randomQuat(random, quat);
  djGeomDef* g;
  if (type == DJ_MESH) {
    djvHull hull;
    djv_makeHull(&hull, random, 14);
    djv_scaleHull(&hull, &hull, size);
    g = djv_addHull(s, body, &hull, pos, quat);
  } else {
    g = djv_addGeom(s, body, type, size, pos, quat);
  }
  g->friction[0] = djv_uniform(random, 0.4, 0.7);
  if (s->def.option.contact != DJ_IMPLICIT_SURFACE) return;
  g->sharpness = shape->sharpness;
  if (!shape->cone) return;
  static double number[2][5];
  static djSurfaceDef surface[2];
  const int k = s->def.ngeom - 1;
  memcpy(number[k], (double[5]){size[0], 0.6 * size[0], size[1], 0.8 * size[1], 20},
         sizeof number[k]);
  surface[k] = (djSurfaceDef){.family = "truncated_cone",
                              .nsize = 5,
                              .size = number[k],
                              .pos = {0.01, 0, -0.01},
                              .quat = {1, 0.1, 0.2, 0}};
  g->surface = &surface[k];
}

static void setInertia(djvScene* s, int body, djvRandom* random) {
  djBodyDef* b = &s->body[body];
  b->mass = djv_uniform(random, 0.4, 0.8);
  for (int k = 0; k < 3; k++) b->ipos[k] = djv_uniform(random, -0.01, 0.01);
  for (int k = 0; k < 3; k++) b->inertia[k] = b->mass * djv_uniform(random, 0.0015, 0.0025);
  djv_randomQuat(random, b->iquat);
  b->gravcomp = djv_uniform(random, 0.1, 0.3);
}

static void addActuator(djvScene* s, int joint, const double gear[6], djvRandom* random) {
  djActuatorDef* a = &s->actuator[s->def.nu++];
  *a = dj_defaultActuatorDef();
  a->joint = joint;
  memcpy(a->gear, gear, sizeof a->gear);
  a->gain = DJ_GAIN_AFFINE;
  a->bias = DJ_BIAS_AFFINE;
  for (int k = 0; k < 3; k++) {
    a->gainprm[k] = k ? djv_uniform(random, -0.1, 0.1) : 1;
    a->biasprm[k] = k ? djv_uniform(random, -0.2, 0) : 0.1;
  }
}

static void dress(djJointDef* j, djvRandom* random) {
  j->damping = djv_uniform(random, 0.01, 0.02);
  j->armature = djv_uniform(random, 1e-4, 2e-4);
  j->frictionloss = djv_uniform(random, 0.01, 0.02);
}

// The body that is struck: frame at the origin, tilted.
static int addTarget(djvScene* s, djvRandom* random) {
  int b = djv_addBody(s, 0, (double[3]){0, 0, 0});
  djv_randomQuat(random, s->body[b].quat);
  for (int k = 0; k < 3; k++) {
    double axis[3];
    for (int i = 0; i < 3; i++) axis[i] = (i == k) + djv_uniform(random, -0.2, 0.2);
    djJointDef* j = &s->joint[djv_addJoint(s, b, DJ_SLIDE, axis)];
    dress(j, random);
    j->stiffness = 300;
    j->damping = 3;
    j->springref[0] = djv_uniform(random, -0.01, 0.01);
    j->limited = true;
    j->range[0] = -0.05;
    j->range[1] = 0.0005;
    addActuator(s, s->def.njnt - 1, (double[6]){djv_uniform(random, 0.5, 1.5)}, random);
  }
  djJointDef* ball = &s->joint[djv_addJoint(s, b, DJ_BALL, NULL)];
  dress(ball, random);
  ball->pos[0] = 0.01;
  ball->stiffness = 5;
  ball->limited = true;
  ball->range[1] = 0.002;
  ball->qpos0[0] = ball->springref[0] = 1;
  addActuator(s, s->def.njnt - 1, (double[6]){0.1, 0.2, -0.1}, random);
  return b;
}

// From direction u at speed; pushed towards the origin.
static int addStriker(djvScene* s, const double u[3], double distance, djvRandom* random) {
  double pos[3], quat[4];
  for (int k = 0; k < 3; k++) pos[k] = distance * u[k];
  djv_randomQuat(random, quat);
  int b = djv_addFree(s, pos, quat);
  djJointDef* j = &s->joint[s->def.njnt - 1];
  dress(j, random);
  j->stiffness = 0.2;
  memcpy(j->qpos0, pos, sizeof pos);
  memcpy(j->qpos0 + 3, quat, sizeof quat);
  memcpy(j->springref, j->qpos0, sizeof j->springref);
  addActuator(s, s->def.njnt - 1, (double[6]){-6 * u[0], -6 * u[1], -6 * u[2], 0.01, 0.02, -0.01},
              random);
  return b;
}

// A slack rope that is longer than its limit.
static djTendonDef makeTendon(const djWrapDef wrap[2]) {
  djTendonDef t = dj_defaultTendonDef();
  t.nwrap = 2;
  t.wrap = wrap;
  t.stiffness = 0.5;
  t.stiffnesspoly[0] = 0.1;
  t.damping = 0.05;
  t.frictionloss = 0.02;
  t.springlength[0] = 0.1;
  t.springlength[1] = 0.25;
  t.limited = true;
  t.range[0] = 0.05;
  t.range[1] = 0.3;
  t.limit_stiffness = 20;
  t.limit_damping = 0.5;
  return t;
}

// What differs between the program's runs.
typedef struct Run {
  djIntegrator integrator;
  djContactModel contact;
  djLaw law;   // of implicit_surface
  double sunk; // m; how much deeper the striker is where the run begins
} Run;

// Settings by which differences can tell: nothing is stiff.
static void setContact(djOption* option, const Run* run) {
  option->contact = run->contact;
  option->friction_eps = 1e-4;
  option->stiffness_scale = 1e-5;
  if (run->contact != DJ_IMPLICIT_SURFACE) return;
  option->law = run->law;
  option->damping = 0.7;
  option->stiffness_scale = 0.1;
  if (run->law == DJ_LAW_BARRIER) option->support = 0.02;
}

// A pair's scene at the state six steps before the first touch. NULL when they do not meet.
static djModel* makeScene(djData** data, const Run* run, const Shape* a, const Shape* b,
                          djvRandom* random) {
  static djvScene scene;
  djvScene* s = &scene;
  djv_startScene(s, 2e-3);
  djOption* option = &s->def.option;
  option->integrator = run->integrator;
  option->frictionloss_eps = 0.05;
  setContact(option, run);
  option->density = 20;
  option->viscosity = 0.02;
  double u[3] = {0.3, -0.2, 0.9}, distance = 0.45;
  int body;
  if (a->type == DJ_PLANE) {
    djGeomDef* floor = djv_addFloor(s);
    floor->friction[0] = 0.35;
    double half = 0.15; // tilted
    memcpy(floor->quat, (double[4]){cos(half), 0, sin(half), 0}, sizeof floor->quat);
  } else {
    body = addTarget(s, random);
    addShape(s, body, a, random);
    setInertia(s, body, random);
  }
  body = addStriker(s, u, distance, random);
  addShape(s, body, b, random);
  setInertia(s, body, random);
  djSiteDef site[2] = {{.body = 0, .pos = {0.3, 0.4, 0.2}, .quat = {1, 0, 0, 0}},
                       {.body = body, .pos = {0.05, 0.02, -0.03}, .quat = {1, 0, 0, 0}}};
  const djWrapDef wrap[2] = {{DJ_WRAP_SITE, 0, 0}, {DJ_WRAP_SITE, 1, 0}};
  djTendonDef tendon = makeTendon(wrap);
  s->def.nsite = 2;
  s->def.site = site;
  s->def.ntendon = 1;
  s->def.tendon = &tendon;
  djModel* m;
  djv_make(&m, data, s);
  djData* d = *data;
  double* v = d->qvel + m->nv - 6;
  for (int k = 0; k < 3; k++) v[k] = -0.7 * u[k] + djv_uniform(random, -0.2, 0.2);
  for (int k = 3; k < 6; k++) v[k] = djv_uniform(random, -1, 1);
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = i == m->nu - 1 ? 1 : djv_uniform(random, -1, 1);
  int n = dj_stateSize(m);
  double* states = calloc((size_t)n * (LATEST + 1), sizeof(double));
  if (!states) djv_fail("no memory");
  int touch = -1;
  for (int k = 0; k < LATEST && touch < 0; k++) {
    dj_getState(states + (size_t)k * (size_t)n, m, d);
    if (dj_step(m, d) < 0) djv_fail("step: %s", dj_errorText(d));
    for (int i = 0; i < d->npair; i++) {
      if (d->pair[i].normal_force > 0.01) touch = k;
    }
  }
  if (touch >= BEFORE) dj_setState(d, m, states + (size_t)(touch - BEFORE) * (size_t)n);
  for (int k = 0; k < 3; k++) d->qpos[m->nq - 7 + k] -= run->sunk * u[k];
  free(states);
  if (touch >= BEFORE) return m;
  dj_deleteData(d);
  dj_deleteModel(m);
  return NULL;
}

// ------------------------------------------ what is not smooth ---------------------------------

static void declare(void) {
  static const char* const list[] = {
      "Derivatives by these jump (the loss is C0) where, by an exact coincidence,",
      "  geom/friction    both geoms of a pair have the same coefficient: the larger one counts",
      "  geom/size, vert  a shape's skin is 0.9 of its inner radius",
      "  mesh/vert        a vertex enters or leaves its hull, other facets bound its erosion, or a",
      "                   flat facet of several triangles has bent by 1e-5 of the size and splits",
      "  frames, shapes   in recovery, the least distance or depth is taken at several places:",
      "                   parallel edges and faces, two faces equally deep",
      "  body/inertia     one moment is the sum of the others, in a fluid: drag's box is flat",
      "  joint/springref  a ball's or free body's spring is turned by pi",
      "  joint/range      a ball's limit ends at 0",
      "One-sided at 0, as there is nothing below: damping, stiffness, armature, frictionloss",
  };
  djv_title("Not smooth");
  for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) djv_note("%s", list[k]);
}

// ------------------------------------------ flat on flat ---------------------------------------

// The surface of a geom where its body is, and where it was a step ago.
typedef struct Placed {
  djSurface surface;
  djcImplicitShape shape;
  double pos[3], quat[4], last_pos[3], last_quat[4];
} Placed;

static void findSurface(Placed* p, const djModel* m, int geom) {
  p->surface = (djSurface){.quat = {1, 0, 0, 0}};
  if (m->geom_type[geom] == DJ_PLANE) {
    p->shape = (djcImplicitShape){"plane", 0, 0, NULL};
    memcpy(p->surface.pos, m->geom_pos + 3 * geom, sizeof p->surface.pos);
    memcpy(p->surface.quat, m->geom_quat + 4 * geom, sizeof p->surface.quat);
    return;
  }
  djError err = {""};
  if (dj_geomSurface(&p->surface, m, geom, &err) < 0) djv_fail("%s", err.text);
  p->shape =
      (djcImplicitShape){p->surface.family, p->surface.nface, p->surface.nsize, p->surface.size};
}

static void placeSurface(Placed* p, const djModel* m, const djData* d, int geom) {
  const int body = m->geom_body[geom];
  double R[9];
  memcpy(p->last_pos, p->pos, sizeof p->pos);
  memcpy(p->last_quat, p->quat, sizeof p->quat);
  djv_quatToMat(R, d->xquat + 4 * body);
  djv_transform(p->pos, d->xpos + 3 * body, R, p->surface.pos);
  djv_mulQuat(p->quat, d->xquat + 4 * body, p->surface.quat);
}

// By the midpoint rule contact acts halfway.
static void goBackHalf(Placed* p) {
  double sign = 0, square = 0;
  for (int k = 0; k < 4; k++) sign += p->quat[k] * p->last_quat[k];
  for (int k = 0; k < 3; k++) p->pos[k] = 0.5 * (p->pos[k] + p->last_pos[k]);
  for (int k = 0; k < 4; k++) {
    p->quat[k] += sign < 0 ? -p->last_quat[k] : p->last_quat[k];
    square += p->quat[k] * p->quat[k];
  }
  for (int k = 0; k < 4; k++) p->quat[k] /= sqrt(square);
}

// The largest condition of the pair's touches during the run.
static double worstTouch(djvRun* run) {
  const djModel* m = run->model;
  djData* d = run->data;
  Placed p[2];
  double worst = 0;
  for (int k = 0; k < 2; k++) findSurface(&p[k], m, k);
  dj_resetData(m, d);
  memcpy(d->qpos, run->qpos, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, run->qvel, (size_t)m->nv * sizeof(double));
  memcpy(d->ctrl, run->ctrl, (size_t)m->nu * sizeof(double));
  for (int k = 0; k < HORIZON; k++) {
    dj_step(m, d);
    for (int i = 0; i < 2; i++) placeSurface(&p[i], m, d, i);
    if (d->npair == 0 || d->pair[0].normal_force == 0) continue;
    djcImplicit touch;
    Placed at[2] = {p[0], p[1]};
    for (int i = 0; i < 2 && k > 0 && m->opt.integrator == DJ_MIDPOINT; i++) goBackHalf(&at[i]);
    djc_implicit(&touch, NULL, NULL, &at[0].shape, at[0].pos, at[0].quat, &at[1].shape, at[1].pos,
                 at[1].quat, DJC_CONDITION, NULL);
    worst = fmax(worst, touch.condition);
  }
  return worst;
}

// False where differences cannot tell: the run is hardly determined where surfaces come to lie flat
// on each other, as the point of contact is nowhere certain.
static bool isDetermined(djvRun* run) {
  djRolloutResult r = {0};
  const djStatus status = djd_rolloutForward(&r, run->model, run->data, &run->rollout, run->tape);
  return !status && !r.unconverged_steps && worstTouch(run) < 1e6;
}

// One pair of types. flat: scenes that are passed over. False when the bodies never touch.
static bool testPair(djvReport* r, djvCell cell[DJV_NFIELD], int* flat, const char* label,
                     const Run* how, const Shape* a, const Shape* b, int single) {
  djvRandom random =
      djv_random((uint64_t)(10 * (int)a->type + (int)b->type + 100 * a->cone + 200 * b->cone));
  for (int k = 0; k < 20; k++) {
    djData* d;
    djvRun run;
    djModel* m = makeScene(&d, how, a, b, &random);
    if (!m) continue;
    djv_openRun(&run, m, d, HORIZON);
    dj_deleteData(d);
    const bool good = how->contact != DJ_IMPLICIT_SURFACE || isDetermined(&run);
    if (good) djv_testRun(r, cell, label, &run, &random, single, 3);
    djv_closeRun(&run);
    if (good) return true;
    ++*flat;
  }
  return false;
}

// In a quick run: planes, like with like, and a chain; of other than the default integrator the
// chain alone.
static bool wanted(int a, int b, djIntegrator integrator) {
  if (integrator != dj_defaultOption().integrator) return b == a + 1;
  return a == 0 || b <= a + 1;
}

// --law NAME: implicit_surface by this law. --sunk D: so much deeper, m, so that surfaces overlap
// at the start of the run.
static Run takeRun(int* argc, char** argv) {
  Run run = {djv_takeIntegrator(argc, argv), DJ_SEPARATING_PLANE, DJ_LAW_AUTO,
             djv_takeNumber(argc, argv, "--sunk", 0)};
  const char* law = djv_takeText(argc, argv, "--law");
  const djSetting* row = dj_findSetting("law", 0);
  for (const djChoice* c = row->choice; law && c->name; c++) {
    if (strcmp(c->name, law) != 0) continue;
    run.contact = DJ_IMPLICIT_SURFACE;
    run.law = (djLaw)c->value;
  }
  if (law && run.contact != DJ_IMPLICIT_SURFACE) djv_fail("--law: unknown '%s'", law);
  return run;
}

int main(int argc, char** argv) {
  const Run run = takeRun(&argc, argv);
  bool quick = djv_isQuick(argc, argv);
  djvReport report = {0};
  static djvCell cell[MAX_SCENE][DJV_NFIELD];
  static char label[MAX_SCENE][40];
  const char* scene[MAX_SCENE];
  int n = 0, missed = 0, flat = 0;
  const bool surfaces = run.contact == DJ_IMPLICIT_SURFACE;
  djv_title(
      "Certificates of %d %s steps by every kind of parameter, for every pair of geoms, %s%s%s",
      (int)HORIZON, dj_integratorName(run.integrator), dj_contactName(run.contact),
      surfaces ? ", law " : "",
      surfaces ? dj_choiceName(dj_findSetting("law", 0), (int)run.law) : "");
  const int nshape = surfaces ? NSHAPE : NSHAPE - 1;
  for (int a = 0; a < nshape; a++) {
    for (int b = a > 0 ? a : 1; b < nshape; b++) {
      if (quick && !wanted(a, b, run.integrator)) continue;
      snprintf(label[n], sizeof label[n], "%.6s-%.6s", shapes[a].name, shapes[b].name);
      scene[n] = label[n];
      int single = quick ? 0 : 3;
      if (testPair(&report, cell[n], &flat, label[n], &run, &shapes[a], &shapes[b], single)) {
        n++;
      } else {
        missed++;
        djv_note("%s: they do not collide", label[n]);
      }
    }
  }
  djv_printCells(n, scene, cell);
  djv_countOf(&report, "pairs that never touch", missed, 0, n + missed);
  if (flat)
    djv_note("%d scenes are passed over, where surfaces come to lie flat on each other", flat);
  declare();
  return djv_finish(&report);
}
