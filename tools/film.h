// A run as it is played in a report: some of its steps, with poses and contact points.

#ifndef DJ_TOOLS_FILM_H_
#define DJ_TOOLS_FILM_H_

#include "picture.h"
#include "touch.h"

enum { FILM_FRAMES = 300, FILM_TOUCHES = 200 }; // at most; of a frame

typedef struct Frame {
  double time;     // s, from the start of the run
  int all;         // points of contact, of which
  TouchList touch; //   these are kept, the strongest first
} Frame;

typedef struct Film {
  djModel* model;       // as it is in this run
  long steps, stride;   // every stride-th step is a frame, and the last one
  int nframe;           // may be fewer: a run that ended early
  Frame* frame;         // (nframe)
  double *xpos, *xquat; // (nframe x nbody x 3), (... x 4)
} Film;

// A film of so many steps, without frames. Close it in any case.
void film_open(Film* film, const djModel* model, long steps);
void film_close(Film* film);

// Whether the film is open and step k (0: the start) is a frame; then the frame, frames in their
// order. Poses that are not finite end the film. touch may be NULL: none; it is sorted.
bool film_due(const Film* film, long k);
void film_add(Film* film, double time, const double* xpos, const double* xquat, TouchList* touch);

// All frames that a film of its length has, and the step of frame i.
int film_length(const Film* film);
long film_step(const Film* film, int i);
Poses film_poses(const Film* film, int i);

#endif // DJ_TOOLS_FILM_H_
