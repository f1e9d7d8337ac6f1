#include "common/robots.h"

#ifdef DJ_HAVE_MUJOCO

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char* folderOf(const char* variable, const char* standard) {
  const char* folder = getenv(variable);
  if (!folder || !*folder) folder = standard;
  if (access(folder, R_OK) == 0) return folder;
  printf("no models in %s: run scripts/fetch_models.sh\n", folder);
  return NULL;
}

const char* robot_folder(void) {
  return folderOf("DIJOCO_GYMNASIUM", DIJOCO_SOURCE_DIR "/build/deps/gymnasium");
}

const char* robot_controlFolder(void) {
  return folderOf("DIJOCO_DM_CONTROL", DIJOCO_SOURCE_DIR "/build/deps/dm_control");
}

static mjModel* give(mjModel* m, const char* what, const char* error) {
  if (!m) djv_fail("%.200s: %s", what, error);
  return m;
}

mjModel* robot_loadFrom(const char* folder, const char* name) {
  char path[1000], error[500] = "";
  snprintf(path, sizeof path, "%s/%s.xml", folder, name);
  return give(mj_loadXML(path, NULL, error, sizeof error), path, error);
}

mjModel* robot_load(const char* name) { return robot_loadFrom(robot_folder(), name); }

mjModel* robot_compile(const char* text) {
  mjVFS vfs;
  char error[500] = "";
  mj_defaultVFS(&vfs);
  mj_addBufferVFS(&vfs, "model.xml", text, (int)strlen(text));
  mjModel* m = mj_loadXML("model.xml", &vfs, error, sizeof error);
  mj_deleteVFS(&vfs);
  return give(m, text, error);
}

double robot_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

double robot_median(double* x, int n) {
  qsort(x, (size_t)n, sizeof *x, ascending);
  return x[n / 2];
}

djModel* robot_import(const mjModel* m, djError* err) {
  djModel* model;
  return dj_importMuJoCo(&model, NULL, m, err) == DJ_OK ? model : NULL;
}

djData* robot_makeData(const djModel* model) {
  djData* data;
  djError err;
  if (dj_makeData(&data, model, &err) != DJ_OK) djv_fail("%s", err.text);
  return data;
}

void robot_partFrictions(djModel* model) {
  for (int g = 0; g < model->ngeom; g++) {
    char text[40];
    double friction[3];
    djParam p;
    djError err;
    snprintf(text, sizeof text, "geom/#%d/friction", g);
    if (dj_paramId(&p, model, text, &err) < 0) djv_fail("%s", err.text);
    dj_getParam(friction, model, &p);
    for (int k = 0; k < 3; k++) friction[k] *= 1 + 0.03 * g;
    friction[0] += 1e-3 * (g + 1);
    if (dj_setParam(model, &p, friction, &err) < 0) djv_fail("%s: %s", text, err.text);
  }
}

void robot_randomCtrl(double* ctrl, const mjModel* m, djvRandom* random, double part) {
  for (int i = 0; i < m->nu; i++) {
    bool limited = m->actuator_ctrllimited[i];
    double low = limited ? m->actuator_ctrlrange[2 * i] : -1;
    double high = limited ? m->actuator_ctrlrange[2 * i + 1] : 1;
    double middle = 0.5 * (low + high), half = 0.5 * part * (high - low);
    ctrl[i] = djv_uniform(random, middle - half, middle + half);
  }
}

#define LABEL(text, what)                       \
  char text[120];                               \
  va_list args;                                 \
  va_start(args, what);                         \
  vsnprintf(text, sizeof text, what, args);     \
  va_end(args)

void robot_below(djvReport* r, double value, double limit, const char* unit, const char* what,
                 ...) {
  LABEL(text, what);
  djv_below(r, text, value, limit, unit);
}

void robot_near(djvReport* r, double value, double target, double tolerance, const char* what,
                ...) {
  LABEL(text, what);
  djv_near(r, text, value, target, tolerance, "");
}

void robot_count(djvReport* r, long value, long limit, const char* what, ...) {
  LABEL(text, what);
  djv_count(r, text, value, limit);
}

void robot_countOf(djvReport* r, long value, long limit, long of, const char* what, ...) {
  LABEL(text, what);
  djv_countOf(r, text, value, limit, of);
}

void robot_copyState(djData* data, const mjModel* m, const mjData* d) {
  mju_copy(data->qpos, d->qpos, (int)m->nq);
  mju_copy(data->qvel, d->qvel, (int)m->nv);
  mju_copy(data->act, d->act, (int)m->na);
  mju_copy(data->ctrl, d->ctrl, (int)m->nu);
}

#endif
