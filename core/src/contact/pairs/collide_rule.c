// Which geoms collide, and with what coefficients: MuJoCo's rules.

#include "contact/contact.h"

int dj_explicitPair(const djModel* m, int g1, int g2) {
  for (int i = 0; i < m->npair; i++) {
    int a = m->pair_geom1[i], b = m->pair_geom2[i];
    if ((a == g1 && b == g2) || (a == g2 && b == g1)) return i;
  }
  return -1;
}

// With W the body that a geom's body is welded to, P the one that W's parent is welded to, and n
// the number of W's dofs (MuJoCo's body_weldid, body_dofnum):
//   listed as a pair, or
//   Wa != Wb, na > 0 or nb > 0, bits match, no exclude, and with filterparent on not parent and
//   child (unless one is the world).
// Vertices of flexes do not collide with each other.
bool dj_canCollide(const djModel* m, int g1, int g2) {
  if (g1 < 0 || g2 < 0 || g1 >= m->ngeom || g2 >= m->ngeom || g1 == g2) return false;
  if (m->npair > 0 && dj_explicitPair(m, g1, g2) >= 0) return true;
  if (m->geom_flex[g1] >= 0 && m->geom_flex[g2] >= 0) return false;
  if (!((m->geom_contype[g1] & m->geom_conaffinity[g2]) ||
        (m->geom_contype[g2] & m->geom_conaffinity[g1]))) {
    return false;
  }
  int b1 = m->geom_body[g1], b2 = m->geom_body[g2];
  int w1 = m->body_weld[b1], w2 = m->body_weld[b2];
  if (w1 == w2 || (m->body_dofnum[w1] == 0 && m->body_dofnum[w2] == 0)) return false;
  if (!(m->opt.disable & DJ_DSBL_FILTERPARENT) && w1 != 0 && w2 != 0) {
    int p1 = m->body_weld[m->body_parent[w1]], p2 = m->body_weld[m->body_parent[w2]];
    if (w1 == p2 || w2 == p1) return false;
  }
  for (int i = 0; i < m->nexclude; i++) {
    int e1 = m->exclude_body1[i], e2 = m->exclude_body2[i];
    if ((e1 == b1 && e2 == b2) || (e1 == b2 && e2 == b1)) return false;
  }
  return true;
}

bool dj_geomCollides(const djModel* m, int geom) {
  if (geom < 0 || geom >= m->ngeom) return false;
  bool bits = m->geom_contype[geom] || m->geom_conaffinity[geom];
  for (int i = 0; i < m->npair && !bits; i++) {
    bits = m->pair_geom1[i] == geom || m->pair_geom2[i] == geom;
  }
  if (!bits) return false;
  for (int g = 0; g < m->ngeom; g++) {
    if (dj_canCollide(m, geom, g)) return true;
  }
  return false;
}

// The kernel that is named for a pair, or DJ_CONTACT_DEFAULT. Of two geoms the one of higher
// priority names it, of equal ones the later.
static int namedKernel(const djModel* m, int g1, int g2) {
  int c1 = m->geom_contact[g1], c2 = m->geom_contact[g2];
  int pair = m->npair > 0 ? dj_explicitPair(m, g1, g2) : -1;
  if (pair >= 0 && m->pair_contact[pair] != DJ_CONTACT_DEFAULT) return m->pair_contact[pair];
  if (c1 == DJ_CONTACT_DEFAULT) return c2;
  if (c2 == DJ_CONTACT_DEFAULT) return c1;
  if (m->geom_priority[g1] != m->geom_priority[g2]) {
    return m->geom_priority[g1] > m->geom_priority[g2] ? c1 : c2;
  }
  return g1 > g2 ? c1 : c2;
}

static bool handles(const djKernel* kernel, int t1, int t2) {
  return kernel && (kernel->takes(t1, t2) || kernel->takes(t2, t1));
}

int dj_pairKernel(const djModel* m, int g1, int g2) {
  int t1 = m->geom_type[g1], t2 = m->geom_type[g2], named = namedKernel(m, g1, g2);
  if (!dj_ownContact(m) || named == DJ_CONTACT_NONE) return -1;
  if (named != DJ_CONTACT_DEFAULT && handles(dj_kernel(named), t1, t2)) return named;
  if (handles(dj_kernel(m->opt.contact), t1, t2)) return (int)m->opt.contact;
  return dj_kernelOf(t1, t2);
}

bool dj_isContactPair(const djModel* m, int g1, int g2) {
  if (!dj_canCollide(m, g1, g2) || dj_pairKernel(m, g1, g2) < 0) return false;
  int b1 = m->geom_body[g1], b2 = m->geom_body[g2];
  if (m->body_weld[b1] == m->body_weld[b2]) return false;
  return m->body_lastdof[b1] >= 0 || m->body_lastdof[b2] >= 0;
}

