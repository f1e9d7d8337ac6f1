// Contact shapes after changes of parameters: equal to shapes made anew, whatever came before, and
// untouched by changes that are refused.

#include "common/make_model.h"
#include "common/random_shape.h"
#include "common/test.h"
#include "contact/contact.h"
#include "math/so3.h"
#include "model/param.h"

enum { NBODY = 4, NGEOM = 12, NMESH = 3, NPOINT = 24 };

typedef struct Scene {
  djModelDef def;
  djBodyDef body[NBODY];
  djJointDef joint[NBODY];
  djGeomDef geom[NGEOM];
  djMeshDef mesh[NMESH];
  djPairDef pair;
  double vert[NMESH][3 * NPOINT];
  djHull hull;             // of the first mesh, which is given with triangles
  double corner[3 * NPOINT];
} Scene;

static djModel* randomModel(Scene* s, Random* r, int kind) {
  static const djGeomType types[] = {DJ_PLANE, DJ_SPHERE, DJ_CAPSULE, DJ_BOX,
                                     DJ_MESH,  DJ_MESH,   DJ_MESH,    DJ_MESH};
  memset(s, 0, sizeof *s);
  s->def = dj_defaultModelDef();
  s->def.body = s->body;
  s->def.joint = s->joint;
  s->def.geom = s->geom;
  s->def.mesh = s->mesh;
  s->def.pair = &s->pair;
  s->def.nbody = NBODY;
  s->def.njnt = NBODY - 1;
  s->def.ngeom = NGEOM;
  s->def.nmesh = NMESH;
  s->def.npair = 1;
  for (int b = 0; b < NBODY; b++) {
    s->body[b] = dj_defaultBodyDef();
    if (b == 0) continue;
    s->body[b].mass = 1;
    s->body[b].inertia[0] = s->body[b].inertia[1] = s->body[b].inertia[2] = 0.1;
    djJointDef* j = &s->joint[b - 1];
    *j = dj_defaultJointDef();
    j->body = b;
    j->type = DJ_FREE;
    j->qpos0[3] = j->springref[3] = 1;
  }
  for (int k = 0; k < NMESH; k++) {
    cloud(r, kind, NPOINT, s->vert[k]);
    for (int i = 0; i < 3 * NPOINT; i++) s->vert[k][i] *= 0.25;
    s->mesh[k].nvert = NPOINT;
    s->mesh[k].vert = s->vert[k];
  }
  assert_int_equal(dj_makeHull(&s->hull, NPOINT, s->vert[0], 0, NULL, NULL), DJ_OK);
  s->mesh[0].nvert = s->hull.nvert;
  s->mesh[0].vert = s->hull.vert;
  s->mesh[0].nface = s->hull.nface;
  s->mesh[0].face = s->hull.face;
  for (int g = 0; g < NGEOM; g++) {
    djGeomDef* d = &s->geom[g];
    *d = dj_defaultGeomDef();
    d->body = g * NBODY / NGEOM;
    d->type = g == 0 ? DJ_PLANE : types[1 + below(r, 7)];
    for (int i = 0; i < 3; i++) d->pos[i] = uniform(r, -1, 1), d->size[i] = uniform(r, 0.05, 0.3);
    dju_storeQuat(d->quat, randomQuat(r));
    d->mesh = d->type == DJ_MESH ? below(r, NMESH) : -1;
    d->gap = below(r, 2) ? 0.2 : 0;
    if (below(r, 5) == 0) d->contype = d->conaffinity = 0;
  }
  s->geom[3].type = DJ_MESH;
  s->geom[3].mesh = 1;
  s->pair = (djPairDef){.geom1 = 3, .geom2 = 7, .condim = 3, .friction = 1, .margin = 0.1};
  return djt_makeModel(&s->def);
}

// Numbers agree within the tolerance, relative to 1; 0: bit by bit.
// With lists a shape has the supports that it has without.
static bool sameSupports(const djShape* s) {
  Random r = {(unsigned long long)s->nvert};
  djShape plain = *s;
  plain.list = NULL;
  for (int k = 0; k < 200; k++) {
    djVec3 d = randomUnit(&r);
    if (dj_farthestVertex(s, 0, d) != dj_farthestVertex(&plain, 0, d)) return false;
  }
  return true;
}

static bool sameNumbers(const double* a, const double* b, int n, double tolerance) {
  for (int i = 0; i < n; i++) {
    if (a[i] != b[i] && !(fabs(a[i] - b[i]) <= tolerance)) return false;
  }
  return true;
}

