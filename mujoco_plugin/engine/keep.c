#include "engine/keep.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { kBuckets = 1024 };

typedef struct Entry {
  const mjData* d;
  int instance;
  void* object;
  struct Entry* next;
} Entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Entry* bucket[kBuckets];

// The link that leads to the entry, or ends the list where it would be.
static Entry** find(const mjData* d, int instance) {
  uint64_t hash = ((uint64_t)(uintptr_t)d + (uint64_t)(unsigned)instance) * 0x9e3779b97f4a7c15u;
  Entry** link = bucket + (hash >> 32) % kBuckets;
  while (*link && ((*link)->d != d || (*link)->instance != instance)) link = &(*link)->next;
  return link;
}

void* djm_kept(const mjData* d, int instance) {
  pthread_mutex_lock(&lock);
  const Entry* entry = *find(d, instance);
  void* object = entry ? entry->object : NULL;
  pthread_mutex_unlock(&lock);
  return object;
}

bool djm_keep(const mjData* d, int instance, void* object) {
  pthread_mutex_lock(&lock);
  Entry **link = find(d, instance), *entry = *link, *gone = NULL;
  if (!object && entry) {
    *link = entry->next;
    gone = entry;
  } else if (object && !entry) {
    entry = malloc(sizeof(*entry));
    if (entry) *entry = (Entry){d, instance, object, NULL};
    *link = entry;
  } else if (entry) {
    entry->object = object;
  }
  pthread_mutex_unlock(&lock);
  free(gone);
  return !object || entry;
}
