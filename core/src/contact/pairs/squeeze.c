// How hard pairs are pressed by bodies that give way to nobody.

#include "contact/contact.h"
#include "contact/pairs/near.h"

#include <math.h>

static const double PRESSED = 0.97;  // of the range: by thousands of times the weight
static const double MOST = 10;       // times what the lighter body has at the speed, and at a lift

// Its energy relative to what may come of pushing what is there.
static double shareOf(const djContactBlock* block, const djNearPair* p, const djModel* m,
                      double speed) {
  if (!block->traits->limits || block->out.gap > PRESSED * p->range) return 0;
  djContactScale scale = dj_pairScale(m, p->low, p->high);
  double lift = scale.gravity * p->range;
  double energy = MOST * scale.weight / scale.gravity * (0.5 * speed * speed + lift);
  double share = block->out.value / energy;
  return isnan(share) ? INFINITY : share;
}

void dj_squeezeContacts(double* part, const djContacts* c, const djModel* m, const double* speed) {
  double most = 0;
  for (int b = 0; b < m->nbody; b++) {
    part[b] = 0;
    most = fmax(most, speed[b]);
  }
  for (int k = 0; k < c->nblock; k++) {
    const djNearPair* p = &c->pair[c->active_pair[k]];
    double share = shareOf(c->active[k], p, m, most);
    int body[2] = {p->body_a, p->body_b};
    bool any = speed[body[0]] > 0 || speed[body[1]] > 0;
    for (int s = 0; s < 2 && any; s++) {
      if (speed[body[s]] > 0) part[body[s]] = fmax(part[body[s]], share);
    }
    if (!any) part[0] = fmax(part[0], share);
  }
}