// What differs, or NULL.
static const char* difference(const djModel* x, const djModel* y, double tolerance) {
  const struct djCollision *a = x->collision, *b = y->collision;
  if (a->nshape != b->nshape || a->maxvert != b->maxvert) return "count";
  if (a->maxpair != b->maxpair) return "maxpair";
  if (a->maxinflate != b->maxinflate) return "maxinflate";
  if (memcmp(a->collide, b->collide, sizeof(unsigned) * (size_t)(a->nshape * a->rowwords))) {
    return "collide";
  }
  for (int k = 0; k < a->nshape; k++) {
    const djShape *s = &a->shape[k], *t = &b->shape[k];
    if (s->type != t->type) return "type";
    if (s->type < 0) continue;
    if (s->nvert != t->nvert || s->npad != t->npad) return "nvert";
    if (a->bounds[k].inflate != b->bounds[k].inflate) return "inflate";
    for (int i = 0; i < 3; i++) {
      if (!sameNumbers(s->vert[i], t->vert[i], s->npad, tolerance)) return "vert";
      if (!sameNumbers(s->move[i], t->move[i], s->npad, 1e3 * tolerance)) return "move";
    }
    const double p[] = {s->radius,   s->radius_slope, s->skin,     s->bound,    s->offset,
                        s->normal.x, s->normal.y,     s->center.x, s->center.y, s->center.z};
    const double q[] = {t->radius,   t->radius_slope, t->skin,     t->bound,    t->offset,
                        t->normal.x, t->normal.y,     t->center.x, t->center.y, t->center.z};
    if (!sameNumbers(p, q, 10, tolerance) || !sameNumbers(&s->inner, &t->inner, 1, tolerance)) {
      return "number";
    }
    if (!s->list != !t->list) return "list";
    if (s->list && !sameSupports(s)) return "lists of other vertices";
  }
  if (!sameNumbers(a->box + 6, b->box + 6, 6 * (a->nshape - 1), tolerance)) return "box";
  if (!sameNumbers(a->reach, b->reach, x->nbody, tolerance)) return "reach";
  return NULL;
}

// The compiled model with all that m has now, at once.
static djModel* madeAnew(const djModel* compiled, const djModel* m) {
  djModel* fresh = djt_copy(compiled);
  for (int k = 0; k < m->nmesh; k++) {
    djParam p;
    assert_true(dj_makeParam(&p, m, DJ_FIELD_MESH_VERT, k));
    assert_int_equal(dj_setParam(fresh, &p, m->mesh_vert + 3 * m->mesh_vertadr[k], NULL), DJ_OK);
  }
  size_t n = (size_t)m->ngeom * sizeof(double);
  memcpy(fresh->geom_pos, m->geom_pos, 3 * n);
  memcpy(fresh->geom_quat, m->geom_quat, 4 * n);
  memcpy(fresh->geom_size, m->geom_size, 3 * n);
  assert_int_equal(dj_makeCollision(fresh, true, NULL), DJ_OK);
  return fresh;
}

// A random parameter and its new value. size: of the change.
static djParam randomChange(double* value, Random* r, const djModel* m, double size) {
  static const djField fields[] = {DJ_FIELD_GEOM_POS, DJ_FIELD_GEOM_QUAT, DJ_FIELD_GEOM_SIZE,
                                   DJ_FIELD_MESH_VERT, DJ_FIELD_MESH_VERT, DJ_FIELD_MESH_VERT};
  djField field = fields[below(r, 6)];
  djParam p;
  int id = below(r, field == DJ_FIELD_MESH_VERT ? NMESH : NGEOM);
  assert_true(dj_makeParam(&p, m, field, id));
  assert_int_equal(dj_getParam(value, m, &p), DJ_OK);
  for (int k = 0; k < p.nvalue; k++) {
    if (field == DJ_FIELD_GEOM_SIZE) value[k] *= 1 + 0.5 * uniform(r, -size, size);
    else value[k] += (field == DJ_FIELD_MESH_VERT ? 0.1 : 1) * uniform(r, -size, size);
  }
  return p;
}

