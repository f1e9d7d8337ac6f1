// Derivatives of MuJoCo's own step by formula, djm_transitionMuJoCoWith, beside differences of mj_step:
// 30 states each of runs under random control of the models that gymnasium, dm_control, robosuite
// and metaworld come with; integrator RK4 is Euler here, and nothing runs noslip.
//   - A, B, C, D are those of the best central differences: of fourth order, by steps of 5e-7 to
//     1e-4, the two that agree best. Error: the worst column's, relative to its size and 1.
//   - Columns along which a row switches, a contact comes, goes or jumps within 1e-6 have no
//     derivative: they are counted. Where MuJoCo chooses anew among equal contacts, as four of the
//     sixteen under a cylinder's cap, rounding decides, and others than those of the state are
//     chosen at most steps, but not at all: of these columns those differences are taken that find
//     steps with the state's contacts. What is left, and columns at which no two differences agree,
//     are left out and counted, too, and states with such columns.
//   - Beside it, not judged: the error of mjd_transitionFD, centred, 1e-6, in columns without kinks.
// Solver Newton, as far as it goes (tolerance 0), in all of them. The search for contacts of convex
// shapes goes as far as it can, too: with a tolerance of 0 it does not end where shapes have gone
// into each other, and finds contacts anywhere.

#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATES = 30, EVERY = 20, HOLD = 10, NSTEP = 6, MAXMODEL = 30 };

static const double steps[NSTEP] = {5e-7, 1.5e-6, 5e-6, 1.5e-5, 5e-5, 1e-4};
static const double agreed = 1e-7;     // two differences, of a column's size

typedef struct Family {
  const char *name, *variable, *standard;   // a folder: by an environment variable, in build/deps
  const char* model[MAXMODEL];
} Family;

static const Family families[] = {
    {"gymnasium", "DIJOCO_GYMNASIUM", "gymnasium",
     {"ant", "half_cheetah", "hopper", "humanoid", "inverted_double_pendulum", "inverted_pendulum",
      "pusher", "reacher", "swimmer", "walker2d"}},
    {"dm_control", "DIJOCO_DM_CONTROL", "dm_control",
     {"acrobot", "ball_in_cup", "cartpole", "cheetah", "dog", "finger", "fish", "hopper",
      "humanoid", "humanoid_CMU", "manipulator", "pendulum", "point_mass", "quadruped", "reacher",
      "stacker", "swimmer", "walker"}},
    {"robosuite", "DIJOCO_ROBOSUITE", "robosuite",
     {"baxter/robot", "gr1/robot", "iiwa/robot", "jaco/robot", "kinova3/robot", "panda/robot",
      "sawyer/robot", "spot/robot", "spot_arm/robot", "tiago/robot", "ur5e/robot",
      "xarm7/robot"}},
    {"metaworld", "DIJOCO_METAWORLD", "metaworld",
     {"sawyer_assembly_peg", "sawyer_basketball", "sawyer_bin_picking", "sawyer_box",
      "sawyer_button_press", "sawyer_button_press_topdown", "sawyer_button_press_wall",
      "sawyer_coffee", "sawyer_dial", "sawyer_door_lock", "sawyer_door_pull", "sawyer_drawer",
      "sawyer_faucet", "sawyer_hammer", "sawyer_handle_press", "sawyer_laptop",
      "sawyer_lever_pull", "sawyer_peg_insertion_side", "sawyer_peg_unplug_side",
      "sawyer_pick_out_of_hole", "sawyer_pick_place_v3", "sawyer_plate_slide", "sawyer_push_v3",
      "sawyer_reach_v3", "sawyer_shelf_placing", "sawyer_soccer", "sawyer_stick_obj",
      "sawyer_sweep_v3", "sawyer_table_with_hole", "sawyer_window_horizontal"}},
};
enum { NFAMILY = sizeof families / sizeof *families };

// ---- a model's step -----------------------------------------------------------------------------

