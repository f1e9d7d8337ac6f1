// Contact as decorative geoms in MuJoCo's scenes.

#include "engine/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Colours: none is near MuJoCo's defaults for its own contacts (orange, pale blue).
static const float kPoint[4] = {0.36f, 0.20f, 0.75f, 1};
static const float kPlane[4] = {0.45f, 0.30f, 0.95f, 0.35f};
static const float kForce[4] = {0.10f, 0.62f, 0.36f, 1};
static const float kFriction[4] = {0.85f, 0.25f, 0.62f, 1};
static const float kRecovering[4] = {0.92f, 0.12f, 0.10f, 1};
static const float kRecoveringPlane[4] = {0.92f, 0.12f, 0.10f, 0.35f};

// Plates reach this far beyond their geom, so that their rim is seen under a face.
static const mjtNum kRim = 1.15;

// Where geoms of one pair go.
typedef struct djmPen {
  mjvScene* scn;
  const mjModel* m;
  const djModel* model;
  const djContactPair* pair;
  int id;                     // of the pair
  mjtNum frame[9];            // columns: two tangents, the normal
  mjtNum centre[3], half[2];  // of the plate; half sizes along the tangents
} djmPen;

// The next geom of the scene, already counted, or NULL: there is no room.
static mjvGeom* nextGeom(djmPen* pen, const float rgba[4]) {
  mjvScene* scn = pen->scn;
  if (scn->ngeom >= scn->maxgeom) {
    if (!scn->status) {
      scn->status = 1;
      mju_warning("dijoco: no room for contacts in the scene: increase maxgeom above %d",
                  scn->maxgeom);
    }
    return NULL;
  }
  mjvGeom* geom = scn->geoms + scn->ngeom;
  memset(geom, 0, sizeof(*geom));   // an object of no type (mjOBJ_UNKNOWN), no label
  mjv_initGeom(geom, mjGEOM_NONE, NULL, NULL, NULL, rgba);
  geom->objid = pen->id;
  geom->category = mjCAT_DECOR;
  geom->segid = scn->ngeom++;
  return geom;
}

// A geom in the separating plane, its z along the normal.
static mjvGeom* placeGeom(djmPen* pen, int type, const mjtNum pos[3], const mjtNum size[3],
                          const float rgba[4]) {
  mjvGeom* geom = nextGeom(pen, rgba);
  if (!geom) return NULL;
  geom->type = type;
  for (int i = 0; i < 3; i++) {
    geom->size[i] = (float)size[i];
    geom->pos[i] = (float)pos[i];
  }
  for (int i = 0; i < 9; i++) geom->mat[i] = (float)pen->frame[i];
  return geom;
}

// Of a bounding sphere; 0 of planes, which have none. Vertices of flexes are spheres that MuJoCo does
// not have.
static mjtNum boundOf(const djmPen* pen, int geom) {
  return pen->model->geom_flex[geom] < 0 ? pen->m->geom_rbound[geom]
                                         : pen->model->geom_size[3 * geom];
}

// The smaller of the two geoms.
static int smallerGeom(const djmPen* pen) {
  const djContactPair* pair = pen->pair;
  mjtNum r1 = boundOf(pen, pair->geom1), r2 = boundOf(pen, pair->geom2);
  return r1 > 0 && (r2 <= 0 || r1 < r2) ? pair->geom1 : pair->geom2;
}

// Tangents, centre and half sizes of the plate: the bounding box of the smaller geom, projected on
// the plane. The first tangent follows the box's axis that is longest there, so that plates turn
// with their geoms; for spheres, which show no turning, it is the world axis.
static void findPlate(djmPen* pen, const djData* data) {
  const mjtNum* n = pen->pair->normal;
  int g = smallerGeom(pen);
  const mjtNum r = boundOf(pen, g), ball[6] = {0, 0, 0, r, r, r};
  bool turns = pen->model->geom_type[g] != DJ_SPHERE;
  const mjtNum *middle = turns ? pen->m->geom_aabb + 6 * g : ball, *box = middle + 3;
  mjtNum axis[9], along[3] = {1, 0, 0}, across[3], best = -1;
  for (int k = 0; k < 9; k++) axis[k] = turns ? data->geom_xmat[9 * g + k] : k % 4 == 0;
  for (int k = 0; k < 3; k++) {
    mjtNum a[3] = {axis[k], axis[3 + k], axis[6 + k]};
    mju_addToScl3(a, n, -mju_dot3(a, n));
    mjtNum size = mju_norm3(a) * box[k];
    if (size > best * (1 + 1e-6)) {
      best = size;
      mju_copy3(along, a);
    }
  }
  mju_normalize3(along);
  mju_cross(across, n, along);
  mjtNum offset[3];
  mju_mulMatVec3(pen->centre, data->geom_xmat + 9 * g, middle);
  mju_addTo3(pen->centre, data->geom_xpos + 3 * g);
  mju_sub3(offset, pen->centre, pen->pair->point);
  mju_addToScl3(pen->centre, n, -mju_dot3(offset, n));
  mju_zero(pen->half, 2);
  for (int i = 0; i < 3; i++) {
    mjtNum a[3] = {axis[i], axis[3 + i], axis[6 + i]};
    pen->half[0] += box[i] * fabs(mju_dot3(a, along));
    pen->half[1] += box[i] * fabs(mju_dot3(a, across));
    pen->frame[3 * i] = along[i];
    pen->frame[3 * i + 1] = across[i];
    pen->frame[3 * i + 2] = n[i];
  }
}

