#include "common/sample_model.h"

#include <math.h>
#include <string.h>

static void fillBodies(djSample* s) {
  static const char* const names[6] = {"world", "cart", "robot/pole", "box", "target", ""};
  static const int parents[6] = {0, 0, 1, 0, 0, 2};
  for (int i = 0; i < 6; i++) {
    djBodyDef* b = &s->body[i];
    *b = dj_defaultBodyDef();
    b->name = names[i];
    b->parent = parents[i];
    if (i == 0) continue;
    b->pos[0] = 0.1 * i;
    b->pos[2] = 1.0 / 3 * i;
    b->mass = 0.7 * i;
    for (int k = 0; k < 3; k++) b->inertia[k] = 0.01 * i + 0.001 * k;
    b->quat[0] = 0.8;
    b->quat[3] = 0.6 + 1e-9 * i;
    b->ipos[1] = -0.0;
    b->ipos[2] = 5e-324;
  }
  s->body[3].gravcomp = 0.25;
  s->body[4].mocap = true;
}

static void fillJoints(djSample* s) {
  for (int i = 0; i < 4; i++) s->joint[i] = dj_defaultJointDef();
  djJointDef* slide = &s->joint[0];
  slide->name = "slide";
  slide->type = DJ_SLIDE;
  slide->body = 1;
  slide->axis[0] = 3;
  slide->damping = 0.1;
  slide->frictionloss = 0.2;
  slide->actfrclimited = true;
  slide->actfrcrange[0] = -100;
  slide->actfrcrange[1] = 100;
  djJointDef* hinge = &s->joint[1];
  hinge->name = "robot/hinge";
  hinge->body = 2;
  hinge->axis[1] = 0.1;
  hinge->limited = true;
  hinge->range[0] = -1.1;
  hinge->range[1] = 1.2;
  hinge->stiffness = 3;
  hinge->stiffnesspoly[1] = 0.5;
  hinge->springref[0] = 0.3;
  hinge->armature = 0.01;
  djJointDef* free = &s->joint[2];
  free->name = "free";
  free->type = DJ_FREE;
  free->body = 3;
  djJointDef* ball = &s->joint[3];
  ball->type = DJ_BALL;
  ball->body = 5;
  ball->range[0] = -INFINITY;
  ball->range[1] = INFINITY;
}

