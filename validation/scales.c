// Default settings on scenes of other sizes: a 1 cm cube of 1 g, a 2 m plank, a robot of 30 kg, a
// 10 m block. Each is dropped flat from a few per cent of its size, and has to be at rest within a
// second of landing, at the height where surfaces touch, without creep or bounce.

#include "common/convex.h"
#include "common/report.h"
#include "common/vec3.h"

#include <stdio.h>

typedef struct Case {
  const char* name;
  double size;                // smallest half size: the unit of rest heights
  double drop;                // height, metres
  void (*build)(djvScene* s, double lift);
} Case;

typedef struct Run {
  djvScene* scene;
  djModel* model;
  djData* data;
  djvGeomShape shape[DJV_MAX_GEOM];
  double home[DJV_MAX_GEOM][3];
} Run;

// ------------------------------------------ scenes ---------------------------------------------

static void addBox(djvScene* s, double x, double y, double z, double mass, double lift) {
  const double size[3] = {x, y, z}, pos[3] = {0, 0, z + lift};
  int body = djv_addFree(s, pos, NULL);
  djv_addGeom(s, body, DJ_BOX, size, NULL, NULL);
  djv_setMass(s, body, mass);
}

static void buildCube(djvScene* s, double lift) { addBox(s, 0.005, 0.005, 0.005, 1e-3, lift); }
static void buildPlank(djvScene* s, double lift) { addBox(s, 1, 0.1, 0.02, 5, lift); }
static void buildBlock(djvScene* s, double lift) { addBox(s, 5, 5, 5, 1e6, lift); }

static void addLeg(djvScene* s, int torso, double x, double y, double side) {
  const double hip[3] = {x, y, 0}, knee[3] = {0, 0, -0.25}, axis[3] = {0, 1, 0};
  const double size[3] = {0.02, 0.105, 0}, middle[3] = {0, 0, -0.125}, foot[3] = {0.03, 0, 0};
  const double ball[3] = {0, 0, -0.25};
  int parent = torso;
  for (int k = 0; k < 2; k++) {
    parent = djv_addBody(s, parent, k == 0 ? hip : knee);
    int j = djv_addJoint(s, parent, DJ_HINGE, axis);
    double bend = k == 0 ? 0.6 * side : -1.2 * side;
    s->joint[j].damping = 30;          // about critical for the sway of the torso
    s->joint[j].armature = 0.01;
    djActuatorDef* a = &s->actuator[s->def.nu++];
    *a = dj_defaultActuatorDef();
    a->joint = j;
    a->gainprm[0] = 600;
    a->bias = DJ_BIAS_AFFINE;
    a->biasprm[0] = 600 * bend;       // holds the bent pose at ctrl 0
    a->biasprm[1] = -600;
    djv_addGeom(s, parent, DJ_CAPSULE, size, middle, NULL);
    if (k == 1) djv_addGeom(s, parent, DJ_SPHERE, foot, ball, NULL);
    djv_setMass(s, parent, k == 0 ? 1.5 : 1);
  }
}

// A torso on four legs of two links, held by position actuators in a slightly bent pose.
static void buildRobot(djvScene* s, double lift) {
  const double size[3] = {0.35, 0.15, 0.08}, pos[3] = {0, 0, 0.53 + lift};
  int torso = djv_addFree(s, pos, NULL);
  djv_addGeom(s, torso, DJ_BOX, size, NULL, NULL);
  djv_setMass(s, torso, 20);
  for (int k = 0; k < 4; k++) addLeg(s, torso, k & 1 ? 0.3 : -0.3, k & 2 ? 0.19 : -0.19, 1);
}

// ------------------------------------------ measurements ---------------------------------------

// Lowest point of the true geoms, of the highest foot, and largest horizontal shift from `home`.
static void measure(const Run* run, double* low, double* high, double* shift) {
  const djModel* m = run->model;
  double lowest[DJV_MAX_BODY];
  *low = INFINITY;
  *high = -INFINITY;
  *shift = 0;
  for (int b = 0; b < m->nbody; b++) lowest[b] = INFINITY;
  for (int g = 1; g < m->ngeom; g++) {
    djvConvex c;
    const double* pos = run->data->geom_xpos + 3 * g;
    djv_placeShape(&c, &run->shape[g], 0, pos, run->data->geom_xmat + 9 * g);
    lowest[m->geom_body[g]] = fmin(lowest[m->geom_body[g]], djv_lowest(&c));
    *low = fmin(*low, djv_lowest(&c));
    double d[3];
    djv_sub(d, pos, run->home[g]);
    *shift = djv_worst(*shift, hypot(d[0], d[1]));
  }
  // The highest of the feet: bodies at the end of a chain.
  for (int b = 1; b < m->nbody; b++) {
    bool last = true;
    for (int k = b + 1; k < m->nbody; k++) last = last && m->body_parent[k] != b;
    if (last) *high = djv_worst(*high, lowest[b]);
  }
}

