// Contacts at vertices of a face that is clipped against another: box and box, boxes and meshes.
//
// A reference face with the unit normal r is held; the incident face is clipped by planes through
// the reference's edges along r. The vertex b that is left moves with its material, v, and slides:
//   a vertex of the incident face:                 b' = v
//   an edge of it, T, in a side plane k:           b' = v - T (k . v) / (k . T)
//   the face itself, above a corner along r:       see moveCorner.
// Then dist' = r . b' and pos = b - (dist / 2) r; where MuJoCo's general collision of convex shapes
// finds two faces nearly parallel, see tryParallel.

#include "contact_part.h"

#include <math.h>

enum { MAXVERT = 64, SIDES = 16 };

// A face, world axes.
typedef struct Face {
  int n;
  mjtNum normal[3], vert[MAXVERT][3];
} Face;

// ---- faces ------------------------------------------------------------------------------------

// Of a cylinder: its caps, which MuJoCo clips as polygons of 16 vertices.
static int faceCount(const mjModel* m, const djmSurface* s) {
  if (s->type == mjGEOM_CYLINDER) return 2;
  return s->type == mjGEOM_BOX ? 6 : m->mesh_polynum[s->mesh];
}

// Which axis of the geom's frame a box's or a cylinder's face is normal to.
static int faceAxis(const djmSurface* s, int i) { return s->type == mjGEOM_BOX ? i / 2 : 2; }

// Its normal, in the geom's frame and in the world's.
static void localNormal(mjtNum normal[3], const mjModel* m, const djmSurface* s, int i) {
  if (s->type == mjGEOM_MESH) {
    mju_copy3(normal, m->mesh_polynormal + 3 * (m->mesh_polyadr[s->mesh] + i));
    return;
  }
  mju_zero3(normal);
  normal[faceAxis(s, i)] = i % 2 ? -1 : 1;
}

static void faceNormal(mjtNum normal[3], const mjModel* m, const djmSurface* s, int i) {
  mjtNum local[3];
  localNormal(local, m, s, i);
  mju_mulMatVec3(normal, s->mat, local);
}

// A point of it, in the geom's frame.
static void localPoint(mjtNum x[3], const mjModel* m, const djmSurface* s, int i) {
  if (s->type == mjGEOM_MESH) {
    const float* vert = m->mesh_vert + 3 * m->mesh_vertadr[s->mesh];
    int first = m->mesh_polyvert[m->mesh_polyvertadr[m->mesh_polyadr[s->mesh] + i]];
    for (int k = 0; k < 3; k++) x[k] = vert[3 * first + k];
    return;
  }
  int axis = faceAxis(s, i);
  mju_zero3(x);
  x[axis] = (i % 2 ? -1 : 1) * s->size[s->type == mjGEOM_BOX ? axis : 1];
}

static void makeCap(Face* f, const djmSurface* s, int i) {
  f->n = SIDES;
  for (int k = 0; k < SIDES; k++) {
    mjtNum angle = 2 * mjPI * k / SIDES;
    mjtNum y[3] = {s->size[0] * cos(angle), s->size[0] * sin(angle), (i ? -1 : 1) * s->size[1]};
    mju_mulMatVec3(f->vert[k], s->mat, y);
    mju_addTo3(f->vert[k], s->pos);
  }
}

