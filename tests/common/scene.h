// Scenes for tests: bodies with simple geoms on a floor, put together one by one.

#ifndef DJ_TESTS_SCENE_H_
#define DJ_TESTS_SCENE_H_

#include <dijoco/dijoco.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Scene {
  djModelDef def;
  djBodyDef* body;
  djJointDef* joint;
  djGeomDef* geom;
  djActuatorDef actuator[8];
} Scene;

// A scene of the world alone, with room for n bodies of one joint and two geoms each.
static inline Scene* newScene(int n) {
  Scene* s = calloc(1, sizeof *s);
  size_t room = (size_t)n + 1;
  s->body = calloc(room, sizeof *s->body);
  s->joint = calloc(room, sizeof *s->joint);
  s->geom = calloc(2 * room, sizeof *s->geom);
  s->def = dj_defaultModelDef();
  s->def.body = s->body;
  s->def.joint = s->joint;
  s->def.geom = s->geom;
  s->def.actuator = s->actuator;
  s->body[s->def.nbody++] = dj_defaultBodyDef();
  return s;
}

static inline void freeScene(Scene* s) {
  free(s->body);
  free(s->joint);
  free(s->geom);
  free(s);
}

// Joint -1: none. The inertia is that of a ball of radius r. Hinges and slides act along y.
static inline int addBody(Scene* s, int parent, int joint, double x, double y, double z,
                          double mass, double r) {
  int id = s->def.nbody++;
  djBodyDef* b = &s->body[id];
  *b = dj_defaultBodyDef();
  b->parent = parent;
  b->pos[0] = x;
  b->pos[1] = y;
  b->pos[2] = z;
  b->mass = mass;
  for (int k = 0; k < 3; k++) b->inertia[k] = 0.4 * mass * r * r;
  if (joint < 0) return id;
  djJointDef* j = &s->joint[s->def.njnt++];
  *j = dj_defaultJointDef();
  j->body = id;
  j->type = (djJointType)joint;
  j->axis[1] = 1;
  j->axis[2] = 0;
  if (joint == DJ_BALL) j->qpos0[0] = 1;
  if (joint == DJ_FREE) {
    memcpy(j->qpos0, b->pos, sizeof b->pos);
    j->qpos0[3] = 1;
  }
  return id;
}

static inline djGeomDef* addGeom(Scene* s, int body, int type, double a, double b, double c) {
  djGeomDef* g = &s->geom[s->def.ngeom++];
  *g = dj_defaultGeomDef();
  g->body = body;
  g->type = (djGeomType)type;
  g->size[0] = a;
  g->size[1] = b;
  g->size[2] = c;
  return g;
}

// n free bodies of 1 kg above a floor, 0.3 m apart: balls, boxes, capsules in turn.
static inline Scene* newPile(int n) {
  static const int type[3] = {DJ_SPHERE, DJ_BOX, DJ_CAPSULE};
  Scene* s = newScene(n);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  for (int i = 0; i < n; i++) {
    int b = addBody(s, 0, DJ_FREE, 0.3 * i, 0, 0.25, 1, 0.1);
    addGeom(s, b, type[i % 3], 0.1, 0.1, 0.1);
  }
  return s;
}

static inline djModel* sceneModel(const Scene* s) {
  djModel* m;
  djError err;
  if (dj_makeModel(&m, &s->def, &err) == DJ_OK) return m;
  fprintf(stderr, "scene: %s\n", err.text);
  abort();
}

// The same, and the scene is freed.
static inline djModel* takeScene(Scene* s) {
  djModel* m = sceneModel(s);
  freeScene(s);
  return m;
}

static inline djData* sceneData(const djModel* m) {
  djData* d;
  djError err;
  if (dj_makeData(&d, m, &err) == DJ_OK) return d;
  fprintf(stderr, "scene: %s\n", err.text);
  abort();
}

// The model and its data; the scene is freed.
static inline djModel* startScene(djData** d, Scene* s) {
  djModel* m = takeScene(s);
  *d = sceneData(m);
  return m;
}

// The same with all types of geoms, the last a mesh of an octahedron (static memory).
static inline Scene* newMixedPile(int n) {
  static const double vert[18] = {0.1, 0,    0, -0.1, 0, 0,   0, 0.1, 0,
                                  0,   -0.1, 0, 0,    0, 0.1, 0, 0,   -0.1};
  static const int type[6] = {DJ_CYLINDER, DJ_ELLIPSOID, DJ_MESH, DJ_BOX, DJ_CAPSULE, DJ_SPHERE};
  static djMeshDef mesh;
  mesh = (djMeshDef){.nvert = 6, .vert = vert};
  Scene* s = newPile(n);
  for (int i = 0; i < n; i++) {
    djGeomDef* g = &s->geom[i + 1];
    g->type = (djGeomType)type[i % 6];
    g->size[1] = 0.08;
    g->size[2] = 0.06;
    g->mesh = g->type == DJ_MESH ? 0 : -1;
  }
  s->def.mesh = &mesh;
  s->def.nmesh = 1;
  return s;
}

