// The written scenes run again: the loss that they give from the result's start with its controls,
// and where that is another one, why.
//
// A scene in MJCF holds the result to the last digit, but for vertices of meshes, which MuJoCo
// keeps in single precision and moves to a frame of its own, and for what its compiler computes
// anew (quaternions, axes and inertia frames of unit length). Each of these is tried alone: the
// design itself is run with the written scene's vertices, and with its other numbers. What gives
// the loss of the written scene then is why it differs.

#include "optimize_run.h"

#include <dijoco/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Losses are the same to this part of them; and what explains so much of a difference is its cause.
static const double SAME = 1e-9, CAUSE = 0.9;

static djModel* load(const char* path, bool json, djError* err) {
  djModel* m = NULL;
  if (json) {
    dj_loadModel(&m, path, err);
    return m;
  }
#ifdef DJ_HAVE_MUJOCO
  dj_loadMJCF(&m, NULL, NULL, path, err);
#else
  snprintf(err->text, sizeof err->text, "a build with MuJoCo is needed");
#endif
  return m;
}

// A design's loss, from its start with its controls, in another model.
static bool run_in(double* loss, const djDesign* d, const djModel* m, djError* err) {
  djData* data = NULL;
  djTape* tape = NULL;
  djRollout rollout = d->rollout;
  djRolloutResult result = {.term = tool_alloc((size_t)rollout.nloss, sizeof(double))};
  rollout.loss_only = true;
  rollout.compiled = NULL;
  rollout.watch = (djWatch){0};
  djStatus status = dj_makeData(&data, m, err);
  if (status == DJ_OK) status = djd_makeTape(&tape, m, rollout.horizon, err);
  if (status == DJ_OK) {
    if (d->problem->key >= 0) dj_resetKey(m, data, d->problem->key);
    status = djd_rolloutForward(&result, m, data, &rollout, tape);
    if (status < 0) snprintf(err->text, sizeof err->text, "%.500s", dj_errorText(data));
  }
  *loss = result.loss;
  djd_deleteTape(tape);
  dj_deleteData(data);
  free(result.term);
  return status >= 0;
}

// The loss of all scenes, each in its model.
static bool run_all(double* loss, const OptimizeRun* r, djModel* const* model, djError* err) {
  const djPhases* p = r->phases;
  *loss = 0;
  for (int s = 0; s < p->nscene; s++) {
    double sum = 0, one = 0;
    for (int j = 0; j < p->nphase; j++) {
      if (!run_in(&one, p->design[s * p->nphase + j], model[s], err)) return false;
      sum += one;
    }
    *loss += p->weight[s] * (sum / p->nphase);
  }
  return true;
}

// ---- why ---------------------------------------------------------------------------------------

static void rotate(double out[3], const double q[4], const double v[3], double sign) {
  const double x[3] = {sign * q[1], sign * q[2], sign * q[3]};
  const double t[3] = {2 * (x[1] * v[2] - x[2] * v[1]), 2 * (x[2] * v[0] - x[0] * v[2]),
                       2 * (x[0] * v[1] - x[1] * v[0])};
  out[0] = v[0] + q[0] * t[0] + x[1] * t[2] - x[2] * t[1];
  out[1] = v[1] + q[0] * t[1] + x[2] * t[0] - x[0] * t[2];
  out[2] = v[2] + q[0] * t[2] + x[0] * t[1] - x[1] * t[0];
}

// The mesh of geom g as the written scene has it, in the frame that the design has; *most: how far
// a vertex has moved.
static bool take_vertices(djModel* to, const djModel* from, int g, double* most) {
  const int mesh = to->geom_mesh[g], n = to->mesh_vertnum[mesh];
  double* vert = tool_alloc(3 * (size_t)n, sizeof *vert);
  char name[32];
  djParam param;
  for (int v = 0; v < n; v++) {
    const double* was = to->mesh_vert + 3 * ((size_t)to->mesh_vertadr[mesh] + (size_t)v);
    double x[3], y[3], far = 0;
    rotate(x, from->geom_quat + 4 * g,
           from->mesh_vert + 3 * ((size_t)from->mesh_vertadr[mesh] + (size_t)v), 1);
    for (int k = 0; k < 3; k++) x[k] += from->geom_pos[3 * g + k] - to->geom_pos[3 * g + k];
    rotate(y, to->geom_quat + 4 * g, x, -1);
    for (int k = 0; k < 3; k++) far += (y[k] - was[k]) * (y[k] - was[k]);
    *most = fmax(*most, sqrt(far));
    memcpy(vert + 3 * v, y, sizeof y);
  }
  snprintf(name, sizeof name, "mesh/#%d/vert", mesh);
  const bool good = dj_paramId(&param, to, name, NULL) == DJ_OK &&
                    dj_setParam(to, &param, vert, NULL) == DJ_OK;
  free(vert);
  return good;
}

