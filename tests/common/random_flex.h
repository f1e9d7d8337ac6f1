// A rope, a cloth and a solid between random bodies, for random models.

#ifndef DJ_TESTS_RANDOM_FLEX_H_
#define DJ_TESTS_RANDOM_FLEX_H_

#include "common/random.h"

#include <dijoco/dijoco.h>

#include <math.h>

enum { DJT_NFLEX = 3, DJT_FLEX_VERT = 6 };

typedef struct djtFlexes {
  djFlexDef flex[DJT_NFLEX];
  int body[DJT_NFLEX][DJT_FLEX_VERT];
  double pos[DJT_NFLEX][3 * DJT_FLEX_VERT], vert[DJT_NFLEX][3 * DJT_FLEX_VERT];
} djtFlexes;

// Vertices at rest, about which elements are neither small nor flat.
static const double djt_flexRest[3 * DJT_FLEX_VERT] = {
    0, 0, 0, 0.5, 0.1, 0.1, 0.1, 0.6, 0, 0.6, 0.65, 0.3, 0.2, 0.3, 0.7, 1.1, 0.3, 0.4};
static const int djt_rope[] = {0, 1, 1, 2, 2, 3, 3, 0};
static const int djt_cloth[] = {0, 1, 2, 2, 1, 3, 3, 1, 5, 2, 3, 4}; // three flaps
static const int djt_solid[] = {0, 1, 2, 4, 1, 3, 2, 4, 1, 5, 3, 4};

static inline void djt_addFlexes(djModelDef* def, djtFlexes* t, djRng* rng) {
  static const int* const elem[DJT_NFLEX] = {djt_rope, djt_cloth, djt_solid};
  static const int nelem[DJT_NFLEX] = {4, 4, 3};
  for (int i = 0; i < DJT_NFLEX; i++) {
    djFlexDef* f = &t->flex[i];
    *f = dj_defaultFlexDef();
    f->dim = i + 1;
    f->nvert = DJT_FLEX_VERT;
    f->body = t->body[i];
    f->pos = t->pos[i];
    f->vert = t->vert[i];
    f->nelem = nelem[i];
    f->elem = elem[i];
    f->elastic2d = DJ_ELASTIC_BOTH;
    f->damping = djt_uniform(rng, 0.01, 0.05);
    f->edgedamping = djt_uniform(rng, 0.1, 0.5);
    if (i == 0)
      f->edgestiffness = djt_uniform(rng, 2, 8);
    else
      f->young = djt_uniform(rng, 10, 30);
    f->poisson = djt_uniform(rng, 0.1, 0.4);
    f->thickness = djt_uniform(rng, 0.2, 0.4);
    for (int v = 0; v < DJT_FLEX_VERT; v++) t->body[i][v] = djt_integer(rng, def->nbody);
    for (int k = 0; k < 3 * DJT_FLEX_VERT; k++) {
      t->pos[i][k] = djt_uniform(rng, -0.3, 0.3);
      t->vert[i][k] = djt_flexRest[k] + djt_uniform(rng, -0.05, 0.05);
    }
  }
  def->nflex = DJT_NFLEX;
  def->flex = t->flex;
}

#endif // DJ_TESTS_RANDOM_FLEX_H_