typedef struct Case {
  const char* name;
  mjModel* m;
  mjData *d, *next, *e;          // the state; what follows it; what follows one beside it
  djmTransitionWork* work;
  int nv, na, nx, nu, ns, nrow;  // nrow = nx + ns
  mjtNum *ours, *fd;             // A, B, C, D one after another
  mjtNum *slope[2], *wide, *out; // (nrow) columns
  mjtNum* shift;                 // (nv)
  mjContact *back, *rate;        // of a step on the other side; dist, pos, frame: rates of change
  double error[STATES], stock[STATES];
  int states, kinked, left;      // all; with a kink along one column or more; that is left out
  int columns, open, kinks[4];   // all; differences do not agree; left out by Kink
  int branch;                    // columns with a kink that are compared
  int differences, contacts;
  mjOption own;                  // the model's, with which it runs
  double part;                   // of the controls' ranges that is used
  double far;                    // worst, and where
  int row, column, when;
} Case;

static size_t sizeAll(const Case* c) {
  return (size_t)(c->nx + c->nu) * (size_t)c->nrow;
}

// Entry (i, k) of A, B, C, D: rows are the state's and the sensors', columns x and u.
static mjtNum entry(const Case* c, const mjtNum* at, int i, int k) {
  const mjtNum* part = at;
  bool sensor = i >= c->nx, control = k >= c->nx;
  if (sensor) part += c->nx * (c->nx + c->nu) + (control ? c->ns * c->nx : 0);
  else if (control) part += c->nx * c->nx;
  int width = control ? c->nu : c->nx;
  return part[(sensor ? i - c->nx : i) * width + (control ? k - c->nx : k)];
}

static bool openCase(Case* c, const char* path, const char* name) {
  char error[500] = "";
  djError err;
  *c = (Case){.name = name, .m = mj_loadXML(path, NULL, error, sizeof error)};
  if (!c->m) {
    djv_note("%s: %.300s", name, error);
    return false;
  }
  mjModel* m = c->m;
  c->own = m->opt;
  m->opt.noslip_iterations = 0;
  if (m->opt.integrator == mjINT_RK4) m->opt.integrator = mjINT_EULER;
  m->opt.solver = mjSOL_NEWTON;
  m->opt.tolerance = 0;
  m->opt.iterations = 30;
  m->opt.ls_iterations = 50;
  m->opt.ls_tolerance = 1e-10;
  m->opt.ccd_tolerance = mjMINVAL;
  m->opt.ccd_iterations = 200;
  c->nv = (int)m->nv;
  c->na = (int)m->na;
  c->nu = (int)m->nu;
  c->ns = (int)m->nsensordata;
  c->nx = 2 * c->nv + c->na;
  c->nrow = c->nx + c->ns;
  c->d = mj_makeData(m);
  c->next = mj_makeData(m);
  c->e = mj_makeData(m);
  c->ours = djv_take(sizeAll(c), sizeof(mjtNum));
  c->fd = djv_take(sizeAll(c), sizeof(mjtNum));
  for (int k = 0; k < 2; k++) c->slope[k] = djv_take((size_t)c->nrow, sizeof(mjtNum));
  c->wide = djv_take((size_t)c->nrow, sizeof(mjtNum));
  c->out = djv_take((size_t)c->nrow, sizeof(mjtNum));
  c->shift = djv_take((size_t)c->nv, sizeof(mjtNum));
  if (djm_makeTransitionWork(&c->work, m, &err) < 0) djv_fail("%s: %s", name, err.text);
  return true;
}

static void closeCase(Case* c) {
  mjtNum* all[] = {c->ours, c->fd, c->slope[0], c->slope[1], c->wide, c->out, c->shift};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  free(c->back);
  free(c->rate);
  djm_deleteTransitionWork(c->work);
  mj_deleteData(c->d);
  mj_deleteData(c->next);
  mj_deleteData(c->e);
  mj_deleteModel(c->m);
}

// What the call writes, in the order of entry().
static djStatus findOurs(Case* c, djError* err) {
  mjtNum *A = c->ours, *B = A + c->nx * c->nx, *C = B + c->nx * c->nu, *D = C + c->ns * c->nx;
  return djm_transitionMuJoCoWith(c->m, c->d, c->work, A, B, c->ns ? C : NULL, c->ns ? D : NULL, err);
}

static void findStock(Case* c) {
  mjtNum *A = c->fd, *B = A + c->nx * c->nx, *C = B + c->nx * c->nu, *D = C + c->ns * c->nx;
  mjd_transitionFD(c->m, c->d, 1e-6, 1, A, B, c->ns ? C : NULL, c->ns ? D : NULL);
}

