// Points and distance fields by which penalty contact sees geoms of a model (dijoco/penalty.h).

#include "base/status.h"
#include "contact/contact.h"
#include "contact/penalty/penalty_shape.h"

#include <dijoco/penalty.h>

#include <math.h>

djStatus dj_geomPoints(djGeomPoints* out, const djModel* m, int geom, djError* err) {
  if (!out || !m || geom < 0 || geom >= m->ngeom) {
    return dj_fail(err, DJ_INVALID, "points: there is no geom #%d", geom);
  }
  *out = (djGeomPoints){.npoint = 0};
  const struct djCollision* c = m->collision;
  const int kernel = dj_kernelNamed("penalty");
  const int use = c ? dj_useOf(c, kernel) : 0;
  const djShape* s = c && c->use[use] == kernel ? &c->shape[use * m->ngeom + geom] : NULL;
  if (!s || s->type < 0 || !s->fit) {
    return dj_fail(err, DJ_UNSUPPORTED, "geom #%d: is not seen by penalty contact", geom);
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
