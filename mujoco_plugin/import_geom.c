// Geoms, meshes, sites, explicit pairs, excludes, and which geoms collide.

#include "import.h"
#include "import_soft.h"

bool djm_hasBits(const mjModel* m, int geom) {
  return m->geom_contype[geom] || m->geom_conaffinity[geom];
}

bool djm_countsInBody(const mjModel* m, int geom) {
  if (djm_hasBits(m, geom)) return true;
  int body = m->geom_bodyid[geom], first = m->body_geomadr[body];
  for (int i = first; i < first + m->body_geomnum[body]; i++) {
    if (djm_hasBits(m, i)) return false;
  }
  return true;
}

bool djm_geomCollides(const djmImport* imp, int geom) {
  return imp->geom_dim[geom] > 0 || imp->geom_paired[geom];
}

static bool excluded(const mjModel* m, int body1, int body2) {
  int signature = body1 < body2 ? (body1 << 16) | body2 : (body2 << 16) | body1;
  for (int i = 0; i < m->nexclude; i++) {
    if (m->exclude_signature[i] == signature) return true;
  }
  return false;
}

static bool paired(const mjModel* m, int geom1, int geom2) {
  for (int i = 0; i < m->npair; i++) {
    int a = m->pair_geom1[i], b = m->pair_geom2[i];
    if ((a == geom1 && b == geom2) || (a == geom2 && b == geom1)) return true;
  }
  return false;
}

// The dynamic part of the predicate: bodies that move, filters, bitmasks, excludes.
static bool collideDynamically(const mjModel* m, int geom1, int geom2) {
  if (!(m->geom_contype[geom1] & m->geom_conaffinity[geom2]) &&
      !(m->geom_contype[geom2] & m->geom_conaffinity[geom1])) {
    return false;
  }
  int body1 = m->geom_bodyid[geom1], body2 = m->geom_bodyid[geom2];
  int weld1 = m->body_weldid[body1], weld2 = m->body_weldid[body2];
  if (weld1 == weld2 || (!m->body_dofnum[weld1] && !m->body_dofnum[weld2])) return false;
  if (weld1 && weld2 && !djm_disabled(m, mjDSBL_FILTERPARENT)) {
    int parent1 = m->body_weldid[m->body_parentid[weld1]];
    int parent2 = m->body_weldid[m->body_parentid[weld2]];
    if (weld1 == parent2 || weld2 == parent1) return false;
  }
  return !excluded(m, body1, body2);
}

bool djm_canCollide(const mjModel* m, int geom1, int geom2) {
  return paired(m, geom1, geom2) || collideDynamically(m, geom1, geom2);
}

// No contact exists between planes and height fields.
static bool halfSpaces(const mjModel* m, int geom1, int geom2) {
  return m->geom_type[geom1] <= mjGEOM_HFIELD && m->geom_type[geom2] <= mjGEOM_HFIELD;
}

// Whether contact of two bodies can move anything.
static bool bodiesMove(const mjModel* m, int body1, int body2) {
  int weld1 = m->body_weldid[body1], weld2 = m->body_weldid[body2];
  return weld1 != weld2 && (djm_moves(m, body1) || djm_moves(m, body2));
}

static int mixedDim(const mjModel* m, int geom1, int geom2) {
  int p1 = m->geom_priority[geom1], p2 = m->geom_priority[geom2];
  int d1 = m->geom_condim[geom1], d2 = m->geom_condim[geom2];
  if (p1 != p2) return p1 > p2 ? d1 : d2;
  return d1 > d2 ? d1 : d2;
}

static int larger(int a, int b) { return a > b ? a : b; }

// One at rest goes before others.
static void meet(djmImport* imp, int geom, int other) {
  const mjModel* m = imp->m;
  int* partner = &imp->geom_partner[geom];
  bool rest = !djm_moves(m, m->geom_bodyid[other]);
  bool better = *partner >= 0 && rest && djm_moves(m, m->geom_bodyid[*partner]);
  if (*partner < 0 || better) *partner = other;
}

// Bodies that collide, of which each tree has so many that carry none that does.
static djStatus countFeet(djmImport* imp) {
  const mjModel* m = imp->m;
  bool* above = djm_alloc(imp, m->nbody, sizeof(bool));   // another one collides above it
  imp->tree_feet = djm_alloc(imp, m->nbody, sizeof(int));
  if (!above || !imp->tree_feet) return DJ_NO_MEMORY;
  for (int b = (int)m->nbody - 1; b > 0; b--) {
    bool collides = false;
    int first = m->body_geomadr[b], end = first + m->body_geomnum[b];
    for (int i = first; i < end; i++) collides = collides || djm_geomCollides(imp, i);
    if (collides && !above[b]) imp->tree_feet[m->body_rootid[b]]++;
    if (collides || above[b]) above[m->body_parentid[b]] = true;
  }
  return DJ_OK;
}