// ---- differences --------------------------------------------------------------------------------

// What two evaluations differ by.
typedef enum Kink { NONE, CONTACTS, ROWS, JUMP } Kink;

static Kink kinkBetween(const mjData* a, const mjData* b) {
  if (a->ncon != b->ncon) return CONTACTS;
  for (int i = 0; i < a->ncon; i++) {
    if (memcmp(a->contact[i].geom, b->contact[i].geom, sizeof a->contact[i].geom)) return CONTACTS;
  }
  if (a->nefc != b->nefc) return ROWS;
  for (int i = 0; i < a->nefc; i++) {
    if (a->efc_state[i] != b->efc_state[i] || a->efc_id[i] != b->efc_id[i]) return ROWS;
  }
  return NONE;
}

// c->e = the step after the state moved by x along column k.
static void stepFrom(Case* c, int k, double x) {
  mj_copyState(c->m, c->d, c->e, mjSTATE_INTEGRATION);
  mju_copy(c->e->qacc_warmstart, c->next->qacc, c->nv);
  if (k < c->nv) {
    mju_zero(c->shift, c->nv);
    c->shift[k] = x;
    mj_integratePos(c->m, c->e->qpos, c->shift, 1);
  } else if (k < 2 * c->nv) {
    c->e->qvel[k - c->nv] += x;
  } else if (k < c->nx) {
    c->e->act[k - 2 * c->nv] += x;
  } else {
    c->e->ctrl[k - c->nx] += x;
  }
  mj_step(c->m, c->e);
}

// Whether contacts are where they are expected between the two others: moved by x and back, their
// change is odd but for curvature.
static bool isSmooth(const mjContact* back, const mjContact* here, const mjContact* on, double x) {
  double bend = fabs(on->dist + back->dist - 2 * here->dist);
  for (int i = 0; i < 3; i++) {
    bend = fmax(bend, fabs(on->pos[i] + back->pos[i] - 2 * here->pos[i]));
    bend = fmax(bend, 0.1 * fabs(on->frame[i] + back->frame[i] - 2 * here->frame[i]));
  }
  return bend < 3e-3 * x;
}

static void keepContacts(Case* c) {
  size_t n = (size_t)c->e->ncon + 1;
  c->back = realloc(c->back, n * sizeof *c->back);
  c->rate = realloc(c->rate, n * sizeof *c->rate);
  if (!c->back || !c->rate) djv_fail("out of memory");
  memcpy(c->back, c->e->contact, (size_t)c->e->ncon * sizeof *c->back);
}

// Whether contacts of the state, kept ones and those of c->e, by x on both sides, follow each other.
static bool areSmooth(const Case* c, double x) {
  for (int i = 0; i < c->next->ncon; i++) {
    if (!isSmooth(c->back + i, c->next->contact + i, c->e->contact + i, x)) return false;
  }
  return true;
}

// rate = half of on - back, by x; or whether it is that of before.
static bool rateOf(mjContact* rate, const mjContact* back, const mjContact* on, double x,
                   bool compare) {
  double differ = 0, size = 1, r[7], *was[7];
  for (int i = 0; i < 7; i++) {
    int k = i < 4 ? i - 1 : i - 4;
    was[i] = i == 0 ? &rate->dist : i < 4 ? rate->pos + k : rate->frame + k;
    double a = i == 0 ? back->dist : i < 4 ? back->pos[k] : back->frame[k];
    double b = i == 0 ? on->dist : i < 4 ? on->pos[k] : on->frame[k];
    r[i] = (b - a) / (2 * x);
    differ = fmax(differ, fabs(r[i] - *was[i]));
    size = fmax(size, fabs(*was[i]));
  }
  for (int i = 0; i < 7 && !compare; i++) *was[i] = r[i];
  return !compare || differ < 0.01 * size;
}

static bool haveRates(Case* c, double x, bool compare) {
  for (int i = 0; i < c->next->ncon; i++) {
    if (!rateOf(c->rate + i, c->back + i, c->e->contact + i, x, compare)) return false;
  }
  return true;
}

