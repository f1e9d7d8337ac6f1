#include "overlap.h"

#include <math.h>
#include <stdio.h>

double overlap_share(const djModel* m) {
  djHullOverlap o;
  return dj_bodyOverlap(&o, m, -1, NULL) < 0 ? NAN : o.share;
}

void overlap_warn(const djProblem* p, double share) {
  if (!(share > 1e-6) || p->inertia_from_geom == DJ_INERTIA_COMPILED) return;
  const char* name = dj_inertiaRuleName(p->inertia_from_geom);
  bool twice = p->inertia_from_geom == DJ_INERTIA_EXACT;
  printf("  inertia by %s: %.3g%% of the volume of bodies' hulls overlaps%s\n", name, 100 * share,
         twice ? " and counts twice" : "");
}
