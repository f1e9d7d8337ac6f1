// Spans of coordinates that bend: values by geometry, derivatives by moved bodies; and the list of
// coordinates with the dofs that move them.

#include "model/span.h"

#include "common/kin_case.h"
#include "common/make_model.h"
#include "common/near.h"
#include "common/test.h"
#include "common/worst.h"
#include "model/coordinate.h"
#include "model/coordinate_list.h"

// ---- values ------------------------------------------------------------------------------------

// A site by its body's frame.
static djVec3 placeOf(const djModel* m, const djKin* kin, int site) {
  const djPose* T = &kin->body[m->site_body[site]];
  return dju_add3(T->p, dju_mulMV(T->R, dju_load3(m->site_pos + 3 * site)));
}

// What is wrong with the way of a slider: a point of the axis that a rod's length leads to, the
// one behind the crank; beyond reach the nearest point.
static double crankError(const djModel* m, const djKin* kin, int i, double value) {
  int crank = m->actuator_crank[2 * i], slider = m->actuator_crank[2 * i + 1];
  double rod = m->actuator_cranklength[i];
  djMat3 frame = dju_quatToMat(dju_loadQuat(m->site_quat + 4 * slider));
  djVec3 a = dju_mulMV(kin->body[m->site_body[slider]].R, dju_column(&frame, 2));
  djVec3 p = placeOf(m, kin, crank), o = placeOf(m, kin, slider);
  djVec3 at = dju_madd3(o, value, a), to = dju_sub3(p, at);
  double along = dju_dot3(a, dju_sub3(p, o));
  double aside = dju_norm3(dju_sub3(p, dju_madd3(o, along, a)));
  if (aside > rod) return fabs(value - along);
  return fabs(dju_norm3(to) - rod) + fmax(0, value - along);
}

// Of all spans of a tendon.
static double lengthOf(const djModel* m, const djKin* kin, int t) {
  double sum = 0, divisor = 1;
  const int *type = m->wrap_type + m->tendon_adr[t], *id = m->wrap_objid + m->tendon_adr[t];
  for (int k = 0; k < m->tendon_num[t]; k++) {
    if (type[k] == DJ_WRAP_PULLEY) divisor = m->wrap_prm[m->tendon_adr[t] + k];
    if (k == 0 || type[k] != DJ_WRAP_SITE || type[k - 1] != DJ_WRAP_SITE) continue;
    djVec3 way = dju_sub3(placeOf(m, kin, id[k]), placeOf(m, kin, id[k - 1]));
    sum += dju_norm3(way) / divisor;
  }
  return sum;
}

static void testValues(void) {
  djRng rng = {1};
  int cranks = 0, parts = 0, far = 0;
  for (int trial = 0; trial < 150; trial++) {
    djModel* m = djt_randomModel(&rng, 1 + trial % 5, DJT_TENDONS | DJT_ACTUATORS);
    djtKins c = djt_openKins(m, &rng, 1);
    for (int i = 0; i < m->nu && trial % 3 == 0; i++) m->actuator_cranklength[i] *= 0.2;
    for (int k = 0; k < m->ncoord; k++) {
      djSpan span;
      djSpanAt at = {0, 0};
      double sum = 0;
      int n = 0;
      for (; dj_nextSpan(&span, &at, m, &c.kin[0], k, n % 3); n++) sum += span.value;
      bool path = m->coord_type[k] == DJ_COORD_TENDON && dj_coordinateBends(m, k);
      if (m->coord_type[k] == DJ_COORD_CRANK) {
        assert_int_equal(n, 1);
        djt_near(crankError(m, &c.kin[0], m->coord_id[k], sum), 0, 1e-9);
        far += dju_norm3(span.g[0]) < 1 + 1e-9;   // moves with the foot of the crank
        cranks++;
      } else if (path) {
        djt_near(sum, lengthOf(m, &c.kin[0], m->coord_id[k]), 1e-12);
        parts += n;
      } else {
        assert_int_equal(n, 0);
      }
    }
    djt_closeKins(&c);
  }
  print_message("%d cranks, %d of them out of reach, %d straight parts\n", cranks, far, parts);
  assert_true(far > 10 && cranks - far > 10 && parts > 100);
}

