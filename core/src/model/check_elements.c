#include "base/status.h"
#include "model/activation.h"
#include "model/check.h"
#include "model/equality.h"
#include "model/force_law.h"
#include "model/geom_row.h"
#include "model/joint_type.h"

#include <math.h>
#include <stdlib.h>

static bool inRange(int id, int n) { return id >= 0 && id < n; }

static const char* condimProblem(int condim) {
  bool known = condim == 1 || condim == 3 || condim == 4 || condim == 6;
  return known ? NULL : "condim must be 1, 3, 4 or 6";
}

static bool isPart(double x) { return x >= 0 && x <= 1; }

static const char* geomProblem(const djModelDef* def, int i) {
  const djGeomDef* g = &def->geom[i];
  double unit[4];
  if (!dj_geomRow((int)g->type)) return "unknown type";
  if (!inRange(g->body, def->nbody)) return "its body does not exist";
  if (i > 0 && g->flex < 0 && g->body < def->geom[i - 1].body) {
    return "geoms must be listed in the order of their bodies";
  }
  if (g->flex < -1 || g->flex >= def->nflex) return "its flex does not exist";
  if (i > 0 && g->flex < 0 && def->geom[i - 1].flex >= 0) return "geoms of flexes must come last";
  if (g->type == DJ_MESH && !inRange(g->mesh, def->nmesh)) return "its mesh does not exist";
  if (g->type != DJ_MESH && g->mesh != -1) return "only geoms of type mesh have a mesh";
  if (g->type == DJ_HFIELD && g->hfield != -1 && !inRange(g->hfield, def->nhfield)) {
    return "its height field does not exist";
  }
  if (g->type == DJ_HFIELD && g->hfield == -1 && (g->contype || g->conaffinity)) {
    return "it collides, but has no height field";
  }
  if (g->type != DJ_HFIELD && g->hfield != -1) return "only geoms of type hfield have a height field";
  if (!dj_allNonnegative(g->size, 3)) return "size is negative or not finite";
  for (int k = 0; k < dj_geomRow((int)g->type)->nsize; k++) {
    if (g->size[k] <= 0) return "size must be positive";
  }
  if (!dj_allFinite(g->pos, 3)) return "pos is not finite";
  if (!dj_makeUnit(unit, g->quat, 4)) return "quat is zero or not finite";
  if (!dj_allNonnegative(g->friction, 3)) return "friction is negative or not finite";
  if (!isPart(g->restitution)) return "restitution is not between 0 and 1";
  if (!isPart(g->solref_restitution)) return "solref_restitution is not between 0 and 1";
  if (!isfinite(g->margin)) return "margin is not finite";
  if (!isfinite(g->gap)) return "gap is not finite";
  if (!dj_allNonnegative(&g->soft_depth, 1)) return "soft_depth is not 0 or more";
  return condimProblem(g->condim);
}

static djStatus checkGeoms(const djModelDef* def, djError* err) {
  for (int i = 0; i < def->ngeom; i++) {
    const djGeomDef* g = &def->geom[i];
    djElementText element = dj_elementText("geom", g->name, i);
    const char* problem = geomProblem(def, i);
    if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", element.text, problem);
  }
  return DJ_OK;
}

// Bodies of the geoms of flexes have no others, and theirs are together.
static djStatus checkProxies(const djModelDef* def, djError* err) {
  if (def->ngeom == 0 || def->geom[def->ngeom - 1].flex < 0) return DJ_OK;
  bool* taken = calloc((size_t)def->nbody, sizeof *taken);
  if (!taken) return dj_failMemory(err);
  djStatus status = DJ_OK;
  for (int i = 0; i < def->ngeom && status == DJ_OK; i++) {
    const djGeomDef* g = &def->geom[i];
    bool follows = i > 0 && def->geom[i - 1].body == g->body && def->geom[i - 1].flex >= 0;
    if (g->flex >= 0 && taken[g->body] && !follows) {
      status = dj_fail(err, DJ_INVALID, "%s: its body has other geoms, or those of flexes are apart",
                       dj_elementText("geom", g->name, i).text);
    }
    taken[g->body] = true;
  }
  free(taken);
  return status;
}

static const char* hfieldProblem(const djHfieldDef* h) {
  if (h->nrow < 2 || h->ncol < 2) return "has less than 2 rows or columns";
  if (!dj_allNonnegative(h->size, 3)) return "size is negative or not finite";
  if (!(h->size[0] > 0 && h->size[1] > 0)) return "size must be positive along x and y";
  if (!h->height) return "heights are missing";
  for (int j = 0; j < h->nrow; j++) {
    if (!dj_allFinite(h->height + (size_t)j * (size_t)h->ncol, h->ncol)) {
      return "a height is not finite";
    }
  }
  return NULL;
}

