// Collision data of models: which pairs collide (against a literal transcription of MuJoCo's
// rule), mixing, contact shapes, default settings, margins, and what is refused.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random_shape.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/contact.h"
#include "contact/shapes/convex.h"

#define CHECK(x) assert_true(x)
enum { MAXBODY = 16, MAXGEOM = 40 };

typedef struct Scene {
  djModelDef def;
  djBodyDef body[MAXBODY];
  djJointDef joint[MAXBODY];
  djGeomDef geom[MAXGEOM];
  djMeshDef mesh[4];
  djPairDef pair[8];
  djExcludeDef exclude[8];
  char name[MAXGEOM][16];
} Scene;

static void start(Scene* s) {
  memset(s, 0, sizeof *s);
  s->def = dj_defaultModelDef();
  s->def.body = s->body;
  s->def.joint = s->joint;
  s->def.geom = s->geom;
  s->def.mesh = s->mesh;
  s->def.pair = s->pair;
  s->def.exclude = s->exclude;
  s->body[0] = dj_defaultBodyDef();
  s->def.nbody = 1;
}

static int addBody(Scene* s, int parent, bool free) {
  int b = s->def.nbody++;
  s->body[b] = dj_defaultBodyDef();
  s->body[b].parent = parent;
  s->body[b].mass = 1;
  for (int k = 0; k < 3; k++) s->body[b].inertia[k] = 0.1;
  if (free) {
    djJointDef* j = &s->joint[s->def.njnt++];
    *j = dj_defaultJointDef();
    j->body = b;
    j->type = parent == 0 ? DJ_FREE : DJ_HINGE;
    j->qpos0[3] = j->springref[3] = parent == 0;
  }
  return b;
}

static djGeomDef* addGeom(Scene* s, int body, djGeomType type, double x, double y, double z) {
  int g = s->def.ngeom++;
  s->geom[g] = dj_defaultGeomDef();
  s->geom[g].body = body;
  s->geom[g].type = type;
  s->geom[g].size[0] = x;
  s->geom[g].size[1] = y;
  s->geom[g].size[2] = z;
  snprintf(s->name[g], sizeof s->name[g], "g%d", g);
  s->geom[g].name = s->name[g];
  return &s->geom[g];
}

static djModel* make(const Scene* s) {
  djModel* m;
  djError err = {""};
  djStatus status = dj_makeModel(&m, &s->def, &err);
  if (status != DJ_OK) fail_msg("%s", err.text);
  return m;
}

// ------------------------------------------ which pairs ----------------------------------------

static bool literal(const Scene* s, int a, int b) {
  if (a == b) return false;
  for (int i = 0; i < s->def.npair; i++) {
    const djPairDef* p = &s->pair[i];
    if ((p->geom1 == a && p->geom2 == b) || (p->geom1 == b && p->geom2 == a)) return true;
  }
  int weld[MAXBODY] = {0}, dofs[MAXBODY] = {0};
  for (int i = 0; i < s->def.njnt; i++) {
    dofs[s->joint[i].body] += s->joint[i].type == DJ_FREE ? 6 : 1;
  }
  for (int i = 1; i < s->def.nbody; i++) {
    weld[i] = dofs[i] || s->body[i].mocap ? i : weld[s->body[i].parent];
  }
  int Wa = weld[s->geom[a].body], Wb = weld[s->geom[b].body];
  int Pa = weld[s->body[Wa].parent], Pb = weld[s->body[Wb].parent];
  bool filterparent = !(s->def.option.disable & DJ_DSBL_FILTERPARENT);
  bool excluded = false;
  for (int i = 0; i < s->def.nexclude; i++) {
    int lo = s->geom[a].body < s->geom[b].body ? s->geom[a].body : s->geom[b].body;
    int hi = s->geom[a].body + s->geom[b].body - lo;
    int e1 = s->exclude[i].body1, e2 = s->exclude[i].body2;
    int elo = e1 < e2 ? e1 : e2, ehi = e1 + e2 - elo;
    excluded |= (lo << 16 | hi) == (elo << 16 | ehi);
  }
  bool bits = (s->geom[a].contype & s->geom[b].conaffinity) ||
              (s->geom[b].contype & s->geom[a].conaffinity);
  return Wa != Wb && (dofs[Wa] > 0 || dofs[Wb] > 0) &&
         !(filterparent && Wa != 0 && Wb != 0 && (Wa == Pb || Wb == Pa)) && !excluded && bits;
}

