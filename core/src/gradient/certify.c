// Certificates of a task's gradient, variable by variable.

#include "gradient/certify.h"
#include "gradient/ladder.h"
#include "model/param.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 40 };   // losses, without which none is begun

typedef struct Certified {
  djDesign* design;
  const double* x;          // (design->n) where it is certified
  int variable;
  const double* gradient;   // (design->n)
  const double* value;      // (nvalue) the variable's own values
  double* direction;        // (design->n)
  double* trial;            // (design->n)
} Certified;

static const djVariable* variableOf(const Certified* c) {
  return &c->design->problem->variable[c->variable];
}

static double normOf(const double* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += isfinite(x[i]) ? x[i] * x[i] : 0;
  return sqrt(sum);
}

// A parameter whose entries are lengths along axes; they may be 0, and mostly are.
static bool isPlace(const djDesign* design, const djVariable* v) {
  if (v->kind != DJ_VAR_PARAM) return false;
  int field = (int)design->problem->param[v->param].field;
  return field == DJ_FIELD_BODY_POS || field == DJ_FIELD_BODY_IPOS || field == DJ_FIELD_JOINT_POS ||
         field == DJ_FIELD_GEOM_POS || field == DJ_FIELD_SITE_POS || field == DJ_FIELD_MESH_VERT ||
         field == DJ_FIELD_EQUALITY_ANCHOR || field == DJ_FIELD_EQUALITY_POLYCOEF;
}

// Normal random numbers on the entries that vary, scaled to unit length; upward where a parameter
// is 0, or a sharpness 1, below which it may have no values. Entries of a parameter differ in kind
// (sliding and rolling friction) and may have to stay positive: each moves by its own size. Returns
// g.d.
static double draw(Certified* c, unsigned long row, unsigned long seed) {
  const djVariable* v = variableOf(c);
  int adr = c->design->adr[c->variable];
  double *d = c->direction + adr, sum = 0, analytic = 0;
  bool plain = v->kind == DJ_VAR_PARAM && v->nvalue == v->ntangent;
  double size = normOf(c->value, v->nvalue);
  double least = plain && c->design->problem->param[v->param].field == DJ_FIELD_GEOM_SHARPNESS;
  bool by_size = plain && size > 0 && !isPlace(c->design, v);
  for (int k = 0; k < v->n; k++) {
    unsigned long at = (unsigned long)v->index[k];
    double a = 1 - djd_random(seed, row, at), b = djd_random(seed, row + 1, at);
    d[k] = sqrt(-2 * log(a)) * cos(2 * M_PI * b);
    double value = plain ? c->value[v->index[k]] : NAN;
    if (value == least) d[k] = fabs(d[k]);
    if (by_size && value != 0 && isfinite(value)) d[k] *= fabs(value) / size;
    sum += d[k] * d[k];
  }
  for (int k = 0; k < v->n; k++) {
    d[k] /= sum > 0 ? sqrt(sum) : 1;
    analytic += c->gradient[adr + k] * d[k];
  }
  return analytic;
}

// Of three random directions the one with the largest derivative: where terms nearly cancel, a
// relative comparison would only measure rounding. Returns g.d.
static double chooseDirection(Certified* c, unsigned long seed) {
  unsigned long best = 0;
  double most = -1;
  for (unsigned long k = 0; k < 3; k++) {
    unsigned long row = 2 * (3 * (unsigned long)c->variable + k);
    double analytic = draw(c, row, seed);
    if (fabs(analytic) > most) {
      most = fabs(analytic);
      best = row;
    }
  }
  return draw(c, best, seed);
}

// The scene's size: how large its shapes and how far apart its bodies are, in the mean; 1 of a
// scene that has neither.
static double sceneSize(const djModel* m) {
  double sum = 0;
  int n = 0;
  for (int g = 0; g < m->ngeom; g++) {
    double size = m->geom_type[g] == DJ_PLANE ? 0 : normOf(m->geom_size + 3 * g, 3);
    sum += size;
    n += size > 0;
  }
  for (int b = 1; b < m->nbody; b++) {
    double size = normOf(m->body_pos + 3 * b, 3);
    sum += size;
    n += size > 0;
  }
  return n > 0 ? sum / n : 1;
}

