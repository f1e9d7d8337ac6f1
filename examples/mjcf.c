// In a program that uses MuJoCo: one scene from MJCF, stepped by MuJoCo and by DiJoCo.
//   needs dijoco/mujoco.h and libdijoco_plugin; ./mjcf scene.xml

#include <dijoco/mujoco.h>

#include <stdio.h>

int main(int argc, char** argv) {
  djModel* model;
  djReport* report;
  mjModel* m;
  djmContext* context;
  djError error;
  if (argc < 2 || dj_loadMJCF(&model, &report, &m, argv[1], &error) < 0 ||
      djm_makeContext(&context, NULL, m, &error) < 0) {
    fprintf(stderr, "%s: %s\n", argc < 2 ? "usage" : argv[1],
            argc < 2 ? "mjcf scene.xml" : error.text);
    return 2;
  }
  for (int i = 0; i < report->n; i++) {
    printf("%s %s: %s\n", report->entry[i].element, report->entry[i].feature,
           dj_featureStateName(report->entry[i].state));
  }
  mjData* theirs = mj_makeData(m);
  mjData* ours = mj_makeData(m);
  for (int k = 0; k < 500; k++) {
    mj_step(m, theirs);
    if (djm_step(m, ours, context) < 0) {
      fprintf(stderr, "%s\n", dj_errorText(djm_data(context)));
      return 1;
    }
  }
  for (int i = 0; i < m->nq; i++) {
    printf("qpos[%d]: MuJoCo %9.5f, DiJoCo %9.5f\n", i, theirs->qpos[i], ours->qpos[i]);
  }
  mj_deleteData(ours);
  mj_deleteData(theirs);
  djm_deleteContext(context);
  mj_deleteModel(m);
  dj_deleteReport(report);
  dj_deleteModel(model);
  return 0;
}
