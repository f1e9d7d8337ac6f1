#include "contact_features.h"

#ifdef DJ_HAVE_MUJOCO

#include <dijoco/mujoco.h>

#include <stdio.h>

typedef struct Count {
  const mjModel* m;
  int key, contacts[DJM_NFEATURE], n;
  djStatus status;
} Count;

static void count(void* arg) {
  Count* c = arg;
  mjData* d = mj_makeData(c->m);
  if (!d) return;
  if (c->key >= 0 && c->key < (int)c->m->nkey) mj_resetDataKeyframe(c->m, d, c->key);
  mj_fwdPosition(c->m, d);
  c->n = d->ncon;
  c->status = djm_countFeatures(c->contacts, c->m, d);
  mj_deleteData(d);
}

static bool find(Count* c, const Scene* s, int key) {
  djError err;
  *c = (Count){.m = s->stock, .key = key, .status = DJ_INVALID};
  return s->stock && djm_guard(count, c, &err) >= 0 && c->status >= 0;
}

void features_print(const Scene* s, int key) {
  Count c;
  if (!find(&c, s, key)) return;
  printf("  MuJoCo's contacts %s: %d", key >= 0 ? "at the keyframe" : "at the start", c.n);
  const char* mark = "; their derivatives by features:";
  for (int i = 0; i < DJM_NFEATURE; i++) {
    if (!c.contacts[i]) continue;
    printf("%s %s %d", mark, djm_featureName((djmFeature)i), c.contacts[i]);
    mark = ",";
  }
  printf("\n");
}

void features_write(Json* out, const Scene* s, int key) {
  Count c;
  if (!find(&c, s, key)) return;
  json_object(out, "mujoco_contacts");
  json_integer(out, "contacts", c.n);
  for (int i = 0; i < DJM_NFEATURE; i++) {
    json_integer(out, djm_featureName((djmFeature)i), c.contacts[i]);
  }
  json_end(out);
}

#else
void features_print(const Scene* s, int key) { (void)s, (void)key; }
void features_write(Json* out, const Scene* s, int key) { (void)out, (void)s, (void)key; }
#endif