djStatus djm_findContacts(djmImport* imp) {
  const mjModel* m = imp->m;
  imp->geom_dim = djm_alloc(imp, m->ngeom, sizeof(int));
  imp->geom_paired = djm_alloc(imp, m->ngeom, sizeof(bool));
  imp->geom_partner = djm_alloc(imp, m->ngeom, sizeof(int));
  imp->rebound = djm_alloc(imp, 1, sizeof(djmRebound));
  if (!imp->geom_dim || !imp->geom_paired || !imp->geom_partner || !imp->rebound) {
    return DJ_NO_MEMORY;
  }
  for (int i = 0; i < m->ngeom; i++) imp->geom_partner[i] = -1;
  if (djm_disabled(m, mjDSBL_CONTACT)) return countFeet(imp);
  for (int i = 0; i < m->npair; i++) {
    int a = m->pair_geom1[i], b = m->pair_geom2[i];
    if (halfSpaces(m, a, b) || !bodiesMove(m, m->geom_bodyid[a], m->geom_bodyid[b])) continue;
    imp->geom_paired[a] = imp->geom_paired[b] = true;
    imp->max_dim = larger(imp->max_dim, m->pair_dim[i]);
  }
  for (int a = 0; a < m->ngeom; a++) {
    for (int b = a + 1; b < m->ngeom; b++) {
      if (!collideDynamically(m, a, b) || halfSpaces(m, a, b) || paired(m, a, b)) continue;
      int dim = mixedDim(m, a, b);
      imp->geom_dim[a] = larger(imp->geom_dim[a], dim);
      imp->geom_dim[b] = larger(imp->geom_dim[b], dim);
      imp->max_dim = larger(imp->max_dim, dim);
      meet(imp, a, b);
      meet(imp, b, a);
    }
  }
  return countFeet(imp);
}

// ------------------------------ geoms, sites ----------------------------------------------------

static void importGeom(djGeomDef* g, const djmImport* imp, int i) {
  const mjModel* m = imp->m;
  bool override = m->opt.enableflags & mjENBL_OVERRIDE;
  *g = dj_defaultGeomDef();
  g->name = djm_name(m, m->name_geomadr[i]);
  g->body = m->geom_bodyid[i];
  int type = m->geom_type[i];
  bool is_mesh = type == mjGEOM_MESH || type == mjGEOM_SDF;
  g->type = is_mesh ? DJ_MESH : (djGeomType)type;
  g->mesh = is_mesh ? m->geom_dataid[i] : -1;
  g->hfield = type == mjGEOM_HFIELD ? m->geom_dataid[i] : -1;
  mju_copy3(g->size, m->geom_size + 3 * i);
  mju_copy3(g->pos, m->geom_pos + 3 * i);
  mju_copy4(g->quat, m->geom_quat + 4 * i);
  // A shape that we do not have takes no part in contact; the report says so.
  bool supported = djm_shapeSupported(type);
  g->contype = supported ? m->geom_contype[i] : 0;
  g->conaffinity = supported ? m->geom_conaffinity[i] : 0;
  g->condim = m->geom_condim[i];
  g->priority = m->geom_priority[i];
  mju_copy3(g->friction, m->geom_friction + 3 * i);
  g->solref_restitution =
      djm_solrefRestitution(override ? m->opt.o_solref : m->geom_solref + mjNREF * i);
  // MuJoCo: contact begins at distance margin; gap is a buffer of inactive contacts beyond it.
  g->margin = m->geom_margin[i];
  g->gap = 0;
  g->soft_depth = djm_softDepth(imp, i);
  if (override) {   // the override is per contact: half of it from each side
    const mjtNum* friction = m->opt.o_friction;
    g->friction[0] = 0.5 * (friction[0] + friction[1]);
    g->friction[1] = friction[2];
    g->friction[2] = friction[3];
    g->margin = 0.5 * m->opt.o_margin;
  }
}

// A mesh's hull, where MuJoCo made one: ints nv, nf, edge addresses [nv], vertex ids [nv],
// edges [nv + 3 nf], faces [3 nf].
static djStatus importMesh(djMeshDef* mesh, djmImport* imp, int i) {
  const mjModel* m = imp->m;
  int n = m->mesh_vertnum[i];
  const float* source = m->mesh_vert + 3 * m->mesh_vertadr[i];
  double* vert = djm_alloc(imp, 3 * (size_t)n, sizeof(double));
  if (!vert) return DJ_NO_MEMORY;
  for (int j = 0; j < 3 * n; j++) vert[j] = source[j];
  *mesh = (djMeshDef){.name = djm_name(m, m->name_meshadr[i]), .nvert = n, .vert = vert};
  if (m->mesh_graphadr[i] >= 0) {
    const int* graph = m->mesh_graph + m->mesh_graphadr[i];
    int nvert = graph[0], nface = graph[1];
    mesh->nface = nface;
    mesh->face = graph + 2 + 3 * nvert + 3 * nface;
  }
  mesh->ntri = m->mesh_facenum[i];
  mesh->tri = m->mesh_face + 3 * m->mesh_faceadr[i];
  return DJ_OK;
}

