#include "base/status.h"
#include "io/target.h"
#include "io/text.h"

#include <dijoco/file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 16, TRIES = 100, PATIENCE = 400 };

struct djFile {
  char* path;          // as given, for messages
  djTarget target;
  char* temporary;     // NULL: written straight
  char* former;        // while a group is put in place: another name of the target's old content
  bool placed;
  int descriptor;      // -1: finished
  int error;           // errno of the first failure
  size_t used;         // of the buffer
  char buffer[BUFFER];
};

static djStatus fail(djError* err, const djFile* f, const char* path, int error) {
  char reason[128] = "";
  djStatus status = error == ENOMEM ? DJ_NO_MEMORY : DJ_FILE;
  if (strerror_r(error, reason, sizeof reason) != 0) {
    snprintf(reason, sizeof reason, "error %d", error);
  }
  if (f && f->former) {
    dj_fail(err, status, "cannot be written: %s; its old content is %.300s", reason, f->former);
  } else {
    dj_fail(err, status, "cannot be written: %s", reason);
  }
  return dj_prefix(err, status, path);
}

// ---- opening ----------------------------------------------------------------------------------

// A name beside the target that nobody can foresee, of a length that does not depend on the
// target's; new memory, or NULL with errno set.
static char* besideTarget(const djFile* f) {
  unsigned char random[8];
  char name[64] = ".dijoco-";
  if (getentropy(random, sizeof random) != 0) return NULL;
  char* end = name + strlen(name);
  for (size_t k = 0; k < sizeof random; k++) end += snprintf(end, 3, "%02x", random[k]);
  memcpy(end, ".part", sizeof ".part");
  char* folder = dj_folderOf(f->target.place);
  char* path = folder ? dj_joinPath(folder, name) : NULL;
  free(folder);
  if (!path) errno = ENOMEM;
  return path;
}

// Owner, group and permissions of the file that is to be replaced. An owner or group that cannot be
// kept is no reason to fail, but others get no rights by that.
static int keepPermissions(const djFile* f) {
  const struct stat* old = &f->target.info;
  struct stat new;
  mode_t mode = old->st_mode & 07777;
  if (fstat(f->descriptor, &new) != 0) return errno;
  if (new.st_uid != old->st_uid || new.st_gid != old->st_gid) {
    if (fchown(f->descriptor, old->st_uid, old->st_gid) != 0) {
      mode &= 0777;
      if (fchown(f->descriptor, (uid_t)-1, old->st_gid) != 0) mode &= 0707;
    }
  }
  if ((new.st_mode & 07777) == mode) return 0;
  return fchmod(f->descriptor, mode) == 0 ? 0 : errno;
}

// Make the temporary file. A new target's permissions are those that the system gives to new
// files; those of an old one are set before anything is written.
static int makeTemporary(djFile* f) {
  mode_t mode = f->target.exists ? S_IRUSR | S_IWUSR : 0666;
  for (int k = 0; k < TRIES; k++) {
    char* path = besideTarget(f);
    if (!path) return errno;
    f->descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (f->descriptor >= 0) {
      f->temporary = path;
      return f->target.exists ? keepPermissions(f) : 0;
    }
    int failed = errno;
    free(path);
    if (failed != EEXIST) return failed;
  }
  return EEXIST;
}