static void randomScene(Scene* s, Random* r) {
  start(s);
  int nbody = 1 + below(r, MAXBODY - 1);
  for (int i = 1; i < nbody; i++) {
    int parent = below(r, 2) ? 0 : below(r, i);
    int b = addBody(s, parent, below(r, 3) != 0);
    if (s->body[b].parent == 0 && below(r, 6) == 0 &&
        (s->def.njnt == 0 || s->joint[s->def.njnt - 1].body != b)) {
      s->body[b].mocap = true;
    }
  }
  for (int b = 0; b < nbody; b++) {
    for (int k = below(r, 4); k > 0 && s->def.ngeom < MAXGEOM; k--) {
      djGeomDef* g = addGeom(s, b, DJ_SPHERE, 0.1, 0, 0);
      g->contype = below(r, 4);
      g->conaffinity = below(r, 4);
      g->priority = below(r, 2);
      g->condim = (int[]){1, 3, 4, 6}[below(r, 4)];
      g->friction[0] = uniform(r, 0, 2);
      g->margin = uniform(r, 0, 0.1);
      g->gap = uniform(r, 0, 0.05);
      g->restitution = uniform(r, 0, 1);
      if (below(r, 2)) g->solref_restitution = uniform(r, 0, 1);
    }
  }
  int n = s->def.ngeom;
  for (int i = below(r, 4); i > 0 && n > 1; i--) {
    djPairDef* p = &s->pair[s->def.npair];
    p->geom1 = below(r, n);
    p->geom2 = below(r, n);
    p->condim = below(r, 2) ? 3 : 1;
    p->friction = uniform(r, 0, 2);
    p->margin = uniform(r, 0, 0.1);
    p->restitution = uniform(r, 0, 1);
    p->solref_restitution = below(r, 2) ? uniform(r, 0, 1) : 0;
    if (p->geom1 != p->geom2) s->def.npair++;
  }
  for (int i = below(r, 4); i > 0 && nbody > 1; i--) {
    s->exclude[s->def.nexclude].body1 = below(r, nbody);
    s->exclude[s->def.nexclude].body2 = below(r, nbody);
    if (s->exclude[s->def.nexclude].body1 != s->exclude[s->def.nexclude].body2) s->def.nexclude++;
  }
  if (below(r, 3) == 0) s->def.option.disable |= DJ_DSBL_FILTERPARENT;
  s->def.option.restitution = below(r, 2) ? DJ_RESTITUTION_SOLREF : DJ_RESTITUTION_GIVEN;
}

static void testPredicate(void) {
  Random r = {1};
  static Scene s;
  int pairs = 0, colliding = 0;
  for (int trial = 0; trial < 1500; trial++) {
    randomScene(&s, &r);
    djModel* m = make(&s);
    for (int a = 0; a < s.def.ngeom; a++) {
      bool any = false;
      for (int b = 0; b < s.def.ngeom; b++) {
        bool expected = literal(&s, a, b);
        assert_int_equal(dj_canCollide(m, a, b), expected);
        if (dj_isContactPair(m, a, b)) CHECK(expected);
        any |= expected;
        pairs++;
        colliding += expected;
      }
      assert_int_equal(dj_geomCollides(m, a), any);
      assert_int_equal(m->collision->shape[a].type >= 0, any);
    }
    CHECK(!dj_canCollide(m, -1, 0) && !dj_canCollide(m, 0, s.def.ngeom));
    dj_deleteModel(m);
  }
  CHECK(pairs > 100000 && colliding > pairs / 20 && colliding < pairs / 2);
}

// As the option has it.
static double rebound(const Scene* s, double given, double solref) {
  return s->def.option.restitution == DJ_RESTITUTION_SOLREF && solref != 0 ? solref : given;
}

