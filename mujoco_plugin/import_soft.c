// MuJoCo's soft contacts: depth at rest and rebound.
//
// Of a contact at depth r, which grows at v, MuJoCo's force f is that of
//   (A + R) f = k d r + b v - a0,   R = (1 - d)/d A',
// with A the inverse inertia seen by the contact, A' its estimate by body_invweight0, a0 the
// acceleration away without the contact, k and b by solref (djm_softness), d(r) by solimp.
//
// At rest A f + a0 = 0, so that R f = k d r: a contact that holds the force f is at the depth
//   k d(r)^2 r = (1 - d(r)) A' f.
// Of a pyramid's 2 (dim - 1) edges each has its share of f, A' (1 + mu^2) and, by MuJoCo's
// convention, 2 mu^2/impratio times R: together c A' f with c = mu^2/impratio (1 + mu^2)/(dim - 1).
//
// In an impact f is large beside what else acts; with A = A' the depth follows
//   r'' = -d (b r' + k d r)   from   r = 0, r' = speed   until the force is 0.

#include "import_soft.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ------------------------------ parameters of a contact -----------------------------------------

static void override(djmSoft* s, const mjModel* m) {
  if (!(m->opt.enableflags & mjENBL_OVERRIDE)) return;
  mju_copy(s->solref, m->opt.o_solref, mjNREF);
  mju_copy(s->solimp, m->opt.o_solimp, mjNIMP);
  s->friction = m->opt.o_friction[0];
}

// The weight of the first geom where neither has priority.
static double mixOf(const mjModel* m, int g1, int g2) {
  double x = m->geom_solmix[g1], y = m->geom_solmix[g2];
  if (x >= mjMINVAL && y >= mjMINVAL) return x / (x + y);
  return x < mjMINVAL && y < mjMINVAL ? 0.5 : x < mjMINVAL ? 0 : 1;
}

djmSoft djm_softOfGeoms(const mjModel* m, int g1, int g2) {
  djmSoft s = {.geom = {g1, g2}};
  const mjtNum *ref1 = m->geom_solref + mjNREF * g1, *ref2 = m->geom_solref + mjNREF * g2;
  const mjtNum *imp1 = m->geom_solimp + mjNIMP * g1, *imp2 = m->geom_solimp + mjNIMP * g2;
  int p1 = m->geom_priority[g1], p2 = m->geom_priority[g2];
  double mix = p1 > p2 ? 1 : p1 < p2 ? 0 : mixOf(m, g1, g2);
  for (int k = 0; k < mjNIMP; k++) s.solimp[k] = mix * imp1[k] + (1 - mix) * imp2[k];
  for (int k = 0; k < mjNREF; k++) {
    bool spring = p1 != p2 || (ref1[0] > 0 && ref2[0] > 0);
    s.solref[k] = spring ? mix * ref1[k] + (1 - mix) * ref2[k] : fmin(ref1[k], ref2[k]);
  }
  int d1 = m->geom_condim[g1], d2 = m->geom_condim[g2];
  double f1 = m->geom_friction[3 * g1], f2 = m->geom_friction[3 * g2];
  s.dim = p1 > p2 ? d1 : p1 < p2 ? d2 : d1 > d2 ? d1 : d2;
  s.friction = p1 > p2 ? f1 : p1 < p2 ? f2 : fmax(f1, f2);
  override(&s, m);
  return s;
}

djmSoft djm_softOfPair(const mjModel* m, int pair) {
  djmSoft s = {.friction = m->pair_friction[5 * pair], .dim = m->pair_dim[pair],
               .geom = {m->pair_geom1[pair], m->pair_geom2[pair]}};
  mju_copy(s.solref, m->pair_solref + mjNREF * pair, mjNREF);
  mju_copy(s.solimp, m->pair_solimp + mjNIMP * pair, mjNIMP);
  override(&s, m);
  return s;
}

// d(r).
static double impedance(const djmSoft* s, double r) {
  double dmin = mju_clip(s->solimp[0], mjMINIMP, mjMAXIMP);
  double dmax = mju_clip(s->solimp[1], mjMINIMP, mjMAXIMP);
  double width = fmax(s->solimp[2], 0), middle = mju_clip(s->solimp[3], mjMINIMP, mjMAXIMP);
  double power = fmax(s->solimp[4], 1);
  if (dmin == dmax || width <= mjMINVAL) return 0.5 * (dmin + dmax);
  double x = fmin(fabs(r) / width, 1), y = x;
  if (x <= middle) y = pow(x, power) / pow(middle, power - 1);
  else y = 1 - pow(1 - x, power) / pow(1 - middle, power - 1);
  return dmin + y * (dmax - dmin);
}

#define DEEPEST 1e3   // m

// ------------------------------ rest ------------------------------------------------------------

// Whether a tree can come down as a whole.
static bool falls(const mjModel* m, int root) {
  for (int i = m->body_jntadr[root]; i < m->body_jntadr[root] + m->body_jntnum[root]; i++) {
    if (m->jnt_type[i] == mjJNT_FREE || m->jnt_type[i] == mjJNT_SLIDE) return true;
  }
  return false;
}

