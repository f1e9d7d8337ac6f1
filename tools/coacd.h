// CoACD (MIT), a library for approximate convex decomposition that may be there or not: loaded when
// it is wanted, never linked.

#ifndef DJ_TOOLS_COACD_H_
#define DJ_TOOLS_COACD_H_

#include <dijoco/decompose.h>

// Load the library: $DIJOCO_COACD where that is set, else the one that scripts/fetch.py put beside
// this build, else the system's lib_coacd.so. *path (or NULL): which. False: none, and why.
bool coacd_load(const char** path, djError* err);

// What it is asked for. Its version is the one that scripts/fetch.py has pinned.
typedef struct CoacdWish {
  int hulls;    // at most; -1: as many as it wants
  int vertices; // of a hull, at most
  int seed;
} CoacdWish;

// Hulls of a solid. The library has been loaded.
djStatus coacd_run(djPieces* pieces, const djTriangles* solid, const CoacdWish* wish, djError* err);

#endif // DJ_TOOLS_COACD_H_