static void testMixing(void) {
  Random r = {2};
  static Scene s;
  for (int trial = 0; trial < 300; trial++) {
    randomScene(&s, &r);
    djModel* m = make(&s);
    for (int a = 0; a < s.def.ngeom; a++) {
      for (int b = 0; b < s.def.ngeom; b++) {
        if (a == b || !literal(&s, a, b)) continue;
        const djGeomDef *ga = &s.geom[a], *gb = &s.geom[b];
        double friction = fmax(ga->friction[0], gb->friction[0]), inflate = 0;
        int dim = ga->condim > gb->condim ? ga->condim : gb->condim;
        double ea = rebound(&s, ga->restitution, ga->solref_restitution);
        double eb = rebound(&s, gb->restitution, gb->solref_restitution), e = fmax(ea, eb);
        if (ga->priority != gb->priority) {
          const djGeomDef* wins = ga->priority > gb->priority ? ga : gb;
          friction = wins->friction[0];
          e = wins == ga ? ea : eb;
          dim = wins->condim;
        }
        for (int i = s.def.npair - 1; i >= 0; i--) {
          const djPairDef* p = &s.pair[i];
          if (!((p->geom1 == a && p->geom2 == b) || (p->geom1 == b && p->geom2 == a))) continue;
          friction = p->friction;
          e = rebound(&s, p->restitution, p->solref_restitution);
          dim = p->condim;
          inflate = p->margin - p->gap - (ga->margin - ga->gap) - (gb->margin - gb->gap);
        }
        djPairCoefficients c = dj_pairCoefficients(m, a, b);
        CHECK(c.friction == (dim == 1 ? 0 : friction));
        CHECK(c.restitution == e);
        CHECK(fabs(c.inflate - inflate) < 1e-15);
      }
    }
    dj_deleteModel(m);
  }
}

// Data take coefficients anew when the option has changed what they are.
static void testRestitutionOption(void) {
  Random r = {3};
  static Scene s;
  randomScene(&s, &r);
  s.geom[0].restitution = 0.25;
  s.geom[0].solref_restitution = 0.5;
  djModel* m = make(&s);
  uint64_t version = m->collision->coefficients;
  djOption option = m->opt;
  CHECK(dj_setOption(m, &option, NULL) == DJ_OK && m->collision->coefficients == version);
  option.restitution = option.restitution ? DJ_RESTITUTION_GIVEN : DJ_RESTITUTION_SOLREF;
  CHECK(dj_setOption(m, &option, NULL) == DJ_OK && m->collision->coefficients != version);
  dj_deleteModel(m);
}

// So they do where another model with other coefficients has come to the place of theirs.
static void testCoefficientVersion(void) {
  Random r = {3};
  static Scene s;
  do randomScene(&s, &r);
  while (s.def.npair == 0);
  s.def.option.restitution = DJ_RESTITUTION_GIVEN;
  double* number[] = {&s.geom[0].friction[0], &s.geom[0].restitution, &s.pair[0].restitution,
                      &s.pair[0].friction};
  djModel* m = make(&s);
  for (int k = 0; k < 4; k++) {
    double is = *number[k];
    *number[k] = 0.5 * is + 0.125;
    djModel* other = make(&s);
    CHECK(m->collision->version == other->collision->version);
    CHECK(m->collision->coefficients != other->collision->coefficients);
    *number[k] = is;
    djModel* same = make(&s);
    CHECK(m->collision->coefficients == same->collision->coefficients);
    dj_deleteModel(other);
    dj_deleteModel(same);
  }
  dj_deleteModel(m);
}

// ------------------------------------------ shapes ---------------------------------------------

// One of each type on a free body, and a plane.
static void mixedScene(Scene* s, Random* r) {
  static double cube[24];
  boxVertices(cube, 0.2, 0.3, 0.25);
  start(s);
  addBody(s, 0, true);
  addGeom(s, 0, DJ_PLANE, 0, 0, 1);
  addGeom(s, 1, DJ_SPHERE, 0.2, 0, 0);
  addGeom(s, 1, DJ_CAPSULE, 0.1, 0.3, 0);
  addGeom(s, 1, DJ_BOX, 0.2, 0.15, 0.3);
  djGeomDef* g = addGeom(s, 1, DJ_MESH, 0.2, 0.3, 0.25);
  g->mesh = 0;
  addGeom(s, 1, DJ_ELLIPSOID, 0.2, 0.15, 0.3);
  addGeom(s, 1, DJ_CYLINDER, 0.3, 0.15, 0);
  s->mesh[0] = (djMeshDef){.name = "cube", .nvert = 8, .vert = cube};
  s->def.nmesh = 1;
  for (int i = 0; i < s->def.ngeom; i++) {
    djQuat q = randomQuat(r);
    dju_storeQuat(s->geom[i].quat, q);
    for (int k = 0; k < 3; k++) s->geom[i].pos[k] = uniform(r, -1, 1);
  }
}