// Parameters and free vectors have a size of their own, others 1 per entry.
static bool hasSize(const djVariable* v) {
  return (v->kind == DJ_VAR_PARAM || v->kind == DJ_VAR_FREE) && v->nvalue == v->ntangent;
}

// 0: there is none. Lengths and free vectors, whose 0 is a place like any other, have at least the
// scene's.
static double ownSize(const Certified* c) {
  const djVariable* v = variableOf(c);
  double size = normOf(c->value, v->nvalue);
  bool place = isPlace(c->design, v) || (v->kind == DJ_VAR_FREE && size == 0);
  return place ? fmax(size, sceneSize(c->design->model) * sqrt(v->n)) : size;
}

// The ladder's largest step: a tenth of a parameter's or a free vector's own size, or of 1 per
// entry.
static double largestStep(const Certified* c) {
  const djVariable* v = variableOf(c);
  if (!hasSize(v)) return 0.1 * sqrt(v->n);
  double size = ownSize(c);
  return size > 0 ? 0.1 * size : sqrt(v->n);
}

// Half of the range between the bounds of all entries; infinite where one has no bounds.
static double halfRange(const Certified* c) {
  double sum = 0;
  for (int k = c->design->adr[c->variable]; k < c->design->adr[c->variable + 1]; k++) {
    double half = 0.5 * (c->design->upper[k] - c->design->lower[k]);
    sum += half * half;
  }
  return sqrt(sum);
}

// What secants' steps are parts of: a parameter's own size; of controls, starts and free vectors
// half the range where all entries have bounds; else the size, or 1 per entry.
static double scaleOf(const Certified* c) {
  const djVariable* v = variableOf(c);
  double range = halfRange(c), size = hasSize(v) ? ownSize(c) : 0;
  if (v->kind != DJ_VAR_PARAM && range > 0 && isfinite(range)) return range;
  return size > 0 ? size : sqrt(v->n);
}

// All runs at x (n).
static djStatus moveBack(djPhases* p, const double* x) {
  djStatus status = DJ_OK;
  for (int j = 0; j < p->n && status >= 0; j++) {
    status = djd_moveDesign(p->design[j], x);
  }
  return status;
}

// ---- kinks ------------------------------------------------------------------------------------

// Entries that are 0, or a sharpness that is 1, and move upwards alone: without them there are
// losses on the other side, too. False: there are none, or no others. *analytic: g.d.
static bool holdEntries(double* analytic, Certified* c) {
  const djVariable* v = variableOf(c);
  if (v->kind != DJ_VAR_PARAM || v->nvalue != v->ntangent) return false;
  double least = c->design->problem->param[v->param].field == DJ_FIELD_GEOM_SHARPNESS;
  double *d = c->direction + c->design->adr[c->variable], sum = 0;
  bool held = false;
  for (int k = 0; k < v->n; k++) {
    if (c->value[v->index[k]] != least) sum += d[k] * d[k];
    else held = true;
  }
  if (!held || !(sum > 0)) return false;
  *analytic = 0;
  for (int k = 0; k < v->n; k++) {
    d[k] = c->value[v->index[k]] == least ? 0 : d[k] / sqrt(sum);
    *analytic += c->gradient[c->design->adr[c->variable] + k] * d[k];
  }
  return true;
}

static bool hasSides(const djdCertificate* r) {
  return isfinite(r->one_sided[0]) && isfinite(r->one_sided[1]);
}

// Penalty contact that runs beside cross.
static void nameTouched(djdCertificate* r) {
  size_t room = sizeof r->kink;
  int n = snprintf(r->kink, room, "runs beside cross kinks of penalty contact:");
  for (int k = 0; k < DJ_NKINK && n > 0 && (size_t)n < room; k++) {
    if (r->touched >> k & 1) n += snprintf(r->kink + n, room - (size_t)n, " %s", dj_kinkName(k));
  }
}

// Why a gradient does not pass, or passes at a kink. At a tie that the start itself is at each of
// what is tied has half of the slope, or a side's: a subgradient, which is not wrong.
static djStatus findKink(djdCertificate* r, Certified* c, djPhases* p, double loss, double scale,
                         int most) {
  bool apart = *r->kink != 0;
  char name[sizeof r->kink];
  djStatus status = dj_nameKink(name, sizeof name, p, c->x, c->direction, 1e-3 * scale);
  if (status < 0) return status;
  double analytic;
  if (*name && !hasSides(r) && holdEntries(&analytic, c)) {
    djdCertificate again;
    int taken = r->evaluations;
    status = dj_checkLine(&again, p, c->x, c->direction, loss, analytic, scale, most - taken);
    if (status < 0) return status;
    *r = again;
    r->evaluations += taken;
    apart = *r->kink != 0;
  }
  if (*name) snprintf(r->kink, sizeof r->kink, "%s", name);
  else if (apart && r->touched) nameTouched(r);
  if (*name && apart && !*r->gave_up && dj_isBetween(r, r->analytic)) r->passed = true;
  return DJ_OK;
}

