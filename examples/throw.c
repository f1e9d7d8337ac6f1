// Throw a box so that it lands, slides and stops: how does the place where it ends depend on the
// velocity at the start? The adjoint of the whole run, beside a difference of two runs.
//   cc throw.c $(pkg-config --cflags --libs dijoco) && ./a.out box.json

#include <dijoco/dijoco.h>

#include <stdio.h>

enum { HORIZON = 200 };

int main(int argc, char** argv) {
  djModel* model;
  djData* data;
  djTape* tape;
  djError error;
  if (dj_loadModel(&model, argc > 1 ? argv[1] : "box.json", &error) < 0 ||
      dj_makeData(&data, model, &error) < 0 ||
      djd_makeTape(&tape, model, HORIZON, &error) < 0) {
    fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  // the loss: squared distance of body 1 from a target at the end
  djLossTerm loss = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 1,
                     .target = {2, 0, 0.1}, .weight = 1, .when = DJ_WHEN_FINAL};
  double velocity[6] = {1.5, 0.3, 0.5, 0, 1, 0}, gradient[6];
  djRollout run = {.horizon = HORIZON, .qpos0 = model->qpos0, .qvel0 = velocity,
                   .nloss = 1, .loss = &loss, .refinement_steps = 8};
  djRolloutResult result = {.grad_qvel0 = gradient};
  if (djd_rolloutForward(&result, model, data, &run, tape) != DJ_OK ||
      djd_rolloutBackward(&result, model, data, &run, tape) != DJ_OK) {
    fprintf(stderr, "%s\n", dj_errorText(data));
    return 1;
  }
  printf("ends at %.4f %.4f %.4f, loss %.6f\n", data->xpos[3], data->xpos[4], data->xpos[5],
         result.loss);

  const double step = 1e-7;
  run.loss_only = true;
  for (int i = 0; i < 6; i++) {
    double at[2], middle = velocity[i];
    for (int side = 0; side < 2; side++) {
      velocity[i] = middle + (side ? step : -step);
      if (djd_rolloutForward(&result, model, data, &run, tape) != DJ_OK) return 1;
      at[side] = result.loss;
    }
    velocity[i] = middle;
    printf("d loss / d velocity[%d]: %12.6f, difference %12.6f\n", i, gradient[i],
           (at[1] - at[0]) / (2 * step));
  }
  djd_deleteTape(tape);
  dj_deleteData(data);
  dj_deleteModel(model);
  return 0;
}
