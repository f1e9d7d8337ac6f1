// Which geoms collide, and with what coefficients: MuJoCo's rules.

#include "contact/contact.h"

static int findPair(const djModel* m, int g1, int g2) {
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
bool dj_canCollide(const djModel* m, int g1, int g2) {
  if (g1 < 0 || g2 < 0 || g1 >= m->ngeom || g2 >= m->ngeom || g1 == g2) return false;
  if (m->npair > 0 && findPair(m, g1, g2) >= 0) return true;
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

bool dj_isContactPair(const djModel* m, int g1, int g2) {
  const djKernel* kernel = dj_kernel(m->opt.contact);
  if (!kernel || !dj_canCollide(m, g1, g2)) return false;
  int t1 = m->geom_type[g1], t2 = m->geom_type[g2];
  if (!kernel->supports(t1, t2) && !kernel->supports(t2, t1)) return false;
  int b1 = m->geom_body[g1], b2 = m->geom_body[g2];
  if (m->body_weld[b1] == m->body_weld[b2]) return false;
  return m->body_lastdof[b1] >= 0 || m->body_lastdof[b2] >= 0;
}

int dj_frictionGeom(const djModel* m, int g1, int g2) {
  if (m->npair > 0 && findPair(m, g1, g2) >= 0) return -1;
  if (m->geom_priority[g1] != m->geom_priority[g2]) {
    return m->geom_priority[g1] > m->geom_priority[g2] ? g1 : g2;
  }
  return m->geom_friction[3 * g1] > m->geom_friction[3 * g2] ? g1 : g2;
}

djPairCoefficients dj_pairCoefficients(const djModel* m, int g1, int g2) {
  djPairCoefficients c = {0, 0};
  int pair = m->npair > 0 ? findPair(m, g1, g2) : -1;
  if (pair >= 0) {
    double applied = 0;
    if (m->collision) applied = m->collision->inflate[g1] + m->collision->inflate[g2];
    c.friction = m->pair_condim[pair] > 1 ? m->pair_friction[pair] : 0;
    c.inflate = m->pair_margin[pair] - m->pair_gap[pair] - applied;
    return c;
  }
  int geom = dj_frictionGeom(m, g1, g2), dim = m->geom_condim[geom];
  if (m->geom_priority[g1] == m->geom_priority[g2]) {
    int dim1 = m->geom_condim[g1], dim2 = m->geom_condim[g2];
    dim = dim1 > dim2 ? dim1 : dim2;
  }
  c.friction = dim == 1 ? 0 : m->geom_friction[3 * geom];
  return c;
}
