// Memory of reports.

#include "base/arena.h"
#include "contact/pairs/near.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// Lists that have outgrown a data's own; kept until the end, since views of them may be in use.
struct djReportMemory {
  struct djReportMemory* older;
};

djReportRoom* dj_reportRoom(djContacts* c) { return &c->report; }

void dj_freeReports(djReportRoom* room) {
  struct djReportMemory* reports = room->memory;
  while (reports) {
    struct djReportMemory* older = reports->older;
    free(reports);
    reports = older;
  }
}

djStatus dj_roomForReport(djData* d, djReportRoom* room, int npair) {
  if (npair <= room->npair) return DJ_OK;
  size_t n = (size_t)npair + (size_t)npair / 2;
  struct djReportMemory* memory = NULL;
  djArena arena = {NULL, 0};
  for (int pass = 0; pass < 2; pass++) {
    struct djReportMemory* head = dj_take(&arena, 1, sizeof *memory);
    djContactPair* pair = dj_take(&arena, n, sizeof *pair);
    djContactForce* contact = dj_take(&arena, n, sizeof *contact);
    if (pass > 0) {
      memcpy(pair, d->pair, (size_t)d->npair * sizeof *pair);
      memcpy(contact, d->contact, (size_t)d->ncontact * sizeof *contact);
      d->pair = pair;
      d->contact = contact;
      head->older = room->memory;
      room->memory = head;
      break;
    }
    memory = arena.used < SIZE_MAX / 2 && n < INT_MAX ? calloc(1, arena.used) : NULL;
    if (!memory) return DJ_NO_MEMORY;
    arena = (djArena){(unsigned char*)memory, 0};
  }
  room->npair = (int)n;
  return DJ_OK;
}
