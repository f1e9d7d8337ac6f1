// What the table of kernels names: kernels and their settings. The model's layer asks for them by
// the declarations of model/kernel_setting.h; this is the one place where names that users give to
// a lower layer lead to a row of a higher one.

#include "contact/kernel.h"

#include <string.h>

int dj_kernelCount(void) {
  int n = 0;
  while (dj_kernelTable[n]) n++;
  return n;
}

const char* dj_kernelName(int kernel) {
  const djKernel* k = dj_kernel(kernel);
  return k ? k->name : "";
}

int dj_kernelNamed(const char* name) {
  for (int k = 0; dj_kernelTable[k]; k++) {
    if (strcmp(dj_kernelTable[k]->name, name) == 0) return k;
  }
  return -1;
}

const djSetting* dj_kernelSettings(int* n, int* first_slot, int kernel) {
  *n = *first_slot = 0;
  for (int k = 0; dj_kernelTable[k]; k++) {
    if (k == kernel) {
      *n = dj_kernelTable[k]->nsetting;
      return dj_kernelTable[k]->setting;
    }
    *first_slot += dj_kernelTable[k]->nsetting;
  }
  return NULL;
}

djTraits dj_modelTraits(const djModel* m, int kernel) {
  int n, first;
  dj_kernelSettings(&n, &first, kernel);
  return dj_traitsUnder(dj_kernel(kernel), m->kernel_setting + first);
}

const djKernelRule* dj_kernelRules(int kernel) { return dj_kernelTable[kernel]->rule; }

const djPreset* dj_preset(int i) {
  const djPreset* preset = dj_kernelTable[0]->preset;
  for (int k = 0; preset && preset[k].name; k++) {
    if (k == i) return &preset[k];
  }
  return NULL;
}

int dj_settingSlots(void) {
  int slots = 0;
  for (int k = 0; dj_kernelTable[k]; k++) slots += dj_kernelTable[k]->nsetting;
  return slots;
}

const djSetting* dj_settingOfSlot(int* kernel, int slot) {
  for (int k = 0; dj_kernelTable[k] && slot >= 0; k++) {
    *kernel = k;
    if (slot < dj_kernelTable[k]->nsetting) return &dj_kernelTable[k]->setting[slot];
    slot -= dj_kernelTable[k]->nsetting;
  }
  *kernel = -1;
  return NULL;
}

const djEntry* dj_settingEntry(int slot) {
  for (int k = 0; dj_kernelTable[k] && slot >= 0; slot -= dj_kernelTable[k++]->nsetting) {
    const djKernel* row = dj_kernelTable[k];
    if (slot < row->nsetting) return row->rule[slot].param.name ? &row->rule[slot].param : NULL;
  }
  return NULL;
}

int dj_settingNamed(const char* name, int slot) {
  int kernel;
  for (const djSetting* row; (row = dj_settingOfSlot(&kernel, slot)); slot++) {
    if (strcmp(row->name, name) == 0) return slot;
  }
  return -1;
}