static void fillGeoms(djSample* s) {
  static const double cube[8][3] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                    {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
  static const int faces[4][3] = {{0, 2, 1}, {0, 1, 4}, {0, 4, 2}, {1, 2, 4}};
  for (int m = 0; m < 2; m++) {
    for (int k = 0; k < 24; k++) s->vert[m][k / 3][k % 3] = cube[k / 3][k % 3] * (0.1 + 0.05 * m);
    s->mesh[m] = (djMeshDef){.nvert = m ? 8 : 5, .vert = &s->vert[m][0][0]};
  }
  s->mesh[0].name = "tetra";
  s->mesh[0].nface = 4;
  s->mesh[0].face = &faces[0][0];
  s->mesh[1].name = "cube";
  static const djGeomType types[5] = {DJ_PLANE, DJ_BOX, DJ_CAPSULE, DJ_MESH, DJ_SPHERE};
  static const char* const names[5] = {"floor", "cart", "foot", "", "robot/ball"};
  static const int bodies[5] = {0, 1, 2, 3, 5};
  for (int i = 0; i < 5; i++) {
    djGeomDef* g = &s->geom[i];
    *g = dj_defaultGeomDef();
    g->name = names[i];
    g->type = types[i];
    g->body = bodies[i];
    for (int k = 0; k < 3; k++) g->size[k] = k < (i == 2 ? 2 : i == 4 ? 1 : 3) ? 0.1 + 0.1 * k : 0;
  }
  s->geom[3].mesh = 1;
  s->geom[3].contype = 3;
  s->geom[2].friction[0] = 0.7;
  s->geom[2].margin = 0.002;
  s->geom[2].restitution = 0.6;
  s->geom[3].soft_depth = 1.0 / 70;
  s->geom[4].solref_restitution = 1.0 / 7;
  s->geom[0].sharpness = 1.5;
  static const double cone[] = {0.3, 0.2, 0.1, 0.2, 12}, drum[] = {0.2, 0.3, 3}, own[] = {0.1, 20};
  static const struct {
    const char* family;
    int n;
    const double* size;
  } surfaces[4] = {{"truncated_cone", 5, cone}, {"superelliptic_cylinder", 3, drum},
                   {"smooth_polytope", 2, own}, {"smooth_capsule", 3, drum}};
  for (int i = 0; i < 4; i++) {
    s->surface[i] = (djSurfaceDef){.family = surfaces[i].family, .nsize = surfaces[i].n,
                                   .size = surfaces[i].size, .pos = {0, 0.01 * i, 0},
                                   .quat = {0.8, 0, 0.6, 0}};
    s->geom[1 + i].surface = &s->surface[i];
  }
  static const double points[6] = {0.1, 0.2, -0.3, 0.05, 0, 0};
  s->geom[1].npoint = 2;
  s->geom[1].point = points;
  s->geom[1].contact_scale = 0.25;
  s->geom[4].point_count = 7;
  s->geom[4].field = 0;
}

static void fillOthers(djSample* s) {
  static const double mocap_pos[3] = {0.1, -0.2, 0.3}, mocap_quat[4] = {0.6, 0, 0.8, 0};
  s->site[0] = (djSiteDef){.name = "tip", .body = 2, .pos = {0, 0, 0.5}, .quat = {1, 0, 0, 0}};
  s->site[1] = (djSiteDef){.body = 0, .quat = {0, 1e-3, 0, 0}};
  for (int i = 0; i < 3; i++) s->actuator[i] = dj_defaultActuatorDef();
  s->actuator[0].name = "motor";
  s->actuator[0].joint = 0;
  s->actuator[0].ctrllimited = true;
  s->actuator[0].ctrlrange[0] = -1;
  s->actuator[0].ctrlrange[1] = 1;
  s->actuator[1].name = "servo";
  s->actuator[1].joint = 1;
  s->actuator[1].gainprm[0] = 20;
  s->actuator[1].bias = DJ_BIAS_AFFINE;
  s->actuator[1].biasprm[1] = -20;
  s->actuator[1].dyn = DJ_DYN_FILTEREXACT;
  s->actuator[1].tau = 0.05;
  s->actuator[2].joint = 3;
  s->actuator[2].in_parent = true;
  s->actuator[2].gear[1] = 0.5;
  s->actuator[2].dyn = DJ_DYN_INTEGRATOR;
  s->pair[0] = (djPairDef){
      .name = "pair", .geom1 = 1, .geom2 = 4, .condim = 1, .friction = 0.4, .margin = 0.01,
      .gap = 0.003, .restitution = 0.3, .solref_restitution = 0.2,
      .soft_depth = 1.0 / 90};
  s->exclude[0] = (djExcludeDef){1, 3};
  for (int k = 0; k < 13; k++) s->qpos[k] = 0.1 * k + 1e-17;
  for (int k = 0; k < 11; k++) s->qvel[k] = -1.0 / (k + 3);
  s->key[0] = (djKeyDef){.name = "home"};
  s->key[1] = (djKeyDef){.name = "away",
                         .time = 2.5,
                         .qpos = s->qpos,
                         .qvel = s->qvel,
                         .act = s->act,
                         .ctrl = s->ctrl,
                         .mocap_pos = mocap_pos,
                         .mocap_quat = mocap_quat};
  s->act[1] = 0.9;
  s->ctrl[2] = -0.4;
}

static void fillTendons(djSample* s) {
  for (int i = 0; i < 2; i++) {
    s->tendon[i] = dj_defaultTendonDef();
    s->tendon[i].wrap = s->wrap[i];
  }
  s->tendon[0].name = "rope";
  s->tendon[0].nwrap = 5;
  for (int k = 0; k < 5; k++) s->wrap[0][k] = (djWrapDef){DJ_WRAP_SITE, k % 3 % 2, 0};
  s->wrap[0][2] = (djWrapDef){DJ_WRAP_PULLEY, -1, 1.5};
  s->tendon[0].stiffness = 3;
  s->tendon[0].limited = true;
  s->tendon[0].range[1] = 2;
  s->tendon[0].armature = 0.01;
  s->tendon[1].nwrap = 1;
  s->wrap[1][0] = (djWrapDef){DJ_WRAP_JOINT, 1, -0.3};
  s->tendon[1].damping = 0.2;
  s->tendon[1].springlength[0] = 0.1;
  s->tendon[1].springlength[1] = 0.4;
  s->tendon[1].actfrclimited = true;
  s->tendon[1].actfrcrange[0] = -4;
}

static void fillEqualities(djSample* s) {
  djEqualityDef *gears = &s->equality[0], *hold = &s->equality[1];
  *gears = *hold = dj_defaultEqualityDef();
  gears->name = "gears";
  gears->type = DJ_EQ_JOINT;
  gears->joint1 = 0;
  gears->joint2 = 1;
  gears->polycoef[2] = 1.0 / 3;
  gears->active = hold->active = false;
  hold->type = DJ_EQ_WELD;
  hold->body1 = 2;
  hold->body2 = 3;
  hold->anchor1[0] = hold->anchor2[2] = 0.1;
  hold->quat[0] = 0.8;
  hold->quat[1] = 0.6;
  hold->torquescale = 0.7;
}

void djt_fillSample(djSample* s) {
  memset(s, 0, sizeof *s);
  fillBodies(s);
  fillJoints(s);
  fillGeoms(s);
  fillOthers(s);
  fillTendons(s);
  s->def = dj_defaultModelDef();
  djModelDef* d = &s->def;
  d->name = "sample \"scene\"\n\xc3\xa9";
  d->option.timestep = 0.01;
  d->option.disable = DJ_DSBL_LIMIT | DJ_DSBL_ACTUATION;
  d->option.gravity_ramp = 0.5;
  d->nbody = 6;
  d->body = s->body;
  d->njnt = 4;
  d->joint = s->joint;
  d->ngeom = 5;
  d->geom = s->geom;
  d->nmesh = 2;
  d->mesh = s->mesh;
  static const double heights[6] = {0, 0.1, 0.2, 0.1, 0.3, 0.15};
  static const djHfieldDef land = {.name = "cart", .nrow = 2, .ncol = 3, .size = {1, 2, 0.1},
                                   .height = heights};
  d->nhfield = 1;
  d->hfield = &land;
  static const int body[5] = {1, 2, 3, 0, 1}, triangles[9] = {0, 1, 2, 2, 1, 3, 3, 1, 4};
  static const int line[6] = {0, 1, 1, 2, 2, 3};
  static const double pos[15] = {0, 0.1, 0, 0.2, 0, 0, 0, 0, 0, 0.5, 0, 1.0 / 3, 0, 0, 0};
  static const double rest[15] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0.1, 0.1, 0.02, 0.25, 0.1, 0};
  static const djFlexDef flex[2] = {
      {.name = "net", .dim = 2, .nvert = 5, .body = body, .pos = pos, .vert = rest, .nelem = 3,
       .elem = triangles, .elastic2d = DJ_ELASTIC_BOTH, .young = 1e3, .poisson = 0.3,
       .thickness = 0.01, .damping = 0.02, .edgedamping = 0.1, .radius = 0.003},
      {.name = "line", .dim = 1, .nvert = 4, .body = body, .vert = rest, .nelem = 3,
       .elem = line, .edgestiffness = 10, .radius = 0.005}};
  d->nflex = 2;
  d->flex = flex;
  d->nsite = 2;
  d->site = s->site;
  d->ntendon = 2;
  d->tendon = s->tendon;
  d->nu = 3;
  d->actuator = s->actuator;
  d->npair = 1;
  d->pair = s->pair;
  d->nexclude = 1;
  d->exclude = s->exclude;
  d->nkey = 2;
  d->key = s->key;
  d->nequality = 2;
  d->equality = s->equality;
  fillEqualities(s);
}

