// Soft contacts settle where MuJoCo's do: beside stock MuJoCo, from the first keyframe or the
// start, controls held, under softness = hard and mujoco: hinges' difference over half a second
// (root mean square, rad), and by how much the free body is higher after two. Of models/stance,
// dm_control's and gymnasium's robots, or of the scenes that are named, at their own timesteps, RK4
// taken by Euler.

#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Beside {
  double hinges;           // rad
  double higher;           // m; of the first free body. 0: there is none
} Beside;

static double squares(int* n, const mjModel* m, const mjData* d, const double* qpos) {
  double sum = 0;
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_type[j] != mjJNT_HINGE) continue;
    int a = m->jnt_qposadr[j];
    sum += (qpos[a] - d->qpos[a]) * (qpos[a] - d->qpos[a]);
    (*n)++;
  }
  return sum;
}

static double heightOver(const mjModel* m, const mjData* d, const double* qpos) {
  int j = 0;
  while (j < m->njnt && m->jnt_type[j] != mjJNT_FREE) j++;
  if (j == m->njnt) return 0;
  return qpos[m->jnt_qposadr[j] + 2] - d->qpos[m->jnt_qposadr[j] + 2];
}

static Beside runBeside(const char* name, const mjModel* m, djSoftness softness) {
  djError err;
  djModel* model = robot_import(m, &err);
  if (!model) djv_fail("%s: %s", name, err.text);
  djOption option = model->opt;
  option.softness = softness;
  if (dj_setOption(model, &option, &err) < 0) djv_fail("%s: %s", name, err.text);
  djData* own = robot_makeData(model);
  mjData* d = mj_makeData(m);
  if (m->nkey > 0) mj_resetDataKeyframe(m, d, 0);
  robot_copyState(own, m, d);
  const int half = (int)lround(0.5 / m->opt.timestep);
  double sum = 0;
  int n = 0;
  for (int k = 0; k < 4 * half; k++) {
    mj_step(m, d);
    if (dj_step(model, own) < 0) djv_fail("%s: %s", name, dj_errorText(own));
    if (k < half) sum += squares(&n, m, d, own->qpos);
  }
  Beside b = {n > 0 ? sqrt(sum / n) : 0, heightOver(m, d, own->qpos)};
  mj_deleteData(d);
  dj_deleteData(own);
  dj_deleteModel(model);
  return b;
}

static Beside compare(Beside* hard, const char* name, mjModel* m) {
  if (m->opt.integrator == mjINT_RK4) m->opt.integrator = mjINT_EULER;
  *hard = runBeside(name, m, DJ_SOFTNESS_HARD);
  const Beside soft = runBeside(name, m, DJ_SOFTNESS_MUJOCO);
  printf("  %-24s %9.2e %9.2e  %8.2f %8.2f\n", name, hard->hinges, soft.hinges, 1e3 * hard->higher,
         1e3 * soft.higher);
  fflush(stdout);
  mj_deleteModel(m);
  return soft;
}

static void compareFiles(int n, char** path) {
  for (int i = 0; i < n; i++) {
    char why[1000] = "";
    mjModel* m = mj_loadXML(path[i], NULL, why, sizeof why);
    if (!m) djv_fail("%s: %s", path[i], why);
    const char* name = strrchr(path[i], '/');
    Beside hard;
    compare(&hard, name ? name + 1 : path[i], m);
  }
}

int main(int argc, char** argv) {
  static const char* const control[] = {"quadruped", "dog", "humanoid", "walker", "cheetah"};
  static const char* const robots[] = {"humanoid", "ant", "half_cheetah", "hopper", "walker2d"};
  djvReport r = {0};
  Beside hard, soft;
  djv_title("Beside MuJoCo under softness = hard, mujoco");
  printf("  %-24s %9s %9s  %8s %8s\n", "", "hinges", "rad", "height", "mm");
  if (argc > 1 && argv[1][0] != '-') {
    compareFiles(argc - 1, argv + 1);
    return 0;
  }
  const bool quick = djv_isQuick(argc, argv);
  mjModel* stance = robot_loadFrom(DIJOCO_SOURCE_DIR "/models/stance", "scene");
  soft = compare(&hard, "models/stance", stance);
  robot_below(&r, 1e3 * fabs(soft.higher), 1, "mm", "models/stance: height");
  robot_below(&r, soft.hinges / hard.hinges, 1, "", "models/stance: hinges, of those under hard");
  djv_figure(&r, "height under hard", 1e3 * hard.higher, "mm");
  djv_figure(&r, "height under mujoco", 1e3 * soft.higher, "mm");
  const char *dm = robot_controlFolder(), *gymnasium = robot_folder();
  for (int i = 0; i < 5 && dm && !quick; i++) {
    soft = compare(&hard, control[i], robot_loadFrom(dm, control[i]));
    robot_below(&r, soft.hinges / hard.hinges, 1.05, "", "dm_control %s: hinges", control[i]);
  }
  for (int i = 0; i < 5 && gymnasium && !quick; i++) {
    soft = compare(&hard, robots[i], robot_load(robots[i]));
    robot_below(&r, soft.hinges / hard.hinges, 1.05, "", "gymnasium %s: hinges", robots[i]);
  }
  return djv_finish(&r);
}