// The same of a height field, whose geom was lowered as it was written.
static bool take_heights(djModel* to, const djModel* from, int g, double* most) {
  const int field = to->geom_hfield[g];
  const int n = to->hfield_nrow[field] * to->hfield_ncol[field];
  const double *h = from->hfield_height + from->hfield_adr[field];
  const double *was = to->hfield_height + to->hfield_adr[field];
  double lower[3], shift[3];
  char name[40];
  djParam param;
  for (int k = 0; k < 3; k++) lower[k] = from->geom_pos[3 * g + k] - to->geom_pos[3 * g + k];
  rotate(shift, to->geom_quat + 4 * g, lower, -1);
  double* height = tool_alloc((size_t)n, sizeof *height);
  for (int k = 0; k < n; k++) {
    height[k] = h[k] + shift[2];
    *most = fmax(*most, fabs(height[k] - was[k]));
  }
  snprintf(name, sizeof name, "hfield/#%d/heights", field);
  const bool good = dj_paramId(&param, to, name, NULL) == DJ_OK &&
                    dj_setParam(to, &param, height, NULL) == DJ_OK;
  free(height);
  return good;
}

static bool take_meshes(djModel* to, const djModel* from, double* most) {
  bool* done = tool_alloc((size_t)to->nmesh, sizeof *done);
  bool good = true;
  for (int g = 0; g < to->ngeom; g++) {
    const int mesh = to->geom_type[g] == DJ_MESH ? to->geom_mesh[g] : -1;
    if (mesh < 0 || done[mesh]) continue;
    done[mesh] = true;
    good = take_vertices(to, from, g, most) && good;
  }
  free(done);
  done = tool_alloc((size_t)to->nhfield, sizeof *done);
  for (int g = 0; g < to->ngeom; g++) {
    const int field = to->geom_type[g] == DJ_HFIELD ? to->geom_hfield[g] : -1;
    if (field < 0 || done[field]) continue;
    done[field] = true;
    good = take_heights(to, from, g, most) && good;
  }
  free(done);
  return good;
}

// All other parameters but those that a mesh's frame decides and settings, of which none differs in
// a scene that was written; *most: by how much a number differs, of max(1, |number|).
static bool take_numbers(djModel* to, const djModel* from, double* most) {
  const djEntry* row;
  bool good = true;
  for (int i = 0; (row = dj_parameterEntry(i)); i++) {
    char name[80];
    if (strncmp(row->name, "contact/", 8) == 0 || strncmp(row->name, "mesh/", 5) == 0 ||
        strncmp(row->name, "hfield/", 7) == 0) {
      continue;
    }
    const char* element = strstr(row->name, "/N/");
    if (!element) snprintf(name, sizeof name, "%s", row->name);
    else
      snprintf(name, sizeof name, "%.*s/*%s", (int)(element - row->name), row->name, element + 2);
    const int n = dj_matchParams(NULL, 0, to, name, NULL);
    djParam* param = tool_alloc(n > 0 ? (size_t)n : 0, sizeof *param);
    dj_matchParams(param, n, to, name, NULL);
    for (int k = 0; k < n; k++) {
      double a[16], b[16];
      const bool framed = strncmp(row->name, "geom/", 5) == 0 &&
                          (to->geom_type[param[k].id] == DJ_MESH ||
                           to->geom_type[param[k].id] == DJ_HFIELD) &&
                          strcmp(row->name, "geom/N/friction") != 0;
      if (framed || param[k].nvalue > 16) continue;
      dj_getParam(a, from, &param[k]);
      dj_getParam(b, to, &param[k]);
      double far = 0;
      for (int e = 0; e < param[k].nvalue; e++) {
        if (a[e] != b[e]) far = fmax(far, fabs(a[e] - b[e]) / fmax(1, fabs(b[e])));
      }
      *most = fmax(*most, far);
      if (far > 0) good = dj_setParam(to, &param[k], a, NULL) == DJ_OK && good;
    }
    free(param);
  }
  return good;
}

