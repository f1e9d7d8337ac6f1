// Rows about softness, rebound and shapes of contacts.

#include "import_checks.h"
#include "import_hull.h"
#include "import_soft.h"

#include <dijoco/setting.h>
#include <dijoco/surface.h>

#include <math.h>
#include <stdio.h>

// Of an explicit pair: its own, or its geoms'.
static int kernelOfPair(const djmImport* imp, int pair) {
  const djModel* x = imp->model;
  int a = imp->m->pair_geom1[pair], b = imp->m->pair_geom2[pair];
  for (int k = 0; k < x->npair; k++) {
    bool same = x->pair_geom1[k] == a && x->pair_geom2[k] == b;
    if (same && x->pair_contact[k] != DJ_CONTACT_DEFAULT) return x->pair_contact[k];
  }
  return djm_kernelOf(imp, imp->model->geom_contact[a] == DJ_CONTACT_DEFAULT ? b : a);
}

// ------------------------------ softness --------------------------------------------------------

#define LEAST_TOLD 1e-12   // m, of a depth with a figure

// How deep MuJoCo's bodies are in what they rest on.
static void noteDepth(char text[200], const djmImport* imp, const djmSoft* s) {
  djmLength length = "";
  int n;
  double load = djm_contactLoad(&n, imp, s->geom);
  double deep = load > 0 ? djm_restDepth(imp->m, s, load) : 0;
  bool told = deep >= LEAST_TOLD;   // of a pyramid without friction nothing is left to go by
  if (told) djm_length(length, deep);
  int at = snprintf(text, 200, told ? "MuJoCo's bodies sink in by about %s under their weight"
                                    : "MuJoCo's bodies sink into what pushes them", length);
  if (!(load > 0)) return;
  if (n == 1) snprintf(text + at, 200 - (size_t)at, " (%.3g N on one contact)", load);
  else snprintf(text + at, 200 - (size_t)at, " (%.3g N on each of %d contacts)", load, n);
}

static bool noteSoftness(djmNote note, const djmImport* imp, const djmSoft* s, int kernel) {
  char depth[200];
  noteDepth(depth, imp, s);
  if (kernel != DJ_SEPARATING_PLANE) {
    snprintf(note, sizeof(djmNote),
             "%s, these by the law of %s; contact softness (solref, solimp) is replaced by it",
             depth, dj_contactName((djContactModel)kernel));
    return true;
  }
  snprintf(note, sizeof(djmNote),
           "%s, these rest %s; contact softness (solref, solimp) is replaced by a stiff barrier, "
           "which holds them within 0.3 %% of the smallest inner radius of that; there they "
           "rebound with about %.2g of their speed, here with what restitution says", depth,
           imp->model->opt.softness == DJ_SOFTNESS_MUJOCO ? "as deep, whatever the load"
                                                          : "on the surface",
           djm_reboundOf(imp, s));
  return true;
}

static bool softGeom(djmSoft* s, const djmImport* imp, int i) {
  if (imp->geom_dim[i] == 0 || !djm_shapeSupported(imp->m->geom_type[i])) return false;
  *s = djm_softOfGeoms(imp->m, i, imp->geom_partner[i]);
  return true;
}

static double depthOf(const djmImport* imp, const djmSoft* s) {
  int n;
  return djm_restDepth(imp->m, s, djm_contactLoad(&n, imp, s->geom));
}

bool djm_geomSoftness(const djmImport* imp, int i, djmNote note) {
  djmSoft s;
  return softGeom(&s, imp, i) && noteSoftness(note, imp, &s, djm_kernelOf(imp, i));
}

double djm_geomDepth(const djmImport* imp, int i) {
  djmSoft s;
  return softGeom(&s, imp, i) ? depthOf(imp, &s) : 0;
}

bool djm_pairSoftness(const djmImport* imp, int i, djmNote note) {
  if (!djm_pairLive(imp, i)) return false;
  djmSoft s = djm_softOfPair(imp->m, i);
  return noteSoftness(note, imp, &s, kernelOfPair(imp, i));
}