// The kink of the step within 1e-6 along column k.
static Kink kinkAlong(Case* c, int k) {
  const double x = 1e-6;
  stepFrom(c, k, -x);
  Kink kink = kinkBetween(c->e, c->next);
  if (kink) return kink;
  keepContacts(c);
  stepFrom(c, k, x);
  kink = kinkBetween(c->e, c->next);
  if (kink) return kink;
  haveRates(c, x, false);
  return areSmooth(c, x) ? NONE : JUMP;
}

enum { TRIES = 60 };   // steps, where a column has a kink

// slope (nrow): that of column k between -x and x; false: rows switch, contacts jump.
static bool between(mjtNum* slope, Case* c, int k, double x) {
  mju_zero(slope, c->nrow);
  for (int side = -1; side <= 1; side += 2) {
    stepFrom(c, k, side * x);
    if (kinkBetween(c->e, c->next)) return false;
    if (side < 0) keepContacts(c);
    else if (!areSmooth(c, x) || !haveRates(c, x, true)) return false;
    mj_differentiatePos(c->m, c->out, 1, c->next->qpos, c->e->qpos);
    mju_sub(c->out + c->nv, c->e->qvel, c->next->qvel, c->nv);
    mju_sub(c->out + 2 * c->nv, c->e->act, c->next->act, c->na);
    mju_sub(c->out + c->nx, c->e->sensordata, c->next->sensordata, c->ns);
    mju_addToScl(slope, c->out, side / (2 * x), c->nrow);
  }
  return true;
}

// Of column k by steps of h and 2 h, or others next to these; tries: how many.
static bool difference(mjtNum* slope, Case* c, int k, double h, int tries) {
  double a = 0, b = 0;
  bool found = false;
  for (int i = 0; i < tries && !found; i++) found = between(slope, c, k, a = h * (1 - 0.006 * i));
  if (!found) return false;
  found = false;
  for (int i = 0; i < tries && !found; i++) found = between(c->wide, c, k, b = h * (2 + 0.01 * i));
  mju_scl(slope, slope, b * b / (b * b - a * a), c->nrow);
  mju_addToScl(slope, c->wide, -a * a / (b * b - a * a), c->nrow);
  return found;
}

// Whether there are steps next to 1e-6 along column k with the state's contacts; keeps their rates.
static bool isOnBranch(Case* c, int k) {
  for (int i = 0; i < TRIES; i++) {
    double x = 1e-6 * (1 - 0.006 * i);
    stepFrom(c, k, -x);
    if (kinkBetween(c->e, c->next)) continue;
    keepContacts(c);
    stepFrom(c, k, x);
    if (kinkBetween(c->e, c->next)) continue;
    haveRates(c, x, false);
    if (areSmooth(c, x)) return true;
  }
  return false;
}

// Errors of two estimates of column k, relative to its size and 1, states and sensors apart.
static double apart(int* row, const Case* c, const mjtNum* a, const mjtNum* at, int k) {
  double worst = 0;
  for (int part = 0; part < 2; part++) {
    double size = 1, error = 0;
    int first = part ? c->nx : 0, end = part ? c->nrow : c->nx, where = first;
    for (int i = first; i < end; i++) size = djv_worst(size, fabs(a[i]));
    for (int i = first; i < end; i++) {
      double x = fabs(a[i] - (k < 0 ? at[i] : entry(c, at, i, k)));
      if (!(x <= error)) {
        error = x;
        where = i;
      }
    }
    if (error / size > worst || isnan(error)) *row = where;
    worst = djv_worst(worst, error / size);
  }
  return worst;
}

// best = the difference of column k that its neighbour agrees best with; returns how well.
static double bestColumn(mjtNum* best, Case* c, int k, int tries) {
  double found = INFINITY;
  int row;
  mjtNum* now = c->slope[0];
  bool before = false;
  for (int i = 0; i < NSTEP && found > 1e-10; i++) {
    mjtNum* last = c->slope[1];
    if (!difference(now, c, k, steps[i], tries)) break;
    double differ = before ? apart(&row, c, now, last, -1) : INFINITY;
    if (!before || differ < found) mju_copy(best, now, c->nrow);
    if (before) found = fmin(found, differ);
    mju_copy(last, now, c->nrow);
    before = true;
  }
  return found;
}

