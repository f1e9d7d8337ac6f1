// Where a path leads, before something is written to it.

#ifndef DJ_IO_TARGET_H_
#define DJ_IO_TARGET_H_

#include <sys/stat.h>

#include <stdbool.h>

typedef struct djTarget {
  char* place;        // absolute, no link; NULL for an open descriptor
  int descriptor;     // that the path names, or -1
  bool exists;
  struct stat info;   // where it exists
} djTarget;

// Follows links. Returns 0, or the errno of what forbids writing. Folders, and regular files that
// may not be written, are refused. The target is the caller's to free, also after a failure.
int dj_findTarget(djTarget* target, const char* path);
void dj_freeTarget(djTarget* target);

#endif  // DJ_IO_TARGET_H_
