// What is registered of contact kernels, by name and by slot.

#include "model/kernel_setting.h"

#include <string.h>

int dj_kernelCount(void) {
  int n = 0;
  while (dj_settingTable[n]) n++;
  return n;
}

const char* dj_kernelName(int kernel) {
  for (int k = 0; k <= kernel && dj_settingTable[k]; k++) {
    if (k == kernel) return dj_settingTable[k]->name;
  }
  return "";
}

int dj_kernelNamed(const char* name) {
  for (int k = 0; dj_settingTable[k]; k++) {
    if (strcmp(dj_settingTable[k]->name, name) == 0) return k;
  }
  return -1;
}

const djSetting* dj_kernelSettings(int* n, int* first_slot, int kernel) {
  *n = *first_slot = 0;
  for (int k = 0; dj_settingTable[k]; k++) {
    if (k == kernel) {
      *n = dj_settingTable[k]->n;
      return dj_settingTable[k]->row;
    }
    *first_slot += dj_settingTable[k]->n;
  }
  return NULL;
}

const djKernelRule* dj_kernelRules(int kernel) { return dj_settingTable[kernel]->rule; }

int dj_settingSlots(void) {
  int slots = 0;
  for (int k = 0; dj_settingTable[k]; k++) slots += dj_settingTable[k]->n;
  return slots;
}

const djSetting* dj_settingOfSlot(int* kernel, int slot) {
  for (int k = 0; dj_settingTable[k] && slot >= 0; k++) {
    *kernel = k;
    if (slot < dj_settingTable[k]->n) return &dj_settingTable[k]->row[slot];
    slot -= dj_settingTable[k]->n;
  }
  *kernel = -1;
  return NULL;
}

const djEntry* dj_settingEntry(int slot) {
  for (int k = 0; dj_settingTable[k] && slot >= 0; slot -= dj_settingTable[k++]->n) {
    const djKernelSettings* row = dj_settingTable[k];
    if (slot < row->n) return row->rule[slot].param.name ? &row->rule[slot].param : NULL;
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
