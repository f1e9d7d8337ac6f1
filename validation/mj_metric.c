// The other way to make MuJoCo's step implicit in contact: its force linearised at the start of the
// step, with h^2 K + h D added to M in the callback of a passive plugin,
//   (M + h D + h^2 K)(v+ - v) = h (f + f_c - h K v),
// K the Hessian of the contact energy, D minus the derivative of friction by velocity. How far v+
// lands from that of the full implicit step, in units of g h, at the states of the implicit
// trajectory; and where a run of its own ends up. For the record; djm_impose has no such error.
// Sliding and resting are followed (0.2 g h for one body, 1 for two); an impact is not: the barrier
// grows without bound within a step, and its tangent at the start knows nothing of it (50 to 250).
//   - M holds what its sparsity pattern admits: each body's own block. Of two bodies in contact the
//     coupling block is left out; its force -h K v can be left out with it, or kept.
//   - K and D without negative eigenvalues: M must stay definite.
//   - Bodies whose inertia frame is their own frame have a diagonal M: boxes here are off it by
//     1e-6 m.

#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAXBOX = 2, MAXDOF = 6 * MAXBOX };

// How contact enters MuJoCo's step.
typedef enum { EXPLICIT, METRIC, COUPLED, NWAY } Way;
static const char* const kWays[] = {"force at the start", "metric, own blocks",
                                    "metric, coupling force"};

// What the plugin's callback reads: contact pairs are (floor, box 0), (box 0, box 1).
static struct {
  Way way;
  int nbox;
  const djModel* model;       // settings in force
  djcPair* pair[MAXBOX];
  djcShape shape[MAXBOX + 1]; // floor, boxes
  double friction;
} plan;

// ------------------------------ one linearised contact -------------------------------------------

// Force and derivatives in twists (angular, linear; world axes) of both bodies about their origins.
typedef struct Linear {
  double wrench[12], K[144], D[144];
} Linear;

static void friction(double wrench[12], const djcShape* a, const djcShape* b,
                     const double twist[12], double h) {
  djcOption option = djc_defaultOption();
  djcResult result;
  const djContactSettings* c = &plan.model->contact;
  option.support = c->support;
  option.length_scale = c->length_scale;
  option.friction = (djcFriction){.enabled = true, .coefficient = plan.friction, .dt = h,
                                  .eps = c->friction_eps};
  mju_scl(option.friction.motion_a, twist, h, 6);
  mju_scl(option.friction.motion_b, twist + 6, h, 6);
  if (djc_pair(&result, NULL, NULL, NULL, a, b, &option) < 0) djv_fail("%s", result.message);
  mju_scl(wrench, result.friction_wrench_a, c->stiffness, 6);
  mju_scl(wrench + 6, result.friction_wrench_b, c->stiffness, 6);
}

// Contact of two shapes that move with `twist`.
static void linearise(Linear* out, djcPair* pair, const djcShape* a, const djcShape* b,
                      const double twist[12], double h) {
  double value, gradient[12], slip[12], ahead[12], behind[12];
  double stiffness = plan.model->contact.stiffness;
  djStatus status = djc_evalPair(&value, gradient, out->K, pair, a->pos, a->quat, b->pos, b->quat);
  if (status < 0 || !isfinite(value)) djv_fail("pair: status %d, value %g", status, value);
  mju_scl(out->K, out->K, stiffness, 144);
  friction(slip, a, b, twist, h);
  for (int i = 0; i < 12; i++) out->wrench[i] = slip[i] - stiffness * gradient[i];
  for (int j = 0; j < 12; j++) {
    double moved[12], eps = 1e-3 * sqrt(plan.model->contact.friction_eps);
    memcpy(moved, twist, sizeof(moved));
    moved[j] = twist[j] + eps;
    friction(ahead, a, b, moved, h);
    moved[j] = twist[j] - eps;
    friction(behind, a, b, moved, h);
    for (int i = 0; i < 12; i++) out->D[12 * i + j] = (behind[i] - ahead[i]) / (2 * eps);
  }
}

// ------------------------------ the plugin -------------------------------------------------------

// map (6 x 6): twist of box k about its origin from its qvel (linear, angular in the body's axes).
static void twistMap(double map[36], const mjData* d, int k) {
  mju_zero(map, 36);
  for (int i = 0; i < 3; i++) {
    map[6 * (3 + i) + i] = 1;
    for (int j = 0; j < 3; j++) map[6 * i + 3 + j] = d->xmat[9 * (1 + k) + 3 * i + j];
  }
}

static void pose(djcShape* s, const mjData* d, int body) {
  mju_copy3(s->pos, d->xpos + 3 * body);
  mju_copy3(s->origin, d->xpos + 3 * body);
  mju_copy4(s->quat, d->xquat + 4 * body);
}

