// Tendons around spheres and cylinders beside MuJoCo's: lengths and moments, steps.

#include "common/make_model.h"
#include "common/mj_zoo.h"
#include "common/random_mjcf.h"
#include "common/test.h"
#include "common/worst.h"
#include "integrate/work.h"

#include <dijoco/dijoco.h>

typedef struct Both {
  mjModel* m;
  mjData* d;
  djModel* x;
  djData* data;
} Both;

// MuJoCo's own onset, where it is 0.
static Both makeBoth(const char* text, double onset) {
  Both b = {.m = djt_compile(text)};
  djError err;
  b.m->opt.disableflags |= mjDSBL_CONTACT;
  b.d = mj_makeData(b.m);
  if (dj_importMuJoCo(&b.x, NULL, b.m, &err) < 0) fail_msg("%s\n%.9000s", err.text, text);
  djOption option = b.x->opt;
  option.wrap_onset = onset;
  if (dj_setOption(b.x, &option, &err) < 0) fail_msg("%s", err.text);
  if (dj_makeData(&b.data, b.x, &err) < 0) fail_msg("%s", err.text);
  return b;
}

static void copyState(Both* b) {
  mju_copy(b->data->qpos, b->d->qpos, b->x->nq);
  mju_copy(b->data->qvel, b->d->qvel, b->x->nv);
  mju_copy(b->data->mocap_pos, b->d->mocap_pos, 3 * b->x->nmocap);
  mju_copy(b->data->mocap_quat, b->d->mocap_quat, 4 * b->x->nmocap);
}

static void freeBoth(Both* b) {
  djt_delete(b->x, b->data);
  djt_deleteEngine(b->m, b->d);
}

// ---- lengths and moments -----------------------------------------------------------------------

// Parts of tendon t by kind as MuJoCo has them: of spheres or cylinders, around or through.
static void countParts(int seen[2][2], const mjModel* m, const mjData* d, int t) {
  for (int k = d->ten_wrapadr[t]; k + 1 < d->ten_wrapadr[t] + d->ten_wrapnum[t]; k++) {
    int geom = d->wrap_obj[k];
    if (geom < 0 || d->wrap_obj[k + 1] != geom) continue;
    mjtNum gap[3];
    mju_sub3(gap, d->wrap_xpos + 3 * (k + 1), d->wrap_xpos + 3 * k);
    seen[m->geom_type[geom] == mjGEOM_CYLINDER][mju_norm3(gap) < 1e-12]++;
    k++;
  }
}

static double momentError(const Both* b, int t) {
  const djModel* x = b->x;
  int c = x->tendon_coord[t], adr = b->m->ten_J_rowadr[t];
  const djCoordinates* coord = &b->data->work->begin.coord;
  double worst = 0;
  mjtNum* row = calloc((size_t)x->nv + 1, sizeof *row);
  assert_non_null(row);
  for (int k = 0; k < b->m->ten_J_rownnz[t]; k++) {
    row[b->m->ten_J_colind[adr + k]] += b->d->ten_J[adr + k];
  }
  for (int k = x->coord_dofadr[c]; k < x->coord_dofadr[c] + x->coord_dofnum[c]; k++) {
    row[x->coord_dof[k]] -= coord->J[k];
  }
  for (int i = 0; i < x->nv; i++) worst = djt_worst(worst, fabs(row[i]));
  free(row);
  return worst;
}