// Doubles field by field: structs have padding.
static bool sameOption(const djOption* a, const djOption* b) {
  const double x[] = {a->timestep,  a->gravity[0],     a->gravity[1], a->gravity[2],
                      a->wind[0],   a->wind[1],        a->wind[2],    a->density,
                      a->viscosity, a->support,        a->length_scale, a->stiffness,
                      a->skin,      a->friction_eps,   a->tolerance,  a->frictionloss_eps};
  const double y[] = {b->timestep,  b->gravity[0],     b->gravity[1], b->gravity[2],
                      b->wind[0],   b->wind[1],        b->wind[2],    b->density,
                      b->viscosity, b->support,        b->length_scale, b->stiffness,
                      b->skin,      b->friction_eps,   b->tolerance,  b->frictionloss_eps};
  return memcmp(x, y, sizeof x) == 0 && a->disable == b->disable &&
         a->integrator == b->integrator && a->contact == b->contact &&
         a->max_iterations == b->max_iterations && a->impact_steps == b->impact_steps &&
         a->overlap == b->overlap && a->restitution == b->restitution &&
         a->friction_arms == b->friction_arms && a->friction_cap == b->friction_cap &&
         a->barrier == b->barrier;
}

const char* djt_difference(const djModel* a, const djModel* b) {
#define SIZE(name) \
  if (a->name != b->name) return #name;
  SIZE(nq) SIZE(nv) SIZE(nu) SIZE(na) SIZE(nbody) SIZE(njnt) SIZE(ngeom) SIZE(nmesh)
  SIZE(nmeshvert) SIZE(nmeshface) SIZE(nmeshtri) SIZE(nsite) SIZE(nmocap) SIZE(npair)
  SIZE(nexclude) SIZE(nguide) SIZE(nkey) SIZE(nnames) SIZE(ncoord) SIZE(ncoorddof) SIZE(ntendon) SIZE(nwrap)
  SIZE(ncrank) SIZE(nkernelsetting) SIZE(nsetting) SIZE(nparamkind) SIZE(nsurface) SIZE(npoint)
  SIZE(nequality) SIZE(nequalitycoord) SIZE(nhfield) SIZE(nhfielddata)
  SIZE(nflex) SIZE(nflexvert) SIZE(nflexedge) SIZE(nflexelem)
#undef SIZE
  int nq = a->nq, nv = a->nv, nu = a->nu, na = a->na, nbody = a->nbody, njnt = a->njnt;
  int ngeom = a->ngeom, nmesh = a->nmesh, nmeshvert = a->nmeshvert, nmeshface = a->nmeshface;
  int nmeshtri = a->nmeshtri;
  int nsite = a->nsite, nmocap = a->nmocap, npair = a->npair, nexclude = a->nexclude;
  int nguide = a->nguide;
  int nkey = a->nkey, nnames = a->nnames, ncoord = a->ncoord, ncoorddof = a->ncoorddof;
  int nkernelsetting = a->nkernelsetting, nsetting = a->nsetting;
  int ntendon = a->ntendon, nwrap = a->nwrap, nparamkind = a->nparamkind;
  int nsurface = a->nsurface, npoint = a->npoint, nequality = a->nequality;
  int nhfield = a->nhfield, nhfielddata = a->nhfielddata, nflex = a->nflex;
  int nflexvert = a->nflexvert, nflexedge = a->nflexedge, nflexelem = a->nflexelem;
#define X(type, name, rows, columns)                                                        \
  if (memcmp(a->name, b->name, (size_t)(rows) * (size_t)(columns) * sizeof(type)) != 0) \
    return #name;
  DJ_MODEL_ARRAYS(X)
#undef X
  if (memcmp(&a->contact, &b->contact, sizeof a->contact) != 0) return "contact";
  if (!sameOption(&a->opt, &b->opt)) return "opt";
  const double x[3] = {a->opt.gravity_ramp, a->total_mass, a->moving_mass};
  const double y[3] = {b->opt.gravity_ramp, b->total_mass, b->moving_mass};
  return memcmp(x, y, sizeof x) ? "masses" : NULL;
}