static djStatus checkHfields(const djModelDef* def, djError* err) {
  for (int i = 0; i < def->nhfield; i++) {
    const char* problem = hfieldProblem(&def->hfield[i]);
    if (!problem) continue;
    return dj_fail(err, DJ_INVALID, "%s: %s", dj_elementText("hfield", def->hfield[i].name, i).text,
                   problem);
  }
  return DJ_OK;
}

static const char* meshProblem(const djMeshDef* m) {
  if (m->nvert < 1) return "has no vertices";
  if (!m->vert) return "vertices are missing";
  for (int k = 0; k < m->nvert; k++) {
    if (!dj_allFinite(m->vert + 3 * (size_t)k, 3)) return "a vertex is not finite";
  }
  if (m->nface < 0 || (m->nface > 0 && !m->face)) return "faces are missing";
  for (int k = 0; k < m->nface; k++) {
    const int* f = m->face + 3 * (size_t)k;
    for (int c = 0; c < 3; c++) {
      if (!inRange(f[c], m->nvert)) return "a face names a vertex that does not exist";
      if (f[c] == f[(c + 1) % 3]) return "a face names a vertex twice";
    }
  }
  if (m->ntri < 0 || (m->ntri > 0 && !m->tri)) return "triangles are missing";
  for (size_t k = 0; k < 3 * (size_t)m->ntri; k++) {   // flat ones do no harm
    if (!inRange(m->tri[k], m->nvert)) return "a triangle names a vertex that does not exist";
  }
  return NULL;
}

static djStatus checkMeshes(const djModelDef* def, djError* err) {
  for (int i = 0; i < def->nmesh; i++) {
    const char* problem = meshProblem(&def->mesh[i]);
    if (problem) {
      return dj_fail(err, DJ_INVALID, "%s: %s", dj_elementText("mesh", def->mesh[i].name, i).text,
                     problem);
    }
  }
  return DJ_OK;
}

static djStatus checkSites(const djModelDef* def, djError* err) {
  for (int i = 0; i < def->nsite; i++) {
    const djSiteDef* s = &def->site[i];
    double unit[4];
    const char* problem = NULL;
    if (!inRange(s->body, def->nbody)) problem = "its body does not exist";
    else if (!dj_allFinite(s->pos, 3)) problem = "pos is not finite";
    else if (!dj_makeUnit(unit, s->quat, 4)) problem = "quat is zero or not finite";
    if (problem) {
      return dj_fail(err, DJ_INVALID, "%s: %s", dj_elementText("site", s->name, i).text, problem);
    }
  }
  return DJ_OK;
}

static const char* jointsProblem(const djModelDef* def, const djTendonDef* t) {
  for (int k = 0; k < t->nwrap; k++) {
    const djWrapDef* w = &t->wrap[k];
    if (!inRange(w->id, def->njnt)) return "a joint does not exist";
    if (!dj_isScalarJoint((int)def->joint[w->id].type)) {
      return "its joints must be slides or hinges";
    }
    if (!isfinite(w->prm)) return "coef is not finite";
  }
  return NULL;
}

static bool isSite(const djTendonDef* t, int k) {
  return k >= 0 && k < t->nwrap && t->wrap[k].type == DJ_WRAP_SITE;
}

static bool isGeom(const djTendonDef* t, int k) {
  if (k < 0 || k >= t->nwrap) return false;
  return t->wrap[k].type == DJ_WRAP_SPHERE || t->wrap[k].type == DJ_WRAP_CYLINDER;
}

// A geom that a path goes around, with sites before and after it.
static const char* aroundProblem(const djModelDef* def, const djTendonDef* t, int k) {
  const djWrapDef* w = &t->wrap[k];
  if (!inRange(w->id, def->ngeom)) return "a geom does not exist";
  if (def->geom[w->id].type != (w->type == DJ_WRAP_SPHERE ? DJ_SPHERE : DJ_CYLINDER)) {
    return "a geom of its path must be a sphere or a cylinder";
  }
  if (!(w->prm >= -1 && w->prm < def->nsite) || w->prm != floor(w->prm)) {
    return "a side site does not exist";
  }
  return isSite(t, k - 1) && isSite(t, k + 1) ? NULL : "a geom must be between two sites";
}

