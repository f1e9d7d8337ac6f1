// What triangles are for: a ring hangs on a peg, a mug on a hook, both as they are, closed meshes
// with a hole (mj_concave/meshes.c).
//
//   mj_concave [--quick]         the ring alone, for .4 s, by triangles and hulls
//   mj_concave --scenes FOLDER   writes ring.xml, mug.xml and those of hulls, and ends
//
// Each is let go 1 mm above its rest and hangs for 4 s of 4 ms; then it begins .2 m beside,
// where nothing touches for 20 steps, and the loss is how far it is from its place after these, by
// what the holder's servos are told. By contact between triangles; by hulls of `decompose` (16 a
// body) with separating planes; by penalties of its points and fields; by stock MuJoCo, of the same
// hulls, and of meshes as they are, of which MuJoCo takes the hull. All with default settings; ours
// by `position`.
//
// It fails where triangles touch, drift by more than a tenth of a millimetre in the last quarter,
// or have no gradient; where the others' gradients are not zero; or where `euler` takes more than
// twice as many iterations of Newton's method as `position`.

#include "mj_concave/concave.h"

#include "common/vec3.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HULLS = 16, BEFORE = 20, EVERY = 10, FIRST = 50 };

typedef enum Engine { OURS, STOCK } Engine;
typedef struct Way {
  const char *name, *contact;
  Engine engine;
  int hulls;
} Way;
static const Way WAYS[] = {{"long_range", "long_range", OURS, 0},
                           {"hulls, separating_plane", "separating_plane", OURS, HULLS},
                           {"penalty", "penalty", OURS, 0},
                           {"MuJoCo, hulls", NULL, STOCK, HULLS},
                           {"MuJoCo, meshes", NULL, STOCK, 0}};
enum { NWAY = sizeof WAYS / sizeof WAYS[0] };
static const double MOST_EULER = 2;

typedef struct Outcome {
  double deepest, rest; // m: least distance of the surfaces, that at the end
  double drift;         // m in the last quarter
  double moved;         // m, from where it was let go
  double time;          // s a step
  double gradient;      // m^2 by m
  long unconverged;
} Outcome;

static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

// The scene by a way of contact, with the loss and all that varies.
typedef struct Scene {
  mjModel* m;
  djTask* task;
  djModel* model;
} Scene;

static void openScene(Scene* s, const Hanging* what, const Way* way, const char* integrator,
                      const double pos[3]) {
  char text[600];
  djError err = {""};
  s->m = cv_compile(what, way->hulls, pos);
  snprintf(text, sizeof text,
           "{\"scene\": \"-\", \"integrator\": \"%s\", \"horizon\": %d, \"contact\": \"%s\", "
           "\"loss\": [{\"type\": "
           "\"position\", \"body\": \"thing\", \"target\": [%g, %g, %g]}], \"variables\": "
           "[{\"name\": \"ctrl\"}]}",
           integrator, BEFORE, way->contact ? way->contact : "none", what->pos[0], what->pos[1],
           what->pos[2]);
  if (dj_loadTaskText(&s->task, text, "", &err) < 0 ||
      dj_importMuJoCo(&s->model, NULL, s->m, &err) < 0 ||
      dj_applyTask(s->model, s->task, &err) < 0) {
    djv_fail("%s, %s: %s", what->name, way->name, err.text);
  }
}

static void closeScene(Scene* s) {
  dj_deleteModel(s->model);
  dj_deleteTask(s->task);
  mj_deleteModel(s->m);
}

// ------------------------------------------ hanging --------------------------------------------

// Takes places of bodies into account, after `step` steps of `all`.
static void look(Outcome* o, Surfaces* s, double last[3], const double* pos, const double* mat,
                 const Hanging* what, int step, int all) {
  const double* const at[2] = {pos + 3 * s->body[0], pos + 3 * s->body[1]};
  const double* const axes[2] = {mat + 9 * s->body[0], mat + 9 * s->body[1]};
  if (step == all - all / 4) memcpy(last, at[0], 3 * sizeof *last);
  if (step % EVERY != 0 && step != all) return;
  const double apart = cv_apart(s, at, axes);
  o->deepest = fmin(o->deepest, apart);
  if (step < all) return;
  o->rest = apart;
  o->drift = djv_dist(at[0], last);
  o->moved = djv_dist(at[0], what->pos);
}

static void hang(Outcome* o, const Hanging* what, const Way* way, double seconds) {
  Scene scene;
  Surfaces s;
  djData* d = NULL;
  djError err = {""};
  double last[3] = {0}, busy = 0;
  openScene(&scene, what, way, "position", what->pos);
  cv_openSurfaces(&s, what, scene.m);
  const int all = (int)lround(seconds / scene.m->opt.timestep);
  mjData* stock = mj_makeData(scene.m);
  if (dj_makeData(&d, scene.model, &err) < 0) djv_fail("%s: %s", what->name, err.text);
  for (int k = 1; k <= all; k++) {
    const double before = now();
    if (way->engine == STOCK)
      mj_step(scene.m, stock);
    else if (dj_step(scene.model, d) < 0)
      djv_fail("%s, %s: %s", what->name, way->name, dj_errorText(d));
    busy += now() - before;
    if (way->engine == STOCK) mj_kinematics(scene.m, stock);
    look(o, &s, last, way->engine == STOCK ? stock->xpos : d->xpos,
         way->engine == STOCK ? stock->xmat : d->xmat, what, k, all);
  }
  o->time = busy / all;
  o->unconverged = d->stats.unconverged_steps;
  dj_deleteData(d);
  mj_deleteData(stock);
  cv_closeSurfaces(&s);
  closeScene(&scene);
}

