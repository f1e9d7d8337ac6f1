#include "model/points.h"

#include "base/status.h"
#include "model/check.h"
#include "model/kernel_setting.h"
#include "model/make.h"

static const char* pointProblem(const djGeomDef* g) {
  if (g->npoint < 0 || g->npoint > DJ_MOST_POINTS || (g->npoint > 0 && !g->point)) {
    return "points: their number is impossible";
  }
  if (g->npoint > 0 && g->point_count >= 0) return "points and point_count are both given";
  if (!dj_allFinite(g->point, 3 * g->npoint)) return "points has a number that is not finite";
  return NULL;
}

djStatus dj_checkPoints(const djModelDef* def, djError* err) {
  for (int i = 0; i < def->ngeom; i++) {
    const djGeomDef* g = &def->geom[i];
    const char* problem = pointProblem(g);
    if (!problem && g->type == DJ_PLANE && (g->npoint > 0 || g->point_count > 0)) {
      problem = "a plane has no points";
    }
    if (!problem && g->inside && g->field == 0) problem = "inside: it has no distance field";
    const djElementText element = dj_elementText("geom", g->name, i);
    if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", element.text, problem);
    problem = dj_sizeProblem(g->point, 3 * g->npoint, DJ_LARGEST);
    if (problem) return dj_fail(err, DJ_INVALID, "%s: points %s", element.text, problem);
  }
  return DJ_OK;
}

size_t dj_pointNumber(const djModelDef* def) {
  size_t n = 0;
  for (int i = 0; i < def->ngeom; i++) n += (size_t)def->geom[i].npoint;
  return n;
}

void dj_fillPoints(djModel* m, const djModelDef* def) {
  int adr = 0;
  for (int i = 0; i < m->ngeom; i++) {
    const djGeomDef* g = &def->geom[i];
    m->geom_pointadr[i] = adr;
    m->geom_pointnum[i] = g->npoint;
    if (g->npoint > 0) dj_copyNumbers(m->point_pos + 3 * (size_t)adr, g->point, 3 * g->npoint);
    adr += g->npoint;
  }
}

static bool actsAtPoints(int kernel) {
  return kernel >= 0 && (kernel == dj_kernelNamed("penalty") || kernel == dj_kernelNamed("damped"));
}

// What the default rule gave is written where it would give something else now.
static bool keepsRule(const djModel* m) {
  bool used = actsAtPoints((int)m->opt.contact);
  for (int i = 0; i < m->ngeom; i++) used = used || actsAtPoints(m->geom_contact[i]);
  for (int i = 0; i < m->npair; i++) used = used || actsAtPoints(m->pair_contact[i]);
  return used && m->defaults_kept;
}

void dj_getPoints(djGeomDef* geom, const djModel* m) {
  const bool kept = keepsRule(m);
  for (int i = 0; i < m->ngeom; i++) {
    const bool rule = m->geom_pointnum[i] == 0 && m->geom_pointrule[i] > 0;
    geom[i].npoint = m->geom_pointnum[i];
    geom[i].point = m->geom_pointnum[i] ? m->point_pos + 3 * (size_t)m->geom_pointadr[i] : NULL;
    if (kept && rule && geom[i].point_count < 0) geom[i].point_count = m->geom_pointrule[i];
  }
}