// What the ellipsoids of a shape, eroded by e more, add to its support along n.
static double reach(const djShape* s, djVec3 n, double e) {
  djVec3 x;
  double square = 0;
  for (int k = 0; k < 3 && s->curved; k++) {
    x = dju_madd3(dju_column(&s->curve, k), -e, dju_column(&s->curve_move, k));
    square += dju_dot3(n, x) * dju_dot3(n, x);
  }
  return sqrt(square);
}

// The box of a shape in its body is as large as its supports.
static void checkBox(const djModel* m, int geom) {
  const djShape* s = &m->collision->shape[geom];
  const double* box = m->collision->box + 6 * geom;
  for (int k = 0; k < 6; k++) {
    djVec3 n = {0, 0, 0};
    double sign = k < 3 ? 1 : -1, *axis[3] = {&n.x, &n.y, &n.z}, h = -INFINITY;
    *axis[k % 3] = sign;
    for (int v = 0; v < s->nvert; v++) {
      h = fmax(h, dju_dot3(n, dju_vec3(s->vert[0][v], s->vert[1][v], s->vert[2][v])));
    }
    djt_near(h + s->radius + reach(s, n, 0), sign * box[k % 3] + box[3 + k % 3], 1e-12);
  }
}

static void testShapes(void) {
  Random r = {3};
  static Scene s;
  for (int trial = 0; trial < 20; trial++) {
    mixedScene(&s, &r);
    for (int i = 0; i < s.def.ngeom; i++) {
      s.geom[i].margin = trial % 2 ? 0.01 : 0;
      s.geom[i].gap = trial % 4 == 3 ? 0.004 : 0;
    }
    djModel* m = make(&s);
    const djContactSettings* c = &m->contact;
    double grow = s.geom[1].margin - s.geom[1].gap;
    // the defaults: of the first geom with the largest skin, which is as large for all of them
    djt_near(c->radius, 0.2, 1e-15);
    djt_near(c->gravity, 9.81, 0);
    djt_near(c->weight, 9.81, 1e-12);
    double sup = fmin(0.02 * 0.1, 0.15 * 0.002);
    djt_near(c->support, sup, 1e-15);
    djt_near(c->range, 2 * sup / (1 - sup), 1e-15);
    djt_near(c->skin, sup / (1 - sup), 1e-15);
    djt_near(c->stiffness, 9.81 * sup * sup / (4 * 8e-9), 1e-12 * c->stiffness);
    djt_near(sqrt(c->friction_eps), 6e-6 * sqrt(9.81 * 0.2), 1e-15);
    djt_near(c->load, c->weight, 0);
    for (int i = 0; i < m->ngeom; i++) {
      const djShape* sh = &m->collision->shape[i];
      djPose pose = {dju_load3(m->geom_pos + 3 * i),
                     dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * i))};
      const double* size = s.geom[i].size;
      assert_int_equal(sh->type, s.geom[i].type);
      bool plane = sh->type == DJ_PLANE;   // a plane is as thick as the other geom of a pair
      djt_near(sh->skin, plane ? 0 : c->skin, 1e-15);
      if (plane) assert_true(m->geom_skin[i] == INFINITY);
      else djt_near(m->geom_skin[i], c->skin, 1e-15);
      djt_near(m->geom_load[i], plane ? 0 : c->weight, 1e-12);
      if (plane) {
        djt_near(dju_dot3(sh->normal, dju_column(&pose.R, 2)), 1, 1e-12);
        djt_near(sh->offset, dju_dot3(sh->normal, pose.p) + grow, 1e-14);
        continue;
      }
      // supports of the eroded shape against the size less skin
      double half[3] = {size[0], size[1], size[2]};
      if (sh->type == DJ_SPHERE) half[1] = half[2] = size[0];
      if (sh->type == DJ_CAPSULE) half[1] = size[0], half[2] = size[0] + size[1];
      if (sh->type == DJ_CYLINDER) half[1] = size[0], half[2] = size[1];
      for (int k = 0; k < 3; k++) {
        for (int side = -1; side <= 1; side += 2) {
          djVec3 n = dju_scale3(side, dju_column(&pose.R, k));
          double h = -INFINITY, moved = -INFINITY;
          for (int v = 0; v < sh->nvert; v++) {
            djVec3 x = {sh->vert[0][v], sh->vert[1][v], sh->vert[2][v]};
            djVec3 y = {sh->move[0][v], sh->move[1][v], sh->move[2][v]};
            h = fmax(h, dju_dot3(n, x));
            moved = djt_worst(moved, dju_dot3(n, dju_madd3(x, -0.01, y)));
            CHECK(dju_norm3(dju_sub3(x, sh->center)) + sh->radius <= sh->bound * (1 + 1e-12));
          }
          h += reach(sh, n, 0);
          moved += reach(sh, n, 0.01);
          djt_near(h + sh->radius - dju_dot3(n, pose.p), half[k] - c->skin + grow, 1e-12);
          djt_near(moved + sh->radius + 0.01 * sh->radius_slope - dju_dot3(n, pose.p),
               half[k] - c->skin + grow - 0.01, 1e-12);
        }
      }
      djt_near(dju_norm3(dju_sub3(sh->center, pose.p)), 0, 1e-12);
      djt_near(sh->inner, fmin(half[0], fmin(half[1], half[2])), 1e-12);
      for (int v = sh->nvert; v < sh->npad; v++) CHECK(sh->vert[0][v] == sh->vert[0][0]);
      // and the true shape back
      double mem[3 * 8];
      djShape whole;
      dj_trueConvex(&whole, mem, &m->collision->shape[i], &m->collision->bounds[i], m, i);
      djVec3 n = dju_column(&pose.R, 2);
      double h = -INFINITY;
      for (int v = 0; v < sh->nvert; v++) {
        h = fmax(h, dju_dot3(n, dju_vec3(whole.vert[0][v], whole.vert[1][v], whole.vert[2][v])));
      }
      h += reach(&whole, n, 0);
      djt_near(h + whole.radius - dju_dot3(n, pose.p), half[2], 1e-12);
      checkBox(m, i);
    }
    dj_deleteModel(m);
  }
}