// Compares at c->d; adds to c's counts and lists.
static void compareState(Case* c, mjtNum* best) {
  double error = 0, stock = 0;
  bool kinked = false, left = false;
  mj_copyData(c->next, c->m, c->d);
  mj_step(c->m, c->next);
  findStock(c);
  for (int k = 0; k < c->nx + c->nu; k++) {
    int row = 0, other;
    Kink kink = kinkAlong(c, k);
    bool taken = !kink || isOnBranch(c, k);
    double agree = taken ? bestColumn(best, c, k, kink ? TRIES : 1) : INFINITY;
    c->columns++;
    kinked |= kink != NONE;
    if (agree > agreed) {
      if (kink) c->kinks[kink]++;
      else c->open++;
      left |= kink != NONE;
      continue;
    }
    c->branch += kink != NONE;
    double ours = apart(&row, c, best, c->ours, k);
    if (!(ours <= c->far)) {
      c->far = ours;
      c->row = row;
      c->column = k;
      c->when = c->states;
    }
    error = djv_worst(error, ours);
    if (!kink) stock = djv_worst(stock, apart(&other, c, best, c->fd, k));
  }
  c->kinked += kinked;
  c->left += left;
  c->error[c->states] = error;
  c->stock[c->states] = stock;
}

// ---- runs ---------------------------------------------------------------------------------------

// Other controls; mocap bodies go on by up to 5 mm.
static void moveInputs(Case* c, djvRandom* random) {
  robot_randomCtrl(c->d->ctrl, c->m, random, c->part);
  for (int i = 0; i < 3 * (int)c->m->nmocap; i++) {
    c->d->mocap_pos[i] += djv_uniform(random, -0.005, 0.005);
  }
}

// The start of a run, at random speeds.
static void startRun(Case* c, djvRandom* random) {
  *random = djv_random(11);
  mj_resetData(c->m, c->d);
  if (c->m->nkey > 0) mj_resetDataKeyframe(c->m, c->d, 0);
  djv_uniforms(c->d->qvel, c->nv, random, -0.3 * c->part, 0.3 * c->part);
}

// To the next state; false: MuJoCo found the run unstable.
static bool goOn(Case* c, djvRandom* random) {
  mjOption tight = c->m->opt;
  c->m->opt = c->own;
  for (int k = 0; k < EVERY; k++) {
    if (k % HOLD == 0) moveInputs(c, random);
    mj_step(c->m, c->d);
  }
  c->m->opt = tight;
  static const int kinds[] = {mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC};
  for (int k = 0; k < 3; k++) {
    if (c->d->warning[kinds[k]].number > 0) return false;
  }
  return mju_norm(c->d->qvel, c->nv) < 1e3;
}

// The largest of 1, 1/4, 1/16... of the controls' ranges with which the run is stable.
static void choosePart(Case* c) {
  djvRandom random;
  for (c->part = 1; c->part > 1e-3; c->part /= 4) {
    bool stable = true;
    startRun(c, &random);
    for (int i = 0; i < STATES && stable; i++) stable = goOn(c, &random);
    if (stable) return;
  }
}

// false: refused.
static bool runCase(Case* c, int states) {
  djvRandom random;
  djError err;
  mjtNum* best = djv_take((size_t)c->nrow, sizeof(mjtNum));
  bool held = true;
  choosePart(c);
  startRun(c, &random);
  for (int i = 0; i < states && held; i++) {
    if (!goOn(c, &random)) {
      djv_note("%s: MuJoCo's run is unstable from state %d on", c->name, i);
      break;
    }
    held = findOurs(c, &err) == DJ_OK;
    if (!held) {
      djv_note("%s: %s", c->name, err.text);
      break;
    }
    const djmTransitionInfo* info = djm_transitionInfo(c->work);
    c->contacts += info->ncontact;
    c->differences += info->differences;
    compareState(c, best);
    c->states++;
  }
  free(best);
  return held;
}

typedef struct Sum {
  double error[STATES * MAXMODEL], stock[STATES * MAXMODEL];
  int states, kinked, left, columns, open, branch, kinks[4], refused, models;
} Sum;

static double largest(const double* x, int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = djv_worst(worst, x[i]);
  return worst;
}

static double percent(int part, int of) { return of ? 100.0 * part / of : 0; }