// ---- variables --------------------------------------------------------------------------------

static djStatus certify(djdCertificate* r, Certified* c, djPhases* p, double loss,
                        unsigned long seed, int most) {
  double analytic = chooseDirection(c, seed), scale = largestStep(c);
  djStatus status = dj_checkLine(r, p, c->x, c->direction, loss, analytic, scale, most);
  if (status >= 0 && !r->surrogate && (!r->passed || *r->kink)) {
    djStatus kink = findKink(r, c, p, loss, scale, most);
    if (kink < 0) status = kink;
  }
  if (status >= 0) {
    dj_takeSecants(r, p, c->x, c->direction, loss, c->gradient, scaleOf(c), c->trial);
    return status;
  }
  *r = (djdCertificate){.analytic = analytic, .difference = NAN, .relative_error = NAN,
                        .slope = NAN, .one_sided = {NAN, NAN}};
  snprintf(r->gave_up, sizeof r->gave_up, "the run at the start failed");
  return status;
}

djStatus djd_certifyAt(djdCertificate* result, djPhases* phases, const double* x, int variable,
                       double loss, const double* gradient, unsigned long seed, int most) {
  if (!result || !phases || !x || !gradient || variable < 0 ||
      variable >= phases->design[0]->problem->nvariable) {
    return DJ_INVALID;
  }
  djDesign* design = phases->design[0];
  const djVariable* v = &design->problem->variable[variable];
  bool surrogate = false;
  for (int j = 0; j < phases->n; j++) {
    surrogate = surrogate || djd_isSurrogate(phases->design[j]);
  }
  *result = (djdCertificate){.passed = v->n == 0, .difference = NAN, .relative_error = NAN,
                             .slope = NAN, .surrogate = surrogate, .one_sided = {NAN, NAN}};
  if (v->n == 0) {
    result->difference = result->relative_error = 0;
    result->leads = DJD_LEADS;
    return DJ_OK;
  }
  if (most < LEAST) {
    snprintf(result->gave_up, sizeof result->gave_up,
             "not begun: of the runs of all blocks together %d are left", most);
    return DJ_NOT_CONVERGED;
  }
  djStatus status = moveBack(phases, x);
  if (status < 0) return status;
  size_t n = (size_t)design->n;
  double* memory = calloc(2 * n + (size_t)v->nvalue + 1, sizeof(double));
  if (!memory) return DJ_NO_MEMORY;
  double* value = memory + 2 * n;
  djd_designValue(value, design, variable);
  Certified c = {design, x, variable, gradient, value, memory, memory + n};
  status = certify(result, &c, phases, loss, seed, most);
  result->surrogate = surrogate;
  free(memory);
  djStatus back = moveBack(phases, x);
  return back < 0 ? back : status;
}

djStatus djd_certifyWithin(djdCertificate* result, djPhases* phases, int variable, double loss,
                           const double* gradient, unsigned long seed, int most) {
  if (!phases) return DJ_INVALID;
  return djd_certifyAt(result, phases, phases->design[0]->x0, variable, loss, gradient, seed, most);
}

djStatus djd_certifyPhases(djdCertificate* result, djPhases* phases, int variable, double loss,
                           const double* gradient, unsigned long seed) {
  return djd_certifyWithin(result, phases, variable, loss, gradient, seed, DJD_CHECK_RUNS);
}

djStatus djd_certifyVariable(djdCertificate* result, djDesign* design, int variable, double loss,
                             const double* gradient, unsigned long seed) {
  if (!design) return DJ_INVALID;
  djPhases* phases;
  djStatus status = djd_makePhases(&phases, design, 1, 1, NULL);
  if (status < 0) return status;
  status = djd_certifyPhases(result, phases, variable, loss, gradient, seed);
  djd_deletePhases(phases);
  return status;
}
