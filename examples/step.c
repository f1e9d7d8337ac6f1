// Load a scene, step it for one second, and print where its first joint is and what touches.
//   cc step.c $(pkg-config --cflags --libs dijoco) && ./a.out box.json
// `dijoco convert scene.xml --out scene.json` makes such files from MJCF.

#include <dijoco/dijoco.h>

#include <stdio.h>

int main(int argc, char** argv) {
  djModel* model;
  djData* data;
  djError error;
  if (dj_loadModel(&model, argc > 1 ? argv[1] : "box.json", &error) < 0 ||
      dj_makeData(&data, model, &error) < 0) {
    fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  while (data->time < 1 - 0.5 * model->opt.timestep) {
    if (dj_step(model, data) < 0) {
      fprintf(stderr, "%s\n", dj_errorText(data));
      return 1;
    }
  }
  printf("time %.3f, qpos", data->time);
  for (int i = 0; i < model->nq; i++) printf(" %.6f", data->qpos[i]);
  printf("\nunconverged steps: %ld\n", data->stats.unconverged_steps);
  for (int k = 0; k < data->ncontact; k++) {
    const djContactForce* c = &data->contact[k];
    printf("%s on %s: %.4f N upwards\n", dj_id2name(model, DJ_OBJ_BODY, c->body1),
           dj_id2name(model, DJ_OBJ_BODY, c->body2), c->force[2]);
  }
  dj_deleteData(data);
  dj_deleteModel(model);
  return 0;
}