static djModel** copies(const OptimizeRun* r) {
  djModel** list = tool_alloc((size_t)r->grad.nscene, sizeof *list);
  for (int k = 0; k < r->grad.nscene; k++) {
    dj_copyModel(&list[k], r->grad.part[k].design->model, NULL);
  }
  return list;
}

static void forget(djModel** list, int n) {
  for (int k = 0; k < n; k++) dj_deleteModel(list[k]);
  free(list);
}

// The part of the difference that remains when the design has the written scene's vertices, or its
// other numbers.
static double left_with(double* most, const OptimizeRun* r, djModel* const* written, double loss,
                        bool vertices) {
  djModel** list = copies(r);
  djError err;
  double now = NAN, left = 1;
  bool good = true;
  for (int k = 0; k < r->grad.nscene && good; k++) {
    good = list[k] && (vertices ? take_meshes(list[k], written[k], most)
                                : take_numbers(list[k], written[k], most));
  }
  if (good && run_all(&now, r, list, &err)) left = fabs(now - loss) / fabs(r->loss[AT_END] - loss);
  forget(list, r->grad.nscene);
  return isfinite(left) ? left : 1;
}

// Scenes in .json have no place for the inertia that limits count by.
static bool limits_differ(const OptimizeRun* r, djModel* const* written) {
  bool any = false;
  for (int k = 0; k < r->grad.nscene; k++) {
    const djModel *a = r->grad.part[k].design->model, *b = written[k];
    for (int i = 0; i < a->njnt; i++) {
      any |= a->jnt_limited[i] && a->jnt_effinertia[i] != b->jnt_effinertia[i];
    }
    for (int i = 0; i < a->ntendon; i++) {
      any |= a->tendon_limited[i] && a->tendon_effinertia[i] != b->tendon_effinertia[i];
    }
    for (int i = 0; i < 2 * a->nequality; i++) any |= a->eq_effinertia[i] != b->eq_effinertia[i];
  }
  return any;
}

static void find_reason(Again* a, const OptimizeRun* r, djModel* const* written) {
  double moved = 0, changed = 0;
  const double by_vertices = left_with(&moved, r, written, a->loss, true);
  const double by_numbers = left_with(&changed, r, written, a->loss, false);
  if (limits_differ(r, written)) {
    snprintf(a->why, sizeof a->why,
             "limits are stiff by the inertia that the written scene has, not by that of the task's");
  } else if (by_vertices < 1 - CAUSE) {
    snprintf(a->why, sizeof a->why,
             "MuJoCo keeps vertices of meshes and heights in single precision: they moved by up to "
             "%.2g m",
             moved);
  } else if (by_numbers < 1 - CAUSE) {
    snprintf(a->why, sizeof a->why,
             "rounding by MuJoCo's compiler, of which the run makes more: numbers of the scene "
             "differ by up to %.2g", changed);
  } else {
    snprintf(a->why, sizeof a->why,
             "why is not known: vertices moved by up to %.2g m and other numbers by %.2g, neither of "
             "which alone does it", moved, changed);
  }
}

// ---- whole -------------------------------------------------------------------------------------

void again_open(Again* a, const OptimizeRun* r) {
  *a = (Again){.model = tool_alloc((size_t)r->grad.nscene, sizeof *a->model)};
}

void again_load(Again* a, int k, const char* path, bool json) {
  djError err = {""};
  a->model[k] = load(path, json, &err);
  if (!a->model[k]) snprintf(a->why, sizeof a->why, "%.390s", err.text);
}

void again_close(Again* a, const OptimizeRun* r) {
  if (a->model) forget(a->model, r->grad.nscene);
  a->model = NULL;
}

bool again_same(const Again* a) { return a->done && fabs(a->difference) <= SAME; }

void again_run(Again* a, const OptimizeRun* r) {
  const double result = r->loss[AT_END];
  djError err = {""};
  if (*a->why) return;
  for (int k = 0; k < r->grad.nscene; k++) {
    if (!a->model[k]) snprintf(a->why, sizeof a->why, "not every scene was written");
  }
  if (*a->why) return;
  a->done = run_all(&a->loss, r, a->model, &err);
  if (!a->done) {
    snprintf(a->why, sizeof a->why, "%.390s", err.text);
    return;
  }
  a->difference = (a->loss - result) / (result != 0 ? fabs(result) : 1);
  if (!again_same(a)) find_reason(a, r, a->model);
}