// Iterations of Newton's method of the first steps, by triangles.
static long countIterations(const Hanging* what, const char* integrator) {
  Scene scene;
  djData* d = NULL;
  djError err = {""};
  openScene(&scene, what, &WAYS[0], integrator, what->pos);
  if (dj_makeData(&d, scene.model, &err) < 0) djv_fail("%s: %s", what->name, err.text);
  for (int k = 0; k < FIRST; k++) {
    if (dj_step(scene.model, d) < 0) djv_fail("%s: %s", integrator, dj_errorText(d));
  }
  const long n = d->stats.newton_iterations;
  dj_deleteData(d);
  closeScene(&scene);
  return n;
}

// ------------------------------------------ gradients ------------------------------------------

// MuJoCo's loss after the steps, with one entry of the controls of the first of them changed.
static double stockLoss(const mjModel* m, const Hanging* what, int entry, double by) {
  mjData* d = mj_makeData(m);
  const int thing = mj_name2id(m, mjOBJ_BODY, "thing");
  for (int k = 0; k < BEFORE; k++) {
    d->ctrl[entry] = k == 0 ? by : 0;
    mj_step(m, d);
  }
  mj_kinematics(m, d);
  double e[3];
  djv_sub(e, d->xpos + 3 * thing, what->pos);
  mj_deleteData(d);
  return djv_dot(e, e);
}

// Its norm by all controls; of MuJoCo by those of the first step, from differences of 1 mm.
static double gradientOf(const Hanging* what, const Way* way) {
  Scene scene;
  djProblem* problem;
  djDesign* design;
  djError err = {""};
  double loss, sum = 0;
  openScene(&scene, what, way, "position", what->before);
  if (way->engine == STOCK) {
    for (int k = 0; k < scene.m->nu; k++) {
      const double up = stockLoss(scene.m, what, k, 1e-3),
                   down = stockLoss(scene.m, what, k, -1e-3);
      sum += (up - down) * (up - down) / 4e-6;
    }
  } else {
    if (dj_resolveTask(&problem, scene.task, scene.model, &err) < 0 ||
        djd_makeDesign(&design, scene.model, problem, &err) < 0) {
      djv_fail("%s, %s: %s", what->name, way->name, err.text);
    }
    double* g = djv_take((size_t)design->n, sizeof *g);
    if (djd_evaluateDesign(&loss, g, design, design->x0) < 0) djv_fail("%s", design->error.text);
    for (int i = 0; i < design->n; i++) sum += g[i] * g[i];
    free(g);
    djd_deleteDesign(design);
    dj_deleteProblem(problem);
  }
  closeScene(&scene);
  return sqrt(sum);
}

// ------------------------------------------ all ------------------------------------------------

static void compare(djvReport* r, const Hanging* what, bool quick) {
  const double seconds = quick ? 0.4 : 4;
  djv_title("%s, %g s", what->name, seconds);
  djv_note("%-24s %11s %11s %11s %11s %9s %11s", "", "deepest", "at rest", "drift", "moved",
           "a step", "gradient");
  for (int k = 0; k < NWAY; k++) {
    const Way* way = &WAYS[k];
    char text[80];
    if (quick && k > 1) continue;
    Outcome o = {.deepest = INFINITY};
    hang(&o, what, way, seconds);
    o.gradient = gradientOf(what, way);
    djv_note("%-24s %8.3f mm %8.3f mm %8.4f mm %8.2f mm %6.3f ms %11.3g%s", way->name,
             1e3 * o.deepest, 1e3 * o.rest, 1e3 * o.drift, 1e3 * o.moved, 1e3 * o.time, o.gradient,
             o.unconverged > 0 ? " (unconverged steps)" : "");
    snprintf(text, sizeof text, "%s: gradient before contact", way->name);
    if (k > 0) {
      djv_below(r, text, o.gradient, DBL_MIN, "");
      continue;
    }
    djv_above(r, text, o.gradient, 0, "");
    djv_above(r, "long_range: least distance of the surfaces", 1e3 * o.deepest, 0, "mm");
    if (!quick) djv_below(r, "long_range: drift in the last quarter", 1e3 * o.drift, 0.1, "mm");
    djv_count(r, "long_range: unconverged steps", o.unconverged, 0);
  }
  const long euler = countIterations(what, "euler"), position = countIterations(what, "position");
  djv_note("iterations of the first %d steps by triangles: euler %ld, position %ld", FIRST, euler,
           position);
  djv_below(r, "long_range: iterations of euler over those of position",
            (double)euler / (double)position, MOST_EULER, "");
}

// Both scenes, of meshes and of hulls, into a folder.
static void writeScenes(const char* folder) {
  static const char* const names[2 * NHANGING] = {"ring", "ring_hulls", "mug", "mug_hulls"};
  for (int k = 0; k < 2 * NHANGING; k++) {
    const Hanging* what = &cv_hangings[k / 2];
    char path[600], *text = cv_write(what, k % 2 ? HULLS : 0, what->pos);
    snprintf(path, sizeof path, "%s/%s.xml", folder, names[k]);
    FILE* file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) djv_fail("%s: not written", path);
    free(text);
  }
}

int main(int argc, char** argv) {
  djvReport report = {0};
  const char* folder = djv_takeText(&argc, argv, "--scenes");
  if (folder) {
    writeScenes(folder);
    return 0;
  }
  const bool quick = djv_isQuick(argc, argv);
  for (int k = 0; k < (quick ? 1 : NHANGING); k++) compare(&report, &cv_hangings[k], quick);
  return djv_finish(&report);
}
