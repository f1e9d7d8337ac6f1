// What actuators on one coordinate give together: lists, clamps, totals and their scales against
// plain minima and maxima, derivatives and means against differences and sums.

#include "common/force_case.h"
#include "common/make_model.h"
#include "common/near.h"
#include "common/pair_case.h"
#include "common/scene.h"
#include "common/test.h"
#include "force/actuator.h"
#include "math/piecewise.h"

typedef struct Case {
  djForceCase c;
  djActuators* t;
  int coord, act;          // whose force before its clamp moves; -1: the displacement does
  double psi;
} Case;

static Case openCase(djRng* rng, int features) {
  djModel* m = djt_randomModel(rng, 3 + djt_integer(rng, 4), DJT_ACTUATORS | features);
  Case c = {djt_openForceCase(m, rng), NULL, 0, -1, 0};
  c.t = c.c.w->forces.state[DJ_FORCE_ACTUATOR];
  return c;
}

// Every actuator is on a site or in the list of its target, once.
static void testLists(void) {
  djRng rng = {1};
  int kind[4] = {0};
  for (int t = 0; t < 40; t++) {
    Case c = openCase(&rng, DJT_TENDONS);
    const djModel* m = c.c.m;
    int n = m->ncoord + m->njnt, listed = 0;
    for (int k = 0; k < n; k++) {
      for (int e = c.t->first[k]; e < c.t->first[k + 1]; e++) {
        int i = c.t->order[e];
        assert_int_equal(dj_targetOf(m, i), k);
        assert_true(e == c.t->first[k] || i > c.t->order[e - 1]);
        if (k < m->ncoord) assert_int_equal(m->actuator_coord[i], k);
        else assert_int_equal(m->actuator_joint[i], k - m->ncoord);
        listed++;
      }
    }
    for (int i = 0; i < m->nu; i++) {
      int j = m->actuator_joint[i];
      bool site = m->actuator_site[2 * i] >= 0, two = m->actuator_site[2 * i + 1] >= 0;
      assert_true(dj_onSite(m, i) == site && dj_onOneSite(m, i) == (site && !two));
      assert_true(dj_onFreeJoint(m, i) == (j >= 0 && m->jnt_type[j] == DJ_FREE));
      assert_true(site == (dj_targetOf(m, i) < 0));
      kind[site ? 0 : dj_onFreeJoint(m, i) ? 1 : dj_targetOf(m, i) < m->ncoord ? 2 : 3]++;
      listed += site;
    }
    assert_int_equal(listed, m->nu);
    assert_false(dj_actuatorsOff(m));
    c.c.m->opt.disable = DJ_DSBL_ACTUATION;
    assert_true(dj_actuatorsOff(m));
    djt_closeForceCase(&c.c);
  }
  for (int k = 0; k < 4; k++) assert_true(kind[k] > 5);
}

static double clamped(double x, const double range[2]) { return fmin(fmax(x, range[0]), range[1]); }

// The total with corners; *width: of the ranges.
static double plainTotal(double* width, const Case* c, double psi) {
  const djModel* m = c->c.m;
  int id = m->coord_id[c->coord], type = m->coord_type[c->coord];
  double raw = 0, f = 0, r = 1;
  *width = 0;
  for (int k = c->t->first[c->coord]; k < c->t->first[c->coord + 1]; k++) {
    const djActuatorStep* a = &c->t->act[c->t->order[k]];
    raw += a->alpha + a->beta * psi;
  }
  if (type == DJ_COORD_TENDON && m->tendon_actfrclimited[id] && raw != 0) {
    r = clamped(raw, m->tendon_actfrcrange + 2 * id) / raw;
    *width += 30;   // of what is scaled
  }
  for (int k = c->t->first[c->coord]; k < c->t->first[c->coord + 1]; k++) {
    int i = c->t->order[k];
    double p = r * (c->t->act[i].alpha + c->t->act[i].beta * psi);
    if (m->actuator_forcelimited[i]) p = clamped(p, m->actuator_forcerange + 2 * i);
    f += c->t->act[i].gear[0] * p;
    *width += 4 * fabs(c->t->act[i].gear[0]);
  }
  if (type != DJ_COORD_JOINT || !m->jnt_actfrclimited[id]) return f;
  *width += 4;
  return clamped(f, m->jnt_actfrcrange + 2 * id);
}

static void totalAt(double* y, void* user, double e) {
  Case* c = user;
  double kept = 0, psi = c->psi;
  if (c->act >= 0) {
    kept = c->t->act[c->act].alpha;
    c->t->act[c->act].alpha += e;
  } else {
    psi += e;
  }
  y[0] = dj_totalForce(c->t, c->c.m, c->coord, psi).f.f;
  y[1] = dj_workAlong(c->t, c->c.m, c->coord, psi);
  if (c->act >= 0) c->t->act[c->act].alpha = kept;
}