// ---- derivatives -------------------------------------------------------------------------------

// The n-th span of coordinate k with the pose of body b moved by s x.
static djSpan movedSpan(djtKins* c, int k, int n, int b, djSix x, double s) {
  djSpan span;
  djSpanAt at = {0, 0};
  dj_copyPoses(&c->kin[1], c->m, &c->kin[0]);
  djt_movePose(&c->kin[1], &c->kin[0], b, c->ref[b], x, s);
  for (int i = 0; i <= n; i++) assert_true(dj_nextSpan(&span, &at, c->m, &c->kin[1], k, 1));
  return span;
}

// Errors of a span's derivatives by twists x of the body of a side, y of that of another one.
static void spanErrors(double worst[3], djtKins* c, const djSpan* span, int k, int n, int side,
                       int to, djSix x, djSix y) {
  double W[18], V[18], h = 1e-4, value = 0, own = 0, other = 0;
  djSpanHess H;
  dj_spanGradient(W, span, c->ref);
  dj_spanHessian(&H, span, c->ref);
  for (int i = 0; i < 4; i++) {
    djSpan moved = movedSpan(c, k, n, span->body[side], x, h * djt_point[i]);
    assert_true(moved.nbody == span->nbody && moved.geom == span->geom);
    dj_spanGradient(V, &moved, c->ref);
    value += djt_weight[i] / h * moved.value;
    own += djt_weight[i] / h * dju_dot6(y, dju_load6(V + 6 * side));
    other += djt_weight[i] / h * dju_dot6(y, dju_load6(V + 6 * to));
  }
  djSix w = dju_load6(W + 6 * side);
  const double* K = H.K[dj_spanPair(side, to)];
  double got[3] = {dju_dot6(x, w),
                   djt_form6(x, H.N[side], y) - dju_dot6(w, dju_crossTwist(x, y)),
                   side < to ? djt_form6(x, K, y) : djt_form6(y, K, x)};
  const double fd[3] = {value, own, other};
  for (int i = 0; i < 3; i++) {
    worst[i] = djt_worst(worst[i], fabs(got[i] - fd[i]) / (1 + fabs(fd[i])));
  }
}

// Ends clear of what a part goes around, not in line with it, and not where its path begins.
static bool isSound(const djtKins* c, const djSpan* span) {
  if (span->geom < 0) return span->value > 0.05;
  djVec3 p = dju_transform(&c->kin[0].body[c->m->geom_body[span->geom]],
                           dju_load3(c->m->geom_pos + 3 * span->geom));
  djVec3 y[2] = {dju_sub3(span->point[0], p), dju_sub3(span->point[1], p)};
  double R = c->m->geom_size[3 * span->geom], r[2] = {dju_norm3(y[0]), dju_norm3(y[1])};
  if (r[0] < 1.1 * R || r[1] < 1.1 * R) return false;
  for (int i = 0; i < 4; i++) {
    if (!(fabs(span->A[0][0].m[i]) < 100 && fabs(span->A[1][1].m[i]) < 100)) return false;
  }
  return dju_norm3(dju_cross3(y[0], y[1])) > 0.05 * r[0] * r[1];
}

static void testDerivatives(void) {
  djRng rng = {2};
  double worst[3] = {0, 0, 0};
  int seen[4] = {0};   // straight parts, cranks, around geoms with two bodies, with three
  for (int trial = 0; trial < 120; trial++) {
    int more = trial < 60 ? 0 : DJT_WRAPS;
    djModel* m = djt_randomModel(&rng, 2 + trial % 5, DJT_TENDONS | DJT_ACTUATORS | more);
    djtKins c = djt_openKins(m, &rng, 1);
    for (int b = 0; b < m->nbody; b++) c.ref[b] = djt_vec3(&rng, 1);
    for (int k = 0; k < m->ncoord; k++) {
      djSpan span;
      djSpanAt at = {0, 0};
      for (int n = 0; dj_nextSpan(&span, &at, m, &c.kin[0], k, 2); n++) {
        bool crank = m->coord_type[k] == DJ_COORD_CRANK;
        if (span.nbody < 2 || (!crank && !isSound(&c, &span))) continue;
        for (int side = 0; side < span.nbody; side++) {
          for (int to = 0; to < span.nbody; to++) {
            djSix x = djt_twist(&rng), y = djt_twist(&rng);
            if (to != side) spanErrors(worst, &c, &span, k, n, side, to, x, y);
          }
        }
        seen[span.geom >= 0 ? span.nbody : crank]++;
      }
    }
    djt_closeKins(&c);
  }
  print_message("gradient %.1e, Hessian of a body %.1e, between them %.1e; %d + %d spans, %d + %d "
                "around geoms\n", worst[0], worst[1], worst[2], seen[0], seen[1], seen[2], seen[3]);
  assert_true(seen[0] > 80 && seen[1] > 20 && seen[2] > 20 && seen[3] > 20);
  for (int i = 0; i < 3; i++) assert_true(worst[i] < 1e-6);
}

