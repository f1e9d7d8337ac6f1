// Patches of surfaces: what a surface is about a point of it. A patch is a core - a point, a curve
// or a surface with tangents T_i and second derivatives - with a radius r about it.

#include "contact_part.h"

#include <math.h>

// ---- surfaces ---------------------------------------------------------------------------------

static djmSurface surfaceOf(const mjModel* m, const mjData* d, int g) {
  djmSurface s = {.type = m->geom_type[g], .geom = g, .mesh = -1};
  s.pos = d->geom_xpos + 3 * g;
  s.mat = d->geom_xmat + 9 * g;
  s.size = m->geom_size + 3 * g;
  s.scale = m->geom_rbound[g] > 0 ? m->geom_rbound[g] : 0;
  if (s.type == mjGEOM_MESH) s.mesh = m->geom_dataid[g];
  return s;
}

djmTouch djm_touch(const mjModel* m, const mjData* d, const mjContact* con) {
  djmTouch t;
  for (int k = 0; k < 2; k++) t.s[k] = surfaceOf(m, d, con->geom[k]);
  mjtNum a = t.s[0].scale, b = t.s[1].scale;
  t.size = a > 0 && b > 0 ? fmin(a, b) : fmax(a, b);
  for (int k = 0; k < 2; k++) {
    t.s[k].scale = t.size;
    t.s[k].on_plane = t.s[0].type == mjGEOM_PLANE;
  }
  t.dist = con->dist;
  t.rounded = djm_pairMargin(m, con) > 0;
  mju_copy3(t.n, con->frame);
  mju_copy3(t.pos, con->pos);
  mju_addScl3(t.q[0], t.pos, t.n, -0.5 * t.dist);
  mju_addScl3(t.q[1], t.pos, t.n, 0.5 * t.dist);
  return t;
}

static void localPoint(mjtNum out[3], const djmSurface* s, const mjtNum x[3]) {
  mjtNum r[3];
  mju_sub3(r, x, s->pos);
  mju_mulMatTVec3(out, s->mat, r);
}

static void globalPoint(mjtNum out[3], const djmSurface* s, const mjtNum x[3]) {
  mju_mulMatVec3(out, s->mat, x);
  mju_addTo3(out, s->pos);
}

static void axisOf(mjtNum out[3], const djmSurface* s, int i) {
  for (int r = 0; r < 3; r++) out[r] = s->mat[3 * r + i];
}

// ---- patches ----------------------------------------------------------------------------------

static bool flat(djmPatch* p, const mjtNum q[3], const mjtNum normal[3]) {
  p->dim = 2;
  mju_copy3(p->point, q);
  djm_normalTo(p->tangent, normal);
  return true;
}

static bool spherePatch(djmPatch* p, const djmSurface* s, const mjtNum q[3], const mjtNum out[3],
                        mjtNum tol) {
  mjtNum c[3];
  p->radius = s->size[0];
  mju_copy3(p->point, s->pos);
  mju_addScl3(c, q, out, -p->radius);
  return mju_dist3(c, s->pos) < tol * s->scale;
}

// An end of its axis, or the axis, which is normal to out.
static bool capsulePatch(djmPatch* p, const djmSurface* s, const mjtNum q[3], const mjtNum out[3],
                         mjtNum tol) {
  mjtNum c[3], local[3], length = s->size[1];
  p->radius = s->size[0];
  mju_addScl3(c, q, out, -p->radius);
  localPoint(local, s, c);
  if (mju_norm(local, 2) > tol * s->scale || fabs(local[2]) > length + tol * s->scale) return false;
  axisOf(p->tangent[0], s, 2);
  mjtNum near = fabs(mju_dot3(p->tangent[0], out)) > tol ? fmax(tol, 1e-10) : 1e-10;
  bool end = fabs(local[2]) > length - near * s->scale;
  mjtNum core[3] = {0, 0, end ? copysign(length, local[2]) : local[2]};
  globalPoint(p->point, s, core);
  p->dim = !end;
  return true;
}

// A rim: the core is its circle.
static void rimAt(djmPatch* p, const djmSurface* s, const mjtNum q[3], const mjtNum n[3]) {
  mjtNum local[3], axis[3], core[3], e[3], radial = 0;
  localPoint(local, s, q);
  radial = mju_norm(local, 2);
  mjtNum unit[3] = {local[0] / radial, local[1] / radial, 0};
  mju_scl3(core, unit, s->size[0]);
  core[2] = copysign(s->size[1], local[2]);
  globalPoint(p->point, s, core);
  mju_mulMatVec3(e, s->mat, unit);
  axisOf(axis, s, 2);
  mju_cross(p->tangent[0], axis, e);
  p->bend[0] = -mju_dot3(n, e) / s->size[0];
}

