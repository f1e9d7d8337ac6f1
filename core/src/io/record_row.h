// What a record has of a simulation: numbers by name, and hashes of the rest.

#ifndef DJ_IO_RECORD_ROW_H_
#define DJ_IO_RECORD_ROW_H_

#include "integrate/recorder.h"

#include <dijoco/array.h>

// What a row is of: a field of dj_dataArray; a history, which belongs to the state that it was
// marked with, and whether it does, which is set last; the further Newton steps that rollouts ask
// for; a field that is a result of a step.
typedef enum djRecordKind {
  DJ_RECORD_FIELD,
  DJ_RECORD_HISTORY,
  DJ_RECORD_HAS_HISTORY,
  DJ_RECORD_REFINEMENT,
  DJ_RECORD_RESULT
} djRecordKind;

// State and inputs, in the order in which they are set, then results of a step.
typedef struct djRecordRow {
  const char* name;
  djRecordKind kind;
} djRecordRow;

enum { DJ_NRECORDROW = 22 };
extern const djRecordRow dj_recordRows[DJ_NRECORDROW];
extern const char* const dj_recordedCalls[DJ_NCALL]; // names

// How many numbers a row has, its numbers, and to set them. Of a history that does not belong to
// the state they are 0.
int dj_recordSize(int row, const djModel* model, djData* data);
int dj_recordRead(double* value, int row, const djModel* model, djData* data);
void dj_recordWrite(djData* data, int row, const djModel* model, const double* value);

// What else a call leaves, as hashes by name. false: this call has none of that.
enum { DJ_RECORD_POSES, DJ_RECORD_CONTACTS, DJ_RECORD_A, DJ_RECORD_B, DJ_NRECORDHASH };
extern const char* const dj_recordHashes[DJ_NRECORDHASH];
bool dj_recordHash(char text[17], int hash, const djModel* model, djData* data, djRecordedCall call,
                   djCallEnd end);

// A hash as text.
void dj_hashText(char text[17], uint64_t hash);
// Mix an array into a hash.
void dj_mixArray(uint64_t* hash, const djArray* array);

// What a result depends on beside the model: version, compiler, processor, libraries, as members of
// a JSON object.
enum { DJ_RECORD_ORIGIN = 400 };
void dj_recordOrigin(char text[DJ_RECORD_ORIGIN]);

#endif // DJ_IO_RECORD_ROW_H_