// ---- scenes of one tendon ----------------------------------------------------------------------

typedef struct Scene {
  djModelDef def;
  djBodyDef body[6];
  djJointDef joint[6];
  djSiteDef site[6];
  djWrapDef wrap[6];
  djTendonDef tendon;
  djActuatorDef actuator;
} Scene;

// Bodies 1 - 2 - 3 in a chain, 4 on 2, 5 on the world: a hinge, slide and hinge, ball, hinge and a
// free joint, of dofs 0; 1, 2; 3 to 5; 6; 7 to 12. A site at the origin of each.
static void fillScene(Scene* s) {
  static const int parent[6] = {0, 0, 1, 2, 2, 0}, body[6] = {1, 2, 2, 3, 4, 5};
  static const djJointType type[6] = {DJ_HINGE, DJ_SLIDE, DJ_HINGE, DJ_BALL, DJ_HINGE, DJ_FREE};
  memset(s, 0, sizeof *s);
  s->def = dj_defaultModelDef();
  for (int b = 0; b < 6; b++) {
    s->body[b] = dj_defaultBodyDef();
    s->body[b].parent = parent[b];
    s->body[b].pos[0] = 0.1 * b;
    s->body[b].mass = 1;
    for (int k = 0; k < 3; k++) s->body[b].inertia[k] = 0.1;
    s->joint[b] = dj_defaultJointDef();
    s->joint[b].body = body[b];
    s->joint[b].type = type[b];
    s->site[b] = (djSiteDef){.body = b, .quat = {1, 0, 0, 0}};
  }
  s->tendon = dj_defaultTendonDef();
  s->tendon.wrap = s->wrap;
  s->actuator = dj_defaultActuatorDef();
  s->def.nbody = s->def.njnt = s->def.nsite = 6;
  s->def.body = s->body;
  s->def.joint = s->joint;
  s->def.site = s->site;
  s->def.tendon = &s->tendon;
  s->def.ntendon = 1;
  s->def.actuator = &s->actuator;
}

static void addWrap(Scene* s, djWrap type, int id, double prm) {
  s->wrap[s->tendon.nwrap++] = (djWrapDef){type, id, prm};
}

// Sites that meet: no length, and derivatives that are finite.
static void testMeeting(void) {
  Scene s;
  djRng rng = {3};
  fillScene(&s);
  s.body[2].pos[0] = 0;
  addWrap(&s, DJ_WRAP_SITE, 1, 0);
  addWrap(&s, DJ_WRAP_SITE, 2, 0);
  djtKins c = djt_openKins(djt_makeModel(&s.def), &rng, 0);
  memcpy(c.q[0], c.m->qpos0, (size_t)c.m->nq * sizeof(double));
  djt_setKin(&c, 0);
  djSpan span;
  djSpanAt at = {0, 0};
  double W[18];
  djSpanHess H;
  int k = c.m->tendon_coord[0];
  assert_true(dj_nextSpan(&span, &at, c.m, &c.kin[0], k, 2));
  djt_near(span.value, 0, DJ_SPAN_EPS);
  dj_spanGradient(W, &span, c.ref);
  dj_spanHessian(&H, &span, c.ref);
  for (int i = 0; i < 12; i++) assert_true(fabs(W[i]) < 1);
  for (int i = 0; i < 72; i++) {
    assert_true(isfinite(H.N[i / 36][i % 36]) && isfinite(H.K[0][i / 2]));
  }
  assert_false(dj_nextSpan(&span, &at, c.m, &c.kin[0], k, 2));
  djVec3 site = dj_sitePoint(c.m, &c.kin[0], 5);
  djt_near(dju_norm3(dju_sub3(site, c.kin[0].body[5].p)), 0, 0);
  djt_closeKins(&c);
}

