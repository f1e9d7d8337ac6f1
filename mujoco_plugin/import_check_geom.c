// Rows about geoms and explicit contact pairs.

#include "import_checks.h"

#include <math.h>
#include <stdio.h>

static const char* typeName(int type) {
  static const char* const names[mjNGEOMTYPES] = {"plane",    "hfield", "sphere", "capsule",
                                                  "ellipsoid", "cylinder", "box",    "mesh", "sdf"};
  return type >= 0 && type < mjNGEOMTYPES ? names[type] : "unknown";
}

bool djm_geomType(const djmImport* imp, int i, djmNote note) {
  int type = imp->m->geom_type[i];
  if (djm_shapeSupported(type) || !djm_geomCollides(imp, i)) return false;
  snprintf(note, sizeof(djmNote), "contact of type %s is not supported: the geom does not collide",
           typeName(type));
  return true;
}

// Contact shapes of curved geoms: core/src/model/geom_rows.c. Semi-axes erode by the skin, along
// their normals by more than 2 sqrt(least most)/(least + most) of it.
bool djm_geomCurve(const djmImport* imp, int i, djmNote note) {
  const mjtNum* size = imp->m->geom_size + 3 * i;
  int type = imp->m->geom_type[i];
  if (!djm_geomCollides(imp, i) || djm_kernelOf(imp, i) != DJ_SEPARATING_PLANE) return false;
  if (type == mjGEOM_CYLINDER) {
    snprintf(note, sizeof(djmNote),
             "the faces are domes that are %.2g m lower at the edge than in the middle; an upright "
             "cylinder tilts a little under a load beside its axis, the side is exact",
             DJ_DOME * size[0] * size[1] / (size[0] + size[1]));
    return true;
  }
  if (type != mjGEOM_ELLIPSOID) return false;
  double least = fmin(size[0], fmin(size[1], size[2]));
  double most = fmax(size[0], fmax(size[1], size[2]));
  if (least == most) return false;
  snprintf(note, sizeof(djmNote),
           "away from its axes the contact shape is up to %.0f %% of the contact skin larger than "
           "it should be", ceil(100 * (1 - 2 * sqrt(least * most) / (least + most))));
  return true;
}

// Beside the largest second difference of heights the surface leaves MuJoCo's triangles by what a
// cubic spline leaves its chords and cells' diagonals by.
bool djm_geomHfield(const djmImport* imp, int i, djmNote note) {
  const mjModel* m = imp->m;
  if (m->geom_type[i] != mjGEOM_HFIELD || !djm_geomCollides(imp, i)) return false;
  const int field = m->geom_dataid[i], nrow = m->hfield_nrow[field], ncol = m->hfield_ncol[field];
  const float* data = m->hfield_data + m->hfield_adr[field];
  mjtNum most = 0;
  for (int j = 0; j < nrow; j++) {
    for (int k = 0; k < ncol; k++) {
      const float* h = data + j * ncol + k;
      if (k > 0 && k + 1 < ncol) most = fmax(most, fabs(h[-1] - 2 * h[0] + h[1]));
      if (j > 0 && j + 1 < nrow) most = fmax(most, fabs(h[-ncol] - 2 * h[0] + h[ncol]));
      if (k + 1 < ncol && j + 1 < nrow) most = fmax(most, fabs(h[0] - h[1] - h[ncol] + h[ncol + 1]));
    }
  }
  snprintf(note, sizeof(djmNote),
           "a smooth surface through the heights stands for MuJoCo's triangles, up to about %.2g m "
           "from them; within a cell outside of the borders it falls away; impacts on it do not "
           "rebound", 0.5 * most * m->hfield_size[4 * field + 2]);
  return true;
}

bool djm_geomSurfacevel(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return !mju_isZero(imp->m->geom_surfacevel + 6 * i, 6) &&
         (imp->geom_dim[i] > 1 || imp->geom_paired[i]);
}

bool djm_geomAdhesion(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return imp->m->geom_adhesion[i] != 0 && imp->geom_dim[i] > 0;
}

bool djm_geomFluid(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  bool passive_off = djm_disabled(m, mjDSBL_SPRING) && djm_disabled(m, mjDSBL_DAMPER);
  bool fluid = m->opt.density > 0 || m->opt.viscosity > 0;
  return fluid && !passive_off && m->geom_fluid[mjNFLUID * i] > 0 &&
         djm_moves(m, m->geom_bodyid[i]);
}

// ------------------------------ explicit pairs --------------------------------------------------

// Friction that the flag override gives to all contacts.
bool djm_optFriction(const djmImport* imp, int i, djmNote note) {
  (void)i;
  const mjModel* m = imp->m;
  const mjtNum* friction = m->opt.o_friction;
  bool override = m->opt.enableflags & mjENBL_OVERRIDE;
  if (!override || imp->max_dim <= 1 || friction[0] == friction[1]) return false;
  snprintf(note, sizeof(djmNote),
           "the two tangential coefficients, %g and %g, are replaced by their mean, %g, but in "
           "explicit pairs", friction[0], friction[1], 0.5 * (friction[0] + friction[1]));
  return true;
}

bool djm_pairSolreffriction(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjtNum* solref = imp->m->pair_solreffriction + mjNREF * i;
  return djm_pairLive(imp, i) && imp->m->pair_dim[i] > 1 && !mju_isZero(solref, mjNREF);
}

bool djm_pairAdhesion(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return djm_pairLive(imp, i) && imp->m->pair_adhesion[i] != 0;
}
