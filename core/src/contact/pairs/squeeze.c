// How hard pairs are pressed by bodies that give way to nobody.

#include "contact/contact.h"
#include "contact/pairs/near.h"

#include <math.h>

static const double PRESSED = 0.8;    // of the range: where overlaps begin to recover
static const double MOST = 10;        // times the energy that the lighter body would have at the speed

void dj_squeezeContacts(double* part, const djContacts* c, const djModel* m, const double* speed) {
  for (int b = 0; b < m->nbody; b++) part[b] = 0;
  for (int k = 0; k < c->nblock; k++) {
    const djContactBlock* block = c->active[k];
    const djNearPair* p = &c->pair[c->active_pair[k]];
    double v = fmax(speed[p->body_a], speed[p->body_b]);
    if (!(v > 0) || !block->traits->limits || block->out.gap > PRESSED * p->range) continue;
    djContactScale scale = dj_pairScale(m, p->low, p->high);
    double least = scale.gravity * p->range;   // a lift by the range
    double energy = MOST * scale.weight / scale.gravity * (0.5 * v * v + least);
    double share = block->out.value / energy;
    if (isnan(share)) share = INFINITY;
    for (int s = 0; s < 2; s++) {
      int b = s ? p->body_b : p->body_a;
      if (speed[b] > 0) part[b] = fmax(part[b], share);
    }
  }
}
