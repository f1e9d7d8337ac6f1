// Load a scene, step it, and print how the next velocities depend on the state.
//   cc transition.c -ldijoco && ./a.out scene.json       (dijoco convert makes JSON from MJCF)

#include <dijoco/dijoco.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  djModel* model;
  djData* data;
  djError error;
  if (argc < 2 || dj_loadModel(&model, argv[1], &error) < 0 ||
      dj_makeData(&data, model, &error) < 0) {
    fprintf(stderr, "%s\n", argc < 2 ? "usage: transition scene.json" : error.text);
    return 2;
  }
  for (int k = 0; k < 100; k++) {
    if (dj_step(model, data) < 0) return fprintf(stderr, "%s\n", dj_errorText(data)), 1;
  }
  int nx = dj_tangentSize(model);
  double* A = malloc((size_t)(nx * nx) * sizeof(double));
  if (!A || djd_lastTransition(model, data, A, NULL) != DJ_OK) return 1;
  printf("time %g, %d contacts, d v0/d v0 = %.6f\n", data->time, data->npair,
         A[(size_t)model->nv * nx + model->nv]);
  free(A);
  dj_deleteData(data);
  dj_deleteModel(model);
  return 0;
}