// The smallest error of a derivative over some steps: clamps have corners.
static double slopeError(double slope, int which, Case* c) {
  double best = INFINITY, d[2];
  for (double e = 0.01; e > 1e-6 && best > 1e-9; e /= 5) {
    extrapolate(d, 2, e, 1, totalAt, c);
    best = fmin(best, fabs(d[which] - slope) / (1 + fabs(slope)));
  }
  return best;
}

static bool hasTotal(const djModel* m, int c) {
  if (m->coord_type[c] == DJ_COORD_CRANK) return false;
  return m->coord_type[c] == DJ_COORD_TENDON ? m->tendon_actfrclimited[m->coord_id[c]]
                                             : m->jnt_actfrclimited[m->coord_id[c]];
}

// Brings the sum of forces on a tendon near a bound, which scaled forces never pass.
static void toCorner(Case* c, djRng* rng) {
  const djModel* m = c->c.m;
  if (m->coord_type[c->coord] != DJ_COORD_TENDON) return;
  const double* range = m->tendon_actfrcrange + 2 * m->coord_id[c->coord];
  double raw = 0, want = range[djt_integer(rng, 2)];
  want += 0.02 * (range[1] - range[0]) * djt_uniform(rng, -1, 1);
  int from = c->t->first[c->coord], to = c->t->first[c->coord + 1];
  for (int k = from; k < to; k++) {
    const djActuatorStep* a = &c->t->act[c->t->order[k]];
    raw += a->alpha + a->beta * c->psi;
  }
  c->t->act[c->t->order[from]].alpha += want - raw;
  double scaled = dj_totalForce(c->t, m, c->coord, c->psi).r * want;
  assert_true(scaled >= range[0] - 1e-12 && scaled <= range[1] + 1e-12);
}

static void testTotals(void) {
  djRng rng = {2};
  int n[3] = {0};   // by types of coordinates that have a clamp of their total
  double worst[4] = {0};
  for (int t = 0; t < 120; t++) {
    Case c = openCase(&rng, DJT_TENDONS | DJT_TOTAL);
    const djModel* m = c.c.m;
    for (c.coord = 0; c.coord < m->ncoord; c.coord++) {
      if (c.t->first[c.coord] == c.t->first[c.coord + 1]) continue;
      for (int k = 0; k < 8; k++) {
        c.psi = djt_uniform(&rng, -0.02, 0.02);
        for (int e = c.t->first[c.coord]; e < c.t->first[c.coord + 1]; e++) {
          c.t->act[c.t->order[e]].alpha = djt_uniform(&rng, -4, 4);
        }
        if (hasTotal(m, c.coord) && k % 2) toCorner(&c, &rng);
        double width, plain = plainTotal(&width, &c, c.psi);
        djTotal total = dj_totalForce(c.t, m, c.coord, c.psi);
        worst[0] = djt_worst(worst[0], fabs(total.f.f - plain) / (0.01 * width + 1e-12));
        c.act = -1;
        worst[1] = djt_worst(worst[1], slopeError(total.f.d, 0, &c));
        for (int e = c.t->first[c.coord]; e < c.t->first[c.coord + 1]; e++) {
          c.act = c.t->order[e];
          double by = dj_totalByForce(&total, c.t, m, c.act, c.psi);
          worst[2] = djt_worst(worst[2], slopeError(by, 0, &c));
        }
        c.act = -1;
        n[m->coord_type[c.coord]] += hasTotal(m, c.coord);
        worst[3] = djt_worst(worst[3], slopeError(total.f.f, 1, &c));
      }
    }
    djt_closeForceCase(&c.c);
  }
  print_message("totals %.1e of a hundredth, slope %.1e, by forces %.1e, work %.1e; %d, %d\n",
                worst[0], worst[1], worst[2], worst[3], n[DJ_COORD_JOINT], n[DJ_COORD_TENDON]);
  assert_true(worst[0] < 1 && worst[1] < 1e-6 && worst[2] < 1e-6 && worst[3] < 1e-7);
  assert_true(n[DJ_COORD_JOINT] > 20 && n[DJ_COORD_TENDON] > 20);
}

// Adaptive quadrature of the force along a coordinate.
static double gauss(const Case* c, double from, double to) {
  double sum = 0;
  for (int k = 0; k < DJ_GAUSS_POINTS; k++) {
    double psi = from + dju_gauss[k][0] * (to - from);
    sum += dju_gauss[k][1] * dj_totalForce(c->t, c->c.m, c->coord, psi).f.f;
  }
  return sum * (to - from);
}

