#include "engine/tell.h"

#include "guard.h"

#include <mujoco/mujoco.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { kRemembered = 256 };

// FNV-1a, never 0.
static uint64_t hashOf(uint64_t hash, const char* text) {
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  return hash ? hash : 1;
}

// Adds the hash; false: it was there. A full table remembers no more.
static bool isNew(uint64_t hash) {
  static _Atomic uint64_t told[kRemembered];
  for (int i = 0; i < kRemembered; i++) {
    uint64_t entry = 0;
    if (atomic_compare_exchange_strong(&told[i], &entry, hash)) return true;
    if (entry == hash) return false;
  }
  return true;
}

void djm_tellOnce(const char* plugin, const char* text) {
  uint64_t hash = hashOf(hashOf(14695981039346656037u, plugin), text);
  if (djm_isGuarded() || isNew(hash)) mju_warning("%s: %s", plugin, text);
}