// Each site has a neighbour; pulleys stand between, or at the beginning.
static const char* pathProblem(const djModelDef* def, const djTendonDef* t) {
  for (int k = 0; k < t->nwrap; k++) {
    const djWrapDef* w = &t->wrap[k];
    if (w->type == DJ_WRAP_PULLEY) {
      if (!(w->prm > 0) || !isfinite(w->prm)) return "divisor of a pulley must be positive";
      if (!isSite(t, k + 1)) return "a site must follow each pulley";
    } else if (isGeom(t, k)) {
      const char* problem = aroundProblem(def, t, k);
      if (problem) return problem;
    } else if (w->type != DJ_WRAP_SITE) {
      return "unknown type of path element";
    } else if (!inRange(w->id, def->nsite)) {
      return "a site does not exist";
    } else if (!isSite(t, k - 1) && !isSite(t, k + 1) && !isGeom(t, k - 1) && !isGeom(t, k + 1)) {
      return "a site of its path stands alone";
    }
  }
  return NULL;
}

static const char* tendonProblem(const djModelDef* def, const djTendonDef* t) {
  if (t->nwrap < 1 || !t->wrap) return "has neither joints nor a path";
  bool fixed = t->wrap[0].type == DJ_WRAP_JOINT;
  for (int k = 1; k < t->nwrap; k++) {
    if ((t->wrap[k].type == DJ_WRAP_JOINT) != fixed) return "joints and sites cannot be mixed";
  }
  const char* problem = fixed ? jointsProblem(def, t) : pathProblem(def, t);
  if (problem) return problem;
  if (!dj_allFinite(t->springlength, 2)) return "springlength is not finite";
  if (t->springlength[0] > t->springlength[1]) return "springlength is reversed";
  if (!dj_allNonnegative(&t->stiffness, 1)) return "stiffness is negative or not finite";
  if (!dj_allFinite(t->stiffnesspoly, 2)) return "stiffnesspoly is not finite";
  if (!dj_allNonnegative(&t->damping, 1)) return "damping is negative or not finite";
  if (!dj_allFinite(t->dampingpoly, 2)) return "dampingpoly is not finite";
  if (!dj_allNonnegative(&t->frictionloss, 1)) return "frictionloss is negative or not finite";
  if (!dj_allNonnegative(&t->armature, 1)) return "armature is negative or not finite";
  if (!isfinite(t->margin)) return "margin is not finite";
  if (!dj_allNonnegative(&t->limit_stiffness, 1)) return "limit_stiffness is negative";
  if (!dj_allNonnegative(&t->limit_damping, 1)) return "limit_damping is negative";
  return dj_impedanceProblem(t->limit_impedance, t->frictionloss_damping,
                             t->frictionloss_impedance);
}

static djStatus checkTendons(const djModelDef* def, djError* err) {
  for (int i = 0; i < def->ntendon; i++) {
    const djTendonDef* t = &def->tendon[i];
    djElementText element = dj_elementText("tendon", t->name, i);
    const char* problem = tendonProblem(def, t);
    if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", element.text, problem);
    problem = dj_rangeProblem(t->range, t->limited);
    if (problem) return dj_fail(err, DJ_INVALID, "%s: range %s", element.text, problem);
    problem = dj_rangeProblem(t->actfrcrange, t->actfrclimited);
    bool holds = t->actfrcrange[0] <= 0 && t->actfrcrange[1] >= 0;
    if (!problem && t->actfrclimited && !holds) problem = "does not hold 0";
    if (problem) return dj_fail(err, DJ_INVALID, "%s: actfrcrange %s", element.text, problem);
  }
  return DJ_OK;
}

// Of one that is a part of another's force.
static const char* partProblem(const djModelDef* def, const djActuatorDef* a) {
  if (a >= def->actuator + def->nu || a->adds_to >= a - def->actuator) {
    return "adds_to must be an actuator before it";
  }
  if (def->actuator[a->adds_to].adds_to >= 0) return "adds_to must not add to another itself";
  if (a->gain != DJ_GAIN_FIXED || a->bias != DJ_BIAS_NONE || a->forcelimited || a->integral != 0) {
    return "what adds to an actuator has a fixed gain, no bias, no forcerange and no integral";
  }
  return NULL;
}