static void setHome(Run* run) {
  for (int g = 0; g < run->model->ngeom; g++) {
    for (int k = 0; k < 3; k++) run->home[g][k] = run->data->geom_xpos[3 * g + k];
  }
}

static double speed(const Run* run, const double before[DJV_MAX_GEOM][3], double h) {
  double most = 0;
  for (int g = 1; g < run->model->ngeom; g++) {
    most = djv_worst(most, djv_dist(run->data->geom_xpos + 3 * g, before[g]) / h);
  }
  return most;
}

static void settle(djModel** model, djData** data, const Case* c, djvScene* s, double h,
                   double lift) {
  djv_startScene(s, h);
  djv_addFloor(s);
  c->build(s, lift);
  djv_make(model, data, s);
}

// A robot is dropped from the pose at which its lowest point is at height `drop`.
static double findLift(const Case* c, djvScene* s, double h) {
  Run run = {.scene = s};
  settle(&run.model, &run.data, c, s, h, 0);
  for (int j = 1; j < run.model->njnt; j++) {
    run.data->qpos[run.model->jnt_qposadr[j]] = run.model->actuator_biasprm[DJ_NPRM * (j - 1)] / 600;
  }
  dj_forward(run.model, run.data);
  for (int g = 0; g < run.model->ngeom; g++) djv_geomShape(&run.shape[g], s, g);
  double low, high, shift;
  measure(&run, &low, &high, &shift);
  dj_deleteData(run.data);
  dj_deleteModel(run.model);
  return c->drop - low;
}

static void checkCase(djvReport* r, const Case* c, double h) {
  static djvScene scene;
  Run run = {.scene = &scene};
  double lift = findLift(c, &scene, h), before[DJV_MAX_GEOM][3];
  settle(&run.model, &run.data, c, &scene, h, lift);
  for (int j = 1; j < run.model->njnt; j++) {
    run.data->qpos[run.model->jnt_qposadr[j]] = run.model->actuator_biasprm[DJ_NPRM * (j - 1)] / 600;
  }
  for (int g = 0; g < run.model->ngeom; g++) djv_geomShape(&run.shape[g], &scene, g);
  djv_title("%s, step %g ms: dropped from %g m", c->name, 1e3 * h, c->drop);
  dj_forward(run.model, run.data);
  setHome(&run);
  double landing = sqrt(2 * c->drop / 9.81), bounce = 0, creep = 0, low, high, shift, late = 0;
  double still = 1e-3 * sqrt(9.81 * c->size), quiet = 0, fastest = 0;
  int nstep = (int)lround((landing + 3) / h);
  bool landed = false, marked = false;
  for (int k = 0; k < nstep; k++) {
    for (int g = 0; g < run.model->ngeom; g++) {
      for (int i = 0; i < 3; i++) before[g][i] = run.data->geom_xpos[3 * g + i];
    }
    if (dj_step(run.model, run.data) < 0) djv_fail("%s: %s", c->name, dj_errorText(run.data));
    measure(&run, &low, &high, &shift);
    double v = speed(&run, before, h);
    landed = landed || run.data->npair > 0;
    if (landed) bounce = djv_worst(bounce, low);
    if (v > still) quiet = run.data->time;
    if (run.data->time < landing + 1) continue;
    if (!marked) setHome(&run);
    else creep = djv_worst(creep, shift);
    marked = true;
    fastest = djv_worst(fastest, v);
    late = fmax(fabs(low), fabs(high));
  }
  char text[100];
  snprintf(text, sizeof text, "at rest (every speed < %.2g m/s), after landing", still);
  djv_below(r, text, quiet - landing, 1, "s");
  djv_below(r, "rest: lowest points off the floor / half size", 100 * late / c->size, 0.5, "%");
  djv_figure(r, "rest height off by", 100 * late / c->size, "%");
  djv_countOf(r, "runs that never touch the floor", !landed, 0, 1);
  djv_below(r, "bounce: height after landing / drop", 100 * bounce / c->drop, 2, "%");
  djv_below(r, "creep in the last 2 s / half size", 100 * creep / c->size, 0.1, "%");
  djv_count(r, "unconverged steps", run.data->stats.unconverged_steps, 0);
  djv_note("fastest point in the last 2 s: %.3g m/s; lowest %.3g m, highest foot %.3g m; "
           "%.2f iterations a step", fastest, low, high,
           (double)run.data->stats.newton_iterations / nstep);
  dj_deleteData(run.data);
  dj_deleteModel(run.model);
}

int main(int argc, char** argv) {
  djv_isQuick(argc, argv);
  djvReport r = {0};
  const Case cases[] = {{"1 cm cube of 1 g", 0.005, 0.0003, buildCube},
                        {"2 m plank of 5 kg", 0.02, 0.02, buildPlank},
                        {"robot of 30 kg", 0.02, 0.02, buildRobot},
                        {"10 m block of 1000 t", 5, 0.3, buildBlock}};
  const double steps[] = {0.002, 0.005};
  for (int i = 0; i < 8; i++) checkCase(&r, &cases[i / 2], steps[i % 2]);
  return djv_finish(&r);
}
