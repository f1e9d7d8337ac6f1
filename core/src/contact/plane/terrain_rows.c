// Height fields as rows (contact/rows.h): those of a half space in plane_rows.c, with a normal for
// each point. Where the surface curves the rows' turning is left out, as a pass holds the geometry.

#include "contact/friction/friction_plane.h"
#include "contact/plane/terrain.h"
#include "contact/plane/plane_rows.h"

#include <string.h>

static void normalRows(djPairRows* rows, djPairPlane* r, const djTerrainWork* w,
                       const djPlaneState* state) {
  if (!r->begun && !state->lagged && w->gap >= w->range) return;
  if (!r->begun) dj_beginHalfRows(r, state, w->gap / w->L, w->law, w->L);
  const double o = -r->p[0], far = DJ_ROWS_NEAR * w->law.s;
  double load = 0, least = INFINITY;
  for (int i = 0; i < w->n; i++) {
    const double z = w->foot[i].z / w->L;
    least = fmin(least, z);
    if (r->begun) load += dj_rowLoad(r->length * z + o, w->law) * z;
  }
  dj_adaptLength(r, load, w->law);
  const double t = r->length;
  r->nown = 0;
  if (!(t * least + o <= far) && !state->lagged) return;
  djContactRow* row = dj_barrierRow(rows, DJ_ROW_SHARED, DJ_ROW_OWN_OFFSET, -o, 4 * w->K, w->law);
  for (int i = 0; i < w->n && row; i++) {
    const djNearFoot* f = &w->foot[i];
    const double x = t * f->z / w->L;
    if (x + o > far) continue;
    row = dj_barrierRow(rows, DJ_ROW_BARRIER, f->point, x, w->K, w->law);
    if (!row) return;
    dj_rowTwist(row->J, t / w->L, f->n, dju_sub3(f->x, w->in->ref_a),
                dju_sub3(f->x, w->in->ref_b));
  }
}

djStatus dj_terrainRows(djPairRows* rows, djPairPlane* r, djPairState* pair_state,
                        const djPairInput* in) {
  djTerrainState* state = (djTerrainState*)(void*)pair_state;
  djTerrainWork w;
  const bool slides = dj_planeSlides(&state->plane, in);
  if (state->beneath) return DJ_OK;
  djStatus status = dj_openTerrainNow(&w, in, state);
  if (status < 0) return status;
  if (!slides && !r->begun && w.gap >= w.range) return DJ_OK;
  normalRows(rows, r, &w, &state->plane);
  if (rows->n >= 0 && slides) {
    const djTerrainLag* lag;
    int n;
    djTerrainWork start;
    const bool anew = state->nlag > DJ_TERRAIN_LAGGED;
    status = dj_getTerrainLag(&lag, &n, state, in, anew ? &start : NULL);
    for (int i = 0; i < n && status >= 0 && rows->n >= 0; i++) {
      djFrictionState other = {.w = 0}, *own;
      const djLagged lagged = dj_terrainLagged(state, &own, &other, &lag[i], i, in);
      dj_halfSlipRows(rows, &lagged, in, 4 * i);
    }
  }
  r->begun = true;
  return status;
}