static const char* integralProblem(const djModelDef* def, const djActuatorDef* a) {
  if (!isfinite(a->integral)) return "integral is not finite";
  if (!dj_allNonnegative(&a->integral_limit, 1)) return "integral_limit is negative or not finite";
  if (a->integral == 0) return NULL;
  bool joint = a->joint >= 0 && dj_isScalarJoint((int)def->joint[a->joint].type);
  const djTendonDef* t = a->tendon >= 0 ? &def->tendon[a->tendon] : NULL;
  bool fixed = t && t->nwrap > 0 && t->wrap[0].type == DJ_WRAP_JOINT;
  return joint || fixed ? NULL : "an integral needs a slide, a hinge or a fixed tendon";
}

// What an actuator is on: one thing, which exists.
static const char* targetProblem(const djModelDef* def, const djActuatorDef* a) {
  bool crank = a->cranksite >= 0 || a->slidersite >= 0;
  int n = (a->joint >= 0) + (a->tendon >= 0) + (a->site >= 0) + crank + (a->body >= 0) +
          (a->adds_to >= 0);
  if (n > 1) return "must be on one of joint, tendon, site, cranksite, body, adds_to";
  if (a->adds_to >= 0) return partProblem(def, a);
  if (a->body >= 0) return a->body < def->nbody ? NULL : "its body does not exist";
  if (a->refsite >= 0 && a->site < 0) return "has a refsite but no site";
  if (a->tendon >= 0) return a->tendon < def->ntendon ? NULL : "its tendon does not exist";
  if (a->site >= 0) {
    bool known = a->site < def->nsite && a->refsite < def->nsite;
    return known ? NULL : "its site does not exist";
  }
  if (!crank) return inRange(a->joint, def->njnt) ? NULL : "its joint does not exist";
  if (!inRange(a->cranksite, def->nsite)) return "its cranksite does not exist";
  if (!inRange(a->slidersite, def->nsite)) return "its slidersite does not exist";
  if (!(a->cranklength > 0) || !isfinite(a->cranklength)) return "cranklength must be positive";
  return NULL;
}

static const char* numbersProblem(const djForceLaw* law, const double prm[3]) {
  return law->problem ? law->problem(prm) : NULL;
}

static const char* muscleProblem(const djActuatorDef* a) {
  bool law = dj_gainLaws[a->gain].bends || dj_biasLaws[a->bias].bends;
  if (!dj_allFinite(a->lengthrange, 2)) return "lengthrange is not finite";
  if (!isfinite(a->acc0)) return "acc0 is not finite";
  if (law && a->joint < 0 && a->tendon < 0 && a->cranksite < 0) {
    return "a muscle needs a joint, a tendon or a crank";
  }
  if (law && !(a->lengthrange[1] > a->lengthrange[0])) return "a muscle's lengthrange must grow";
  if (!dj_allNonnegative(&a->tau_smooth, 1)) return "tau_smooth is negative or not finite";
  if (!isfinite(a->tau_deactivation)) return "tau_deactivation is not finite";
  if (a->dyn == DJ_DYN_MUSCLE && !(a->tau_deactivation > 0)) {
    return "tau_deactivation must be positive";
  }
  return NULL;
}

static const char* actuatorProblem(const djModelDef* def, int i) {
  const djActuatorDef* a = &def->actuator[i];
  const char* problem = targetProblem(def, a);
  if (problem) return problem;
  bool passive = a->armature != 0 || a->damping != 0 || a->dampingpoly[0] != 0 ||
                 a->dampingpoly[1] != 0;
  if (passive && a->joint < 0 && a->tendon < 0) {
    return "armature and damping need a joint or a tendon";
  }
  if (!dj_allFinite(a->gear, 6)) return "gear is not finite";
  if (!dj_isChoice(dj_gainNames, (int)a->gain)) return "unknown gain";
  if (!dj_isChoice(dj_biasNames, (int)a->bias)) return "unknown bias";
  if (!dj_isChoice(dj_dynNames, (int)a->dyn)) return "unknown dynamics";
  if (!dj_allFinite(a->gainprm, DJ_NPRM)) return "gainprm is not finite";
  if (!dj_allFinite(a->biasprm, DJ_NPRM)) return "biasprm is not finite";
  if ((problem = numbersProblem(&dj_gainLaws[a->gain], a->gainprm))) return problem;
  if ((problem = numbersProblem(&dj_biasLaws[a->bias], a->biasprm))) return problem;
  if ((problem = muscleProblem(a))) return problem;
  if ((problem = integralProblem(def, a))) return problem;
  if (!isfinite(a->tau)) return "tau is not finite";
  if (dj_dynLaws[a->dyn].timed && a->tau <= 0) return "tau must be positive";
  if (!dj_allNonnegative(&a->armature, 1)) return "armature is negative or not finite";
  if (!dj_allNonnegative(&a->damping, 1)) return "damping is negative or not finite";
  if (!dj_allFinite(a->dampingpoly, 2)) return "dampingpoly is not finite";
  return NULL;
}