double djm_pairDepth(const djmImport* imp, int i) {
  djmSoft s = djm_softOfPair(imp->m, i);
  return depthOf(imp, &s);
}

// ------------------------------ rebound ---------------------------------------------------------

// By how much coefficients of restitution differ at 1 m/s. Ours: of a constant impedance, and of
// the geom that has the larger one where none has priority. 0 is for MuJoCo's critical damping, too.
static double reboundDifference(double* theirs, double* ours, const djmImport* imp,
                                const djmSoft* s, int kernel) {
  const djModel* x = imp->model;
  if (kernel != DJ_SEPARATING_PLANE || x->opt.restitution != DJ_RESTITUTION_SOLREF) return 0;
  *theirs = djm_reboundOf(imp, s);
  if (*ours == 0) return fmax(*theirs - djm_restitution(1), 0);
  return fabs(*theirs - *ours);
}

static double mixedRestitution(const djmImport* imp, const int geom[2]) {
  const djModel* x = imp->model;
  double e1 = dj_restitution(x, geom[0], -1), e2 = dj_restitution(x, geom[1], -1);
  int p1 = x->geom_priority[geom[0]], p2 = x->geom_priority[geom[1]];
  return p1 > p2 || (p1 == p2 && e1 > e2) ? e1 : e2;
}

enum { kTold = 50 };   // differences of more than 1 part in so many are told

static bool noteRebound(djmNote note, double theirs, double ours, double difference) {
  if (!(difference * kTold > 1)) return false;
  snprintf(note, sizeof(djmNote),
           "MuJoCo's bodies rebound with %.2g of 1 m/s, these with %.2g; it is that of solref with "
           "solimp's impedance taken as constant, and the larger one of two geoms",
           theirs, ours);
  return true;
}

static double geomRebound(double* theirs, double* ours, const djmImport* imp, int i) {
  djmSoft s;
  if (!softGeom(&s, imp, i)) return 0;
  *ours = mixedRestitution(imp, s.geom);
  return reboundDifference(theirs, ours, imp, &s, djm_kernelOf(imp, i));
}

bool djm_geomRebound(const djmImport* imp, int i, djmNote note) {
  double theirs = 0, ours = 0, difference = geomRebound(&theirs, &ours, imp, i);
  return noteRebound(note, theirs, ours, difference);
}

double djm_geomReboundSize(const djmImport* imp, int i) {
  double theirs = 0, ours = 0;
  return geomRebound(&theirs, &ours, imp, i);
}

bool djm_pairRebound(const djmImport* imp, int i, djmNote note) {
  if (!djm_pairLive(imp, i)) return false;
  const djModel* x = imp->model;
  djmSoft s = djm_softOfPair(imp->m, i);
  double theirs = 0, ours = 0;
  for (int k = 0; k < x->npair; k++) {
    bool same = x->pair_geom1[k] == s.geom[0] && x->pair_geom2[k] == s.geom[1];
    if (same) ours = dj_restitution(x, -1, k);
  }
  double difference = reboundDifference(&theirs, &ours, imp, &s, kernelOfPair(imp, i));
  return noteRebound(note, theirs, ours, difference);
}

// ------------------------------ friction --------------------------------------------------------

static bool actsAtPoints(int kernel) { return kernel == DJ_PENALTY || kernel == DJ_DAMPED; }

// Points slide alike in all directions.
static bool noteTurning(djmNote note, int kernel) {
  if (!actsAtPoints(kernel)) return false;
  snprintf(note, sizeof(djmNote),
           "points of %s contact resist sliding alone: turning is resisted by the area that "
           "they cover, not by torsional and rolling friction",
           dj_contactName((djContactModel)kernel));
  return true;
}

bool djm_geomCondim(const djmImport* imp, int i, djmNote note) {
  if (imp->geom_dim[i] < 4 || imp->m->geom_condim[i] < 4 || !djm_geomCollides(imp, i)) return false;
  return noteTurning(note, djm_kernelOf(imp, i));
}

bool djm_pairCondim(const djmImport* imp, int i, djmNote note) {
  if (!djm_pairLive(imp, i) || imp->m->pair_dim[i] < 4) return false;
  return noteTurning(note, kernelOfPair(imp, i));
}