static void testSettings(void) {
  Random r = {4};
  static Scene s;
  mixedScene(&s, &r);
  s.def.option.support = 0.05;
  s.def.option.length_scale = 0.5;
  s.def.option.skin = 0.04;
  s.def.option.stiffness = 3;
  s.def.option.friction_eps = 1e-7;
  djModel* m = make(&s);
  CHECK(m->contact.support == 0.05 && m->contact.stiffness == 3 && m->contact.friction_eps == 1e-7);
  djt_near(m->contact.range, 2 * 0.05 * 0.5 / 0.95, 1e-15);
  djt_near(m->geom_skin[1], 0.04, 0);        // sphere of radius 0.2
  djt_near(m->geom_skin[2], 0.025, 1e-15);   // capsule: a quarter of 0.1
  djt_near(m->geom_skin[0], 0.04, 0);
  djt_near(m->contact.skin, 0.04, 0);
  // a changed size keeps the settings and skins in force
  djError err;
  djParam p = djt_param(m, "geom/g2/size");
  double size[3] = {0.02, 0.3, 0};
  assert_int_equal(dj_setParam(m, &p, size, &err), DJ_OK);
  djt_near(m->contact.radius, 0.2, 0);
  djt_near(m->geom_radius[2], 0.1, 0);
  djt_near(m->geom_skin[2], 0.025, 1e-15);
  djt_near(m->collision->shape[2].inner, 0.02, 0);
  CHECK(m->collision->shape[2].radius > 0);
  // a copy has the same
  djModel* copy = djt_copy(m);
  assert_memory_equal(&copy->contact, &m->contact, sizeof m->contact);
  for (int g = 0; g < m->ngeom; g++) {
    const djShape *x = &m->collision->shape[g], *y = &copy->collision->shape[g];
    assert_int_equal(x->nvert, y->nvert);
    CHECK(x->radius == y->radius && x->bound == y->bound && x->offset == y->offset);
    for (int k = 0; k < 3 && x->npad; k++) {
      CHECK(x->vert[k] != y->vert[k]);
      assert_memory_equal(x->vert[k], y->vert[k], (size_t)x->npad * sizeof(double));
    }
  }
  dj_deleteModel(copy);
  // new options: defaults anew
  djOption option = dj_defaultOption();
  option.timestep = 0.0005;
  assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
  djt_near(m->contact.support, fmin(0.02 * 0.02, 0.15 * 0.0005), 1e-18);
  dj_deleteModel(m);
}

