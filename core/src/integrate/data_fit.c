// Whether data fit a model.

#include "base/status.h"
#include "contact/contact.h"
#include "integrate/outside.h"

#include <string.h>

djSizes dj_sizesOf(const djModel* m) {
  return (djSizes){m->nq,   m->nv,    m->na,    m->nu,    m->nbody,
                   m->njnt, m->ngeom, m->nsite, m->nmocap, m->ntendon, m->nwrap, m->ncoorddof,
                   dj_historySize(m), m->nequality};
}

bool dj_sameSizes(const djSizes* sizes, const djModel* m) {
  djSizes s = dj_sizesOf(m);
  return memcmp(&s, sizes, sizeof s) == 0;
}

bool dj_fitsSizes(const djWork* w, const djModel* m) {
  djSizes room = w->sizes;
  int n = dj_historySize(m);
  if (room.nhistory > n) room.nhistory = n;
  return dj_sameSizes(&room, m);
}

djStatus dj_checkData(const djModel* m, djData* d) {
  djWork* w = d->work;
  bool outside = w->outside.data != NULL;
  if (dj_isOutside(m) != outside || (outside && w->outside.physics != m->physics)) {
    return dj_fail(&w->error, DJ_INVALID, "data: made with%s contact mujoco", outside ? "" : "out");
  }
  if (!dj_fitsSizes(w, m) || dj_maxContactPairs(m) > w->maxpair) {
    return dj_fail(&w->error, DJ_INVALID, "data: made for a model of other sizes");
  }
  if (w->nstage < dj_stageCount(m)) {
    return dj_fail(&w->error, DJ_INVALID, "data: made for another integrator%s",
                   w->nstage == 1 && dj_hasRestitution(m) ? ", or without restitution" : "");
  }
  bool contact = dj_contactsOf(&w->forces) != NULL;
  if (dj_hasContact(m) != contact) {
    return dj_fail(&w->error, DJ_INVALID, "data: made with contact switched %s",
                   contact ? "on" : "off");
  }
  return DJ_OK;
}