// Of an actuator's ranges.
static djStatus checkRanges(const djActuatorDef* a, const char* element, djError* err) {
  const struct {
    const char* name;
    const double* range;
    bool limited;
  } list[3] = {{"ctrlrange", a->ctrlrange, a->ctrllimited},
               {"forcerange", a->forcerange, a->forcelimited},
               {"actrange", a->actrange, a->actlimited}};
  for (int k = 0; k < 3; k++) {
    const char* problem = dj_rangeProblem(list[k].range, list[k].limited);
    if (problem) {
      return dj_fail(err, DJ_INVALID, "%s: %s %s", element, list[k].name, problem);
    }
  }
  return DJ_OK;
}

static djStatus checkActuators(const djModelDef* def, djError* err) {
  for (int i = 0; i < def->nu; i++) {
    djElementText element = dj_elementText("actuator", def->actuator[i].name, i);
    const char* problem = actuatorProblem(def, i);
    if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", element.text, problem);
    djStatus status = checkRanges(&def->actuator[i], element.text, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

static djStatus checkPairs(const djModelDef* def, djError* err) {
  for (int i = 0; i < def->npair; i++) {
    const djPairDef* p = &def->pair[i];
    djElementText element = dj_elementText("pair", p->name, i);
    const char* problem = condimProblem(p->condim);
    if (!inRange(p->geom1, def->ngeom)) problem = "its first geom does not exist";
    else if (!inRange(p->geom2, def->ngeom)) problem = "its second geom does not exist";
    else if (p->geom1 == p->geom2) problem = "its geoms are the same";
    else if (!dj_allNonnegative(&p->friction, 1)) problem = "friction is negative or not finite";
    else if (!dj_allNonnegative(&p->friction2, 1)) problem = "friction2 is negative or not finite";
    else if (!dj_allNonnegative(&p->torsion, 1)) problem = "torsion is negative or not finite";
    else if (!dj_allNonnegative(p->rolling, 2)) problem = "rolling is negative or not finite";
    else if (!isPart(p->restitution)) problem = "restitution is not between 0 and 1";
    else if (!isPart(p->solref_restitution)) problem = "solref_restitution is not between 0 and 1";
    else if (!isfinite(p->margin)) problem = "margin is not finite";
    else if (!isfinite(p->gap)) problem = "gap is not finite";
    else if (!dj_allNonnegative(&p->soft_depth, 1)) problem = "soft_depth is not 0 or more";
    if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", element.text, problem);
    for (int k = 0; k < 2; k++) {
      const djGeomDef* g = &def->geom[k ? p->geom2 : p->geom1];
      if (g->type != DJ_HFIELD || g->hfield != -1) continue;
      return dj_fail(err, DJ_INVALID, "%s: one of its geoms has no height field", element.text);
    }
  }
  for (int i = 0; i < def->nexclude; i++) {
    const djExcludeDef* e = &def->exclude[i];
    if (!inRange(e->body1, def->nbody) || !inRange(e->body2, def->nbody)) {
      return dj_fail(err, DJ_INVALID, "exclude #%d: a body does not exist", i);
    }
  }
  for (int i = 0; i < def->nguide; i++) {
    const djExcludeDef* e = &def->guide[i];
    if (!inRange(e->body1, def->nbody) || !inRange(e->body2, def->nbody)) {
      return dj_fail(err, DJ_INVALID, "guide #%d: a body does not exist", i);
    }
  }
  return DJ_OK;
}

djStatus dj_checkElements(const djModelDef* def, djError* err) {
  djStatus status = checkGeoms(def, err);
  if (status == DJ_OK) status = checkProxies(def, err);
  if (status == DJ_OK) status = checkMeshes(def, err);
  if (status == DJ_OK) status = checkHfields(def, err);
  if (status == DJ_OK) status = checkSites(def, err);
  if (status == DJ_OK) status = checkTendons(def, err);
  if (status == DJ_OK) status = checkActuators(def, err);
  if (status == DJ_OK) status = checkPairs(def, err);
  if (status == DJ_OK) status = dj_checkEqualities(def, err);
  return status;
}