// A gap beyond the margin shrinks shapes, by half of their inner radius at most; the data keep what
// they shrank by, and with the skin no more than 0.9 of that radius is gone.
static void testShrunk(void) {
  Random r = {6};
  static Scene s;
  for (int trial = 0; trial < 40; trial++) {
    mixedScene(&s, &r);
    for (int i = 0; i < s.def.ngeom; i++) s.geom[i].gap = trial % 2 ? 1 : uniform(&r, 0, 0.2);
    djModel* m = make(&s);
    for (int round = 0; round < 2; round++) {
      for (int i = 1; i < m->ngeom; i++) {
        const djShape* sh = &m->collision->shape[i];
        if (sh->type == DJ_MESH) continue;
        double shrink = fmin(s.geom[i].gap, DJ_MOST_SHRINK * sh->inner), h = -INFINITY;
        djt_near(m->collision->bounds[i].inflate, -shrink, 1e-15);
        djt_near(sh->skin, fmin(m->geom_skin[i] + shrink, 0.9 * sh->inner), 1e-15);
        const double* size = m->geom_size + 3 * i;
        djMat3 R = dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * i));
        djVec3 n = dju_column(&R, 0);
        for (int v = 0; v < sh->nvert; v++) {
          djVec3 x = {sh->vert[0][v], sh->vert[1][v], sh->vert[2][v]};
          h = fmax(h, dju_dot3(n, dju_sub3(x, sh->center)));
        }
        djt_near(h + sh->radius + reach(sh, n, 0), size[0] - sh->skin, 1e-12);
      }
      // a size that becomes too small for the skin that is in force
      djError err;
      djParam p = djt_param(m, "geom/g1/size");
      double size[3] = {m->geom_skin[1], 0, 0};
      assert_int_equal(dj_setParam(m, &p, size, &err), DJ_OK);
    }
    dj_deleteModel(m);
  }
}

// Settings of a model in which nothing moves of itself are those of one kilogram.
static void testNothingMoves(void) {
  static Scene s;
  start(&s);
  int b = addBody(&s, 0, false);
  s.body[b].mocap = true;
  addGeom(&s, 0, DJ_PLANE, 0, 0, 1);
  addGeom(&s, b, DJ_SPHERE, 0.2, 0, 0);
  djModel* m = make(&s);
  djt_near(m->contact.weight, 9.81, 1e-14);
  CHECK(m->contact.stiffness > 0);
  dj_deleteModel(m);
}

static void testRefused(void) {
  Random r = {5};
  static Scene s;
  mixedScene(&s, &r);
  double flat[24];
  boxVertices(flat, 1, 1, 0);
  s.mesh[0].vert = flat;
  djModel* m = NULL;
  djError err = {""};
  assert_int_equal(dj_makeModel(&m, &s.def, &err), DJ_INVALID);
  assert_null(m);
  CHECK(strstr(err.text, "g4") && strstr(err.text, "flat"));
  // unless it never collides, or contact is off
  s.geom[4].contype = s.geom[4].conaffinity = 0;
  m = make(&s);
  assert_int_equal(m->collision->shape[4].type, -1);
  dj_deleteModel(m);
  s.geom[4].contype = s.geom[4].conaffinity = 1;
  s.def.option.contact = DJ_CONTACT_NONE;
  m = make(&s);
  dj_deleteModel(m);
  assert_int_equal(dj_makeCollision(NULL, false, &err), DJ_INVALID);
}

DJT_MAIN(testPredicate, testMixing, testRestitutionOption, testCoefficientVersion, testShapes,
         testSettings, testShrunk, testNothingMoves, testRefused)