static bool makeFace(Face* f, const mjModel* m, const djmSurface* s, int i) {
  faceNormal(f->normal, m, s, i);
  if (s->type == mjGEOM_CYLINDER) {
    makeCap(f, s, i);
    return true;
  }
  if (s->type == mjGEOM_BOX) {
    static const int sign[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    int a = i / 2, b = (a + 1) % 3, c = (a + 2) % 3;
    f->n = 4;
    for (int k = 0; k < 4; k++) {
      mjtNum y[3];
      y[a] = (i % 2 ? -1 : 1) * s->size[a];
      y[b] = sign[k][0] * s->size[b];
      y[c] = sign[k][1] * s->size[c];
      mju_mulMatVec3(f->vert[k], s->mat, y);
      mju_addTo3(f->vert[k], s->pos);
    }
    return true;
  }
  int at = m->mesh_polyadr[s->mesh] + i;
  const int* list = m->mesh_polyvert + m->mesh_polyvertadr[at];
  const float* vert = m->mesh_vert + 3 * m->mesh_vertadr[s->mesh];
  f->n = m->mesh_polyvertnum[at];
  if (f->n > MAXVERT || f->n < 3) return false;
  for (int k = 0; k < f->n; k++) {
    mjtNum y[3] = {vert[3 * list[k]], vert[3 * list[k] + 1], vert[3 * list[k] + 2]};
    mju_mulMatVec3(f->vert[k], s->mat, y);
    mju_addTo3(f->vert[k], s->pos);
  }
  return true;
}

static mjtNum rowDot(const mjtNum n[3], const mjtNum x[3][6], int k) {
  return n[0] * x[0][k] + n[1] * x[1][k] + n[2] * x[2][k];
}

static mjtNum heightOver(const mjtNum x[3], const mjtNum point[3], const mjtNum normal[3]) {
  mjtNum r[3];
  mju_sub3(r, x, point);
  return mju_dot3(r, normal);
}

// From x to the edge from a to b, or, with along, to what the edge sweeps in that direction.
static mjtNum edgeDistance(const mjtNum x[3], const mjtNum a[3], const mjtNum b[3],
                           const mjtNum* along) {
  mjtNum e[3], r[3];
  mju_sub3(e, b, a);
  mju_sub3(r, x, a);
  if (along) {
    mju_addToScl3(r, along, -mju_dot3(r, along));
    mju_addToScl3(e, along, -mju_dot3(e, along));
  }
  mjtNum length = mju_normalize3(e), at = mju_dot3(r, e);
  mju_addToScl3(r, e, -fmax(0, fmin(length, at)));
  return mju_norm3(r);
}

// ---- a vertex that is left ---------------------------------------------------------------------

// The planes of the reference's edges, along its normal, that b is in: at most two.
static int findSides(mjtNum side[2][3], const Face* ref, const mjtNum b[3], mjtNum tol) {
  int n = 0;
  for (int i = 0; i < ref->n && n < 2; i++) {
    const mjtNum *p = ref->vert[i], *q = ref->vert[(i + 1) % ref->n];
    mjtNum e[3];
    if (edgeDistance(b, p, q, ref->normal) > tol) continue;
    mju_sub3(e, q, p);
    mju_cross(side[n], e, ref->normal);
    mju_normalize3(side[n++]);
  }
  return n;
}

// The velocity (3 x 6) of the point x on an edge of the incident face, along e, that stays in the
// plane through x with the normal k.
static bool slideAlong(mjtNum rate[3][6], const mjtNum x[3], const mjtNum e[3], const mjtNum k[3],
                       const mjtNum pos[3]) {
  mjtNum along = mju_dot3(k, e);
  if (fabs(along) < 1e-9) return false;
  djm_materialVelocity(rate, x, pos);
  for (int j = 0; j < 6; j++) {
    mjtNum s = rowDot(k, rate, j) / along;
    for (int i = 0; i < 3; i++) rate[i][j] -= s * e[i];
  }
  return true;
}

// Where the plane through b with the normal k cuts the incident face's edges: two points and their
// velocities; false: not two.
static bool cutFace(mjtNum x[2][3], mjtNum rate[2][3][6], const Face* inc, const mjtNum b[3],
                    const mjtNum k[3], const mjtNum pos[3]) {
  int n = 0;
  for (int i = 0; i < inc->n; i++) {
    const mjtNum *p = inc->vert[i], *q = inc->vert[(i + 1) % inc->n];
    mjtNum e[3], low = heightOver(p, b, k), high = heightOver(q, b, k);
    if ((low < 0) == (high < 0)) continue;
    if (n == 2) return false;
    mju_sub3(e, q, p);
    mju_addScl3(x[n], p, e, low / (low - high));
    mju_normalize3(e);
    if (!slideAlong(rate[n], x[n], e, k, pos)) return false;
    n++;
  }
  return n == 2;
}

// Above a corner of the reference: b is on the segment in which the one side plane cuts the
// incident face, and in the other one. Polygons of meshes are not quite plane: that segment is
// between edges.
static bool moveCorner(mjtNum rate[3][6], const Face* inc, mjtNum side[2][3], const mjtNum b[3],
                       const mjtNum pos[3], mjtNum tol) {
  for (int first = 0; first < 2; first++) {
    mjtNum x[2][3], v[2][3][6], d[3], r[3];
    const mjtNum* k = side[1 - first];
    if (!cutFace(x, v, inc, b, side[first], pos)) continue;
    mju_sub3(d, x[1], x[0]);
    mju_sub3(r, b, x[0]);
    mjtNum length = mju_norm3(d), part = mju_dot3(r, d) / (length * length);
    mju_addToScl3(r, d, -part);
    mjtNum along = mju_dot3(k, d);
    if (mju_norm3(r) > tol || part < 0 || part > 1 || fabs(along) < 1e-9 * length) continue;
    for (int j = 0; j < 6; j++) {
      for (int i = 0; i < 3; i++) rate[i][j] = (1 - part) * v[0][i][j] + part * v[1][i][j];
      mjtNum s = rowDot(k, rate, j) / along;
      for (int i = 0; i < 3; i++) rate[i][j] -= s * d[i];
    }
    return true;
  }
  return false;
}

// b' (3 x 6) by the twist of the incident face while the reference is held; false: b is no vertex.
static bool moveVertex(mjtNum rate[3][6], const Face* ref, const Face* inc, const mjtNum b[3],
                       const mjtNum pos[3], mjtNum tol) {
  mjtNum side[2][3], e[3];
  for (int i = 0; i < inc->n; i++) {
    if (mju_dist3(b, inc->vert[i]) > tol) continue;
    djm_materialVelocity(rate, b, pos);
    return true;
  }
  int nside = findSides(side, ref, b, tol);
  for (int i = 0; i < inc->n && nside; i++) {
    const mjtNum *p = inc->vert[i], *q = inc->vert[(i + 1) % inc->n];
    if (edgeDistance(b, p, q, NULL) > tol) continue;
    mju_sub3(e, q, p);
    mju_normalize3(e);
    if (fabs(mju_dot3(e, side[0])) > 1e-6) return slideAlong(rate, b, e, side[0], pos);
  }
  return nside == 2 && moveCorner(rate, inc, side, b, pos, tol);
}

// How far b is from where it passes to another feature: from a side plane, as a vertex; from the
// edge's end or a second side plane, on an edge; from an edge, above a corner.
static mjtNum nextFeature(const Face* ref, const Face* inc, const mjtNum b[3], mjtNum tol) {
  mjtNum vertex = INFINITY, edge = INFINITY, side[2] = {INFINITY, INFINITY};
  for (int i = 0; i < inc->n; i++) {
    vertex = fmin(vertex, mju_dist3(b, inc->vert[i]));
    edge = fmin(edge, edgeDistance(b, inc->vert[i], inc->vert[(i + 1) % inc->n], NULL));
  }
  for (int i = 0; i < ref->n; i++) {
    mjtNum far = edgeDistance(b, ref->vert[i], ref->vert[(i + 1) % ref->n], ref->normal);
    side[1] = fmin(side[1], fmax(side[0], far));
    side[0] = fmin(side[0], far);
  }
  if (vertex < tol) return side[0];
  return edge < tol ? fmin(vertex, side[1]) : edge;
}

// A face and what is clipped against it, with the normal of the face.
static bool tryFaces(djmContactMotion* x, const djmTouch* t, const Face* ref, const Face* inc,
                     int held, mjtNum tol) {
  mjtNum rate[3][6];
  const mjtNum *b = t->q[1 - held], *n = ref->normal;
  if (!moveVertex(rate, ref, inc, b, t->pos, tol)) return false;
  x->off = nextFeature(ref, inc, b, tol);
  for (int k = 0; k < 6; k++) {
    x->dist[k] = rowDot(n, rate, k);
    for (int i = 0; i < 3; i++) {
      x->normal[i][k] = 0;
      x->pos[i][k] = rate[i][k] - 0.5 * n[i] * x->dist[k];
    }
  }
  if (held) djm_exchange(x, t->n);
  return true;
}

// Two faces nearly parallel: the vertex b goes along r to the reference, at a = b - h r, and the
// contact is that part of b - a that is along n: dist = h (n . r), dist' = h' (n . r) + h (n' . r)
// with h' = r . b', a' = b' - h' r, n' = w x n, pos = a + (dist / 2) n.
static bool tryParallel(djmContactMotion* x, const djmTouch* t, const Face* ref, const Face* inc,
                        mjtNum tol) {
  mjtNum rate[3][6], b[3];
  const mjtNum *a = t->q[0], *r = ref->normal, *n = t->n;
  mjtNum along = mju_dot3(n, r), height = t->dist / along;
  mju_addScl3(b, a, r, height);
  if (!moveVertex(rate, ref, inc, b, t->pos, tol)) return false;
  x->off = nextFeature(ref, inc, b, tol);
  for (int k = 0; k < 6; k++) {
    mjtNum w[3] = {k == 0, k == 1, k == 2}, turn[3], change = rowDot(r, rate, k);
    mju_cross(turn, w, n);
    x->dist[k] = along * change + height * mju_dot3(turn, r);
    for (int i = 0; i < 3; i++) {
      x->normal[i][k] = turn[i];
      x->pos[i][k] = rate[i][k] - r[i] * change + 0.5 * (n[i] * x->dist[k] + turn[i] * t->dist);
    }
  }
  return true;
}

// The next face of s, from i on, whose plane q is in within tol and whose normal has a part along
// dir (both in the frame of s) from low to high; -1: none.
static int nextFace(const mjModel* m, const djmSurface* s, int i, const mjtNum q[3],
                    const mjtNum dir[3], mjtNum low, mjtNum high, mjtNum tol) {
  for (; i < faceCount(m, s); i++) {
    mjtNum normal[3], point[3];
    localNormal(normal, m, s, i);
    mjtNum along = mju_dot3(normal, dir);
    if (along < low || along > high) continue;
    localPoint(point, m, s, i);
    if (fabs(heightOver(q, point, normal)) < tol) return i;
  }
  return -1;
}

static void intoFrame(mjtNum q[3], mjtNum dir[3], const djmSurface* s, const mjtNum x[3],
                      const mjtNum y[3]) {
  mjtNum r[3];
  mju_sub3(r, x, s->pos);
  mju_mulMatTVec3(q, s->mat, r);
  mju_mulMatTVec3(dir, s->mat, y);
}

// How far polygons of meshes are from planes, of the size.
static const mjtNum UNEVEN = 1e-3;
static const mjtNum EQUAL = 1 - 1e-13;

// The incident face: any that the vertex is on and that looks at the reference.
static bool tryReference(djmContactMotion* x, const mjModel* m, const djmTouch* t, Face* ref,
                         int held, bool parallel, mjtNum tol) {
  const djmSurface* s = &t->s[1 - held];
  mjtNum q[3], dir[3], n[3];
  Face inc;
  mju_scl3(n, t->n, held ? -1 : 1);
  intoFrame(q, dir, s, t->q[1 - held], n);
  if (!parallel) mju_copy3(ref->normal, n);
  mjtNum high = parallel ? -EQUAL : -0.01, near = UNEVEN * t->size;
  for (int i = 0; (i = nextFace(m, s, i, q, dir, -2, high, near)) >= 0; i++) {
    if (!makeFace(&inc, m, s, i)) continue;
    if (parallel && tryParallel(x, t, ref, &inc, tol)) return true;
    if (!parallel && tryFaces(x, t, ref, &inc, held, tol)) return true;
  }
  return false;
}

// ---- a line that is clipped --------------------------------------------------------------------

// A line c + z k + radius e of a capsule or a cylinder, axis k, nearly parallel to the reference. e
// is normal to k and by the contact that MuJoCo found first, so that with T = k x e one of these
// holds
//   T . r = 0       the face itself,
//   e . E = 0       an edge E of it,
//   T . (V - c) = 0 a vertex V of it;
// their derivatives give the rate theta' at which e turns about k in the geom. z is that of an end,
// or so that the point stays in a side plane.
typedef struct Line {
  const djmSurface* s;
  mjtNum k[3], e[3], T[3], z, radius;
} Line;

static bool makeLine(Line* l, const djmSurface* s, const mjtNum b[3]) {
  l->s = s;
  l->radius = s->size[0];
  for (int i = 0; i < 3; i++) l->k[i] = s->mat[3 * i + 2];
  l->z = heightOver(b, s->pos, l->k);
  mju_sub3(l->e, b, s->pos);
  mju_addToScl3(l->e, l->k, -l->z);
  l->radius = mju_normalize3(l->e);
  mju_cross(l->T, l->k, l->e);
  return l->radius > 0.5 * s->size[0] && l->radius < 1.01 * s->size[0];
}

// What MuJoCo's iterations leave of the direction e.
static const mjtNum ANGLE = 1e-6;

typedef enum LineRule { BY_NOTHING, BY_FACE, BY_EDGE, BY_VERTEX } LineRule;

// Which of the conditions holds best; E: the edge, or the vertex from the geom's centre. rounded:
// by the face itself or not at all.
static LineRule lineRule(mjtNum E[3], const Line* l, const Face* ref, bool rounded) {
  LineRule rule = BY_NOTHING;
  mjtNum best = ANGLE, x[3];
  if (fabs(mju_dot3(l->T, ref->normal)) < best) {
    best = fabs(mju_dot3(l->T, ref->normal));
    rule = BY_FACE;
  }
  for (int i = 0; i < ref->n && !rounded; i++) {
    mju_sub3(x, ref->vert[(i + 1) % ref->n], ref->vert[i]);
    mju_normalize3(x);
    if (fabs(mju_dot3(l->e, x)) < best && fabs(mju_dot3(x, l->T)) > 1e-6) {
      best = fabs(mju_dot3(l->e, x));
      mju_copy3(E, x);
      rule = BY_EDGE;
    }
    mju_sub3(x, ref->vert[i], l->s->pos);
    mjtNum across = fabs(mju_dot3(l->T, x)) / mju_norm3(x);
    if (across < best && mju_dot3(l->e, x) > 1e-6 * l->radius) {
      best = across;
      mju_copy3(E, x);
      rule = BY_VERTEX;
    }
  }
  return rule;
}

// theta' (6).
static void turnLine(mjtNum turn[6], const Line* l, const mjtNum r[3], LineRule rule,
                     const mjtNum E[3], const mjtNum pos[3]) {
  const mjtNum *e = l->e, *T = l->T;
  mjtNum v[3][6];
  mju_zero(turn, 6);
  if (rule == BY_FACE) {
    mju_cross(turn, T, r);
    mju_scl3(turn, turn, 1 / mju_dot3(e, r));
  } else if (rule == BY_EDGE) {
    mju_cross(turn, e, E);
    mju_scl3(turn, turn, -1 / mju_dot3(E, T));
  } else {
    mju_cross(turn, T, E);
    djm_materialVelocity(v, l->s->pos, pos);
    for (int k = 0; k < 6; k++) turn[k] = (turn[k] - rowDot(T, v, k)) / mju_dot3(e, E);
  }
}

// Velocity (3 x 6) of the line's material at b as it moves beside its geom, but for steps along k.
// A capsule's line by the face itself is at radius (m - k (m . k)), m = -r, which is not
// normalised.
static bool moveLine(mjtNum rate[3][6], const Line* l, const Face* ref, const mjtNum b[3],
                     const mjtNum pos[3], bool rounded) {
  const mjtNum* r = ref->normal;
  mjtNum turn[6], E[3], c[3], w[3], core[3], size = l->s->size[0], along = -mju_dot3(r, l->k);
  mjtNum across = sqrt(1 - along * along), tol = ANGLE * size;
  LineRule rule = lineRule(E, l, ref, rounded);
  if (rule == BY_NOTHING) return false;
  if (l->s->type == mjGEOM_CAPSULE && rule == BY_FACE && fabs(l->radius - size * across) < tol) {
    mju_addScl3(core, b, l->e, -l->radius);
    djm_materialVelocity(rate, core, pos);
    for (int j = 0; j < 3; j++) {
      for (int i = 0; i < 3; i++) w[i] = i == j;
      mju_cross(c, w, l->k);
      mjtNum change = mju_dot3(r, c);
      for (int i = 0; i < 3; i++) rate[i][j] += size * (l->k[i] * change - c[i] * along);
    }
    return true;
  }
  if (fabs(l->radius - size) > tol) return false;
  turnLine(turn, l, r, rule, E, pos);
  djm_materialVelocity(rate, b, pos);
  for (int i = 0; i < 18; i++) rate[i / 6][i % 6] += size * turn[i % 6] * l->T[i / 6];
  return true;
}

static bool tryLine(djmContactMotion* x, const djmTouch* t, const Face* ref, int held, mjtNum tol) {
  const mjtNum *b = t->q[1 - held], *r = ref->normal;
  mjtNum side[2][3], rate[3][6];
  Line l;
  if (!makeLine(&l, &t->s[1 - held], b) || fabs(mju_dot3(l.k, r)) > 0.3) return false;
  bool end = fabs(fabs(l.z) - l.s->size[1]) < tol;
  if (!end && !findSides(side, ref, b, tol)) return false;
  if (!end && fabs(mju_dot3(side[0], l.k)) < 1e-9) return false;
  if (!moveLine(rate, &l, ref, b, t->pos, t->rounded)) return false;
  for (int j = 0; j < 6; j++) {
    mjtNum along = end ? 0 : -rowDot(side[0], rate, j) / mju_dot3(side[0], l.k);
    for (int i = 0; i < 3; i++) rate[i][j] += along * l.k[i];
    x->dist[j] = rowDot(r, rate, j);
    for (int i = 0; i < 3; i++) {
      x->normal[i][j] = 0;
      x->pos[i][j] = rate[i][j] - 0.5 * r[i] * x->dist[j];
    }
  }
  if (held) djm_exchange(x, t->n);
  return true;
}

static bool clippedLine(djmContactMotion* x, const mjModel* m, const djmTouch* t, int held,
                        mjtNum tol) {
  const djmSurface* s = &t->s[held];
  mjtNum q[3], dir[3], n[3];
  Face ref;
  mju_scl3(n, t->n, held ? -1 : 1);
  intoFrame(q, dir, s, t->q[held], n);
  for (int i = 0; (i = nextFace(m, s, i, q, dir, EQUAL, 2, UNEVEN * t->size)) >= 0; i++) {
    if (!makeFace(&ref, m, s, i)) continue;
    mju_copy3(ref.normal, n);
    if (tryLine(x, t, &ref, held, tol)) return true;
  }
  return false;
}

// ---- which is the reference --------------------------------------------------------------------

// How far the boxes are apart along a face of s.
static mjtNum faceGap(const djmTouch* t, int held, int face) {
  const djmSurface *s = &t->s[held], *other = &t->s[1 - held];
  mjtNum r[3], axis[3], reach = 0;
  for (int k = 0; k < 3; k++) axis[k] = s->mat[3 * k + face / 2];
  mju_sub3(r, other->pos, s->pos);
  for (int i = 0; i < 3; i++) {
    mjtNum dot = 0;
    for (int k = 0; k < 3; k++) dot += axis[k] * other->mat[3 * k + i];
    reach += fabs(dot) * other->size[i];
  }
  return fabs(mju_dot3(r, axis)) - s->size[face / 2] - reach;
}

// Which box's face the other one's is clipped by: where they are equally far apart, as flat boxes
// are, that of the larger face, to which any small turn leads.
static int boxReference(const djmTouch* t, const int face[2]) {
  if (face[0] < 0 || face[1] < 0) return face[0] < 0;
  mjtNum more = faceGap(t, 1, face[1]) - faceGap(t, 0, face[0]), reach[2];
  if (fabs(more) > 1e-12 * t->size) return more > 0;
  for (int k = 0; k < 2; k++) {
    const mjtNum* size = t->s[k].size;
    reach[k] = size[(face[k] / 2 + 1) % 3] + size[(face[k] / 2 + 2) % 3];
  }
  return reach[1] > reach[0];
}

static bool clippedBoxes(djmContactMotion* x, const mjModel* m, const djmTouch* t, mjtNum tol) {
  int face[2] = {-1, -1};
  mjtNum normal[3];
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 6; i++) {
      faceNormal(normal, m, &t->s[k], i);
      if (mju_dot3(normal, t->n) * (k ? -1 : 1) > 1 - 1e-13) face[k] = i;
    }
  }
  if (face[0] < 0 && face[1] < 0) return false;
  int held = boxReference(t, face);
  Face ref;
  makeFace(&ref, m, &t->s[held], face[held]);
  return tryReference(x, m, t, &ref, held, false, tol);
}