// all: shapes have all vertices, and arrays that hold whichever of these the hull has.
static void runChanges(int kind, double tolerance, bool all) {
  Random r = {(uint64_t)(17 + kind)};
  int done = 0, facets = 0, vertices = 0, kept = 0;
  for (int trial = 0; trial < 12; trial++) {
    static Scene s;
    djModel *m = randomModel(&s, &r, kind), *compiled = NULL;
    djOption option = m->opt;
    option.vertices = all ? DJ_VERTICES_ALL : option.vertices;
    assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
    assert_int_equal(dj_copyModel(&compiled, m, NULL), DJ_OK);
    for (int change = 0; change < 25; change++) {
      double value[3 * NPOINT], size = below(&r, 2) ? 1e-3 : 0.5;
      djParam p = randomChange(value, &r, m, size);
      const struct djCollision* c = m->collision;
      uint64_t version = c->version;
      const djHull* h = &m->collision->hull[1];
      int before = h->nvert, *face = malloc(3 * (size_t)h->nface * sizeof *face);
      memcpy(face, h->face, 3 * (size_t)h->nface * sizeof *face);
      djModel* copy = djt_copy(m);
      djStatus status = dj_setParam(m, &p, value, NULL);
      const char* what = NULL;
      if (status == DJ_OK) {
        djModel* fresh = madeAnew(compiled, m);
        what = difference(m, fresh, tolerance);
        dj_deleteModel(fresh);
        done++;
      } else {
        what = difference(m, copy, 0);
        assert_true(version == m->collision->version);
      }
      if (what) fail_msg("kind %d, trial %d, change %d of field %d: %s", kind, trial, change,
                         p.field, what);
      h = &m->collision->hull[1];
      vertices += h->nvert != before;
      kept += h->nvert != before && m->collision == c;
      facets += h->nvert == before &&
                memcmp(face, h->face, 3 * (size_t)h->nface * sizeof *face) != 0;
      free(face);
      bool moved = difference(m, copy, 0) != NULL;
      assert_true(!moved || version != m->collision->version);
      dj_deleteModel(copy);
    }
    djModel* copy = djt_copy(m);
    assert_null(difference(m, copy, 0));
    assert_true(m->collision->shape[3].vert[0] != copy->collision->shape[3].vert[0]);
    dj_freeHull(&s.hull);
    dj_deleteModel(copy);
    dj_deleteModel(compiled);
    dj_deleteModel(m);
  }
  // Every way was taken.
  assert_true(done > 200 && vertices > 3 && (kind == 3 || facets > 3) && (!all || kept == vertices));
}

static void testGeneral(void) {
  for (int kind = 0; kind < 3; kind++) runChanges(kind, 0, false);
}

static void testCoplanar(void) { runChanges(3, 1e-11, false); }

static void testAllVertices(void) {
  for (int kind = 0; kind < 3; kind++) runChanges(kind, 0, true);
}

// A mesh that becomes flat is refused, and nothing changes.
static void testRefused(void) {
  Random r = {4};
  static Scene s;
  djModel *m = randomModel(&s, &r, 0), *copy = NULL;
  assert_int_equal(dj_copyModel(&copy, m, NULL), DJ_OK);
  djParam p;
  djError err = {""};
  double value[3 * NPOINT], got[3 * NPOINT];
  assert_true(dj_makeParam(&p, m, DJ_FIELD_MESH_VERT, 1));
  assert_int_equal(dj_getParam(value, m, &p), DJ_OK);
  for (int i = 0; i < NPOINT; i++) value[3 * i + 2] = 1;
  djt_refusedWith(DJ_INVALID, dj_setParam(m, &p, value, &err), err, "the points are flat");
  assert_int_equal(dj_getParam(got, m, &p), DJ_OK);
  assert_memory_equal(got, copy->mesh_vert + 3 * m->mesh_vertadr[1], sizeof got);
  assert_null(difference(m, copy, 0));
  // With contact off nobody needs the shape; it comes back with contact.
  djOption option = m->opt;
  option.contact = DJ_CONTACT_NONE;
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
  assert_int_equal(dj_setParam(m, &p, value, NULL), DJ_OK);
  assert_int_equal(m->collision->shape[3].type, -1);
  memcpy(value, copy->mesh_vert + 3 * m->mesh_vertadr[1], sizeof value);
  assert_int_equal(dj_setParam(m, &p, value, NULL), DJ_OK);
  option.contact = DJ_SEPARATING_PLANE;
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
  assert_null(difference(m, copy, 0));
  dj_freeHull(&s.hull);
  dj_deleteModel(copy);
  dj_deleteModel(m);
}

DJT_MAIN(testGeneral, testCoplanar, testAllVertices, testRefused)
