// What the table of implicit surfaces' families names.

#include "shape/implicit.h"

#include <string.h>

int dj_familyNamed(const char* name) {
  for (int i = 0; dj_implicitTable[i]; i++) {
    if (strcmp(dj_implicitTable[i]->name, name) == 0) return i;
  }
  return -1;
}

const char* dj_familyName(int family) { return dj_implicitTable[family]->name; }

bool dj_familyHasFacets(int family) { return !dj_implicitTable[family]->size; }

int dj_familySize(int family, int nface) {
  return dj_implicitSize(dj_implicitTable[family], nface);
}
