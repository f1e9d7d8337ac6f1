// Calls of the system that fail on demand, and what a folder holds. Included by one file of a test
// program: the functions below then stand for the C library's in everything that is linked into it.

#ifndef DJ_TESTS_FILE_FAULTS_H_
#define DJ_TESTS_FILE_FAULTS_H_

#include "common/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef enum djtCall {
  DJT_OPEN,     // of a file that is made
  DJT_WRITE,
  DJT_FSYNC,
  DJT_CLOSE,
  DJT_FCHMOD,
  DJT_RENAME,
  DJT_LINK,
  DJT_NCALL,
  DJT_FCHOWN    // only where owners differ
} djtCall;

typedef struct djtFault {
  djtCall call;
  long countdown;      // calls until one fails; negative: none does
  bool from_then_on;   // ... and all that follow
  int error;           // errno; 0: writes are short instead
  bool fired;
  bool no_links;       // the file system has no hard links
  int zeros;           // calls of getentropy that give zeros
  mode_t mode;         // that the last new file was made with
} djtFault;

static djtFault djt_fault = {.countdown = -1};

static inline bool djt_fails(djtCall call) {
  if (call != djt_fault.call || djt_fault.countdown < 0) return false;
  if (djt_fault.countdown > 0) {
    djt_fault.countdown--;
    return false;
  }
  djt_fault.fired = true;
  if (!djt_fault.from_then_on) djt_fault.countdown = -1;
  errno = djt_fault.error;
  return true;
}

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
    djt_fault.mode = mode;
    if (djt_fails(DJT_OPEN)) return -1;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t write(int file, const void* bytes, size_t n) {
  bool fails = djt_fails(DJT_WRITE);
  if (fails && djt_fault.error) return -1;
  return syscall(SYS_write, file, bytes, fails ? (n + 1) / 2 : n);
}

int fsync(int file) { return djt_fails(DJT_FSYNC) ? -1 : (int)syscall(SYS_fsync, file); }

int close(int file) {
  int error = errno;
  struct stat info;
  bool fails = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && djt_fails(DJT_CLOSE);
  int status = (int)syscall(SYS_close, file);
  if (!fails) {
    if (status == 0) errno = error;
    return status;
  }
  errno = djt_fault.error;
  return -1;
}

int fchmod(int file, mode_t mode) {
  return djt_fails(DJT_FCHMOD) ? -1 : (int)syscall(SYS_fchmod, file, mode);
}

int fchown(int file, uid_t owner, gid_t group) {
  return djt_fails(DJT_FCHOWN) ? -1 : (int)syscall(SYS_fchown, file, owner, group);
}

