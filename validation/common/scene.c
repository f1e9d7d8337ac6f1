#include "common/scene.h"

#include "common/report.h"
#include "common/vec3.h"

#include <string.h>

// ------------------------------------------ random numbers -------------------------------------

static uint64_t nextRandom(djvRandom* r) {
  r->state ^= r->state >> 12;
  r->state ^= r->state << 25;
  r->state ^= r->state >> 27;
  return r->state * 0x2545f4914f6cdd1dull;
}

djvRandom djv_random(uint64_t seed) {
  djvRandom r = {(seed + 1) * 0x9e3779b97f4a7c15ull};
  for (int k = 0; k < 4; k++) nextRandom(&r);
  return r;
}

double djv_uniform(djvRandom* random, double low, double high) {
  return low + (high - low) * (double)(nextRandom(random) >> 11) * 0x1p-53;
}

void djv_uniforms(double* v, int n, djvRandom* random, double low, double high) {
  for (int i = n - 1; i >= 0; i--) v[i] = djv_uniform(random, low, high);
}

int djv_integer(djvRandom* random, int low, int high) {
  return low + (int)djv_uniform(random, 0, high - low + 1);
}

// Uniform over rotations: a point of the unit ball of R^4, projected.
void djv_randomQuat(djvRandom* random, double quat[4]) {
  double n = 0;
  while (!(n > 0.01 && n <= 1)) {
    n = 0;
    for (int k = 0; k < 4; k++) {
      quat[k] = djv_uniform(random, -1, 1);
      n += quat[k] * quat[k];
    }
  }
  for (int k = 0; k < 4; k++) quat[k] /= sqrt(n);
}

// ------------------------------------------ building -------------------------------------------

void djv_startScene(djvScene* s, double timestep) {
  s->def = dj_defaultModelDef();
  s->def.option.timestep = timestep;
  s->def.body = s->body;
  s->def.joint = s->joint;
  s->def.geom = s->geom;
  s->def.actuator = s->actuator;
  s->def.mesh = s->mesh;
  s->def.nbody = 1;
  s->body[0] = dj_defaultBodyDef();
}

int djv_addBody(djvScene* s, int parent, const double pos[3]) {
  if (s->def.nbody == DJV_MAX_BODY) djv_fail("scene: too many bodies");
  djBodyDef* b = &s->body[s->def.nbody];
  *b = dj_defaultBodyDef();
  b->parent = parent;
  memcpy(b->pos, pos, sizeof b->pos);
  return s->def.nbody++;
}

int djv_addJoint(djvScene* s, int body, djJointType type, const double axis[3]) {
  if (s->def.njnt == DJV_MAX_JOINT) djv_fail("scene: too many joints");
  djJointDef* j = &s->joint[s->def.njnt];
  *j = dj_defaultJointDef();
  j->body = body;
  j->type = type;
  if (axis) memcpy(j->axis, axis, sizeof j->axis);
  return s->def.njnt++;
}

int djv_addFree(djvScene* s, const double pos[3], const double quat[4]) {
  int body = djv_addBody(s, 0, pos);
  if (quat) memcpy(s->body[body].quat, quat, sizeof s->body[body].quat);
  djv_addJoint(s, body, DJ_FREE, NULL);
  return body;
}

djGeomDef* djv_addGeom(djvScene* s, int body, djGeomType type, const double size[3],
                       const double pos[3], const double quat[4]) {
  if (s->def.ngeom == DJV_MAX_GEOM) djv_fail("scene: too many geoms");
  djGeomDef* g = &s->geom[s->def.ngeom++];
  *g = dj_defaultGeomDef();
  g->body = body;
  g->type = type;
  g->mesh = -1;
  if (size) memcpy(g->size, size, sizeof g->size);
  if (pos) memcpy(g->pos, pos, sizeof g->pos);
  if (quat) memcpy(g->quat, quat, sizeof g->quat);
  return g;
}

djGeomDef* djv_addFloor(djvScene* s) {
  const double size[3] = {0, 0, 1};
  return djv_addGeom(s, 0, DJ_PLANE, size, NULL, NULL);
}

djGeomDef* djv_addHull(djvScene* s, int body, const djvHull* hull, const double pos[3],
                       const double quat[4]) {
  djGeomDef* g = djv_addGeom(s, body, DJ_MESH, NULL, pos, quat);
  g->mesh = s->def.nmesh++;
  s->hull[g->mesh] = *hull;
  s->mesh[g->mesh] = (djMeshDef){.nvert = hull->nvert, .vert = s->hull[g->mesh].vert[0]};
  return g;
}

void djv_make(djModel** model, djData** data, const djvScene* s) {
  djError err;
  if (dj_makeModel(model, &s->def, &err) || dj_makeData(data, *model, &err)) {
    djv_fail("the scene was refused: %s", err.text);
  }
}

// ------------------------------------------ masses ---------------------------------------------