// An ellipsoid: sum (x_i / s_i)^2 = 1; with g = x / s^2 the second derivative along two tangents
// has the part -(e_i . diag(1 / s^2) e_j) / |g| along the outward normal g / |g|.
static void ellipsoidAt(djmPatch* p, const djmSurface* s, const mjtNum q[3], const mjtNum n[3]) {
  mjtNum x[3], g[3], normal[3], local[2][3], norm2 = 0;
  localPoint(x, s, q);
  for (int i = 0; i < 3; i++) norm2 += x[i] * x[i] / (s->size[i] * s->size[i]);
  mju_scl3(x, x, 1 / sqrt(norm2));
  for (int i = 0; i < 3; i++) g[i] = x[i] / (s->size[i] * s->size[i]);
  mjtNum length = mju_normalize3(g);
  globalPoint(p->point, s, x);
  mju_mulMatVec3(normal, s->mat, g);
  mjtNum side = mju_dot3(normal, n);
  djm_normalTo(local, g);
  for (int i = 0; i < 2; i++) mju_mulMatVec3(p->tangent[i], s->mat, local[i]);
  for (int k = 0; k < 3; k++) {
    const mjtNum *a = local[k == 2], *b = local[k > 0];
    mjtNum sum = 0;
    for (int i = 0; i < 3; i++) sum += a[i] * b[i] / (s->size[i] * s->size[i]);
    p->bend[k] = -side * sum / length;
  }
}

void djm_bendPatch(djmPatch* p, const djmSurface* s, const mjtNum q[3], const mjtNum n[3]) {
  if (s->type == mjGEOM_CYLINDER) rimAt(p, s, q, n);
  if (s->type == mjGEOM_ELLIPSOID) ellipsoidAt(p, s, q, n);
}

static bool cylinderPatch(djmPatch* p, const djmSurface* s, const mjtNum q[3], const mjtNum out[3],
                          mjtNum tol) {
  mjtNum x[3], axis[3], small = tol * s->scale;
  localPoint(x, s, q);
  axisOf(axis, s, 2);
  mjtNum radial = mju_norm(x, 2), along = mju_dot3(axis, out);
  if (radial > s->size[0] + small || fabs(x[2]) > s->size[1] + small) return false;
  bool cap = fabs(x[2]) > s->size[1] - small, side = radial > s->size[0] - small;
  if (cap && side) {
    if (fabs(along) > 1 - 1e-14)
      side = false;
    else if (fabs(along) < 1e-12)
      cap = false;
  }
  if (cap && side) {
    p->dim = 1;
    p->curved = true;
    rimAt(p, s, q, out);
    return true;
  }
  if (cap) {
    x[2] = copysign(s->size[1], x[2]);
    globalPoint(p->point, s, x);
    return flat(p, p->point, axis) && x[2] * along > 0;
  }
  if (!side) return false;
  mjtNum core[3] = {0, 0, x[2]};
  globalPoint(p->point, s, core);
  p->dim = 1;
  p->radius = s->size[0];
  mju_copy3(p->tangent[0], axis);
  return true;
}

static bool ellipsoidPatch(djmPatch* p, const djmSurface* s, const mjtNum q[3], const mjtNum out[3],
                           mjtNum tol) {
  p->dim = 2;
  p->curved = true;
  ellipsoidAt(p, s, q, out);
  return mju_dist3(p->point, q) < tol * s->scale;
}

// By the coordinates that are at the bounds.
static bool boxPatch(djmPatch* p, const djmSurface* s, const mjtNum q[3], mjtNum tol) {
  mjtNum x[3], small = tol * s->scale;
  int bound[3], nbound = 0;
  localPoint(x, s, q);
  for (int i = 0; i < 3; i++) {
    if (fabs(x[i]) > s->size[i] + small) return false;
    bound[i] = fabs(x[i]) > s->size[i] - small;
    nbound += bound[i];
    if (bound[i]) x[i] = copysign(s->size[i], x[i]);
  }
  if (!nbound) return false;
  globalPoint(p->point, s, x);
  p->dim = 0;
  for (int i = 0; i < 3; i++) {
    if (!bound[i]) axisOf(p->tangent[p->dim++], s, i);
  }
  return true;
}

// ---- meshes -----------------------------------------------------------------------------------

static void meshVertex(mjtNum x[3], const float* vert, int i) {
  for (int k = 0; k < 3; k++) x[k] = vert[3 * i + k];
}

