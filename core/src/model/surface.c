#include "model/surface.h"

#include "base/status.h"
#include "model/check.h"
#include "model/kernel_setting.h"
#include "model/make.h"

#define MOST_FACETS 100000

static bool hasSurface(djGeomType type) { return type != DJ_PLANE && type != DJ_HFIELD; }

static bool isGiven(const double quat[4]) {
  return quat[0] != 0 || quat[1] != 0 || quat[2] != 0 || quat[3] != 0;
}

static djStatus checkSurface(const djGeomDef* g, int i, djError* err) {
  const djSurfaceDef* s = g->surface;
  const djElementText element = dj_elementText("geom", g->name, i);
  const int family = s->family ? dj_familyNamed(s->family) : -1;
  double unit[4];
  if (family < 0) {
    return dj_fail(err, DJ_INVALID, "%s: shape: unknown family '%.60s'", element.text,
                   s->family ? s->family : "");
  }
  const bool facets = dj_familyHasFacets(family);
  if (s->nface < 0 || s->nface > MOST_FACETS || (s->nface > 0 && !facets)) {
    return dj_fail(err, DJ_INVALID, "%s: shape: %s: nface = %d", element.text, s->family, s->nface);
  }
  const int n = dj_familySize(family, s->nface);
  if (s->nsize != n || !s->size) {
    return dj_fail(err, DJ_INVALID, "%s: shape: %s has %d numbers, not %d", element.text, s->family,
                   n, s->nsize);
  }
  if (facets && s->nface == 0 && g->type != DJ_MESH) {
    return dj_fail(err, DJ_INVALID, "%s: shape: %s without facets is of meshes", element.text,
                   s->family);
  }
  const char* problem = dj_allFinite(s->size, n) ? dj_sizeProblem(s->size, n, DJ_LARGEST)
                                                 : "has a number that is not finite";
  if (!problem && !dj_allFinite(s->pos, 3)) problem = "has a pos that is not finite";
  if (!problem) problem = dj_sizeProblem(s->pos, 3, DJ_LARGEST);
  if (!problem && isGiven(s->quat) && !dj_makeUnit(unit, s->quat, 4)) {
    problem = "has a quat that is not finite";
  }
  if (problem) return dj_fail(err, DJ_INVALID, "%s: shape %s", element.text, problem);
  return DJ_OK;
}

djStatus dj_checkSurfaces(const djModelDef* def, djError* err) {
  for (int i = 0; i < def->ngeom; i++) {
    const djGeomDef* g = &def->geom[i];
    const djElementText element = dj_elementText("geom", g->name, i);
    if (g->sharpness != 0 && !(g->sharpness >= 1 && g->sharpness <= DJ_LARGEST)) {
      return dj_fail(err, DJ_INVALID, "%s: sharpness = %g must be at least 1%s", element.text,
                     g->sharpness, g->sharpness > 1 ? " and at most 1e20" : "");
    }
    if (g->surface && !hasSurface(g->type)) {
      return dj_fail(err, DJ_INVALID,
                     "%s: shape: planes and height fields have no implicit surface", element.text);
    }
    if (!g->surface) continue;
    if (g->sharpness != 0) {
      return dj_fail(err, DJ_INVALID, "%s: sharpness is given twice: its shape has one",
                     element.text);
    }
    const djStatus status = checkSurface(g, i, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

size_t dj_surfaceNumbers(const djModelDef* def) {
  size_t n = 0;
  for (int i = 0; i < def->ngeom; i++) {
    if (def->geom[i].surface) n += (size_t)def->geom[i].surface->nsize - 1;
  }
  return n;
}

void dj_fillSurfaces(djModel* m, const djModelDef* def) {
  int adr = 0;
  for (int i = 0; i < m->ngeom; i++) {
    const djGeomDef* g = &def->geom[i];
    const djSurfaceDef* s = g->surface;
    m->geom_family[i] = s ? dj_familyNamed(s->family) : -1;
    m->geom_surfaceadr[i] = adr;
    m->geom_sharpness[i] = g->sharpness;
    m->geom_surfacequat[4 * i] = 1;
    if (s) {
      const int n = m->geom_surfacenum[i] = s->nsize - 1;
      dj_copyNumbers(m->surface_number + adr, s->size, n);
      m->geom_sharpness[i] = s->size[n];
      dj_copyNumbers(m->geom_surfacepos + 3 * i, s->pos, 3);
      if (isGiven(s->quat)) dj_makeUnit(m->geom_surfacequat + 4 * i, s->quat, 4);
      adr += n;
    }
    m->geom_sharpgiven[i] = m->geom_sharpness[i] > 0;
  }
}

void dj_surfaceCount(size_t* nsurface, size_t* nnumber, const djModel* m) {
  *nsurface = 0;
  for (int i = 0; i < m->ngeom; i++) *nsurface += m->geom_family[i] >= 0;
  *nnumber = (size_t)m->nsurface + *nsurface;
}

// What the default rule gave is written where it would give something else now.
static bool keepsRule(const djModel* m) {
  const int kernel = dj_kernelNamed("implicit_surface");
  bool used = (int)m->opt.contact == kernel;
  for (int i = 0; i < m->ngeom; i++) used = used || m->geom_contact[i] == kernel;
  for (int i = 0; i < m->npair; i++) used = used || m->pair_contact[i] == kernel;
  return used && m->defaults_kept;
}

void dj_getSurfaces(djGeomDef* geom, djSurfaceDef* surface, double* number, const djModel* m) {
  const bool kept = keepsRule(m);
  for (int i = 0; i < m->ngeom; i++) {
    if (m->geom_family[i] < 0) {
      geom[i].sharpness = m->geom_sharpgiven[i] || kept ? m->geom_sharpness[i] : 0;
      continue;
    }
    const int n = m->geom_surfacenum[i], family = m->geom_family[i];
    *surface = (djSurfaceDef){.family = dj_familyName(family), .nsize = n + 1, .size = number};
    if (dj_familyHasFacets(family)) surface->nface = (n - 1) / 4;
    dj_copyNumbers(number, m->surface_number + m->geom_surfaceadr[i], n);
    number[n] = m->geom_sharpness[i];
    dj_copyNumbers(surface->pos, m->geom_surfacepos + 3 * i, 3);
    dj_copyNumbers(surface->quat, m->geom_surfacequat + 4 * i, 4);
    geom[i].surface = surface++;
    number += n + 1;
  }
}