// Volume, centre and inertia (density 1, about the centre, geom frame) of a geom.
static double geomMass(double com[3], double I[9], const djvScene* s, const djGeomDef* g) {
  const double *a = g->size, pi = acos(-1);
  double v = 0, d[3] = {0, 0, 0};
  com[0] = com[1] = com[2] = 0;
  memset(I, 0, 9 * sizeof(double));
  switch (g->type) {
    case DJ_SPHERE:
      v = 4 * pi / 3 * a[0] * a[0] * a[0];
      d[0] = d[1] = d[2] = 0.4 * v * a[0] * a[0];
      break;
    case DJ_ELLIPSOID:
      v = 4 * pi / 3 * a[0] * a[1] * a[2];
      for (int k = 0; k < 3; k++) {
        double p = a[(k + 1) % 3], q = a[(k + 2) % 3];
        d[k] = v / 5 * (p * p + q * q);
      }
      break;
    case DJ_CYLINDER:
      v = 2 * pi * a[0] * a[0] * a[1];
      d[0] = d[1] = v * (a[0] * a[0] / 4 + a[1] * a[1] / 3);
      d[2] = v / 2 * a[0] * a[0];
      break;
    case DJ_BOX:
      v = 8 * a[0] * a[1] * a[2];
      for (int k = 0; k < 3; k++) {
        double p = a[(k + 1) % 3], q = a[(k + 2) % 3];
        d[k] = v / 3 * (p * p + q * q);
      }
      break;
    case DJ_CAPSULE: {
      double r = a[0], l = a[1], vc = 2 * pi * r * r * l, vs = 4 * pi / 3 * r * r * r;
      v = vc + vs;
      d[2] = 0.5 * vc * r * r + 0.4 * vs * r * r;
      d[0] = d[1] = vc * (r * r / 4 + l * l / 3) + vs * (0.4 * r * r + l * l + 0.75 * l * r);
      break;
    }
    case DJ_MESH: {
      const djvHull* h = &s->hull[g->mesh];
      memcpy(com, h->com, sizeof h->com);
      memcpy(I, h->inertia, sizeof h->inertia);
      return h->volume;
    }
    default: djv_fail("scene: a geom of type %d has no mass", g->type);
  }
  for (int k = 0; k < 3; k++) I[4 * k] = d[k];
  return v;
}

// Principal axes of a symmetric matrix by Jacobi rotations: A becomes diagonal, Q its axes.
static void principal(double A[9], double Q[9]) {
  memset(Q, 0, 9 * sizeof(double));
  Q[0] = Q[4] = Q[8] = 1;
  for (int sweep = 0; sweep < 30; sweep++) {
    for (int p = 0; p < 2; p++) {
      for (int q = p + 1; q < 3; q++) {
        double t = 0.5 * atan2(2 * A[3 * p + q], A[4 * q] - A[4 * p]);
        double J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, T[9];
        J[4 * p] = J[4 * q] = cos(t);
        J[3 * p + q] = sin(t);
        J[3 * q + p] = -sin(t);
        for (int i = 0; i < 3; i++) {
          for (int j = 0; j < 3; j++) T[3 * i + j] = J[3 * j + i];
        }
        djv_mulMM(A, T, A);
        djv_mulMM(A, A, J);
        djv_mulMM(Q, Q, J);
      }
    }
  }
}

// Quaternion of a rotation matrix.
static void matToQuat(double q[4], const double R[9]) {
  double t[4] = {1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8],
                 1 - R[0] - R[4] + R[8]};
  int best = 0;
  for (int k = 1; k < 4; k++) best = t[k] > t[best] ? k : best;
  const double a[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};   // 4 w (x, y, z)
  const double b[3] = {R[1] + R[3], R[2] + R[6], R[5] + R[7]};   // 4 (xy, xz, yz)
  double w = sqrt(t[best]) / 2, f = 1 / (4 * w);
  q[best] = w;
  if (best == 0) {
    for (int k = 0; k < 3; k++) q[k + 1] = a[k] * f;
    return;
  }
  q[0] = a[best - 1] * f;
  for (int k = 1; k < 4; k++) {
    if (k != best) q[k] = b[best + k - 3] * f;
  }
}

static void setBodyMass(djvScene* s, int body, double density) {
  double mass = 0, com[3] = {0, 0, 0}, I[9] = {0};
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < s->def.ngeom; i++) {
      const djGeomDef* g = &s->geom[i];
      if (g->body != body) continue;
      double c[3], J[9], R[9], T[9];
      double m = density * geomMass(c, J, s, g);
      djv_quatToMat(R, g->quat);
      djv_transform(c, g->pos, R, c);
      if (pass == 0) {
        mass += m;
        for (int k = 0; k < 3; k++) com[k] += m * c[k];
        continue;
      }
      for (int a = 0; a < 9; a++) T[a] = R[a % 3 * 3 + a / 3];
      djv_mulMM(J, R, J);
      djv_mulMM(J, J, T);
      djv_sub(c, c, com);
      for (int a = 0; a < 9; a++) {
        double shift = (a % 4 == 0 ? djv_dot(c, c) : 0) - c[a / 3] * c[a % 3];
        I[a] += density * J[a] + m * shift;
      }
    }
    for (int k = 0; k < 3 && pass == 0 && mass > 0; k++) com[k] /= mass;
  }
  if (!(mass > 0)) return;
  djBodyDef* b = &s->body[body];
  double Q[9];
  principal(I, Q);
  b->mass = mass;
  for (int k = 0; k < 3; k++) {
    b->ipos[k] = com[k];
    b->inertia[k] = I[4 * k];
  }
  matToQuat(b->iquat, Q);
}