// From points of the core so far (count: 1, 2, 3) to one more that does not lie in their span.
static int extend(mjtNum x[3][3], int count, const mjtNum y[3], mjtNum small) {
  mjtNum r[3], e[3], c[3];
  if (count == 0) {
    mju_copy3(x[0], y);
    return 1;
  }
  mju_sub3(r, y, x[0]);
  if (mju_norm3(r) < small) return count;
  if (count == 1) {
    mju_copy3(x[1], y);
    return 2;
  }
  if (count == 3) return 3;
  mju_sub3(e, x[1], x[0]);
  mju_normalize3(e);
  mju_cross(c, e, r);
  if (mju_norm3(c) < small) return 2;
  mju_copy3(x[2], y);
  return 3;
}

// The patch through 1 to 3 vertices, at its point next to q.
static bool spannedPatch(djmPatch* p, const djmSurface* s, mjtNum x[3][3], int count,
                         const mjtNum q[3], mjtNum tol) {
  mjtNum g[3][3], r[3], e[3][3];
  for (int k = 0; k < count; k++) globalPoint(g[k], s, x[k]);
  p->dim = count - 1;
  mju_copy3(p->point, g[0]);
  for (int k = 1; k < count; k++) mju_sub3(e[k], g[k], g[0]);
  if (count == 1) return mju_dist3(g[0], q) < tol * s->scale;
  mju_copy3(p->tangent[0], e[1]);
  mju_normalize3(p->tangent[0]);
  if (count == 3) {
    mju_cross(e[0], e[1], e[2]);
    mju_normalize3(e[0]);
    mju_cross(p->tangent[1], e[0], p->tangent[0]);
  }
  mju_sub3(r, q, g[0]);
  for (int k = 0; k < p->dim; k++) {
    mju_addToScl3(p->point, p->tangent[k], mju_dot3(r, p->tangent[k]));
  }
  return mju_dist3(p->point, q) < tol * s->scale;
}

// The vertices that may lie deepest: those of the hull, or, without a graph, all.
typedef struct Hull {
  const float* vert;
  int n;                // vertices
  const int *edge, *id; // (n) the first edge of each, its number in vert; or NULL
  const int* list;      // ends of edges, -1 after those of a vertex; or NULL
} Hull;

static Hull hullOf(const mjModel* m, int mesh) {
  Hull h = {.vert = m->mesh_vert + 3 * m->mesh_vertadr[mesh], .n = (int)m->mesh_vertnum[mesh]};
  if (m->mesh_graphadr[mesh] < 0) return h;
  const int* graph = m->mesh_graph + m->mesh_graphadr[mesh];
  h.n = graph[0];
  h.edge = graph + 2;
  h.id = h.edge + h.n;
  h.list = h.id + h.n;
  return h;
}

static mjtNum hullHeight(const Hull* h, int i, const mjtNum dir[3]) {
  const float* v = h->vert + 3 * (h->id ? h->id[i] : i);
  return v[0] * dir[0] + v[1] * dir[1] + v[2] * dir[2];
}

// A vertex that lies deepest along dir: on a hull by its edges, uphill.
static int deepest(const Hull* h, const mjtNum dir[3]) {
  int best = 0;
  mjtNum top = hullHeight(h, 0, dir);
  for (int i = 1; i < h->n && !h->list; i++) {
    mjtNum height = hullHeight(h, i, dir);
    if (height > top) {
      top = height;
      best = i;
    }
  }
  for (int from = -1; h->list && from != best;) {
    from = best;
    for (const int* k = h->list + h->edge[from]; *k >= 0; k++) {
      mjtNum height = hullHeight(h, *k, dir);
      if (height > top) {
        top = height;
        best = *k;
      }
    }
  }
  return best;
}

static void hullVertex(mjtNum x[3], const Hull* h, int i) {
  meshVertex(x, h->vert, h->id ? h->id[i] : i);
}

enum { MAXDEEP = 64 };

// Vertices at the height of the deepest one, from edge to edge: (n) of MAXDEEP at most.
static int allDeepest(int found[MAXDEEP], const Hull* h, int top, const mjtNum dir[3],
                      mjtNum small) {
  int n = 1;
  mjtNum level = hullHeight(h, top, dir) - small;
  found[0] = top;
  for (int i = 0; i < h->n && !h->list && n < MAXDEEP; i++) {
    if (i != top && hullHeight(h, i, dir) > level) found[n++] = i;
  }
  for (int at = 0; at < n && h->list; at++) {
    for (const int* k = h->list + h->edge[found[at]]; *k >= 0 && n < MAXDEEP; k++) {
      bool known = hullHeight(h, *k, dir) <= level;
      for (int i = 0; i < n && !known; i++) known = found[i] == *k;
      if (!known) found[n++] = *k;
    }
  }
  return n;
}