// MuJoCo's heights are parts of the largest.
static djStatus importHfield(djHfieldDef* field, djmImport* imp, int i) {
  const mjModel* m = imp->m;
  const mjtNum* size = m->hfield_size + 4 * i;
  const int nrow = m->hfield_nrow[i], ncol = m->hfield_ncol[i];
  const float* data = m->hfield_data + m->hfield_adr[i];
  double* height = djm_alloc(imp, (size_t)nrow * (size_t)ncol, sizeof(double));
  if (!height) return DJ_NO_MEMORY;
  for (int j = 0; j < nrow * ncol; j++) height[j] = size[2] * data[j];
  *field = (djHfieldDef){.name = djm_name(m, m->name_hfieldadr[i]),
                         .nrow = nrow,
                         .ncol = ncol,
                         .size = {size[0], size[1], size[3]},
                         .height = height};
  return DJ_OK;
}

djStatus djm_importGeoms(djmImport* imp) {
  const mjModel* m = imp->m;
  djGeomDef* geom = djm_alloc(imp, m->ngeom, sizeof(*geom));
  djMeshDef* mesh = djm_alloc(imp, m->nmesh, sizeof(*mesh));
  djHfieldDef* hfield = djm_alloc(imp, m->nhfield, sizeof(*hfield));
  djSiteDef* site = djm_alloc(imp, m->nsite, sizeof(*site));
  if (!geom || !mesh || !hfield || !site) return DJ_NO_MEMORY;
  for (int i = 0; i < m->ngeom; i++) importGeom(geom + i, imp, i);
  for (int i = 0; i < m->nmesh; i++) {
    djStatus status = importMesh(mesh + i, imp, i);
    if (status != DJ_OK) return status;
  }
  for (int i = 0; i < m->nhfield; i++) {
    djStatus status = importHfield(hfield + i, imp, i);
    if (status != DJ_OK) return status;
  }
  for (int i = 0; i < m->nsite; i++) {
    site[i].name = djm_name(m, m->name_siteadr[i]);
    site[i].body = m->site_bodyid[i];
    mju_copy3(site[i].pos, m->site_pos + 3 * i);
    mju_copy4(site[i].quat, m->site_quat + 4 * i);
  }
  imp->def.ngeom = (int)m->ngeom;
  imp->def.geom = geom;
  imp->def.nmesh = (int)m->nmesh;
  imp->def.mesh = mesh;
  imp->def.nhfield = (int)m->nhfield;
  imp->def.hfield = hfield;
  imp->def.nsite = (int)m->nsite;
  imp->def.site = site;
  return DJ_OK;
}

// ------------------------------ pairs, excludes -------------------------------------------------

static bool isOurs(const mjModel* m, int pair) {
  return djm_shapeSupported(m->geom_type[m->pair_geom1[pair]]) &&
         djm_shapeSupported(m->geom_type[m->pair_geom2[pair]]);
}

int djm_pairNumber(const mjModel* m, int pair) {
  for (int i = 0; i < m->npair; i++) {
    if (isOurs(m, i) && pair-- == 0) return i;
  }
  return -1;
}

djStatus djm_importPairs(djmImport* imp) {
  const mjModel* m = imp->m;
  djPairDef* pair = djm_alloc(imp, m->npair, sizeof(*pair));
  djExcludeDef* exclude = djm_alloc(imp, m->nexclude, sizeof(*exclude));
  if (!pair || !exclude) return DJ_NO_MEMORY;
  bool override = m->opt.enableflags & mjENBL_OVERRIDE;
  int npair = 0;
  for (int i = 0; i < m->npair; i++) {
    int a = m->pair_geom1[i], b = m->pair_geom2[i];
    if (!isOurs(m, i)) continue;
    const mjtNum* friction = override ? m->opt.o_friction : m->pair_friction + 5 * i;
    const mjtNum* solref = override ? m->opt.o_solref : m->pair_solref + mjNREF * i;
    pair[npair++] = (djPairDef){
        .name = djm_name(m, m->name_pairadr[i]),
        .geom1 = a,
        .geom2 = b,
        .condim = m->pair_dim[i],
        .friction = friction[0],
        .friction2 = friction[1] == friction[0] ? 0 : fmax(friction[1], mjMINMU),
        .torsion = fmax(friction[2], 0),
        .rolling = {fmax(friction[3], 0), fmax(friction[4], 0)},
        .solref_restitution = djm_solrefRestitution(solref),
        .margin = override ? m->opt.o_margin : m->pair_margin[i],
        .soft_depth = djm_softPairDepth(imp, i),
    };
  }
  for (int i = 0; i < m->nexclude; i++) {
    exclude[i].body1 = m->exclude_signature[i] >> 16;
    exclude[i].body2 = m->exclude_signature[i] & 0xffff;
  }
  imp->def.npair = npair;
  imp->def.pair = pair;
  imp->def.nexclude = (int)m->nexclude;
  imp->def.exclude = exclude;
  djGeomDef* geom = (djGeomDef*)(size_t)imp->def.geom;   // made above
  return djm_importPairSettings(imp, geom, pair);
}
