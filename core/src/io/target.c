#include "io/target.h"

#include "io/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LINKS = 40 };   // as Linux has it

static const char* nameOf(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// The folder of a path, absolute, without links, with its last slash; new memory, or NULL with
// errno set.
static char* realFolder(const char* path) {
  char real[PATH_MAX + 1];
  char* folder = dj_folderOf(path);
  bool found = folder && realpath(*folder ? folder : ".", real);
  int failed = folder ? errno : ENOMEM;
  free(folder);
  errno = failed;
  if (!found) return NULL;
  if (real[1]) strcat(real, "/");
  folder = dj_joinPath("", real);
  if (!folder) errno = ENOMEM;
  return folder;
}

// The N of /proc/self/fd/N, which /dev/fd/N and the names of the standard streams lead to, or -1.
static int descriptorOf(const char* folder, const char* name) {
  char own[64], *end;
  snprintf(own, sizeof own, "/proc/%ld/fd/", (long)getpid());
  if (strcmp(folder, own) != 0) return -1;
  long number = strtol(name, &end, 10);
  return *end || number < 0 || number > INT_MAX ? -1 : (int)number;
}

// Where all may make files but only the owner may remove them (/tmp), a link of somebody else may
// be a trap. Linux does not follow it on opening either.
static bool isTrap(const struct stat* link, const char* folder) {
  struct stat info;
  if (stat(folder, &info) != 0) return true;
  bool shared = (info.st_mode & S_ISVTX) && (info.st_mode & S_IWOTH);
  return shared && link->st_uid != geteuid() && link->st_uid != info.st_uid;
}

// One link further: *path becomes what it leads to. Returns 0 or errno.
static int follow(char** path, const struct stat* link, const char* folder) {
  char text[PATH_MAX];
  if (isTrap(link, folder)) return EACCES;
  ssize_t n = readlink(*path, text, sizeof text);
  if (n < 0) return errno;
  if (n == 0 || n == (ssize_t)sizeof text) return n ? ENAMETOOLONG : ENOENT;
  text[n] = 0;
  char* from = dj_folderOf(*path);
  char* to = from ? dj_joinPath(from, text) : NULL;
  free(from);
  if (!to) return ENOMEM;
  free(*path);
  *path = to;
  return 0;
}

// Follows *path to the end. Returns 0 or errno; fills place or descriptor.
static int resolve(djTarget* t, char** path) {
  for (int links = 0; links <= MAX_LINKS; links++) {
    struct stat info;
    const char* name = nameOf(*path);
    if (!*name) return **path ? EISDIR : ENOENT;
    char* folder = realFolder(*path);
    if (!folder) return errno;
    if (lstat(*path, &info) != 0 || !S_ISLNK(info.st_mode)) {
      t->place = dj_joinPath(folder, name);
      free(folder);
      return t->place ? 0 : ENOMEM;
    }
    t->descriptor = descriptorOf(folder, name);
    int failed = t->descriptor < 0 ? follow(path, &info, folder) : 0;
    free(folder);
    if (failed || t->descriptor >= 0) return failed;
  }
  return ELOOP;
}

int dj_findTarget(djTarget* t, const char* path) {
  *t = (djTarget){.descriptor = -1};
  char* way = dj_joinPath("", path);
  if (!way) return ENOMEM;
  int failed = resolve(t, &way);
  free(way);
  if (failed || !t->place) return failed;
  t->exists = stat(t->place, &t->info) == 0;
  if (!t->exists) return errno == ENOENT ? 0 : errno;
  if (S_ISDIR(t->info.st_mode)) return EISDIR;
  if (!S_ISREG(t->info.st_mode)) return 0;
  return faccessat(AT_FDCWD, t->place, W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

void dj_freeTarget(djTarget* t) {
  free(t->place);
  *t = (djTarget){.descriptor = -1};
}
