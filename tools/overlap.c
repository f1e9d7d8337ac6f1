#include "overlap.h"

#include "scene.h"

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

// False: fewer than two hulls.
static bool find_overlap(djHullOverlap* o, const djModel* m, int body) {
  return dj_bodyOverlap(o, m, body, NULL) == DJ_OK && o->nhull > 1;
}

void overlap_write(Json* out, const djModel* m) {
  char name[16];
  json_list(out, "overlap");
  for (int b = 1; b < m->nbody; b++) {
    djHullOverlap o;
    if (!find_overlap(&o, m, b)) continue;
    json_object(out, NULL);
    json_text(out, "body", scene_bodyName(name, m, b));
    json_integer(out, "hulls", o.nhull);
    json_number(out, "sum", o.sum);
    json_number(out, "union", o.whole);
    json_number(out, "share", o.share);
    json_end(out);
  }
  json_end(out);
}

void overlap_print(const djModel* m) {
  bool any = false;
  for (int b = 1; b < m->nbody; b++) {
    djHullOverlap o;
    char name[16];
    if (!find_overlap(&o, m, b) || !(o.share > 1e-6)) continue;
    if (!any) {
      printf("\n  overlaps of a body's meshes and boxes: share of their volume that counts twice\n"
             "      %-24s %6s %12s %12s %8s\n", "body", "hulls", "sum m3", "union m3", "share");
    }
    any = true;
    printf("      %-24.24s %6d %12.6g %12.6g %7.3g%%\n", scene_bodyName(name, m, b), o.nhull, o.sum,
           o.whole, 100 * o.share);
  }
}
