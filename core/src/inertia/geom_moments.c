#include "inertia/geom_moments.h"

#include "model/geom_row.h"
#include "model/param.h"

bool dj_isSolid(int type) {
  return dj_geomRow(type)->convex;
}

// ------------------------------------------ matrices -------------------------------------------

static djMat3 outer(djVec3 a, djVec3 b) {
  return (djMat3){{a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y, a.y * b.z, a.z * b.x,
                   a.z * b.y, a.z * b.z}};
}

static void addMat(djMat3* A, double s, djMat3 B) {
  for (int i = 0; i < 9; i++) A->m[i] += s * B.m[i];
}

static djMat3 transposed(djMat3 A) {
  return (djMat3){{A.m[0], A.m[3], A.m[6], A.m[1], A.m[4], A.m[7], A.m[2], A.m[5], A.m[8]}};
}

// ------------------------------------------ meshes ---------------------------------------------

// With x, y, z the corners of a triangle seen from a fixed point, s their sum and d = x . (y x z),
// the tetrahedron's moments are d/6, d s/24, d (s s^T + x x^T + y y^T + z z^T)/120.
typedef struct Tetrahedron {
  djVec3 x[3], sum;
  double d;
} Tetrahedron;

static const double* meshVertices(const djModel* m, int geom) {
  return m->mesh_vert + 3 * (size_t)m->mesh_vertadr[m->geom_mesh[geom]];
}

// A point near the surface's middle.
static djVec3 middle(const double* vert, const djClosedSurface* s) {
  djVec3 sum = {0, 0, 0};
  for (int k = 0; k < 3 * s->nface; k++) sum = dju_add3(sum, dju_load3(vert + 3 * s->face[k]));
  return dju_scale3(1.0 / (s->nface > 0 ? 3 * s->nface : 1), sum);
}

static inline Tetrahedron tetrahedron(const djVec3 corner[3], djVec3 from) {
  Tetrahedron t;
  for (int k = 0; k < 3; k++) t.x[k] = dju_sub3(corner[k], from);
  t.sum = dju_add3(t.x[0], dju_add3(t.x[1], t.x[2]));
  t.d = dju_dot3(t.x[0], dju_cross3(t.x[1], t.x[2]));
  return t;
}

static Tetrahedron faceTetrahedron(const double* vert, const int* face, djVec3 from) {
  djVec3 corner[3];
  for (int k = 0; k < 3; k++) corner[k] = dju_load3(vert + 3 * (size_t)face[k]);
  return tetrahedron(corner, from);
}

// The second moment's upper triangle is found first.
static inline void addTetrahedron(djMoments* sum, const djVec3 corner[3], djVec3 from) {
  Tetrahedron t = tetrahedron(corner, from);
  const djVec3 a = t.x[0], b = t.x[1], c = t.x[2], s = t.sum;
  const double part = t.d / 120;
  const double xx = part * (a.x * a.x + b.x * b.x + c.x * c.x + s.x * s.x);
  const double yy = part * (a.y * a.y + b.y * b.y + c.y * c.y + s.y * s.y);
  const double zz = part * (a.z * a.z + b.z * b.z + c.z * c.z + s.z * s.z);
  const double xy = part * (a.x * a.y + b.x * b.y + c.x * c.y + s.x * s.y);
  const double xz = part * (a.x * a.z + b.x * b.z + c.x * c.z + s.x * s.z);
  const double yz = part * (a.y * a.z + b.y * b.z + c.y * c.z + s.y * s.z);
  sum->volume += t.d / 6;
  sum->first = dju_madd3(sum->first, t.d / 24, t.sum);
  addMat(&sum->second, 1, (djMat3){{xx, xy, xz, xy, yy, yz, xz, yz, zz}});
}

void dj_addTetrahedron(djMoments* sum, const djVec3 corner[3], djVec3 from) {
  addTetrahedron(sum, corner, from);
}

// x -> R x + p.
static djMoments carried(const djMoments* m, const djPose* pose) {
  djVec3 first = dju_mulMV(pose->R, m->first), p = pose->p;
  djMoments out = {m->volume, dju_madd3(first, m->volume, p),
                   dju_mulMM(pose->R, dju_mulMM(m->second, transposed(pose->R)))};
  addMat(&out.second, 1, outer(first, p));
  addMat(&out.second, 1, outer(p, first));
  addMat(&out.second, m->volume, outer(p, p));
  return out;
}

static djMoments meshMoments(const double* vert, const djClosedSurface* s) {
  djMoments sum = {0};
  djPose from = {middle(vert, s), dju_eye3()};
  for (int f = 0; f < s->nface; f++) {
    djVec3 corner[3];
    for (int k = 0; k < 3; k++) corner[k] = dju_load3(vert + 3 * (size_t)s->face[3 * f + k]);
    addTetrahedron(&sum, corner, from.p);
  }
  return carried(&sum, &from);
}