// The symmetric part of X without its negative eigenvalues, by Jacobi's rotations. X (6 x 6)
static void clampNegative(double X[36]) {
  double A[6][6], V[6][6] = {{0}};
  for (int i = 0; i < 36; i++) A[i / 6][i % 6] = 0.5 * (X[i] + X[6 * (i % 6) + i / 6]);
  for (int i = 0; i < 6; i++) V[i][i] = 1;
  for (int sweep = 0; sweep < 30; sweep++) {
    for (int p = 0; p < 6; p++) {
      for (int q = p + 1; q < 6; q++) {
        double angle = 0.5 * atan2(2 * A[p][q], A[q][q] - A[p][p]), c = cos(angle), s = sin(angle);
        for (int k = 0; k < 6; k++) {
          double x = A[k][p], y = A[k][q], v = V[k][p], w = V[k][q];
          A[k][p] = c * x - s * y, A[k][q] = s * x + c * y;
          V[k][p] = c * v - s * w, V[k][q] = s * v + c * w;
        }
        for (int k = 0; k < 6; k++) {
          double x = A[p][k], y = A[q][k];
          A[p][k] = c * x - s * y, A[q][k] = s * x + c * y;
        }
      }
    }
  }
  mju_zero(X, 36);
  for (int e = 0; e < 6; e++) {
    for (int i = 0; i < 36 && A[e][e] > 0; i++) X[i] += A[e][e] * V[i / 6][e] * V[i % 6][e];
  }
}

// block (6 x 6) = map' X map without negative eigenvalues; X: rows of 12.
static void mapBlock(double block[36], const double map[36], const double* X) {
  double half[36];
  for (int i = 0; i < 36; i++) {
    half[i] = 0;
    for (int r = 0; r < 6; r++) half[i] += X[12 * (i / 6) + r] * map[6 * r + i % 6];
  }
  mju_mulMatTMat(block, map, half, 6, 6, 6);
  clampNegative(block);
}

// M's own block of box k += its part of h^2 K + h D, given 6 x 6.
static void addToM(const mjModel* m, mjData* d, int k, const double block[36]) {
  for (int i = 0; i < 6; i++) {
    int row = 6 * k + i, at = m->M_rowadr[row];
    if (m->M_rownnz[row] != i + 1) djv_fail("row %d of M has %d entries", row, m->M_rownnz[row]);
    for (int j = 0; j <= i; j++) d->M[at + j] += block[6 * i + j];
  }
}

// One pair of boxes (a: 0 the floor, else box a - 1).
static void addContact(const mjModel* m, mjData* d, int a, double metric[MAXBOX][36]) {
  double h = m->opt.timestep, map[2][36], twist[12] = {0};
  Linear lin;
  // The floor is the second of its pair.
  int side[2] = {a == 0 ? 1 : a, a == 0 ? 0 : a + 1};
  for (int s = 0; s < 2; s++) {
    mju_zero(map[s], 36);
    if (side[s] == 0) continue;
    int k = side[s] - 1;
    pose(&plan.shape[side[s]], d, 1 + k);
    twistMap(map[s], d, k);
    mju_mulMatVec(twist + 6 * s, map[s], d->qvel + 6 * k, 6, 6);
  }
  linearise(&lin, plan.pair[a], &plan.shape[side[0]], &plan.shape[side[1]], twist, h);
  for (int s = 0; s < 2; s++) {
    if (side[s] == 0) continue;
    int k = side[s] - 1;
    double wrench[6], force[6], K[36], D[36], Kv[6];
    mju_copy(wrench, lin.wrench + 6 * s, 6);
    for (int i = 0; i < 6 && plan.way == COUPLED; i++) {
      const double* row = lin.K + 12 * (6 * s + i);
      wrench[i] -= h * mju_dot(row + 6 * (1 - s), twist + 6 * (1 - s), 6);
    }
    mju_mulMatTVec(force, map[s], wrench, 6, 6);
    mju_addTo(d->qfrc_passive + 6 * k, force, 6);
    if (plan.way == EXPLICIT) continue;
    mapBlock(K, map[s], lin.K + 78 * s);
    mapBlock(D, map[s], lin.D + 78 * s);
    mju_mulMatVec(Kv, K, d->qvel + 6 * k, 6, 6);
    mju_addToScl(d->qfrc_passive + 6 * k, Kv, -h, 6);
    for (int i = 0; i < 36; i++) metric[k][i] += h * h * K[i] + h * D[i];
  }
}

