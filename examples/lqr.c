// Balance a pole on a cart: (A, B) of a step at rest, the gain from the discrete Riccati equation,
//   P = Q + A^T P A - A^T P B (R + B^T P B)^-1 B^T P A,   K = (R + B^T P B)^-1 B^T P A,
// iterated from P = Q, and a run under u = -K x.
//   cc lqr.c $(pkg-config --cflags --libs dijoco) && ./a.out cartpole.json

#include <dijoco/dijoco.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NX = 4 };   // x, angle and their velocities

// K of a system with one input; Q is the identity, R is 1. Returns the last change of P.
static double riccati(double K[NX], double A[NX][NX], const double B[NX]) {
  double P[NX][NX] = {{0}}, PA[NX][NX], next[NX][NX], change = 0;
  for (int i = 0; i < NX; i++) P[i][i] = 1;
  for (int k = 0; k < 2000; k++) {
    double S = 1, BPA[NX] = {0};
    for (int i = 0; i < NX; i++) {
      for (int j = 0; j < NX; j++) {
        S += B[i] * P[i][j] * B[j];
        PA[i][j] = 0;
        for (int l = 0; l < NX; l++) PA[i][j] += P[i][l] * A[l][j];
        BPA[j] += B[i] * PA[i][j];
      }
    }
    change = 0;
    for (int i = 0; i < NX; i++) {
      K[i] = BPA[i] / S;
      for (int j = 0; j <= i; j++) {   // P stays symmetric to the last bit, or rounding grows
        next[i][j] = (i == j) - BPA[i] * BPA[j] / S;
        for (int l = 0; l < NX; l++) next[i][j] += A[l][i] * PA[l][j];
        next[j][i] = next[i][j];
        change = fmax(change, fabs(next[i][j] - P[i][j]));
      }
    }
    memcpy(P, next, sizeof P);
  }
  return change;
}

int main(int argc, char** argv) {
  djModel* model;
  djData* data;
  djError error;
  if (dj_loadModel(&model, argc > 1 ? argv[1] : "cartpole.json", &error) < 0 ||
      dj_makeData(&data, model, &error) < 0) {
    fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  double A[NX][NX], B[NX], K[NX];
  if (model->nv != 2 || model->nu != 1 || djd_transition(model, data, A[0], B) != DJ_OK) return 2;
  double change = riccati(K, A, B);
  printf("gain %.4f %.4f %.4f %.4f (P changed by %.1e last)\n", K[0], K[1], K[2], K[3], change);

  data->qpos[1] = 0.3;   // 17 degrees
  for (int k = 0; k <= 2000; k++) {
    double x[NX] = {data->qpos[0], data->qpos[1], data->qvel[0], data->qvel[1]};
    if (k % 400 == 0) printf("time %5.2f: cart %9.6f m, pole %9.6f rad\n", data->time, x[0], x[1]);
    data->ctrl[0] = 0;
    for (int i = 0; i < NX; i++) data->ctrl[0] -= K[i] * x[i];
    if (dj_step(model, data) != DJ_OK) return 1;
  }
  bool settled = fabs(data->qpos[0]) + fabs(data->qpos[1]) < 1e-3;
  printf("%s\n", settled ? "settled" : "not settled");
  dj_deleteData(data);
  dj_deleteModel(model);
  return settled ? 0 : 1;
}
