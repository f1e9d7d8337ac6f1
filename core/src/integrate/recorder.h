// Whoever listens to the calls that take a simulation on, to be told before and after each: a
// record (io/record.c). It changes nothing.

#ifndef DJ_INTEGRATE_RECORDER_H_
#define DJ_INTEGRATE_RECORDER_H_

#include "integrate/work.h"

// The calls. All else that changes state or inputs is seen by what these find at their start.
typedef enum djRecordedCall {
  DJ_CALL_FORWARD,         // dj_forward
  DJ_CALL_STEP,            // dj_step
  DJ_CALL_TRANSITION,      // djd_transition
  DJ_CALL_LAST_TRANSITION, // djd_lastTransition
  DJ_NCALL
} djRecordedCall;

// What a call returned: its status, and of a transition A (nx x nx), B (nx x nu), or NULL.
typedef struct djCallEnd {
  djStatus status;
  const double *A, *B;
} djCallEnd;

typedef struct djRecorder djRecorder;
struct djRecorder {
  void (*begin)(djRecorder* r, const djModel* model, djData* data, djRecordedCall call);
  void (*end)(djRecorder* r, const djModel* model, djData* data, djRecordedCall call,
              djCallEnd end);
  void (*release)(djRecorder* r);
};

static inline void dj_beginCall(const djModel* m, djData* d, djRecordedCall call) {
  djRecorder* r = d->work->recorder;
  if (r) r->begin(r, m, d, call);
}

// Returns the status.
static inline djStatus dj_endCall(const djModel* m, djData* d, djRecordedCall call, djCallEnd end) {
  djRecorder* r = d->work->recorder;
  if (r) r->end(r, m, d, call, end);
  return end.status;
}

#endif // DJ_INTEGRATE_RECORDER_H_