static void compute(const mjModel* m, mjData* d, int instance, int capability) {
  (void)instance, (void)capability;
  double metric[MAXBOX][36] = {{0}};
  for (int a = 0; a < plan.nbox; a++) addContact(m, d, a, metric);
  for (int k = 0; k < plan.nbox; k++) addToM(m, d, k, metric[k]);
  mj_factorM(m, d);
}

static int noState(const mjModel* m, int instance) {
  (void)m, (void)instance;
  return 0;
}

static int startPlugin(const mjModel* m, mjData* d, int instance) {
  (void)m, (void)d, (void)instance;
  return 0;
}

static void registerPlugin(void) {
  mjpPlugin plugin;
  mjp_defaultPlugin(&plugin);
  plugin.name = "validation.metric";
  plugin.capabilityflags = mjPLUGIN_PASSIVE;
  plugin.nstate = noState;
  plugin.init = startPlugin;
  plugin.compute = compute;
  mjp_registerPlugin(&plugin);
}

// ------------------------------ scenes -----------------------------------------------------------

#define BOX "<inertial pos='1e-6 0 0' mass='1' diaginertia='.003 .004 .005'/>" \
  "<freejoint/><geom type='box' size='.1 .08 .05' friction='.5'/>"
#define HEAD "<mujoco><extension><plugin plugin='validation.metric'><instance name='i'/></plugin>" \
  "</extension><worldbody><geom type='plane' size='5 5 1' friction='.5'/>"

typedef struct Case {
  const char* name;
  const char* text;
  bool rests;                 // starts at rest after 0.5 s, with the last box set moving:
  double speed[2];            //   along x, y, m/s
  Way last;                   // ways to try
} Case;

static const Case kCases[] = {
    {"box dropped from 10 mm, tilted",
     HEAD "<body pos='0 0 .07' euler='3 2 0'>" BOX "</body></worldbody></mujoco>", false, {0},
     METRIC},
    {"box sliding at 1 m/s",
     HEAD "<body pos='0 0 .051'>" BOX "</body></worldbody></mujoco>", true, {1, 0}, METRIC},
    {"stack of two, the upper pushed off at 0.3 m/s",
     HEAD "<body pos='0 0 .051'>" BOX "</body><body pos='0 0 .152'>" BOX "</body>"
     "</worldbody></mujoco>", true, {0.3, 0.1}, COUPLED},
};
enum { NCASE = sizeof(kCases) / sizeof(*kCases) };

static const struct {
  mjtIntegrator id;
  const char* name;
} kIntegrators[] = {{mjINT_EULER, "Euler"}, {mjINT_IMPLICIT, "implicit"},
                    {mjINT_IMPLICITFAST, "implicitfast"}, {mjINT_DISCRETE, "discrete"}};
enum { NINTEGRATOR = 4 };

typedef struct Scene {
  mjModel* m;                 // MuJoCo's contacts off
  mjModel* ours;              // on, for the context
  djmContext* context;
  mjData *full, *own, *step;  // the implicit run, a run with the plugin, single steps
} Scene;

static void openScene(Scene* s, const Case* c, double h) {
  djError err;
  s->m = robot_compile(c->text);
  s->m->opt.timestep = h;
  s->ours = mj_copyModel(NULL, s->m);
  if (djm_makeContext(&s->context, NULL, s->ours, &err) < 0) djv_fail("%s", err.text);
  djOption option = djm_model(s->context)->opt;
  option.skin = 0;
  option.tolerance = 1e-8;
  if (dj_setOption(djm_model(s->context), &option, &err) < 0) djv_fail("%s", err.text);
  s->m->opt.disableflags |= mjDSBL_CONTACT;

  plan.model = djm_model(s->context);
  plan.nbox = (int)s->m->nv / 6;
  plan.friction = s->m->geom_friction[0];
  djcOption query = djc_defaultOption();
  query.support = plan.model->contact.support;
  query.length_scale = plan.model->contact.length_scale;
  for (int b = 0; b <= plan.nbox; b++) {
    djcShape* shape = &plan.shape[b];
    *shape = (djcShape){.geom = b ? DJ_BOX : DJ_PLANE, .quat = {1, 0, 0, 0}};
    mju_copy3(shape->size, s->m->geom_size + 3 * b);
  }
  for (int a = 0; a < plan.nbox; a++) {
    const djcShape *first = &plan.shape[a ? a : 1], *second = &plan.shape[a ? a + 1 : 0];
    if (djc_makePair(&plan.pair[a], first, second, &query, &err) < 0) djv_fail("%s", err.text);
  }
  plan.way = EXPLICIT;
  s->full = mj_makeData(s->m);
  for (int k = 0; c->rests && k * h < 0.5; k++) {
    if (djm_step(s->ours, s->full, s->context) < 0) djv_fail("%s does not come to rest", c->name);
  }
  mju_copy(s->full->qvel + s->m->nv - 6, c->speed, 2);
  s->own = mj_copyData(NULL, s->m, s->full);
  s->step = mj_copyData(NULL, s->m, s->full);
}