static void testLengths(void) {
  djRng rng = {71};
  double length = 0, moment = 0, through = 0;
  int seen[2][2] = {{0}}, straight = 0;
  for (int trial = 0; trial < 150; trial++) {
    char* text = djt_randomMjcf(&rng, 2 + trial % 7, DJT_MJCF_TENDONS | DJT_MJCF_MOCAP |
                                                         DJT_MJCF_WRAPS);
    assert_non_null(text);
    Both b = makeBoth(text, 0);
    for (int sample = 0; sample < 10; sample++) {
      djt_shake(b.d, &rng, b.m, 0.7, 1);
      mj_forward(b.m, b.d);
      copyState(&b);
      if (dj_forward(b.x, b.data) < 0) fail_msg("%s", dj_errorText(b.data));
      for (int t = 0; t < b.m->ntendon; t++) {
        int parts[2][2] = {{0}};
        if (!djm_tendonWraps(b.m, t)) continue;
        countParts(parts, b.m, b.d, t);
        double x = b.data->work->begin.coord.x[b.x->tendon_coord[t]];
        double e = fabs(x - b.d->ten_length[t]), J = momentError(&b, t);
        bool inner = parts[0][1] + parts[1][1] > 0;
        djt_failIf(!(e < 1e-10 && J < (inner ? 2e-6 : 1e-10)),
                   "trial %d, tendon %d: %g, %g\n%.9000s", trial, t, e, J, text);
        length = djt_worst(length, e);
        if (inner) through = djt_worst(through, J);
        else moment = djt_worst(moment, J);
        for (int k = 0; k < 4; k++) seen[k / 2][k % 2] += parts[k / 2][k % 2];
        straight += !parts[0][0] && !parts[0][1] && !parts[1][0] && !parts[1][1];
      }
    }
    freeBoth(&b);
    free(text);
  }
  print_message("parts around %d spheres and %d cylinders, through %d and %d, %d straight: length "
                "%.1e, moment %.1e, of those through %.1e\n", seen[0][0], seen[1][0], seen[0][1],
                seen[1][1], straight, length, moment, through);
  assert_true(straight > 100);
  for (int k = 0; k < 4; k++) assert_true(seen[k / 2][k % 2] > 100);
}

// ---- runs --------------------------------------------------------------------------------------

// Largest difference of positions over 500 steps of `euler` and of mj_step from random states, with
// controls that change.
static double runError(const char* path, djRng* rng, int* around) {
  char error[1000] = "";
  mjModel* m = mj_loadXML(path, NULL, error, sizeof(error));
  if (!m) fail_msg("%s", error);
  m->opt.disableflags |= mjDSBL_LIMIT;   // whose corners are rounded
  mjData *ours = mj_makeData(m), *stock = mj_makeData(m);
  djmContext* c = djt_context(m);
  djOption option = djm_model(c)->opt;
  djError err;
  option.wrap_onset = 0;
  if (dj_setOption(djm_model(c), &option, &err) < 0) fail_msg("%s", err.text);
  double worst = 0;
  djt_shake(ours, rng, m, 0.3, 1);
  mju_zero(ours->xfrc_applied, 6 * (int)m->nbody);
  mju_zero(ours->qfrc_applied, (int)m->nv);
  mj_copyData(stock, m, ours);
  for (int step = 0; step < 500; step++) {
    for (int i = 0; i < m->nu && step % 50 == 0; i++) {
      const mjtNum* range = m->actuator_ctrlrange + 2 * i;
      ours->ctrl[i] = stock->ctrl[i] = djt_uniform(rng, range[0], range[1]);
    }
    if (djm_step(m, ours, c) != DJ_OK) fail_msg("%s", dj_errorText(djm_data(c)));
    mj_step(m, stock);
    for (int i = 0; i < m->nq; i++) {
      worst = djt_worst(worst, fabs(ours->qpos[i] - stock->qpos[i]));
    }
    for (int k = 0; k < m->nwrap; k++) *around += stock->wrap_obj[2 * k] >= 0;
  }
  djm_deleteContext(c);
  mj_deleteData(ours);
  djt_deleteEngine(m, stock);
  return worst;
}

static void testRuns(void) {
  static const char* const files[] = {"tendon_finger", "muscle_arm"};
  djRng rng = {73};
  for (int i = 0; i < 2; i++) {
    char path[1000];
    double worst = 0;
    int around = 0;
    snprintf(path, sizeof(path), "%s/models/%s/scene.xml", DIJOCO_SOURCE_DIR, files[i]);
    for (int run = 0; run < 5; run++) worst = djt_worst(worst, runError(path, &rng, &around));
    print_message("%s: 500 steps, %.1e; %d times around\n", files[i], worst, around);
    assert_true(worst < 1e-10 && around > 1000);
  }
}

DJT_MAIN(testLengths, testRuns)
