// A pair's contact as rows: what a solver in the space of forces asks of a kernel.
//
// The energy of a pair is a sum over rows of laws of scalar arguments x, least over unknowns of the
// pair's own, p: its separating plane and that plane's motion. Bodies and p change the arguments:
//   U(twists) = min over p of  sum_r E_r(x_r) + stiff p^2/2,   dx = J xi + B dp - t.bend t/2,
// so that a plane is to the solver like a body without mass; t, its first two unknowns, turn a
// normal.

#ifndef DJ_CONTACT_ROWS_H_
#define DJ_CONTACT_ROWS_H_

#include "contact/contact.h"
#include "contact/kernel.h"

typedef enum djRowKind {
  DJ_ROW_BARRIER,   // weight P(x - y; width), y of the shared row before it, if there is one
  DJ_ROW_SHARED,    // weight P(y; width), y its own unknown
  DJ_ROW_SLIP,      // weight sqrt(x^2 + y^2 + width), y of the next row,
  DJ_ROW_ACROSS     // which is this
} djRowKind;

enum { DJ_PAIR_ROWS = 48, DJ_PAIR_OWN = 6 };   // at most

typedef struct djContactRow {
  djRowKind kind;
  int id;                  // the same in all evaluations of a step, another than the others'
  double x, weight, width;
  djBarrierLaw law;        // of barriers
  double J[12];            // by twists of both bodies about their references
  double B[DJ_PAIR_OWN];
  double bend[3];          // xx, xy, yy
} djContactRow;

// What a pair keeps between evaluations in a step.
typedef struct djPairPlane {
  int low, high;           // geoms
  int body[2];
  int first;               // of its unknowns among all: the solver's
  int nown;
  double p[DJ_PAIR_OWN];   // set by the first evaluation, then by the solver; of a pair with a
                           //   shared row, which has no others, y
  double stiff[DJ_PAIR_OWN];
  // the kernel's own
  bool begun;
  djVec3 center, normal;   // world; unit, with
  double length;
} djPairPlane;

typedef struct djPairRows {
  int n;                   // -1: the pair has no rows now
  djContactRow row[DJ_PAIR_ROWS];
} djPairRows;

// Evaluates all pairs that may act at poses (nbody), of which the first *n planes are known and
// further ones, up to `room`, become so. *n = -1: some pair has no rows, or there are too many; or
// add returned false.
typedef struct djRowVisit {
  djPairPlane* plane;
  int room;
  djPairRows* scratch;
  bool (*add)(void* user, int plane, const djPairRows* rows);
  void* user;
} djRowVisit;
djStatus dj_visitRows(int* n, const djRowVisit* visit, djContacts* contacts,
                      const djModel* model, const djPose* pose);

#endif  // DJ_CONTACT_ROWS_H_