// A geom's name, or gN as in MuJoCo's labels.
static void nameGeom(char name[40], const mjModel* m, int geom) {
  const char* found = mj_id2name(m, mjOBJ_GEOM, geom);
  if (found && found[0]) {
    snprintf(name, 40, "%s", found);
  } else {
    snprintf(name, 40, "g%d", geom);
  }
}

static void drawPoint(djmPen* pen, const mjvOption* opt) {
  const mjModel* m = pen->m;
  const djContactPair* pair = pen->pair;
  mjtNum scale = m->stat.meansize;
  mjtNum width = m->vis.scale.contactwidth * scale, height = m->vis.scale.contactheight * scale;
  const mjtNum plate[3] = {kRim * pen->half[0], kRim * pen->half[1], 0.1 * height};
  const mjtNum disc[3] = {width, width, height};
  const float* colour = pair->recovering ? kRecovering : kPoint;
  placeGeom(pen, mjGEOM_BOX, pen->centre, plate, pair->recovering ? kRecoveringPlane : kPlane);
  mjvGeom* geom = placeGeom(pen, mjGEOM_CYLINDER, pair->point, disc, colour);
  if (geom && opt->label == mjLABEL_CONTACTPOINT) {
    char name[2][40];
    nameGeom(name[0], m, pair->geom1);
    nameGeom(name[1], m, pair->geom2);
    snprintf(geom->label, sizeof(geom->label), "%s | %s %.3g", name[0], name[1], pair->gap);
  }
  geom = nextGeom(pen, colour);
  if (geom) {
    mjtNum from[3], to[3];
    mju_addScl3(from, pair->point, pair->normal, -0.5 * pair->gap);
    mju_addScl3(to, pair->point, pair->normal, 0.5 * pair->gap);
    mjv_connector(geom, mjGEOM_LINE, 3, from, to);
  }
}

// One force, as long as MuJoCo would draw it.
static mjvGeom* drawArrow(djmPen* pen, int type, const mjtNum force[3], const float rgba[4]) {
  const mjModel* m = pen->m;
  mjtNum to[3], scale = m->vis.map.force / m->stat.meanmass;
  mjtNum length = mju_norm3(force) * scale;
  if (!isfinite(length) || length < mjMINVAL) return NULL;
  mjvGeom* geom = nextGeom(pen, rgba);
  if (!geom) return NULL;
  mju_addScl3(to, pen->pair->point, force, scale);
  mjv_connector(geom, type, m->vis.scale.forcewidth * m->stat.meansize, pen->pair->point, to);
  return geom;
}

static void drawForce(djmPen* pen, const mjvOption* opt) {
  const djContactPair* pair = pen->pair;
  const mjtNum* force = pair->force;   // on geom2, whose body is never the world: geoms are sorted
  bool both = pen->model->geom_body[pair->geom1] > 0;
  mjtNum normal[3], friction[3];
  const float* colour = pair->recovering ? kRecovering : kForce;
  mjvGeom* geom;
  if (opt->flags[mjVIS_CONTACTSPLIT]) {
    mju_scl3(normal, pair->normal, mju_dot3(force, pair->normal));
    mju_sub3(friction, force, normal);
    geom = drawArrow(pen, mjGEOM_ARROW, normal, colour);
    drawArrow(pen, mjGEOM_ARROW, friction, kFriction);
  } else {
    geom = drawArrow(pen, both ? mjGEOM_ARROW2 : mjGEOM_ARROW, force, colour);
  }
  if (geom && opt->label == mjLABEL_CONTACTFORCE) {
    snprintf(geom->label, sizeof(geom->label), "%.3g", mju_norm3(force));
  }
}

void djm_drawContacts(mjvScene* scn, const mjModel* m, const djModel* model, const mjvOption* opt,
                      const djData* data) {
  djmPen pen = {.scn = scn, .m = m, .model = model};
  for (int k = 0; k < data->npair; k++) {
    pen.pair = data->pair + k;
    pen.id = k;
    if (opt->flags[mjVIS_CONTACTPOINT]) {
      findPlate(&pen, data);
      drawPoint(&pen, opt);
    }
    if (opt->flags[mjVIS_CONTACTFORCE]) drawForce(&pen, opt);
  }
}