// Those vertices that lie deepest along out.
static bool deepPatch(djmPatch* p, const mjModel* m, const djmSurface* s, const mjtNum q[3],
                      const mjtNum out[3], mjtNum tol) {
  Hull h = hullOf(m, s->mesh);
  mjtNum dir[3], x[3], core[3][3], small = 1e-8 * s->scale;
  int found[MAXDEEP], count = 0;
  mju_mulMatTVec3(dir, s->mat, out);
  localPoint(x, s, q);
  int top = deepest(&h, dir);
  if (fabs(hullHeight(&h, top, dir) - mju_dot3(x, dir)) > small) return false;
  int n = allDeepest(found, &h, top, dir, small);
  for (int i = 0; i < n; i++) {
    hullVertex(x, &h, found[i]);
    count = extend(core, count, x, 1e-6 * s->scale);
  }
  return spannedPatch(p, s, core, count, q, tol);
}

// On a plane: the vertex at q.
static bool vertexPatch(djmPatch* p, const mjModel* m, const djmSurface* s, const mjtNum q[3],
                        mjtNum tol) {
  Hull h = hullOf(m, s->mesh);
  mjtNum x[3], y[3];
  localPoint(x, s, q);
  for (int i = 0; i < h.n; i++) {
    hullVertex(y, &h, i);
    if (fabs(y[0] - x[0]) > tol * s->scale || mju_dist3(y, x) > tol * s->scale) continue;
    globalPoint(p->point, s, y);
    return true;
  }
  return false;
}

// Faces whose planes q is in: their common vertices.
static bool pointPatch(djmPatch* p, const mjModel* m, const djmSurface* s, const mjtNum q[3],
                       mjtNum tol) {
  int first = m->mesh_polyadr[s->mesh], n = m->mesh_polynum[s->mesh], nface = 0, face[3] = {0};
  const float* vert = m->mesh_vert + 3 * m->mesh_vertadr[s->mesh];
  mjtNum x[3], y[3], core[3][3], small = tol * s->scale;
  localPoint(x, s, q);
  for (int k = 0; k < n && nface < 3; k++) {
    const mjtNum* normal = m->mesh_polynormal + 3 * (first + k);
    meshVertex(y, vert, m->mesh_polyvert[m->mesh_polyvertadr[first + k]]);
    mju_subFrom3(y, x);
    if (fabs(mju_dot3(y, normal)) < small) face[nface++] = first + k;
  }
  if (!nface) return false;
  int count = 0;
  const int* list = m->mesh_polyvert + m->mesh_polyvertadr[face[0]];
  for (int i = 0; i < m->mesh_polyvertnum[face[0]]; i++) {
    bool common = true;
    for (int f = 1; f < nface; f++) {
      const int* other = m->mesh_polyvert + m->mesh_polyvertadr[face[f]];
      bool found = false;
      for (int j = 0; j < m->mesh_polyvertnum[face[f]]; j++) found |= other[j] == list[i];
      common &= found;
    }
    if (!common) continue;
    meshVertex(y, vert, list[i]);
    count = extend(core, count, y, 1e-6 * s->scale);
  }
  return count == 4 - nface && spannedPatch(p, s, core, count, q, 2 * tol);
}

bool djm_findPatch(djmPatch* p, const mjModel* m, const djmSurface* s, const mjtNum q[3],
                   const mjtNum out[3], mjtNum tol, bool by_point) {
  mjtNum normal[3];
  *p = (djmPatch){0};
  switch (s->type) {
    case mjGEOM_PLANE:
      axisOf(normal, s, 2);
      return flat(p, q, normal);
    case mjGEOM_SPHERE:
      return spherePatch(p, s, q, out, tol);
    case mjGEOM_CAPSULE:
      return capsulePatch(p, s, q, out, tol);
    case mjGEOM_ELLIPSOID:
      return ellipsoidPatch(p, s, q, out, tol);
    case mjGEOM_CYLINDER:
      return cylinderPatch(p, s, q, out, tol);
    case mjGEOM_BOX:
      return boxPatch(p, s, q, tol);
    case mjGEOM_MESH:
      if (s->on_plane) return vertexPatch(p, m, s, q, tol);
      return by_point ? pointPatch(p, m, s, q, tol) : deepPatch(p, m, s, q, out, tol);
    default:
      return false;
  }
}

// ---- of the exchanged pair -------------------------------------------------------------------

// With geom[1] held: (w, u) of geom[0] is minus that of geom[1]; all then move with geom[1].
void djm_exchange(djmContactMotion* x, const mjtNum n[3]) {
  for (int k = 0; k < 6; k++) {
    mjtNum w[3] = {k == 0, k == 1, k == 2}, c[3];
    mju_cross(c, w, n);
    x->dist[k] = -x->dist[k];
    for (int i = 0; i < 3; i++) {
      x->pos[i][k] = (k == 3 + i) - x->pos[i][k];
      x->normal[i][k] = c[i] - x->normal[i][k];
    }
  }
}
