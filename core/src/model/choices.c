// Choices that settings of contact kernels share with the table of settings, which names kernels.

#include "model/kernel_setting.h"

#define LAWS {"hertz", DJ_LAW_HERTZ}, {"paper", DJ_LAW_PAPER}, {"barrier", DJ_LAW_BARRIER}
#define LOG {"log", DJ_LAW_LOG}
#define DAMPED_LAWS                                                                      \
  {"perturbed", DJ_LAW_PERTURBED}, {"smooth_penalty", DJ_LAW_SMOOTH_PENALTY}

const djChoice dj_switch[] = {{"false", 0}, {"true", 1}, {NULL, 0}};
const djChoice dj_laws[] = {LAWS, LOG, {NULL, 0}};
const djChoice dj_dampedLaws[] = {DAMPED_LAWS, LOG, {NULL, 0}};
const djChoice dj_anyLaws[] = {{"auto", DJ_LAW_AUTO}, LAWS, DAMPED_LAWS, LOG, {NULL, 0}};
const djChoice dj_pointFrictions[] = {{"smooth", DJ_POINT_FRICTION_SMOOTH},
                                      {"perturbed", DJ_POINT_FRICTION_PERTURBED},
                                      {NULL, 0}};
const djChoice dj_dampedNormals[] = {{"end", 0}, {"start", 1}, {NULL, 0}};