// f's integral over a tetrahedron is d q, q = a/6 + b.s/24 + (s.Bs + sum_k x_k.Bx_k)/120.
static void meshParams(double* by, const double* vert, const djClosedSurface* s,
                       const djQuadratic* f) {
  djVec3 from = middle(vert, s);   // the surface is closed: it does not matter
  djVec3 Bfrom = dju_mulMV(f->B, from), b = dju_madd3(f->b, 2, Bfrom);
  double a = f->a + dju_dot3(dju_add3(f->b, Bfrom), from);
  for (int i = 0; i < s->nface; i++) {
    const int* face = s->face + 3 * i;
    Tetrahedron t = faceTetrahedron(vert, face, from);
    djVec3 Bs = dju_mulMV(f->B, t.sum), Bx[3];
    double q = a / 6 + dju_dot3(b, t.sum) / 24 + dju_dot3(t.sum, Bs) / 120;
    for (int k = 0; k < 3; k++) {
      Bx[k] = dju_mulMV(f->B, t.x[k]);
      q += dju_dot3(t.x[k], Bx[k]) / 120;
    }
    for (int k = 0; k < 3; k++) {
      djVec3 g = dju_scale3(q, dju_cross3(t.x[(k + 1) % 3], t.x[(k + 2) % 3]));
      g = dju_madd3(g, t.d / 24, b);
      g = dju_madd3(g, t.d / 60, dju_add3(Bs, Bx[k]));
      dju_addTo3(by + 3 * face[k], 1, g);
    }
  }
}

// ------------------------------------------ geoms ----------------------------------------------

static djPose poseOf(const djModel* m, int geom) {
  return (djPose){dju_load3(m->geom_pos + 3 * geom),
                  dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom))};
}

// In the geom's frame.
static djMoments ownMoments(const djModel* m, int geom, const djClosedSurface* surface) {
  int type = m->geom_type[geom];
  if (type == DJ_MESH) return meshMoments(meshVertices(m, geom), surface);
  djSolid s;
  dj_geomRow(type)->solid(&s, m->geom_size + 3 * geom);
  djMoments out = {.volume = s.volume[0]};
  for (int k = 0; k < 3; k++) out.second.m[4 * k] = s.square[k][0];
  return out;
}

void dj_addCarried(djMoments* moments, const djMoments* own, const djPose* pose) {
  djMoments other = carried(own, pose);
  moments->volume += other.volume;
  moments->first = dju_add3(moments->first, other.first);
  addMat(&moments->second, 1, other.second);
}

void dj_addMoments(djMoments* moments, const djModel* m, int geom, const djClosedSurface* surface) {
  djPose pose = poseOf(m, geom);
  djMoments own = ownMoments(m, geom, surface);
  dj_addCarried(moments, &own, &pose);
}

double dj_integral(const djQuadratic* f, const djMoments* m) {
  double sum = f->a * m->volume + dju_dot3(f->b, m->first);
  for (int i = 0; i < 9; i++) sum += f->B.m[i] * m->second.m[i];
  return sum;
}

// In the geom's frame f(y) = a' + b'.y + y^T B' y with x = R y + p: a' = f(p),
// b' = R^T (b + 2 B p), B' = R^T B R. By p: the integral of grad f = b + 2 B x. By R exp(w): that
// of y x (b' + 2 B' y).
void dj_momentParams(double* param, const djModel* m, int geom, const djClosedSurface* surface,
                     const djQuadratic* f) {
  djPose pose = poseOf(m, geom);
  djMoments own = ownMoments(m, geom, surface), in_body = carried(&own, &pose);
  djVec3 Bp = dju_mulMV(f->B, pose.p);
  djQuadratic g = {f->a + dju_dot3(dju_add3(f->b, Bp), pose.p),
                   dju_mulMtV(pose.R, dju_madd3(f->b, 2, Bp)),
                   dju_mulMtM(pose.R, dju_mulMM(f->B, pose.R))};
  djVec3 force = dju_madd3(dju_scale3(own.volume, f->b), 2, dju_mulMV(f->B, in_body.first));
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_POS, geom), 1, force);
  djMat3 C = dju_mulMM(own.second, g.B);
  djVec3 turn = {C.m[5] - C.m[7], C.m[6] - C.m[2], C.m[1] - C.m[3]};
  turn = dju_madd3(dju_cross3(own.first, g.b), 2, turn);
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_QUAT, geom), 1, turn);
  if (m->geom_type[geom] == DJ_MESH) {
    double* by = dj_paramEntry(param, m, DJ_FIELD_MESH_VERT, m->geom_mesh[geom]);
    meshParams(by, meshVertices(m, geom), surface, &g);
    return;
  }
  djSolid s;
  dj_geomRow(m->geom_type[geom])->solid(&s, m->geom_size + 3 * geom);
  double* size = dj_paramEntry(param, m, DJ_FIELD_GEOM_SIZE, geom);
  for (int j = 0; j < 3; j++) {
    size[j] += g.a * s.volume[1 + j];
    for (int k = 0; k < 3; k++) size[j] += g.B.m[4 * k] * s.square[k][1 + j];
  }
}