// Until a panel agrees with its halves and these with theirs.
static double bisected(const Case* c, double from, double to, double whole, double most, int depth,
                       bool agreed) {
  double mid = 0.5 * (from + to), a = gauss(c, from, mid), b = gauss(c, mid, to);
  bool agrees = fabs(a + b - whole) < most;
  if (depth == 0 || (agrees && agreed)) return a + b;
  return bisected(c, from, mid, a, 0.5 * most, depth - 1, agrees) +
         bisected(c, mid, to, b, 0.5 * most, depth - 1, agrees);
}

// Work to rounding: servos, dampers and runaway gains of any stiffness, several on a coordinate,
// with and without ranges of their own, over ways from anywhere to anywhere.
static void testWork(void) {
  djRng rng = {5};
  int n[2][4] = {{0}};   // by type, and how many act on it
  double worst[2] = {0};
  for (int t = 0; t < 60; t++) {
    Case c = openCase(&rng, DJT_TENDONS | DJT_TOTAL);
    djModel* m = c.c.m;
    for (c.coord = 0; c.coord < m->ncoord; c.coord++) {
      int from = c.t->first[c.coord], count = c.t->first[c.coord + 1] - from;
      if (count == 0 || !hasTotal(m, c.coord)) continue;
      bool tendon = m->coord_type[c.coord] == DJ_COORD_TENDON;
      double* range = tendon ? m->tendon_actfrcrange + 2 * m->coord_id[c.coord]
                             : m->jnt_actfrcrange + 2 * m->coord_id[c.coord];
      for (int k = 0; k < 30; k++) {
        double size = exp(djt_uniform(&rng, -2, 4)), most = 0;
        range[0] = djt_integer(&rng, 6) ? -size * djt_uniform(&rng, 0.03, 2) : 0;
        range[1] = djt_integer(&rng, 6) ? size * djt_uniform(&rng, 0.03, 2) : 0;
        c.psi = djt_uniform(&rng, -1, 1);
        for (int e = from; e < from + count; e++) {
          int i = c.t->order[e];
          djActuatorStep* a = &c.t->act[i];
          double* own = m->actuator_forcerange + 2 * i;
          m->actuator_forcelimited[i] = djt_integer(&rng, 3) > 0;
          own[0] = djt_uniform(&rng, -1, 0.1) * size;
          own[1] = own[0] + size * djt_uniform(&rng, 0, 2);
          a->alpha = size * djt_uniform(&rng, -3, 3);
          a->beta = djt_integer(&rng, 8) ? size * djt_uniform(&rng, -1, 1) *
                                               exp(djt_uniform(&rng, 0, 6)) : 0;
          most += fabs(a->gear[0]) * size;
        }
        double want = 0;
        for (int e = 0; e < 256; e++) {
          double x = c.psi * e / 256, y = c.psi * (e + 1) / 256;
          want += bisected(&c, x, y, gauss(&c, x, y), 1e-14 * most * fabs(c.psi), 30, false);
        }
        double error = fabs(dj_workAlong(c.t, m, c.coord, c.psi) - want) / (most * fabs(c.psi));
        worst[tendon] = djt_worst(worst[tendon], error);
        n[tendon][count < 3 ? count : 3]++;
      }
    }
    djt_closeForceCase(&c.c);
  }
  print_message("work off by %.1e of joints, %.1e of tendons; %d %d %d, %d %d %d\n", worst[0],
                worst[1], n[0][1], n[0][2], n[0][3], n[1][1], n[1][2], n[1][3]);
  assert_true(worst[0] < 1e-13 && worst[1] < 1e-13);
}

// One actuator: clamp, mean over the way, and where there is no way.
static void testMean(void) {
  djRng rng = {3};
  int limited = 0;
  for (int t = 0; t < 40; t++) {
    Case c = openCase(&rng, 0);
    const djModel* m = c.c.m;
    for (int i = 0; i < m->nu; i++) {
      djActuatorStep a = c.t->act[i];
      a.alpha = djt_uniform(&rng, -4, 4);
      a.beta = djt_uniform(&rng, -4, 4);
      double psi = djt_uniform(&rng, -1, 1), mean = 0;
      const double* range = m->actuator_forcerange + 2 * i;
      for (int s = 0; s < 4000; s++) {
        double p = a.alpha + a.beta * psi * (s + 0.5) / 4000;
        djJet f = dj_clampForce(&a, m, i, p);
        mean += f.f / 4000;
        double want = m->actuator_forcelimited[i] ? clamped(p, range) : p;
        djt_near(f.f, want, 0.002 * (range[1] - range[0]) * m->actuator_forcelimited[i]);
      }
      djt_near(dj_meanForce(m, i, &a, psi), mean, 1e-6);
      djt_near(dj_meanForce(m, i, &a, 0), dj_clampForce(&a, m, i, a.alpha).f, 1e-12);
      limited += m->actuator_forcelimited[i];
    }
    djt_closeForceCase(&c.c);
  }
  assert_true(limited > 20);
}

