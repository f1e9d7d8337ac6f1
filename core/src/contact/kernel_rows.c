// Rows of the table of kernels: kernels themselves do not need it, nor does kernel.c.

#include "contact/kernel.h"

const djKernel* dj_kernel(int model) {
  for (int k = 0; k <= model; k++) {   // rows end with NULL
    if (!dj_kernelTable[k] || k == model) return dj_kernelTable[k];
  }
  return NULL;
}

int dj_kernelOf(int type_a, int type_b) {
  for (int k = 0; dj_kernelTable[k]; k++) {
    const djKernel* row = dj_kernelTable[k];
    if (row->takes(type_a, type_b) || row->takes(type_b, type_a)) return k;
  }
  return -1;
}

djTraits dj_modelTraits(const djModel* m, int kernel) {
  int n, first;
  dj_kernelSettings(&n, &first, kernel);
  return dj_traitsUnder(dj_kernel(kernel), m->kernel_setting + first);
}

const djPreset* dj_preset(int i) {
  const djPreset* preset = dj_kernelTable[0]->preset;
  for (int k = 0; preset && preset[k].name; k++) {
    if (k == i) return &preset[k];
  }
  return NULL;
}