static void printSum(const char* name, Sum* s, const char* more) {
  djv_note("%-26s %6d %6d %4d %4.1f %4.1f %4.1f %4.1f %4.1f %8.1e %8.1e %8.1e %8.1e%s", name,
           s->states, s->kinked, s->left, percent(s->branch, s->columns),
           percent(s->kinks[CONTACTS], s->columns), percent(s->kinks[ROWS], s->columns),
           percent(s->kinks[JUMP], s->columns), percent(s->open, s->columns),
           s->states ? robot_median(s->error, s->states) : NAN, largest(s->error, s->states),
           s->states ? robot_median(s->stock, s->states) : NAN, largest(s->stock, s->states), more);
}

static void addCase(Sum* sum, const Case* c) {
  memcpy(sum->error + sum->states, c->error, (size_t)c->states * sizeof *c->error);
  memcpy(sum->stock + sum->states, c->stock, (size_t)c->states * sizeof *c->stock);
  sum->states += c->states;
  sum->kinked += c->kinked;
  sum->left += c->left;
  sum->columns += c->columns;
  sum->open += c->open;
  sum->branch += c->branch;
  for (int k = 0; k < 4; k++) sum->kinks[k] += c->kinks[k];
}

static void printCase(const Case* c) {
  char more[100] = "";
  int n = 0;
  Sum* one = djv_take(1, sizeof *one);
  addCase(one, c);
  if (c->far > 1e-6) {
    n = snprintf(more, sizeof more, "  row %d, column %d, state %d", c->row, c->column, c->when);
  }
  if (c->part < 1) snprintf(more + n, sizeof more - (size_t)n, "  controls x %g", c->part);
  printSum(c->name, one, more);
  free(one);
}

typedef struct Job {
  Case* c;
  const char *path, *name;
  int states;
  bool opened, held;
} Job;

static void runJob(void* arg) {
  Job* job = arg;
  job->opened = openCase(job->c, job->path, job->name);
  if (job->opened) job->held = runCase(job->c, job->states);
}

// Folder of a family's models, or NULL.
static const char* folderOf(char path[1000], const Family* family) {
  const char* folder = getenv(family->variable);
  if (folder && *folder) snprintf(path, 1000, "%s", folder);
  else snprintf(path, 1000, "%s/build/deps/%s", DIJOCO_SOURCE_DIR, family->standard);
  return access(path, R_OK) == 0 ? path : NULL;
}

// Returns whether its models are there.
static bool runFamily(djvReport* r, const Family* family, const char* only, bool quick) {
  char folder[1000], path[1200];
  Sum* sum = djv_take(1, sizeof *sum);
  if (!folderOf(folder, family)) {
    free(sum);
    return false;
  }
  bool isMetaworld = strcmp(family->name, "metaworld") == 0;
  djv_title("%s", family->name);
  djv_note("%-26s %6s %6s %4s %4s %19s %17s %17s", "", "", "with", "", "kink",
           "columns left out, %", "ours", "mjd_transitionFD");
  djv_note("%-26s %6s %6s %4s %4s %4s %4s %4s %4s %8s %8s %8s %8s", "model", "states", "kinks",
           "left", "%", "come", "rows", "jump", "open", "median", "worst", "median", "worst");
  for (int k = 0; k < MAXMODEL && family->model[k]; k++) {
    const char* name = family->model[k];
    if (only ? strcmp(only, name) != 0 : quick && k % 4 != 0) continue;
    Case c;
    djError err;
    snprintf(path, sizeof path, "%s/%s%s.xml", folder, isMetaworld ? "sawyer_xyz/" : "", name);
    if (access(path, R_OK) != 0) continue;
    Job job = {&c, path, name, quick ? 4 : STATES, false, false};
    if (djm_guard(runJob, &job, &err) < 0) djv_note("%s: %.300s", name, err.text);
    if (job.opened) addCase(sum, &c);
    if (job.opened) printCase(&c);
    sum->refused += !job.held;
    sum->models++;
    if (job.opened) closeCase(&c);
    fflush(stdout);
  }
  if (sum->models) {
    int left = sum->kinks[CONTACTS] + sum->kinks[ROWS] + sum->kinks[JUMP] + sum->open;
    printSum("sum", sum, "");
    robot_countOf(r, sum->refused, 0, sum->models, "%s: models refused", family->name);
    robot_countOf(r, sum->left, sum->states / 10, sum->states, "%s: states left out for a kink",
                  family->name);
    robot_countOf(r, left, sum->columns / 10, sum->columns, "%s: columns left out",
                  family->name);
    double worst = largest(sum->error, sum->states);
    double median = sum->states ? robot_median(sum->error, sum->states) : NAN;
    djv_figure(r, "median error", median, "");
    djv_figure(r, "worst error", worst, "");
    robot_below(r, median, 1e-6, "", "%s: error, median of states", family->name);
    robot_below(r, worst, 1e-4, "", "%s: error, worst state", family->name);
  }
  free(sum);
  return true;
}

