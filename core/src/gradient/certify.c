// Certificates of a task's gradient, variable by variable.

#include "model/param.h"

#include <dijoco/design.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Steele, Lea and Flood's splitmix64: one step from state x.
static uint64_t splitmix(uint64_t x) {
  x += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

double djd_random(unsigned long seed, unsigned long row, unsigned long column) {
  uint64_t bits = splitmix(splitmix(splitmix(seed) ^ row) ^ column);
  return (double)(bits >> 11) * 0x1p-53;
}

typedef struct Certified {
  djDesign* design;
  int variable;
  const double* gradient;   // (design->n)
  const double* value;      // (nvalue) the variable's own values
  double* direction;        // (design->n)
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
         field == DJ_FIELD_GEOM_POS || field == DJ_FIELD_SITE_POS || field == DJ_FIELD_MESH_VERT;
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

// The ladder's largest step: a tenth of a parameter's or a free vector's own size, or of 1 per
// entry. Lengths and free vectors, whose 0 is a place like any other, start at a tenth of the
// scene's size at least.
static double largestStep(const Certified* c) {
  const djVariable* v = variableOf(c);
  bool plain = (v->kind == DJ_VAR_PARAM || v->kind == DJ_VAR_FREE) && v->nvalue == v->ntangent;
  if (!plain) return 0.1 * sqrt(v->n);
  double size = normOf(c->value, v->nvalue);
  bool place = isPlace(c->design, v) || (v->kind == DJ_VAR_FREE && size == 0);
  if (place) size = fmax(size, sceneSize(c->design->model) * sqrt(v->n));
  return size > 0 ? 0.1 * size : sqrt(v->n);
}

// All runs at the start.
static djStatus moveBack(djPhases* p) {
  djStatus status = DJ_OK;
  for (int j = 0; j < p->n && status >= 0; j++) {
    status = djd_moveDesign(p->design[j], p->design[0]->x0);
  }
  return status;
}

djStatus djd_certifyPhases(djdCertificate* result, djPhases* phases, int variable, double loss,
                           const double* gradient, unsigned long seed) {
  if (!result || !phases || !gradient || variable < 0 ||
      variable >= phases->design[0]->problem->nvariable) {
    return DJ_INVALID;
  }
  djDesign* design = phases->design[0];
  const djVariable* v = &design->problem->variable[variable];
  bool surrogate = false;
  for (int j = 0; j < phases->n; j++) {
    surrogate = surrogate || dj_guidesDerivatives(phases->design[j]->model);
  }
  *result = (djdCertificate){.passed = v->n == 0, .slope = NAN, .surrogate = surrogate};
  if (v->n == 0) return DJ_OK;
  djStatus status = moveBack(phases);
  if (status < 0) return status;
  double* memory = calloc((size_t)design->n + (size_t)v->nvalue + 1, sizeof(double));
  if (!memory) return DJ_NO_MEMORY;
  double* value = memory + design->n;
  djd_designValue(value, design, variable);
  Certified c = {design, variable, gradient, value, memory};
  double analytic = chooseDirection(&c, seed);
  status = djd_checkPhases(result, phases, design->x0, c.direction, loss, analytic,
                           largestStep(&c));
  if (status < 0) {
    *result = (djdCertificate){.analytic = analytic, .difference = NAN, .relative_error = NAN,
                               .slope = NAN, .surrogate = surrogate};
  }
  free(memory);
  djStatus back = moveBack(phases);
  return back < 0 ? back : status;
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