// Of meshes. pass 0: faces nearly parallel, the first geom's is the reference, the normal is that
// of the second. 1, 2: a face and an edge or a vertex, the face of geom[0], geom[1] is the
// reference.
static bool clippedMeshes(djmContactMotion* x, const mjModel* m, const djmTouch* t, int pass,
                          mjtNum tol) {
  int held = pass == 2;
  const djmSurface* s = &t->s[held];
  mjtNum q[3], dir[3], n[3];
  Face ref;
  mju_scl3(n, t->n, held ? -1 : 1);
  intoFrame(q, dir, s, t->q[held], n);
  mjtNum low = pass ? EQUAL : 0.9;
  for (int i = 0; (i = nextFace(m, s, i, q, dir, low, 2, UNEVEN * t->size)) >= 0; i++) {
    if (!makeFace(&ref, m, s, i)) continue;
    if (tryReference(x, m, t, &ref, held, pass == 0, tol)) return true;
  }
  return false;
}

static bool hasFaces(int type) {
  return type == mjGEOM_BOX || type == mjGEOM_MESH || type == mjGEOM_CYLINDER;
}

bool djm_isFaceNormal(const mjModel* m, const djmSurface* s, const mjtNum dir[3]) {
  mjtNum normal[3], local[3];
  if (!hasFaces(s->type)) return false;
  mju_mulMatTVec3(local, s->mat, dir);
  for (int i = 0; i < faceCount(m, s); i++) {
    localNormal(normal, m, s, i);
    if (mju_dot3(normal, local) > EQUAL) return true;
  }
  return false;
}

static bool hasLines(int type) { return type == mjGEOM_CAPSULE || type == mjGEOM_CYLINDER; }

bool djm_clipped(djmContactMotion* x, const mjModel* m, const djmTouch* t) {
  int type[2] = {t->s[0].type, t->s[1].type};
  bool faces = hasFaces(type[0]) && hasFaces(type[1]);
  if (type[0] == mjGEOM_BOX && type[1] == mjGEOM_BOX) {
    return clippedBoxes(x, m, t, 1e-9 * t->size);
  }
  // Vertices of meshes are rounded to single precision.
  for (mjtNum tol = 1e-9; tol < 2e-7; tol *= 100) {
    for (int pass = 0; pass < 3 && faces; pass++) {
      if (clippedMeshes(x, m, t, pass, tol * t->size)) return true;
    }
    for (int held = 0; held < 2; held++) {
      if (!hasFaces(type[held]) || !hasLines(type[1 - held])) continue;
      if (clippedLine(x, m, t, held, tol * t->size)) return true;
    }
  }
  return false;
}
