// Flexes: numbers that differ, in the spec of a scene; flexes of a model of ours.
//
// Young's modulus, Poisson's ratio and thickness go together: an imported flex has such as give its
// stiffness, though the scene may have others. Rest shapes: write_rest.c.

#include "import.h"
#include "write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Ours of MuJoCo's flex, or -1: it is left out.
static int numberOf(const mjModel* m, int flex) {
  int n = 0;
  if (djm_flexProblem(m, flex)) return -1;
  for (int i = 0; i < flex; i++) n += djm_flexProblem(m, i) == NULL;
  return n;
}

void djm_writeFlexes(djmWrite* w) {
  const djModel *a = w->wanted, *b = w->base;
  for (mjsElement* e = mjs_firstElement(w->spec, mjOBJ_FLEX); e; e = mjs_nextElement(w->spec, e)) {
    int id = mjs_getId(e), i = id < 0 || id >= w->m->nflex ? -1 : numberOf(w->m, id);
    if (i < 0 || i >= a->nflex || i >= b->nflex) continue;
    mjsFlex* flex = mjs_asFlex(e);
    bool same = a->flex_young[i] == b->flex_young[i] && a->flex_poisson[i] == b->flex_poisson[i] &&
                a->flex_thickness[i] == b->flex_thickness[i];
    if (!same) {
      flex->young = a->flex_young[i];
      flex->poisson = a->flex_poisson[i];
      if (a->flex_dim[i] == 2) flex->thickness = a->flex_thickness[i];
    }
    if (a->flex_damping[i] != b->flex_damping[i]) flex->damping = a->flex_damping[i];
    if (a->flex_edgestiffness[i] != b->flex_edgestiffness[i]) {
      flex->edgestiffness = a->flex_edgestiffness[i];
    }
  }
}

static bool fail(djError* err, const djModel* m, int flex, const char* field, double got,
                 double wanted) {
  snprintf(err->text, sizeof err->text,
           "flex/%.100s/%s: could not be written: it is %.17g there, not %.17g",
           dj_id2name(m, DJ_OBJ_FLEX, flex), field, got, wanted);
  return false;
}

// The first of n numbers that differs by more than a part of the largest, or -1.
static int differs(const double* a, const double* b, int n, double tolerance) {
  double size = 0;
  for (int k = 0; k < n; k++) size = fmax(size, fabs(b[k]));
  for (int k = 0; k < n; k++) {
    if (!(fabs(a[k] - b[k]) <= tolerance * size)) return k;
  }
  return -1;
}

// By what follows from them: lengths at rest, stiffness and bending.
bool djm_checkFlexes(const djModel* got, const djModel* wanted, double tolerance, djError* err) {
  int body;
  if (!djm_checkRestPlaces(got, wanted, 10 * tolerance, &body)) {
    snprintf(err->text, sizeof err->text, "body/%.100s/pos: could not be written",
             dj_id2name(wanted, DJ_OBJ_BODY, body));
    return false;
  }
  for (int i = 0; i < wanted->nflex; i++) {
    const struct {
      const char* name;
      const double *got, *wanted;
      int n;
    } list[] = {
        {"vert", got->flexedge_length0 + got->flex_edgeadr[i],
         wanted->flexedge_length0 + wanted->flex_edgeadr[i], wanted->flex_edgenum[i]},
        {"young", got->flexelem_stiffness + 21 * (size_t)got->flex_elemadr[i],
         wanted->flexelem_stiffness + 21 * (size_t)wanted->flex_elemadr[i],
         21 * wanted->flex_elemnum[i]},
        {"thickness", got->flexedge_bending + 17 * (size_t)got->flex_edgeadr[i],
         wanted->flexedge_bending + 17 * (size_t)wanted->flex_edgeadr[i],
         17 * wanted->flex_edgenum[i]},
        {"damping", got->flex_damping + i, wanted->flex_damping + i, 1},
        {"edgestiffness", got->flex_edgestiffness + i, wanted->flex_edgestiffness + i, 1},
        {"edgedamping", got->flex_edgedamping + i, wanted->flex_edgedamping + i, 1},
        {"radius", got->flex_radius + i, wanted->flex_radius + i, 1},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
      int at = differs(list[k].got, list[k].wanted, list[k].n, 10 * tolerance);
      if (at >= 0) return fail(err, wanted, i, list[k].name, list[k].got[at], list[k].wanted[at]);
    }
  }
  return true;
}

void djm_addFlex(mjsFlex* out, const djFlexDef* f, const djGeomDef* contact) {
  double zero[3] = {0, 0, 0};
  out->dim = f->dim;
  out->radius = f->radius;
  out->young = f->young;
  out->poisson = f->poisson;
  if (f->dim == 2) out->thickness = f->thickness;
  out->damping = f->damping;
  out->elastic2d = f->dim == 2 ? (int)f->elastic2d : 0;
  out->edgestiffness = f->edgestiffness;
  out->edgedamping = f->edgedamping;
  out->selfcollide = mjFLEXSELF_NONE;
  out->contype = contact ? contact->contype : 0;
  out->conaffinity = contact ? contact->conaffinity : 0;
  mjs_setDouble(out->vert, f->pos ? f->pos : zero, f->pos ? 3 * f->nvert : 3);
  mjs_setInt(out->elem, f->elem, f->nelem * (f->dim + 1));
  if (!contact) return;
  out->condim = contact->condim;
  out->priority = contact->priority;
  out->margin = contact->margin;
  mju_copy3(out->friction, contact->friction);
}