static void closeScene(Scene* s) {
  for (int a = 0; a < plan.nbox; a++) djc_deletePair(plan.pair[a]);
  plan.nbox = 0;              // the compiler steps too
  mj_deleteData(s->full);
  mj_deleteData(s->own);
  mj_deleteData(s->step);
  djm_deleteContext(s->context);
  mj_deleteModel(s->ours);
  mj_deleteModel(s->m);
}

// What one way does with one integrator.
typedef struct Result {
  double worst, mean;         // |v+ - v+ implicit|/(g h) of single steps: largest, root mean square
  double drift;               // largest difference of positions in a run of its own, m
  double until;               // time at which that run is 0.1 m off or overlaps
} Result;

static bool separated(const mjData* d) {
  for (int a = 0; a < plan.nbox; a++) {
    double value, gradient[12], hessian[144];
    int first = a ? a : 1, second = a ? a + 1 : 0;
    if (djc_evalPair(&value, gradient, hessian, plan.pair[a], d->xpos + 3 * first,
                     d->xquat + 4 * first, d->xpos + 3 * second, d->xquat + 4 * second) < 0 ||
        !isfinite(value)) {
      return false;
    }
  }
  return true;
}

static Result run(const Case* c, double h, int integrator, Way way, double time) {
  Scene s;
  openScene(&s, c, h);
  int nv = (int)s.m->nv, n = (int)lround(time / h);
  Result r = {.until = time};
  plan.way = way;
  s.m->opt.integrator = kIntegrators[integrator].id;
  bool alive = true;
  for (int k = 0; k < n; k++) {
    double off = 0;
    mju_copy(s.step->qpos, s.full->qpos, (int)s.m->nq);
    mju_copy(s.step->qvel, s.full->qvel, nv);
    mj_step(s.m, s.step);
    if (djm_step(s.ours, s.full, s.context) < 0) djv_fail("step of %s", c->name);
    for (int i = 0; i < nv; i++) off = djv_worst(off, fabs(s.step->qvel[i] - s.full->qvel[i]));
    r.worst = djv_worst(r.worst, off / (9.81 * h));
    r.mean += off * off / (9.81 * h * 9.81 * h);
    if (alive) {
      mj_kinematics(s.m, s.own);
      alive = separated(s.own);
      if (alive) mj_step(s.m, s.own);
      for (int b = 0; b < plan.nbox; b++) {
        double e = mju_dist3(s.own->qpos + 7 * b, s.full->qpos + 7 * b);
        r.drift = djv_worst(r.drift, e);
      }
      alive = alive && r.drift < 0.1;
      if (!alive) r.until = k * h;
    }
  }
  r.mean = sqrt(r.mean / n);
  closeScene(&s);
  return r;
}

typedef struct Job {
  djvReport* report;
  bool quick;
} Job;

// Everything, with MuJoCo's warnings of unstable runs caught.
static void measure(void* arg) {
  static const double steps[] = {1e-3, 2e-3, 5e-3};
  djvReport* r = ((Job*)arg)->report;
  bool quick = ((Job*)arg)->quick;
  for (int c = 0; c < NCASE; c++) {
    djv_title("%s: v+ beside the implicit step, in g h (largest, rms); a run of its own",
              kCases[c].name);
    for (int way = 0; way <= (int)kCases[c].last; way++) {
      for (int i = 0; i < NINTEGRATOR; i++) {
        for (int k = quick ? 2 : 0; k < 3; k++) {
          double time = quick ? 0.3 : 1;
          Result x = run(&kCases[c], steps[k], i, way, time);
          djv_note("%-24s %-12s h %g ms: %6.3g %6.3g; off by %.3g m, until %.3g s", kWays[way],
                   kIntegrators[i].name, 1e3 * steps[k], x.worst, x.mean, x.drift, x.until);
          if (way != METRIC || !kCases[c].rests) continue;
          djv_figure(r, "beside the implicit step, rms", x.mean, "g h");
          robot_below(r, x.until < time ? INFINITY : x.mean, 0.1, "g h", "rms, %s, h %g ms",
                      kIntegrators[i].name, 1e3 * steps[k]);
        }
      }
    }
  }
}

int main(int argc, char** argv) {
  djvReport report = {0};
  djError err;
  Job job = {&report, djv_isQuick(argc, argv)};
  registerPlugin();
  if (djm_guard(measure, &job, &err) < 0) djv_fail("%s", err.text);
  return djv_finish(&report);
}