// Inputs: through the clamp of a control, through the activation, through the next one.
static void testInput(void) {
  djRng rng = {4};
  djActuatorStep a = {.gain = {2, 3, 5}, .dinput = 0.5, .dact = 0.25};
  assert_true(dj_gainAt(&a, 7, 11) == 2 + 3 * 7 + 5 * 11);
  for (int t = 0; t < 20; t++) {
    Case c = openCase(&rng, 0);
    const djModel* m = c.c.m;
    for (int i = 0; i < m->nu; i++) {
      djMatrixEntry entry[2];
      djEntries Ru = {.max = 1, .entry = entry}, Ra = {.max = 1, .entry = entry + 1};
      djInputSum sum = {&Ru, &Ra, NULL};
      int adr = a.adr = m->actuator_actadr[i];
      dj_addInput(&sum, &a, i, 3, -8);
      assert_true(Ru.n == 1 && entry[0].row == 3 && entry[0].col == i && entry[0].value == -4);
      assert_true(Ra.want == (adr >= 0));
      if (adr < 0) continue;
      assert_true(entry[1].row == 3 && entry[1].col == adr && entry[1].value == -2);
      const djActuatorStep* step = &c.t->act[i];
      assert_true(m->actuator_actearly[i] || (step->dact == 1 && step->dinput == 0));
    }
    djt_closeForceCase(&c.c);
  }
}

// ---- steps ------------------------------------------------------------------------------------

enum { OWN, TOTAL, BOTH, SEVERAL, TENDON, KINDS };

// A stiff servo on a hinge whose force is clamped: its own, the joint's total, both, of three
// servos beside each other, the total of a tendon.
static djModel* servo(int kind) {
  Scene* s = newScene(1);
  static djWrapDef wrap;
  static djTendonDef tendon;
  addBody(s, 0, DJ_HINGE, 0, 0, 0, 0.4, 0.15);
  s->joint[0].armature = 0.1;
  s->def.option.gravity[2] = 0;
  s->def.option.timestep = 0.0002;   // explicit damping is stable
  s->def.nu = kind == SEVERAL ? 3 : 1;
  for (int i = 0; i < s->def.nu; i++) {
    djActuatorDef* a = &s->actuator[i];
    double kp = 4500.0 / s->def.nu, force = kind == OWN ? 87 : kind == BOTH ? 120 : 25 + 20 * i;
    *a = dj_defaultActuatorDef();
    a->joint = kind == TENDON ? -1 : 0;
    a->tendon = kind == TENDON ? 0 : -1;
    a->gainprm[0] = kp;
    a->bias = DJ_BIAS_AFFINE;
    a->biasprm[1] = -kp;
    a->biasprm[2] = -0.1 * kp;
    a->forcelimited = kind == OWN || kind == BOTH || kind == SEVERAL;
    a->forcerange[0] = -force;
    a->forcerange[1] = force;
  }
  if (kind == TENDON) {
    wrap = (djWrapDef){DJ_WRAP_JOINT, 0, 1};
    tendon = dj_defaultTendonDef();
    tendon.wrap = &wrap;
    tendon.nwrap = 1;
    s->def.tendon = &tendon;
    s->def.ntendon = 1;
  }
  tendon.actfrclimited = true;
  s->joint[0].actfrclimited = kind == TOTAL || kind == BOTH || kind == SEVERAL;
  s->joint[0].actfrcrange[0] = tendon.actfrcrange[0] = -87;
  s->joint[0].actfrcrange[1] = tendon.actfrcrange[1] = 87;
  return takeScene(s);
}

// However forces are clamped, steps take no more than where each has a clamp of its own, and where
// clamps are the same so is the motion.
static void testSteps(void) {
  double end[KINDS];
  for (int kind = 0; kind < KINDS; kind++) {
    djRng rng = {6};
    djModel* m = servo(kind);
    djData* d = sceneData(m);
    int most = 0;
    for (int k = 0; k < 300; k++) {
      double u = djt_uniform(&rng, -3, 3);
      for (int i = 0; i < m->nu && k % 25 == 0; i++) d->ctrl[i] = u + 0.1 * i;
      assert_int_equal(dj_step(m, d), DJ_OK);
      if (d->stats.iterations > most) most = d->stats.iterations;
    }
    end[kind] = d->qpos[0];
    print_message("clamps %d: %.1f iterations, at most %d\n", kind,
                  (double)d->stats.newton_iterations / 300, most);
    assert_true(most <= 7);
    djt_delete(m, d);
  }
  djt_near(end[TOTAL], end[OWN], 1e-9);
  djt_near(end[BOTH], end[OWN], 1e-9);
  djt_near(end[TENDON], end[OWN], 1e-9);
  assert_true(fabs(end[SEVERAL] - end[OWN]) > 1e-3);
}

DJT_MAIN(testLists, testTotals, testWork, testMean, testInput, testSteps)