// Devices, pipes, descriptors.
static int openStraight(djFile* f) {
  struct stat info;
  if (f->target.descriptor >= 0) {
    f->descriptor = fcntl(f->target.descriptor, F_DUPFD_CLOEXEC, 3);
    return f->descriptor >= 0 ? 0 : errno;
  }
  if (!f->target.place) return EINVAL;
  f->descriptor = open(f->target.place, O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (f->descriptor < 0 || fstat(f->descriptor, &info) != 0) return errno;
  return S_ISREG(info.st_mode) ? EBUSY : 0;   // replaced in between
}

static int openTarget(djFile* f, const char* path) {
  f->path = dj_joinPath("", path);
  if (!f->path) return ENOMEM;
  int failed = dj_findTarget(&f->target, path);
  if (failed) return failed;
  bool straight = !f->target.place || (f->target.exists && !S_ISREG(f->target.info.st_mode));
  return straight ? openStraight(f) : makeTemporary(f);
}

// A lock tells whether someone is at it.
static int openLog(djFile* f, const char* path) {
  f->path = dj_joinPath("", path);
  if (!f->path) return ENOMEM;
  int failed = dj_findTarget(&f->target, path);
  if (failed) return failed;
  bool straight = !f->target.place || (f->target.exists && !S_ISREG(f->target.info.st_mode));
  if (straight) return openStraight(f);
  f->descriptor = open(f->target.place, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (f->descriptor < 0) return errno;
  if (flock(f->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return EBUSY;
  return ftruncate(f->descriptor, 0) == 0 ? 0 : errno;
}

static djStatus openBy(djFile** file, const char* path, int (*way)(djFile*, const char*),
                       djError* err) {
  if (!file) return dj_fail(err, DJ_INVALID, "file: NULL");
  *file = NULL;
  if (!path) return dj_fail(err, DJ_INVALID, "path: NULL");
  djFile* f = malloc(sizeof *f);
  if (!f) return fail(err, NULL, path, ENOMEM);
  memset(f, 0, offsetof(djFile, buffer));
  f->descriptor = f->target.descriptor = -1;
  int failed = way(f, path);
  if (failed) {
    dj_discardFile(f);
    return fail(err, NULL, path, failed);
  }
  *file = f;
  return DJ_OK;
}

djStatus dj_openFile(djFile** file, const char* path, djError* err) {
  return openBy(file, path, openTarget, err);
}

djStatus dj_openLog(djFile** file, const char* path, djError* err) {
  return openBy(file, path, openLog, err);
}

const char* dj_fileTemporary(const djFile* f) { return f ? f->temporary : NULL; }

// ---- writing ----------------------------------------------------------------------------------

static void pass(djFile* f, const char* bytes, size_t n) {
  while (n > 0 && !f->error) {
    ssize_t written = write(f->descriptor, bytes, n);
    if (written > 0) {
      bytes += written;
      n -= (size_t)written;
    } else if (written == 0 || errno != EINTR) {
      f->error = written == 0 ? EIO : errno;
    }
  }
}

static void flush(djFile* f) {
  pass(f, f->buffer, f->used);
  f->used = 0;
}

void dj_writeFile(djFile* f, const void* bytes, size_t n) {
  if (!f || f->descriptor < 0 || n == 0) return;
  if (n > BUFFER - f->used) flush(f);
  if (n > BUFFER) {
    pass(f, bytes, n);
  } else {
    memcpy(f->buffer + f->used, bytes, n);
    f->used += n;
  }
}

void dj_flushFile(djFile* f) {
  if (f && f->descriptor >= 0) flush(f);
}

void dj_printFile(djFile* f, const char* format, ...) {
  if (!f || f->descriptor < 0 || !format) return;
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  size_t room = BUFFER - f->used;
  int n = vsnprintf(f->buffer + f->used, room, format, arguments);
  if (n >= 0 && (size_t)n < room) {
    f->used += (size_t)n;
  } else {
    char* text = n >= 0 ? malloc((size_t)n + 1) : NULL;
    if (text) {
      vsnprintf(text, (size_t)n + 1, format, again);
      dj_writeFile(f, text, (size_t)n);
    } else if (!f->error) {
      f->error = n < 0 ? EILSEQ : ENOMEM;
    }
    free(text);
  }
  va_end(again);
  va_end(arguments);
}

// ---- finishing --------------------------------------------------------------------------------

static void finish(djFile* f) {
  if (f->descriptor < 0) return;
  flush(f);
  // Where a file system has no such call, EINVAL.
  if (f->temporary && !f->error && fsync(f->descriptor) != 0 && errno != EINVAL) f->error = errno;
  if (close(f->descriptor) != 0 && errno != EINTR && !f->error) f->error = errno;
  f->descriptor = -1;
}

djStatus dj_finishFile(djFile* f, djError* err) {
  if (!f) return dj_fail(err, DJ_INVALID, "file: NULL");
  finish(f);
  return f->error ? fail(err, NULL, f->path, f->error) : DJ_OK;
}

void dj_discardFile(djFile* f) {
  if (!f) return;
  if (f->descriptor >= 0) close(f->descriptor);
  if (f->temporary) unlink(f->temporary);
  free(f->temporary);
  free(f->former);
  free(f->path);
  dj_freeTarget(&f->target);
  free(f);
}

// ---- putting in place -------------------------------------------------------------------------

// Another name for what the target holds, from which it can be brought back. Where there are no
// hard links the target is renamed.
static int keepFormer(djFile* f) {
  for (int k = 0; k < TRIES; k++) {
    char* path = besideTarget(f);
    if (!path) return errno;
    int failed = link(f->target.place, path) == 0 ? 0 : errno;
    if (failed && failed != EEXIST && failed != ENOENT) {
      failed = rename(f->target.place, path) == 0 ? 0 : errno;
    }
    if (!failed) {
      f->former = path;
      return 0;
    }
    free(path);
    if (failed == ENOENT) return 0;
    if (failed != EEXIST) return failed;
  }
  return EEXIST;
}

static void forgetFormer(djFile* f) {
  if (f->former) unlink(f->former);
  free(f->former);
  f->former = NULL;
}

// Bring back what the target was. Where even that fails, former is left to tell of.
static int takeBack(djFile* f) {
  if (!f->former) return f->placed && unlink(f->target.place) != 0 ? errno : 0;
  if (rename(f->former, f->target.place) != 0) return errno;
  forgetFormer(f);   // renaming does nothing between two names of one file
  return 0;
}

static int place(djFile* f, bool group) {
  struct stat info;
  if (!f->temporary) return 0;
  if (lstat(f->target.place, &info) == 0 && !S_ISREG(info.st_mode)) return EBUSY;
  int failed = group ? keepFormer(f) : 0;
  if (failed) return failed;
  if (rename(f->temporary, f->target.place) != 0) return errno;
  f->placed = true;
  free(f->temporary);
  f->temporary = NULL;
  return 0;
}

// Two groups on the way to one folder take turns, so that all files there are of one of them. Waits
// two seconds at most; where a folder cannot be locked, nothing is lost but that.
static int lockFolder(const djFile* f) {
  char* folder = f->temporary ? dj_folderOf(f->temporary) : NULL;
  int lock = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  free(folder);
  for (int k = 0; k < PATIENCE && lock >= 0; k++) {
    if (flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) break;
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  return lock;
}

static djStatus placeAll(djFile* const* file, int n, djError* err) {
  for (int i = 0; i < n; i++) {
    int failed = place(file[i], n > 1);
    if (!failed) continue;
    djStatus status = fail(err, NULL, file[i]->path, failed);
    for (int k = i; k >= 0; k--) {
      failed = takeBack(file[k]);
      if (failed) status = fail(err, file[k], file[k]->path, failed);
    }
    return status;
  }
  for (int i = 0; i < n; i++) forgetFormer(file[i]);
  return DJ_OK;
}

djStatus dj_commitFiles(djFile* const* file, int n, djError* err) {
  djStatus status = DJ_OK;
  if (n > 0 && !file) return dj_fail(err, DJ_INVALID, "file: NULL");
  for (int i = 0; i < n && status == DJ_OK; i++) status = dj_finishFile(file[i], err);
  int lock = status == DJ_OK && n > 1 ? lockFolder(file[0]) : -1;
  if (status == DJ_OK) status = placeAll(file, n, err);
  if (lock >= 0) close(lock);
  for (int i = 0; i < n; i++) dj_discardFile(file[i]);
  return status;
}

djStatus dj_commitFile(djFile* file, djError* err) { return dj_commitFiles(&file, 1, err); }