int rename(const char* from, const char* to) {
  return djt_fails(DJT_RENAME) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int link(const char* from, const char* to) {
  if (djt_fault.no_links) {
    errno = EPERM;
    return -1;
  }
  return djt_fails(DJT_LINK) ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int getentropy(void* bytes, size_t n) {
  if (djt_fault.zeros <= 0) return syscall(SYS_getrandom, bytes, n, 0) == (long)n ? 0 : -1;
  djt_fault.zeros--;
  memset(bytes, 0, n);
  return 0;
}

// ---- folders ----------------------------------------------------------------------------------

typedef struct djtText {
  char* data;
  size_t size;
} djtText;

static inline void djt_append(djtText* t, const void* bytes, size_t n) {
  t->data = realloc(t->data, t->size + n + 1);
  if (!t->data) abort();
  memcpy(t->data + t->size, bytes, n);
  t->size += n;
  t->data[t->size] = 0;
}

static inline void djt_appendFile(djtText* t, const char* path) {
  char block[4096];
  size_t n;
  FILE* file = fopen(path, "rb");
  if (!file) return;
  while ((n = fread(block, 1, sizeof block, file)) > 0) djt_append(t, block, n);
  fclose(file);
}

// Whole content of a file; new memory.
static inline char* djt_content(const char* path) {
  djtText t = {NULL, 0};
  djt_append(&t, "", 0);
  djt_appendFile(&t, path);
  return t.data;
}

// Names, kinds, permissions and contents of all that a folder holds, as one text; new memory.
static inline djtText djt_folder(const char* path) {
  djtText t = {NULL, 0};
  struct dirent** entry;
  int n = scandir(path, &entry, NULL, alphasort);
  djt_append(&t, "", 0);
  for (int i = 0; i < n; i++) {
    char name[600], line[700];
    struct stat info;
    snprintf(name, sizeof name, "%s/%s", path, entry[i]->d_name);
    if (entry[i]->d_name[0] != '.' || entry[i]->d_name[1] == 'd') {
      lstat(name, &info);
      snprintf(line, sizeof line, "%s %o\n", entry[i]->d_name, (unsigned)info.st_mode);
      djt_append(&t, line, strlen(line));
      if (S_ISREG(info.st_mode)) djt_appendFile(&t, name);
    }
    free(entry[i]);
  }
  if (n >= 0) free(entry);
  return t;
}

static inline bool djt_sameText(const djtText* a, const djtText* b) {
  return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

// Open descriptors of this process.
static inline int djt_descriptors(void) {
  int n = 0;
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return 0;
  while (readdir(folder)) n++;
  closedir(folder);
  return n;
}

// ---- all faults of a write --------------------------------------------------------------------

// Writes files below `folder`; its status, negative with a text.
typedef int djtWriter(void* user, char text[512]);
// Puts the folder into the state that the writer finds.
typedef void djtReset(void* user);

// Lets the n-th call fail, n = 0, 1, ... until the writer needs fewer. After each the folder must
// be as it was, with a negative status and a text; where the fault is one that a writer can live
// with (`harmless`), it must have done its work.
static inline void djt_sweep(djtCall call, int error, bool harmless, const char* folder,
                             djtReset* reset, djtWriter* writer, void* user) {
  reset(user);
  djtText before = djt_folder(folder);
  char text[512] = "";
  assert_true(writer(user, text) >= 0);
  djtText after = djt_folder(folder);
  assert_false(djt_sameText(&before, &after));
  int descriptors = djt_descriptors();
  bool no_links = djt_fault.no_links;
  for (long n = 0;; n++) {
    assert_true(n < 1000);
    reset(user);
    text[0] = 0;
    djt_fault = (djtFault){.call = call, .countdown = n, .error = error, .no_links = no_links};
    int status = writer(user, text);
    djt_fault.countdown = -1;
    bool done = !djt_fault.fired || harmless;
    djtText now = djt_folder(folder);
    djt_failIf(done != (status >= 0) || !djt_sameText(&now, done ? &after : &before),
               "call %d, errno %d, n %ld: status %d, '%s', folder:\n%.2000s", (int)call, error, n,
               status, text, now.data);
    assert_true(done || text[0]);
    assert_int_equal(djt_descriptors(), descriptors);
    free(now.data);
    if (!djt_fault.fired) {
      assert_true(n > 0);   // something was there to fail
      break;
    }
  }
  free(before.data);
  free(after.data);
}

// Every fault at every place. group: several files are put in place together.
static inline void djt_sweepAll(const char* folder, bool group, djtReset* reset, djtWriter* writer,
                                void* user) {
  static const int errors[] = {ENOSPC, EIO};
  for (int k = 0; k < 2; k++) {
    for (int call = 0; call < DJT_LINK; call++) {
      djt_sweep((djtCall)call, errors[k], false, folder, reset, writer, user);
    }
  }
  djt_sweep(DJT_WRITE, 0, true, folder, reset, writer, user);       // short
  djt_sweep(DJT_WRITE, EINTR, true, folder, reset, writer, user);
  djt_sweep(DJT_FSYNC, EINVAL, true, folder, reset, writer, user);  // not there
  if (!group) return;
  djt_sweep(DJT_LINK, EPERM, true, folder, reset, writer, user);
  djt_fault.no_links = true;
  djt_sweep(DJT_RENAME, EIO, false, folder, reset, writer, user);
  djt_fault.no_links = false;
}

#endif  // DJ_TESTS_FILE_FAULTS_H_
