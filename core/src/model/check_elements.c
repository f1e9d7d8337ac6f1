// What is wrong with an element of a definition that hangs on bodies and joints.

#include "model/activation.h"
#include "model/check.h"
#include "model/element.h"
#include "model/force_law.h"
#include "model/geom_row.h"
#include "model/joint_type.h"

#include <math.h>

static bool inRange(int id, int n) { return id >= 0 && id < n; }

const char* dj_geomBefore(const djModelDef* def, int i) {
  const djGeomDef* g = &def->geom[i];
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
  return g->type != DJ_HFIELD && g->hfield != -1 ? "only geoms of type hfield have a height field"
                                                 : NULL;
}

const char* dj_hfieldBefore(const djModelDef* def, int i) {
  const djHfieldDef* h = &def->hfield[i];
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

const char* dj_meshBefore(const djModelDef* def, int i) {
  const djMeshDef* m = &def->mesh[i];
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

const char* dj_siteBefore(const djModelDef* def, int i) {
  return inRange(def->site[i].body, def->nbody) ? NULL : "its body does not exist";
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

const char* dj_tendonBefore(const djModelDef* def, int i) {
  const djTendonDef* t = &def->tendon[i];
  if (t->nwrap < 1 || !t->wrap) return "has neither joints nor a path";
  bool fixed = t->wrap[0].type == DJ_WRAP_JOINT;
  for (int k = 1; k < t->nwrap; k++) {
    if ((t->wrap[k].type == DJ_WRAP_JOINT) != fixed) return "joints and sites cannot be mixed";
  }
  return fixed ? jointsProblem(def, t) : pathProblem(def, t);
}

const char* dj_tendonAfter(const djModelDef* def, int i) {
  return dj_impedanceProblem(def->tendon[i].limit_impedance);
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
  bool states = dj_hasIntegral(a);
  for (int k = 0; k < DJ_NMOTORSTATE; k++) states = states || dj_hasMotorState(a, k);
  if (!states) return NULL;
  bool joint = a->joint >= 0 && dj_isScalarJoint((int)def->joint[a->joint].type);
  const djTendonDef* t = a->tendon >= 0 ? &def->tendon[a->tendon] : NULL;
  bool fixed = t && t->nwrap > 0 && t->wrap[0].type == DJ_WRAP_JOINT;
  if (joint || fixed) return NULL;
  return "an integral, or a state of a dcmotor, needs a slide, a hinge or a fixed tendon";
}

// What has a motor's law; and of what adds to it, that each input is there once.
static const char* motorProblem(const djModelDef* def, const djActuatorDef* a) {
  if ((a->gain == DJ_GAIN_DCMOTOR) != (a->bias == DJ_BIAS_DCMOTOR)) {
    return "gain and bias are both dcmotor, or none is";
  }
  if (a->adds_to >= 0 && def->actuator[a->adds_to].gain == DJ_GAIN_DCMOTOR) {
    const djActuatorDef* leader = &def->actuator[a->adds_to];
    for (const djActuatorDef* b = leader; b < a; b++) {
      if ((b == leader || b->adds_to == a->adds_to) && b->input == a->input) {
        return "an input of its dcmotor that is there already";
      }
    }
    if (dj_hasActivation((int)a->dyn)) return "what adds to a dcmotor has no dynamics";
  }
  if (a->gain != DJ_GAIN_DCMOTOR) return NULL;
  bool slews = a->dyn == DJ_DYN_SLEW;
  if (a->dyn != DJ_DYN_NONE && !slews) return "a dcmotor's dynamics are slew or none";
  if ((dj_hasIntegral(a) || slews) && a->input != DJ_INPUT_POSITION) {
    return "a dcmotor's ki and slew need the input position";
  }
  if (a->integral != 0) return "a dcmotor's integral is by its ki";
  return NULL;
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

static const char* muscleProblem(const djModelDef* def, const djActuatorDef* a) {
  bool law = dj_gainLaws[a->gain].bends || dj_biasLaws[a->bias].bends;
  bool turns = a->joint >= 0 && !dj_isScalarJoint((int)def->joint[a->joint].type);
  if (law && (turns || (a->joint < 0 && a->tendon < 0 && a->cranksite < 0))) {
    return "a muscle or dcmotor needs a slide, a hinge, a tendon or a crank";
  }
  law = law && a->gain != DJ_GAIN_DCMOTOR;
  if (law && !(a->lengthrange[1] > a->lengthrange[0])) return "a muscle's lengthrange must grow";
  if (a->dyn == DJ_DYN_MUSCLE && !(a->tau_deactivation > 0)) {
    return "tau_deactivation must be positive";
  }
  return NULL;
}

const char* dj_actuatorBefore(const djModelDef* def, int i) {
  const djActuatorDef* a = &def->actuator[i];
  const char* problem = targetProblem(def, a);
  if (problem) return problem;
  bool passive = a->armature != 0 || a->damping != 0 || a->dampingpoly[0] != 0 ||
                 a->dampingpoly[1] != 0;
  if (passive && a->joint < 0 && a->tendon < 0) {
    return "armature and damping need a joint or a tendon";
  }
  if (!dj_isChoice(dj_gainNames, (int)a->gain)) return "unknown gain";
  if (!dj_isChoice(dj_biasNames, (int)a->bias)) return "unknown bias";
  if (!dj_isChoice(dj_inputNames, (int)a->input)) return "unknown input";
  return dj_isChoice(dj_dynNames, (int)a->dyn) ? NULL : "unknown dynamics";
}

const char* dj_actuatorAfter(const djModelDef* def, int i) {
  const djActuatorDef* a = &def->actuator[i];
  const char* problem = numbersProblem(&dj_gainLaws[a->gain], a->gainprm);
  if (!problem) problem = numbersProblem(&dj_biasLaws[a->bias], a->biasprm);
  if (!problem) problem = motorProblem(def, a);
  if (!problem) problem = muscleProblem(def, a);
  if (!problem) problem = integralProblem(def, a);
  if (!problem && dj_dynLaws[a->dyn].timed && a->tau <= 0) problem = "tau must be positive";
  return problem;
}

const char* dj_pairBefore(const djModelDef* def, int i) {
  const djPairDef* p = &def->pair[i];
  if (!inRange(p->geom1, def->ngeom)) return "its first geom does not exist";
  if (!inRange(p->geom2, def->ngeom)) return "its second geom does not exist";
  return p->geom1 == p->geom2 ? "its geoms are the same" : NULL;
}

const char* dj_pairAfter(const djModelDef* def, int i) {
  for (int k = 0; k < 2; k++) {
    const djGeomDef* g = &def->geom[k ? def->pair[i].geom2 : def->pair[i].geom1];
    if (g->type == DJ_HFIELD && g->hfield == -1) return "one of its geoms has no height field";
  }
  return NULL;
}

static const char* bodiesProblem(const djModelDef* def, const djExcludeDef* e) {
  bool exist = inRange(e->body1, def->nbody) && inRange(e->body2, def->nbody);
  return exist ? NULL : "a body does not exist";
}

const char* dj_excludeBefore(const djModelDef* def, int i) {
  return bodiesProblem(def, &def->exclude[i]);
}

const char* dj_guideBefore(const djModelDef* def, int i) {
  return bodiesProblem(def, &def->guide[i]);
}