// ---- the list ----------------------------------------------------------------------------------

static void expectDofs(const djCoordinateList* list, int c, int type, int id, int n,
                       const int* dof) {
  int first = 0;
  assert_true(c < list->n);
  for (int k = 0; k < c; k++) first += list->num[k];
  assert_int_equal(list->type[c], type);
  assert_int_equal(list->id[c], id);
  assert_int_equal(list->num[c], n);
  for (int k = 0; k < n; k++) assert_int_equal(list->dof[first + k], dof[k]);
}
#define EXPECT(list, c, type, id, ...)                                     \
  expectDofs(list, c, type, id, sizeof((int[]){__VA_ARGS__}) / sizeof(int), \
             (const int[]){__VA_ARGS__})

static djCoordinateList listOf(const djModelDef* def) {
  djCoordinateList list;
  djError err = {""};
  if (dj_makeCoordinateList(&list, def, &err) != DJ_OK) fail_msg("%s", err.text);
  int sum = 0;
  for (int c = 0; c < list.n; c++) sum += list.num[c];
  assert_int_equal(sum, list.ndof);
  return list;
}

// Scalar joints in order; of tendons dofs once each and ascending, those above both sites not.
static void testPath(void) {
  Scene s;
  fillScene(&s);
  addWrap(&s, DJ_WRAP_SITE, 5, 0);   // free body to 4: 7 to 12, 0, 1, 2 and 6
  addWrap(&s, DJ_WRAP_SITE, 4, 0);
  djCoordinateList list = listOf(&s.def);
  assert_int_equal(list.n, 5);
  assert_int_equal(list.ncrank, 0);
  EXPECT(&list, 0, DJ_COORD_JOINT, 0, 0);
  EXPECT(&list, 1, DJ_COORD_JOINT, 1, 1);
  EXPECT(&list, 2, DJ_COORD_JOINT, 2, 2);
  EXPECT(&list, 3, DJ_COORD_JOINT, 4, 6);
  EXPECT(&list, 4, DJ_COORD_TENDON, 0, 0, 1, 2, 6, 7, 8, 9, 10, 11, 12);
  dj_freeCoordinateList(&list);
  assert_true(list.n == 0 && list.ndof == 0 && !list.dof && !list.type);
  s.tendon.nwrap = 0;
  addWrap(&s, DJ_WRAP_SITE, 3, 0);   // siblings, and back
  addWrap(&s, DJ_WRAP_SITE, 4, 0);
  addWrap(&s, DJ_WRAP_SITE, 3, 0);
  list = listOf(&s.def);
  EXPECT(&list, 4, DJ_COORD_TENDON, 0, 3, 4, 5, 6);
  dj_freeCoordinateList(&list);
  s.tendon.nwrap = 0;
  addWrap(&s, DJ_WRAP_SITE, 1, 0);   // between the pulley's sides there is nothing
  addWrap(&s, DJ_WRAP_SITE, 2, 0);
  addWrap(&s, DJ_WRAP_PULLEY, -1, 2);
  addWrap(&s, DJ_WRAP_SITE, 5, 0);
  addWrap(&s, DJ_WRAP_SITE, 5, 0);
  list = listOf(&s.def);
  EXPECT(&list, 4, DJ_COORD_TENDON, 0, 1, 2);
  dj_freeCoordinateList(&list);
}