// ---- a picture ----------------------------------------------------------------------------------

// Worst errors of all columns at c->d: of mjd_transitionFD by eps, both ways, and ours.
static void writeErrors(FILE* f, Case* c) {
  enum { MOST = 40 };
  mjtNum* best = djv_take((size_t)(c->nx + c->nu) * (size_t)c->nrow, sizeof(mjtNum));
  mjtNum *A = c->fd, *B = A + c->nx * c->nx, *C = B + c->nx * c->nu, *D = C + c->ns * c->nx;
  double ours = 0;
  int row;
  mj_copyData(c->next, c->m, c->d);
  mj_step(c->m, c->next);
  for (int k = 0; k < c->nx + c->nu; k++) {
    if (kinkAlong(c, k) || bestColumn(best + k * c->nrow, c, k, 1) > agreed) {
      djv_fail("curves: a kink at the state, column %d", k);
    }
    ours = djv_worst(ours, apart(&row, c, best + k * c->nrow, c->ours, k));
  }
  fprintf(f, "eps,forward,centred,formula\n");
  for (int i = 0; i <= MOST; i++) {
    double eps = pow(10, -11 + 8.0 * i / MOST), error[2] = {0, 0};
    for (int centred = 0; centred < 2; centred++) {
      mjd_transitionFD(c->m, c->d, eps, (mjtByte)centred, A, B, c->ns ? C : NULL, c->ns ? D : NULL);
      for (int k = 0; k < c->nx + c->nu; k++) {
        error[centred] =
            djv_worst(error[centred], apart(&row, c, best + k * c->nrow, c->fd, k));
      }
    }
    fprintf(f, "%.3e,%.3e,%.3e,%.3e\n", eps, error[0], error[1], ours);
  }
  free(best);
}

// Of gymnasium's humanoid, fallen, under random control.
static void writeCurves(const char* path) {
  char folder[1000], model[1200];
  djvRandom random;
  djError err;
  Case c;
  if (!folderOf(folder, families)) djv_fail("curves: no models of gymnasium");
  snprintf(model, sizeof model, "%s/humanoid.xml", folder);
  if (!openCase(&c, model, "humanoid")) djv_fail("curves: no humanoid");
  FILE* f = fopen(path, "w");
  if (!f) djv_fail("curves: %s: cannot be written", path);
  c.part = 1;
  startRun(&c, &random);
  for (int i = 0; i < 25 && goOn(&c, &random); i++) {
  }
  if (findOurs(&c, &err) < 0) djv_fail("curves: %s", err.text);
  djv_note("curves: %d contacts act", djm_transitionInfo(c.work)->ncontact);
  writeErrors(f, &c);
  fclose(f);
  closeCase(&c);
}

int main(int argc, char** argv) {
  djvReport report = {0};
  const char* only = djv_takeText(&argc, argv, "--model");
  const char* where = djv_takeText(&argc, argv, "--family");
  const char* curves = djv_takeText(&argc, argv, "--curves");
  bool quick = djv_isQuick(argc, argv), missing = false;
  if (curves) {
    writeCurves(curves);
    return 0;
  }
  for (int k = 0; k < NFAMILY; k++) {
    if (where && strcmp(where, families[k].name) != 0) continue;
    missing |= !runFamily(&report, families + k, only, quick);
  }
  return missing ? djv_finishWithout(&report, "models: scripts/fetch.py robosuite, metaworld")
                 : djv_finish(&report);
}
