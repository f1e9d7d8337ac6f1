// What a comparison keeps of a run: samples for charts and pictures, and the largest differences
// over all steps.

#ifndef DJ_TOOLS_RECORD_H_
#define DJ_TOOLS_RECORD_H_

#include "engine.h"
#include "picture.h"

enum { ENGINES = 2 };       // 0: ours, 1: stock MuJoCo

// What a step takes, and pairs of geoms in it.
enum { NWORK = 4 };
extern const char* const record_work[NWORK];   // in words

// Force between two bodies over the samples.
typedef struct PairRecord {
  int body1, body2;
  double* force[ENGINES];   // (nsample x 3) on body2, mean since the last sample
  double peak;              // largest magnitude of these means, either engine
} PairRecord;

// The largest value of a difference. Not finite where a run broke down.
typedef struct Largest {
  double max, time;
  int id, id2;              // bodies
} Largest;

typedef struct Differences {
  Largest position, rotation, qvel, energy, force;
  double force_mean_last_half;
} Differences;

typedef struct Record {
  const djModel* model;
  long steps, stride;       // every stride-th step is a sample, and the last one
  int nsample, capacity;
  double* time;
  double *xpos[ENGINES], *xquat[ENGINES];  // (nsample x nbody x 3), (... x 4)
  double *energy[ENGINES];
  double *gap[ENGINES];     // smallest since the last sample
  double *apart;            // largest difference of a body's position
  double *work[NWORK];      // of a step of ours, largest since the last sample: record_work
  int npair, pair_capacity;
  PairRecord* pair;
  Differences difference;
  // private
  long since;               // steps since the last sample
  double smallest[ENGINES];
  double force_sum;         // of each step's largest difference, second half
  long force_count;
} Record;

void record_open(Record* r, const djModel* model, long steps);
void record_close(Record* r);

// After step k of both engines (k = 1, 2, ...), and once with k = 0 at the start.
void record_add(Record* r, const Engine engine[ENGINES], long k);

// Poses of sample i.
Poses record_poses(const Record* r, int engine, int i);

// Up to n samples that divide the time evenly; returns how many.
int record_times(const Record* r, int n, int* sample);

#endif  // DJ_TOOLS_RECORD_H_