bool djm_pairFriction(const djmImport* imp, int i, djmNote note) {
  const mjModel* m = imp->m;
  bool override = m->opt.enableflags & mjENBL_OVERRIDE;
  const mjtNum* friction = override ? m->opt.o_friction : m->pair_friction + 5 * i;
  bool same = m->pair_dim[i] == 1 || friction[0] == friction[1];
  if (!djm_pairLive(imp, i) || same || !actsAtPoints(kernelOfPair(imp, i))) return false;
  snprintf(note, sizeof(djmNote),
           "of the two tangential coefficients, %g and %g, points of %s contact have the first",
           friction[0], friction[1], dj_contactName((djContactModel)kernelOfPair(imp, i)));
  return true;
}

// ------------------------------ shapes ----------------------------------------------------------

static bool concaveGeom(djmConcave* c, const djmImport* imp, int i) {
  const mjModel* m = imp->m;
  if (m->geom_type[i] != mjGEOM_MESH || !djm_geomCollides(imp, i)) return false;
  const int kernel = djm_kernelOf(imp, i);
  if (actsAtPoints(kernel) || kernel == DJ_LONG_RANGE) return false; // they see the mesh itself
  *c = djm_concave(m, m->geom_dataid[i]);
  return djm_isConcave(c, m->geom_rbound[i]);
}

double djm_geomDent(const djmImport* imp, int i) {
  djmConcave c;
  return concaveGeom(&c, imp, i) ? c.dent : 0;
}

bool djm_geomHull(const djmImport* imp, int i, djmNote note) {
  djmConcave c;
  djmLength dent;
  char more[60] = "", shells[80] = "";
  if (!concaveGeom(&c, imp, i)) return false;
  if (c.pieces > 1) {
    snprintf(shells, sizeof(shells), ", --method shells each of its %d pieces into one", c.pieces);
  }
  if (!isnan(c.ratio)) snprintf(more, sizeof(more), ", of %.3g times its volume", c.ratio);
  snprintf(note, sizeof(djmNote),
           "the mesh acts as its convex hull%s, which fills dents %s deep (`dijoco decompose` cuts "
           "it into hulls%s, contact model penalty sees the mesh itself); so does MuJoCo's",
           more, djm_length(dent, c.dent), shells);
  return true;
}

// A given or fitted implicit surface.
bool djm_geomSurface(const djmImport* imp, int i, djmNote note) {
  djSurface s;
  djmLength inside, outside;
  if (!djm_geomCollides(imp, i) || djm_kernelOf(imp, i) != DJ_IMPLICIT_SURFACE) return false;
  if (dj_geomSurface(&s, imp->model, i, NULL) != DJ_OK || (s.inside == 0 && s.outside == 0)) {
    return false;
  }
  snprintf(note, sizeof(djmNote),
           "contact is that of a %s%s, %s = %.4g: up to %s inside and %s outside of the geom",
           s.given ? "given " : "", s.family, s.sharp, s.size[s.nsize - 1],
           djm_length(inside, s.inside), djm_length(outside, s.outside));
  return true;
}

double djm_geomSurfaceSize(const djmImport* imp, int i) {
  djSurface s;
  return dj_geomSurface(&s, imp->model, i, NULL) == DJ_OK ? fmax(s.inside, s.outside) : 0;
}

// ------------------------------ contact that is off ---------------------------------------------

bool djm_optContactOff(const djmImport* imp, int i, djmNote note) {
  (void)i, (void)note;
  return imp->declared;
}

// Sensors of MuJoCo's that ask its contacts or constraints for forces which are ours.
bool djm_sensorForce(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  bool contact = imp->max_dim > 0;
  if (!imp->beside) return false;
  switch (m->sensor_type[i]) {
    case mjSENS_TOUCH:
    case mjSENS_CONTACT:
    case mjSENS_TACTILE:
    case mjSENS_FORCE:
    case mjSENS_TORQUE:
      return contact;
    case mjSENS_JOINTLIMITFRC:
    case mjSENS_TENDONLIMITFRC:
      return imp->limits;
    default:
      return false;
  }
}
