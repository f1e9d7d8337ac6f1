// Records: a run as a file, from which it is repeated to the bit.
//
// A record is a text, a JSON object a line: the versions of what wrote it, the model, then of each
// call two lines: what has changed of state and inputs since the last call (written before it is
// made), and what came of it. docs/record.md describes it. Calls are dj_forward, dj_step,
// djd_transition and djd_lastTransition, by whatever function they are made; what else changes a
// simulation or its model is seen by the next of them. Each line is handed to the system at once,
// so that a process that ends, however that is, leaves all that it has done.

#ifndef DIJOCO_RECORD_H_
#define DIJOCO_RECORD_H_

#include <dijoco/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// Record the calls on data from now on; what is in the file is lost. The model is that of the next
// call; where another one is used or it has been changed it is written anew. Calls allocate nothing
// for it, but where they write a model. DJ_INVALID: data is being recorded. DJ_FILE: the file
// cannot be written, or another record is. DJ_UNSUPPORTED: contact `mujoco`, whose step is not the
// core's.
DJ_API djStatus dj_startRecord(djData* data, const djModel* model, const char* path, djError* err);
// The same to the first of path, path.2, ... path.99 that no one is writing: of a path that several
// simulations or processes were given.
DJ_API djStatus dj_startRecordBeside(djData* data, const djModel* model, const char* path,
                                     djError* err);
// Where it is written; NULL: data is not recorded.
DJ_API const char* dj_recordPath(const djData* data);
// Data that takes the place of another goes on with its record.
DJ_API void dj_moveRecord(djData* data, djData* from);
// The end of the record, also that of dj_deleteData. Negative: something could not be written;
// DJ_OK where data is not recorded.
DJ_API djStatus dj_stopRecord(djData* data, djError* err);

// A record that is being repeated.
typedef struct djReplay djReplay;

// A line of it: a model, or a call that has been repeated.
typedef struct djReplayCall {
  const char* what; // "model", "forward", "step", "transition", "last_transition"; NULL: the end
  long call;        // number from 1; of a model: that of the call before it, or 0
  long step;        // steps until then, and with it
  double time;      // s; after it
  djStatus status;  // that it had now; of a model DJ_OK
  bool ended;       // false: the record ends within the call, as the process did
  bool differs;     // from what is recorded; then the first that does:
  char array[64];   // "status", "qpos"..., hashes of "poses", "contacts", "A", "B"; of a model its
                    //   arrays: "body_mass"...
  int entry;        // of the array; -1: it has none
  char recorded[128]; // what it is there, a number or a hash; of a status with the message
  char found[128];    // and now
} djReplayCall;

// Read a record. Errors begin with the path and name the line.
DJ_API djStatus dj_openReplay(djReplay** replay, const char* path, djError* err);
DJ_API void dj_closeReplay(djReplay* replay); // NULL is allowed
// What wrote the record: its version, compiler, processor, libraries; or what reads it.
DJ_API const char* dj_replayWriter(const djReplay* replay);
DJ_API const char* dj_replayReader(const djReplay* replay);
// Repeat the next call. Negative: the file is bad, or it is cut off within a line; the calls before
// have been repeated.
DJ_API djStatus dj_nextReplay(djReplayCall* call, djReplay* replay, djError* err);
// The simulation after it, to be read; NULL before the first model.
DJ_API const djModel* dj_replayModel(const djReplay* replay);
DJ_API const djData* dj_replayData(const djReplay* replay);

#ifdef __cplusplus
}
#endif

#endif // DIJOCO_RECORD_H_
