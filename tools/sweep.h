// Sweeps: one task at many samples of its variables, or with keys of its own in each, as a table.
//
// Any number of processes may work on one folder, of one machine or of several that share it: each
// sample is taken under a lock of its own, and what is done is appended to a file of the process
// that did it, a line for each sample. So whatever ends a process, samples that were finished are
// there, and the same command goes on with the others.

#ifndef DJ_TOOLS_SWEEP_H_
#define DJ_TOOLS_SWEEP_H_

#include "grad_run.h"

#include <cjson/cJSON.h>
#include <pthread.h>

// Which samples there are: rows of numbers for entries of x, JSON that is merged into the task, or
// random numbers.
typedef struct Samples {
  int n;
  int ncolumn;              // of rows
  int* column;              // (ncolumn) entries of x
  double* value;            // (n x ncolumn) units of x
  cJSON* patch;             // list of n objects; NULL: none
  bool random;
  long seed;
  double spread;            // of entries without bounds, units of x; NaN: there are none
  char* text;               // what was read; NULL: nothing
} Samples;

// A sweep as the command line says it.
typedef struct Sweep {
  const Options* options;
  GradRun base;             // the task itself, whose x names the columns
  cJSON* task;              // its text
  char** label;             // (base.design->n) "qvel0[2]", an entry of x each
  Samples samples;
  pthread_mutex_t* loading; // of scenes
} Sweep;

// "NAME[k]" of each entry of x; new memory.
char** sweep_labels(const djDesign* design);

// Samples of --samples or --random. Returns 0, or EXIT_BAD_INPUT after its line on stderr.
int samples_read(Samples* s, const Sweep* w);
void samples_free(Samples* s);
// x (design->n) of a sample, where it says something of x.
void samples_point(double* x, const Samples* s, const djDesign* design, int sample);

// ---- one sample (sweep_run.c)

// What evaluates samples, one at a time: one for each thread.
typedef struct Worker {
  const Sweep* sweep;
  Options options;
  GradRun run;              // the task; loaded when it is first needed
  bool loaded;
} Worker;

typedef enum SampleStatus { SAMPLE_OK, SAMPLE_NOT_CONVERGED, SAMPLE_SINGULAR, SAMPLE_FAILED,
                            SAMPLE_STATUSES } SampleStatus;
const char* sample_statusName(SampleStatus status);

// Names of a row's columns, as a line of CSV.
void sweep_header(Buffer* line, const Sweep* w);
// A sample's row, which ends with its line. A failure is a row, too.
void sweep_row(Buffer* line, Worker* worker, int sample);
void worker_free(Worker* worker);

// ---- the folder (sweep_folder.c)

typedef struct Folder Folder;

// What the samples of a folder have come to.
typedef struct SweepTally {
  int done, here;           // samples; of them by this process
  int status[SAMPLE_STATUSES];  // samples of each
  double seconds;           // their time
} SweepTally;

// Open or make a folder for so many samples of a sweep, which `identity` tells from others. NULL
// after a line on stderr.
Folder* folder_open(const char* verb, const char* path, int nsample, const Buffer* identity);
void folder_close(Folder* f);

// The following may be called by several threads.
// Take a sample, unless it is done or another process is at it.
bool folder_take(Folder* f, int sample);
// Its row and its time (s); gives it back. False: it could not be written.
bool folder_give(Folder* f, int sample, const Buffer* row, double seconds);

SweepTally folder_tally(Folder* f);
// All are done: DIR/samples.csv in the order of samples. Returns 0, or EXIT_BAD_INPUT.
int folder_merge(Folder* f, const Buffer* header);

#endif  // DJ_TOOLS_SWEEP_H_
