// Height fields in the MJCF that is written.
//
// MuJoCo stores heights as parts of the way from the lowest to the highest, in single precision,
// the lowest at z = 0 of the geom: geoms are moved by the lowest height.

#include "write_hfield.h"

#include "import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SIZE 1e-6   // of heights and of the base, m: MuJoCo wants positive ones

bool djm_fillHfield(mjsHField* out, double* low, int nrow, int ncol, const double size[3],
                    const double* height) {
  const int n = nrow * ncol;
  float* part = malloc(sizeof *part * (size_t)n);
  double least = height[0], most = height[0];
  if (!part) return false;
  for (int k = 0; k < n; k++) {
    least = fmin(least, height[k]);
    most = fmax(most, height[k]);
  }
  const double range = fmax(most - least, LEAST_SIZE);
  for (int k = 0; k < n; k++) part[k] = (float)((height[k] - least) / range);
  out->nrow = nrow;
  out->ncol = ncol;
  out->size[0] = size[0];
  out->size[1] = size[1];
  out->size[2] = range;
  out->size[3] = fmax(size[2] + least, LEAST_SIZE);
  mjs_setString(out->file, "");
  mjs_setString(out->content_type, "");
  mjs_setFloat(out->userdata, part, n);
  free(part);
  *low = least;
  return true;
}

void djm_lowerGeom(mjsGeom* geom, const double pos[3], const double quat[4], double low) {
  const double up[3] = {0, 0, low};
  double move[3];
  mju_rotVecQuat(move, up, quat);
  mju_add3(geom->pos, pos, move);
}

static bool changed(const djmWrite* w, int id) {
  const djModel *a = w->wanted, *b = w->base;
  const size_t n = (size_t)a->hfield_nrow[id] * (size_t)a->hfield_ncol[id];
  return memcmp(a->hfield_height + a->hfield_adr[id], b->hfield_height + b->hfield_adr[id],
                n * sizeof(double)) != 0;
}

bool djm_writeHfields(djmWrite* w) {
  const djModel* m = w->wanted;
  for (mjsElement* e = mjs_firstElement(w->spec, mjOBJ_HFIELD); e;
       e = mjs_nextElement(w->spec, e)) {
    const int id = mjs_getId(e);
    double low;
    if (id < 0 || id >= m->nhfield || !changed(w, id)) continue;
    if (!djm_fillHfield(mjs_asHField(e), &low, m->hfield_nrow[id], m->hfield_ncol[id],
                        m->hfield_size + 3 * id, m->hfield_height + m->hfield_adr[id])) {
      return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
    }
    for (mjsElement* g = mjs_firstElement(w->spec, mjOBJ_GEOM); g;
         g = mjs_nextElement(w->spec, g)) {
      const int geom = mjs_getId(g);
      if (geom < 0 || geom >= m->ngeom || m->geom_hfield[geom] != id) continue;
      djm_lowerGeom(mjs_asGeom(g), m->geom_pos + 3 * geom, m->geom_quat + 4 * geom, low);
    }
  }
  return true;
}

// Heights in the body's frame, as far as single precision has them.
bool djm_checkHfields(const djModel* got, const djModel* wanted, double tolerance, djError* err) {
  for (int g = 0; g < wanted->ngeom; g++) {
    const int id = wanted->geom_hfield[g];
    if (wanted->geom_type[g] != DJ_HFIELD || id < 0) continue;
    const int n = wanted->hfield_nrow[id] * wanted->hfield_ncol[id];
    const double* height[2] = {got->hfield_height + got->hfield_adr[id],
                               wanted->hfield_height + wanted->hfield_adr[id]};
    const djModel* model[2] = {got, wanted};
    double far = 0;
    for (int k = 0; k < n; k++) far = fmax(far, fabs(height[1][k]) + fabs(height[0][k]));
    for (int k = 0; k < n; k++) {
      double point[2][3];
      for (int s = 0; s < 2; s++) {
        const double up[3] = {0, 0, height[s][k]};
        mju_rotVecQuat(point[s], up, model[s]->geom_quat + 4 * g);
        mju_addTo3(point[s], model[s]->geom_pos + 3 * g);
      }
      if (mju_dist3(point[0], point[1]) <= 4e-7 * far + tolerance) continue;
      snprintf(err->text, sizeof err->text,
               "hfield/%.100s/heights: could not be written: number %d is %.9g there, not %.9g",
               dj_id2name(wanted, DJ_OBJ_HFIELD, id), k, height[0][k], height[1][k]);
      return false;
    }
  }
  return true;
}