void djv_setDensity(djvScene* s, double density) {
  for (int b = 1; b < s->def.nbody; b++) setBodyMass(s, b, density);
}

void djv_setMass(djvScene* s, int body, double mass) {
  setBodyMass(s, body, 1);
  double volume = s->body[body].mass;
  setBodyMass(s, body, mass / volume);
}

// ------------------------------------------ hulls ----------------------------------------------

// Volume, centre and inertia from tetrahedra between the faces and the origin. The integral of
// x x^T over one with corners 0, a, b, c is det/120 (aa + bb + cc + (a+b+c)(a+b+c)).
static void hullMass(djvHull* h) {
  double volume = 0, com[3] = {0, 0, 0}, S[9] = {0};
  for (int f = 0; f < h->nface; f++) {
    const double *a = h->vert[h->face[f][0]], *b = h->vert[h->face[f][1]],
                 *c = h->vert[h->face[f][2]];
    double n[3], sum[3];
    djv_cross(n, b, c);
    double det = djv_dot(a, n);
    volume += det / 6;
    for (int k = 0; k < 3; k++) {
      sum[k] = a[k] + b[k] + c[k];
      com[k] += det / 24 * sum[k];
    }
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        S[3 * i + j] +=
            det / 120 * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + sum[i] * sum[j]);
      }
    }
  }
  h->volume = volume;
  for (int k = 0; k < 3; k++) h->com[k] = com[k] / volume;
  for (int a = 0; a < 9; a++) S[a] -= volume * h->com[a / 3] * h->com[a % 3];
  double trace = S[0] + S[4] + S[8];
  for (int a = 0; a < 9; a++) h->inertia[a] = (a % 4 == 0 ? trace : 0) - S[a];
}

// Triangles that have all other points on one side.
static void findFaces(djvHull* h) {
  h->nface = 0;
  for (int i = 0; i < h->nvert; i++) {
    for (int j = i + 1; j < h->nvert; j++) {
      for (int k = j + 1; k < h->nvert; k++) {
        double e1[3], e2[3], n[3];
        djv_sub(e1, h->vert[j], h->vert[i]);
        djv_sub(e2, h->vert[k], h->vert[i]);
        djv_cross(n, e1, e2);
        double o = djv_dot(n, h->vert[i]);
        int above = 0, below = 0;
        for (int p = 0; p < h->nvert && !(above && below); p++) {
          if (p == i || p == j || p == k) continue;
          if (djv_dot(n, h->vert[p]) > o) above++;
          else below++;
        }
        if (above && below) continue;
        int* face = h->face[h->nface++];
        face[0] = i;
        face[1] = above ? k : j;
        face[2] = above ? j : k;
      }
    }
  }
}

void djv_closeHull(djvHull* h) {
  findFaces(h);
  hullMass(h);
}

void djv_makeHull(djvHull* h, djvRandom* random, int n) {
  double volume = 0;
  while (!(volume > 0.1)) {   // not flat
    h->nvert = 0;
    for (int tries = 0; h->nvert < n; tries++) {
      double x[3], len;
      do {
        for (int k = 0; k < 3; k++) x[k] = djv_uniform(random, -1, 1);
        len = djv_norm(x);
      } while (!(len > 0.1 && len <= 1));
      for (int k = 0; k < 3; k++) x[k] /= len;
      bool apart = true;
      double least = tries < 100000 ? 0.25 : 0.1;
      for (int i = 0; i < h->nvert && apart; i++) apart = djv_dist(x, h->vert[i]) > least;
      if (apart) memcpy(h->vert[h->nvert++], x, sizeof x);
    }
    djv_closeHull(h);
    volume = h->volume;
    // the origin is inside, not too near a face
    for (int f = 0; f < h->nface; f++) {
      double e1[3], e2[3], m[3];
      djv_sub(e1, h->vert[h->face[f][1]], h->vert[h->face[f][0]]);
      djv_sub(e2, h->vert[h->face[f][2]], h->vert[h->face[f][0]]);
      djv_cross(m, e1, e2);
      if (djv_dot(m, h->vert[h->face[f][0]]) < 0.1 * djv_norm(m)) volume = 0;
    }
  }
}

void djv_scaleHull(djvHull* out, const djvHull* hull, const double scale[3]) {
  *out = *hull;
  for (int i = 0; i < hull->nvert; i++) {
    for (int k = 0; k < 3; k++) out->vert[i][k] = scale[k] * hull->vert[i][k];
  }
  hullMass(out);
}