// Of two geoms with coefficients c1, c2 the one whose counts.
static int countingGeom(const djModel* m, int g1, int g2, double c1, double c2) {
  if (m->geom_priority[g1] != m->geom_priority[g2]) {
    return m->geom_priority[g1] > m->geom_priority[g2] ? g1 : g2;
  }
  return c1 > c2 ? g1 : g2;
}

static void setSources(int source[DJ_NCOEFFICIENT], const djModel* m, int g1, int g2) {
  const double *f1 = m->geom_friction + 3 * g1, *f2 = m->geom_friction + 3 * g2;
  for (int k = DJ_OF_SLIDING; k <= DJ_OF_ROLLING; k++) {
    source[k] = countingGeom(m, g1, g2, f1[k], f2[k]);
  }
  source[DJ_OF_RESTITUTION] =
      countingGeom(m, g1, g2, dj_restitution(m, g1, -1), dj_restitution(m, g2, -1));
}

bool dj_hasRestitution(const djModel* m) {
  for (int g = 0; g < m->ngeom; g++) {
    if (dj_restitution(m, g, -1) > 0) return true;
  }
  for (int p = 0; p < m->npair; p++) {
    if (dj_restitution(m, -1, p) > 0) return true;
  }
  return false;
}

// Of sliding, with what there is besides.
static void setFriction(djPairCoefficients* c, double sliding, int dim) {
  if (dim < 4) c->cone.torsion = 0;
  if (dim < 6) c->cone.rolling[0] = c->cone.rolling[1] = 0;
  if (dim == 1) {
    c->cone.friction2 = 0;
    return;
  }
  const djCone* k = &c->cone;
  bool more = k->friction2 > 0 || k->torsion > 0 || k->rolling[0] > 0 || k->rolling[1] > 0;
  c->friction = more ? fmax(sliding, DJ_LEAST_FRICTION) : sliding;
}

// Of an explicit pair its own, else the sum of both.
static double deeperOf(const djModel* m, int pair, int g1, int g2, int kernel) {
  if (m->opt.softness != DJ_SOFTNESS_MUJOCO || kernel != DJ_SEPARATING_PLANE) return 0;
  return pair >= 0 ? m->pair_soft_depth[pair] : m->geom_soft_depth[g1] + m->geom_soft_depth[g2];
}

djPairCoefficients dj_pairCoefficients(const djModel* m, int g1, int g2) {
  djPairCoefficients c = {.friction = 0};
  int pair = m->npair > 0 ? dj_explicitPair(m, g1, g2) : -1, kernel = dj_pairKernel(m, g1, g2);
  c.deeper = deeperOf(m, pair, g1, g2, kernel);
  if (pair >= 0) {
    double applied = 0;
    int base = m->collision ? dj_useOf(m->collision, kernel) * m->ngeom : 0;
    const djShapeBounds* bounds = m->collision ? m->collision->bounds + base : NULL;
    if (bounds) applied = bounds[g1].inflate + bounds[g2].inflate;
    const double* rolling = m->pair_rolling + 2 * pair;
    for (int k = 0; k < DJ_NCOEFFICIENT; k++) c.source[k] = -1;
    c.cone = (djCone){m->pair_friction2[pair], m->pair_torsion[pair], {rolling[0], rolling[1]}};
    setFriction(&c, m->pair_friction[pair], m->pair_condim[pair]);
    c.restitution = dj_restitution(m, -1, pair);
    c.inflate = m->pair_margin[pair] - m->pair_gap[pair] - c.deeper - applied;
    return c;
  }
  const int* source = c.source;
  setSources(c.source, m, g1, g2);
  int dim = m->geom_condim[source[DJ_OF_SLIDING]];
  if (m->geom_priority[g1] == m->geom_priority[g2]) {
    int dim1 = m->geom_condim[g1], dim2 = m->geom_condim[g2];
    dim = dim1 > dim2 ? dim1 : dim2;
  }
  if (dim > 3) {
    c.cone.torsion = m->geom_friction[3 * source[DJ_OF_TORSION] + DJ_OF_TORSION];
    c.cone.rolling[0] = m->geom_friction[3 * source[DJ_OF_ROLLING] + DJ_OF_ROLLING];
    c.cone.rolling[1] = c.cone.rolling[0];
  }
  setFriction(&c, m->geom_friction[3 * source[DJ_OF_SLIDING]], dim);
  c.restitution = dj_restitution(m, source[DJ_OF_RESTITUTION], -1);
  return c;
}