// Of fixed tendons the dofs of their joints; of cranks those between both sites. Without any
// coordinate the list is empty.
static void testOthers(void) {
  Scene s;
  fillScene(&s);
  addWrap(&s, DJ_WRAP_JOINT, 4, 1);
  addWrap(&s, DJ_WRAP_JOINT, 1, -2);
  s.actuator.cranksite = 1;
  s.actuator.slidersite = 3;
  s.actuator.cranklength = 1;
  s.def.nu = 1;
  djCoordinateList list = listOf(&s.def);
  EXPECT(&list, 4, DJ_COORD_TENDON, 0, 1, 6);
  EXPECT(&list, 5, DJ_COORD_CRANK, 0, 1, 2, 3, 4, 5);
  assert_int_equal(list.ncrank, 1);
  dj_freeCoordinateList(&list);
  s.def.njnt = s.def.nu = s.def.ntendon = 0;
  list = listOf(&s.def);
  assert_true(list.n == 0 && list.ndof == 0);
  dj_freeCoordinateList(&list);
}

// Whether dof i moves body b.
static bool moves(const djModel* m, int i, int b) {
  for (; b > 0; b = m->body_parent[b]) {
    if (m->dof_body[i] == b) return true;
  }
  return false;
}

// Geoms on the way of coordinate k, also where the path does not touch them.
static void markGeoms(char* wanted, const djModel* m, int k) {
  if (m->coord_type[k] != DJ_COORD_TENDON) return;
  int adr = m->tendon_adr[m->coord_id[k]], n = m->tendon_num[m->coord_id[k]];
  for (int w = adr; w < adr + n; w++) {
    if (m->wrap_type[w] != DJ_WRAP_SPHERE && m->wrap_type[w] != DJ_WRAP_CYLINDER) continue;
    int body = m->geom_body[m->wrap_objid[w]];
    for (int i = 0; i < m->nv; i++) {
      for (int side = -1; side < 2; side += 2) {
        if (moves(m, i, body) != moves(m, i, m->site_body[m->wrap_objid[w + side]])) wanted[i] = 1;
      }
    }
  }
}

// What models keep of the list: every bent coordinate has the dofs that move one body of a span
// and not the other.
static void testFilled(void) {
  djRng rng = {4};
  int bent = 0;
  for (int trial = 0; trial < 40; trial++) {
    int more = trial % 2 ? DJT_WRAPS : 0;
    djModel* m = djt_randomModel(&rng, 1 + trial % 6, DJT_TENDONS | DJT_ACTUATORS | more);
    djtKins c = djt_openKins(m, &rng, 1);
    for (int k = 0; k < m->ncoord; k++) {
      const int *dof = m->coord_dof + m->coord_dofadr[k], id = m->coord_id[k];
      if (m->coord_type[k] == DJ_COORD_JOINT) assert_int_equal(m->jnt_coord[id], k);
      if (m->coord_type[k] == DJ_COORD_TENDON) assert_int_equal(m->tendon_coord[id], k);
      if (m->coord_type[k] == DJ_COORD_CRANK) assert_int_equal(m->actuator_coord[id], k);
      if (!dj_coordinateBends(m, k)) continue;
      djSpan span;
      djSpanAt at = {0, 0};
      int n = 0;
      char* wanted = calloc((size_t)m->nv + 1, 1);
      assert_non_null(wanted);
      while (dj_nextSpan(&span, &at, m, &c.kin[0], k, 0)) {
        for (int i = 0; i < m->nv; i++) {
          for (int s = 1; s < span.nbody; s++) {
            if (moves(m, i, span.body[0]) != moves(m, i, span.body[s])) wanted[i] = 1;
          }
        }
      }
      markGeoms(wanted, m, k);
      for (int i = 0; i < m->nv; i++) {
        if (wanted[i]) assert_int_equal(dof[n++], i);
      }
      assert_int_equal(n, m->coord_dofnum[k]);
      free(wanted);
      bent++;
    }
    for (int i = 0; i < m->nu; i++) {
      int j = m->actuator_joint[i], t = m->actuator_tendon[i], k = m->actuator_coord[i];
      if (j >= 0) assert_int_equal(k, m->jnt_coord[j]);
      if (t >= 0) assert_int_equal(k, m->tendon_coord[t]);
      if (j < 0 && t < 0 && m->actuator_crank[2 * i] < 0) assert_int_equal(k, -1);
    }
    djt_closeKins(&c);
  }
  assert_true(bent > 60);
}

DJT_MAIN(testValues, testDerivatives, testMeeting, testPath, testOthers, testFilled)