// Points at which a shape stands on its own.
static int points(int type) {
  if (type == mjGEOM_SPHERE || type == mjGEOM_ELLIPSOID) return 1;
  return type == mjGEOM_CAPSULE ? 2 : 4;
}

double djm_contactLoad(int* contacts, const djmImport* imp, const int geom[2]) {
  const mjModel* m = imp->m;
  double load = 0, g = djm_disabled(m, mjDSBL_GRAVITY) ? 0 : mju_norm3(m->opt.gravity);
  *contacts = 0;
  for (int k = 0; k < 2; k++) {
    int body = m->geom_bodyid[geom[k]], root = m->body_rootid[body];
    if (!djm_moves(m, body)) continue;
    bool whole = falls(m, root);
    int n = points(m->geom_type[geom[k]]);
    if (whole && imp->tree_feet[root] > 0) n *= imp->tree_feet[root];
    double own = m->body_subtreemass[whole ? root : body] * g / n;
    if (*contacts > 0 && own >= load) continue;
    load = own;
    *contacts = n;
  }
  return load;
}

static double inverseOf(const mjModel* m, int geom) {
  return m->body_invweight0[2 * m->geom_bodyid[geom]];
}

static double depthAt(const mjModel* m, const djmSoft* s, double inverse, double load) {
  double k, b, dmin, dmax;
  djm_softness(&k, &b, &dmin, &dmax, m, s->solref, s->solimp);
  if (!(k > 0)) return load > 0 ? INFINITY : 0;
  double scale = 1, mu2 = s->friction * s->friction;
  if (m->opt.cone == mjCONE_PYRAMIDAL && s->dim > 1) {
    scale = mu2 / fmax(m->opt.impratio, mjMINVAL) * (1 + mu2) / (s->dim - 1);
  }
  double low = 0, high = 1e-6, held = scale * inverse * load;
  while (high < DEEPEST) {
    double d = impedance(s, high);
    if (!(k * d * d * high < (1 - d) * held)) break;
    high *= 2;
  }
  for (int i = 0; i < 60; i++) {
    double r = 0.5 * (low + high), d = impedance(s, r);
    if (k * d * d * r < (1 - d) * held) low = r;
    else high = r;
  }
  return high;
}

double djm_restDepth(const mjModel* m, const djmSoft* s, double load) {
  return depthAt(m, s, inverseOf(m, s->geom[0]) + inverseOf(m, s->geom[1]), load);
}

// The depth of two that move is the sum of both: it goes by A', nearly in proportion.
double djm_softDepth(const djmImport* imp, int i) {
  const mjModel* m = imp->m;
  const int own[2] = {i, i};
  int n;
  if (imp->geom_dim[i] == 0 || !djm_shapeSupported(m->geom_type[i])) return 0;
  djmSoft s = djm_softOfGeoms(m, i, imp->geom_partner[i]);
  return fmin(depthAt(m, &s, inverseOf(m, i), djm_contactLoad(&n, imp, own)), DEEPEST);
}

double djm_softPairDepth(const djmImport* imp, int pair) {
  djmSoft s = djm_softOfPair(imp->m, pair);
  int n;
  return fmin(djm_restDepth(imp->m, &s, djm_contactLoad(&n, imp, s.geom)), DEEPEST);
}

// ------------------------------ rebound ---------------------------------------------------------

double djm_rebound(const mjModel* m, const djmSoft* s, double speed) {
  double k, b, dmin, dmax, r = 0, v = speed;
  djm_softness(&k, &b, &dmin, &dmax, m, s->solref, s->solimp);
  if (!(k > 0)) return 0;
  double h = 0.01 / (dmax * sqrt(k) + dmax * b);
  for (int i = 0; i < 100000; i++) {   // the midpoint rule
    double d = impedance(s, r), a = -d * (b * v + k * d * r);
    if (i > 0 && !(a < 0)) return fmax(-v, 0) / speed;
    double rm = r + 0.5 * h * v, vm = v + 0.5 * h * a, dm = impedance(s, rm);
    r += h * vm;
    v -= h * dm * (b * vm + k * dm * rm);
  }
  return fmax(-v, 0) / speed;
}

double djm_reboundOf(const djmImport* imp, const djmSoft* s) {
  djmRebound* last = imp->rebound;
  if (memcmp(last->solref, s->solref, sizeof s->solref) != 0 ||
      memcmp(last->solimp, s->solimp, sizeof s->solimp) != 0) {
    mju_copy(last->solref, s->solref, mjNREF);
    mju_copy(last->solimp, s->solimp, mjNIMP);
    last->part = djm_rebound(imp->m, s, 1);
  }
  return last->part;
}

const char* djm_length(djmLength text, double metres) {
  static const struct {
    double unit;
    const char* name;
  } units[] = {{1, "m"}, {1e-3, "mm"}, {1e-6, "um"}, {1e-9, "nm"}};
  int k = 0;
  while (k < 3 && metres < 0.0995 * units[k].unit) k++;   // two digits
  snprintf(text, sizeof(djmLength), "%.2g %s", metres / units[k].unit, units[k].name);
  return text;
}