// On the first joint, along x and about y; the second has an activation.
static inline void addMotors(Scene* s, djDyn dyn, double tau) {
  for (int k = 0; k < 2; k++) {
    s->actuator[k] = dj_defaultActuatorDef();
    s->actuator[k].joint = 0;
    s->actuator[k].gear[0] = k == 0;
    s->actuator[k].gear[4] = k;
    s->def.nu++;
  }
  s->actuator[1].dyn = dyn;
  s->actuator[1].tau = tau;
}

// A pile with motors on its first body, falling, sliding and turning towards contact.
static inline djModel* startPile(djData** d, Scene* s) {
  int n = s->def.nbody - 1;
  addMotors(s, DJ_DYN_FILTER, 0.05);
  djModel* m = sceneModel(s);
  freeScene(s);
  *d = sceneData(m);
  for (int i = 0; i < n; i++) {
    double* v = (*d)->qvel + 6 * i;
    v[0] = i == 0 ? 2 : -0.5;
    v[2] = -2;
    v[3] = 1 + i;
    v[4] = 2;
  }
  (*d)->ctrl[0] = 1;
  (*d)->ctrl[1] = -0.5;
  return m;
}

static inline djModel* movingPile(djData** d, int n) { return startPile(d, newPile(n)); }

// Everything public of a djData but its statistics, in new memory of *n doubles.
static inline double* publicNumbers(size_t* n, const djModel* m, const djData* d) {
  const struct {
    const double* from;
    int n;
  } part[] = {{&d->time, 1},
              {d->qpos, m->nq},
              {d->qvel, m->nv},
              {d->act, m->na},
              {d->ctrl, m->nu},
              {d->qfrc_applied, m->nv},
              {d->xfrc_applied, 6 * m->nbody},
              {d->mocap_pos, 3 * m->nmocap},
              {d->mocap_quat, 4 * m->nmocap},
              {&d->gravity_scale, 1},
              {d->xpos, 3 * m->nbody},
              {d->xquat, 4 * m->nbody},
              {d->xmat, 9 * m->nbody},
              {d->xipos, 3 * m->nbody},
              {d->site_xpos, 3 * m->nsite},
              {d->geom_xpos, 3 * m->ngeom},
              {d->geom_xmat, 9 * m->ngeom},
              {d->energy, 2}};
  size_t count = 0, np = sizeof part / sizeof part[0];
  for (size_t k = 0; k < np; k++) count += (size_t)part[k].n;
  const size_t per_pair = 17, per_body_pair = 8;
  double* out = calloc(count + per_pair * d->npair + per_body_pair * d->ncontact + 16, 8);
  double* p = out;
  for (size_t k = 0; k < np; k++) {
    if (part[k].n > 0) memcpy(p, part[k].from, (size_t)part[k].n * sizeof(double));
    p += part[k].n;
  }
  for (int k = 0; k < d->npair; k++) {
    const djContactPair* c = &d->pair[k];
    memcpy(p, &c->gap, 14 * sizeof(double));   // gap, normal, point, force, torque, normal_force
    p[14] = c->geom1;
    p[15] = c->geom2;
    p[16] = c->recovering;
    p += per_pair;
  }
  for (int k = 0; k < d->ncontact; k++) {
    const djContactForce* c = &d->contact[k];
    memcpy(p, c->force, 6 * sizeof(double));
    p[6] = c->body1;
    p[7] = c->body2;
    p += per_body_pair;
  }
  const djStats* t = &d->stats;
  const double stats[13] = {(double)t->steps, (double)t->newton_iterations,
                            (double)t->unconverged_steps, (double)t->recovering_steps,
                            (double)t->fallback_steps, (double)t->impact_steps, t->iterations, t->residual,
                            t->worst_residual, t->gap, t->smallest_gap, t->overlap,
                            t->deepest_overlap};
  memcpy(p, stats, sizeof stats);
  *n = (size_t)(p - out) + 13;
  return out;
}

// Whether two data agree bit by bit in all that is public.
static inline bool sameData(const djModel* m, const djData* a, const djData* b) {
  size_t na, nb;
  double *x = publicNumbers(&na, m, a), *y = publicNumbers(&nb, m, b);
  bool same = na == nb && memcmp(x, y, na * sizeof(double)) == 0;
  free(x);
  free(y);
  return same;
}

#endif  // DJ_TESTS_SCENE_H_
