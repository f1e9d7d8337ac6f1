// Points and distance fields by which penalty and damped contact see geoms of a model (dijoco/penalty.h).

#include "base/status.h"
#include "contact/contact.h"
#include "contact/penalty/penalty_shape.h"

#include <dijoco/penalty.h>

#include <math.h>

// The geom's shape by a kernel in use, or NULL.
static const djShape* shapeBy(const struct djCollision* c, int kernel, int geom, const djModel* m) {
  const int use = c ? dj_useOf(c, kernel) : 0;
  if (!c || c->use[use] != kernel) return NULL;
  const djShape* s = &c->shape[use * m->ngeom + geom];
  return s->type < 0 || !s->fit ? NULL : s;
}

djStatus dj_geomPoints(djGeomPoints* out, const djModel* m, int geom, djError* err) {
  if (!out || !m || geom < 0 || geom >= m->ngeom) {
    return dj_fail(err, DJ_INVALID, "points: there is no geom #%d", geom);
  }
  *out = (djGeomPoints){.npoint = 0};
  const struct djCollision* c = m->collision;
  const djShape* s = shapeBy(c, dj_kernelNamed("penalty"), geom, m);
  if (!s) s = shapeBy(c, dj_kernelNamed("damped"), geom, m);
  if (!s) {
    return dj_fail(err, DJ_UNSUPPORTED, "geom #%d: is seen by neither penalty nor damped contact",
                   geom);
  }
  djPenaltyShape p;
  dj_openPenalty(&p, s);
  out->npoint = p.npoint;
  out->given = p.given;
  out->radius = p.radius;
  out->field = p.has_field;
  if (!s->grid || !p.has_field) return DJ_OK;
  out->grid = true;
  out->error = s->grid->error;
  out->spacing = fmax(s->grid->h[0], fmax(s->grid->h[1], s->grid->h[2]));
  return DJ_OK;
}
