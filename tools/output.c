#include "output.h"

#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 1300, MAX_FOLDERS = 32 };

static djFile* files[MAX_FILES];
static char* paths[MAX_FILES]; // of files, as given
static volatile sig_atomic_t nfile;
static char* folders[MAX_FOLDERS];
static volatile sig_atomic_t nfolder;
static bool watching;

// Only calls that a signal handler may make.
static void remove_all(void) {
  for (int i = 0; i < nfile; i++) {
    const char* temporary = dj_fileTemporary(files[i]);
    if (temporary) unlink(temporary);
  }
  for (int i = nfolder - 1; i >= 0; i--) rmdir(folders[i]); // fails where it is not empty
  nfile = nfolder = 0;
}

static void clean_up(void) {
  interrupt_hold();
  int n = nfile, m = nfolder;
  remove_all();
  for (int i = 0; i < n; i++) {
    dj_discardFile(files[i]);
    free(paths[i]);
  }
  for (int i = 0; i < m; i++) free(folders[i]);
  interrupt_release();
}

static void watch(void) {
  if (watching) return;
  watching = true;
  atexit(clean_up);
  interrupt_onEnd(remove_all);
}

static bool make_folder(const char* path) {
  interrupt_hold();
  bool made = mkdir(path, 0777) == 0;
  int failed = errno;
  if (made && nfolder < MAX_FOLDERS) {
    folders[nfolder] = tool_copyText(path);
    nfolder++;
  }
  interrupt_release();
  errno = failed;
  return made;
}

bool out_folder(const char* path) {
  watch();
  char* part = tool_copyText(path);
  size_t n = strlen(part);
  while (n > 1 && part[n - 1] == '/') part[--n] = 0;
  bool good = n > 0;
  for (size_t i = 1; good && i <= n; i++) {
    if (part[i] != '/' && part[i] != 0) continue;
    char kept = part[i];
    part[i] = 0;
    struct stat info;
    if (!make_folder(part)) {
      good = stat(part, &info) == 0;
      if (good && !S_ISDIR(info.st_mode)) {
        errno = ENOTDIR;
        good = false;
      }
    }
    part[i] = kept;
  }
  free(part);
  return good;
}

// Opening a pipe waits for its reader, as long as that takes, but leaves nothing to remove.
static bool may_wait(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

// The folder of a path and what stands behind it.
static bool place_of(struct stat* folder, const char** name, const char* path) {
  const char* slash = strrchr(path, '/');
  char* text = tool_copyText(slash ? path : ".");
  if (slash) text[slash - path + 1] = 0;
  *name = slash ? slash + 1 : path;
  const bool good = stat(text, folder) == 0;
  free(text);
  return good;
}

// Both lead to one file: only one of them would be left. Devices and pipes take both.
static bool are_same(const char* a, const char* b) {
  struct stat x, y;
  const char *in_a, *in_b;
  const bool has = stat(a, &x) == 0;
  if (has != (stat(b, &y) == 0)) return false;
  if (has && !S_ISREG(x.st_mode)) return false;
  if (!has && !(place_of(&x, &in_a, a) && place_of(&y, &in_b, b) && strcmp(in_a, in_b) == 0)) {
    return false;
  }
  return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

djFile* out_open(const char* verb, const char* path) {
  djError err;
  djFile* file = NULL;
  watch();
  for (int i = 0; i < nfile; i++) {
    if (!are_same(path, paths[i])) continue;
    tool_fail(verb, path, NULL, "cannot be written: %s is the same file", paths[i]);
    return NULL;
  }
  if (nfile == MAX_FILES) {
    tool_fail(verb, path, NULL, "cannot be written: too many files");
    return NULL;
  }
  bool waits = may_wait(path);
  if (!waits) interrupt_hold();
  djStatus status = dj_openFile(&file, path, &err);
  if (waits) interrupt_hold();
  if (status == DJ_OK) {
    paths[nfile] = tool_copyText(path);
    files[nfile++] = file;
  }
  interrupt_release();
  if (status < 0) tool_fail(verb, NULL, NULL, "%s", err.text);
  return file;
}

djFile* out_openIn(const char* verb, const char* folder, const char* name) {
  Buffer path = {0};
  buf_addf(&path, "%s/%s", folder, name);
  djFile* file = out_open(verb, path.text);
  buf_free(&path);
  return file;
}

djFile* out_addIn(const char* verb, const char* folder, const char* name, Buffer* text) {
  djError err;
  djFile* file = out_openIn(verb, folder, name);
  if (file) {
    out_write(file, text);
    if (dj_finishFile(file, &err) < 0) {
      tool_fail(verb, NULL, NULL, "%s", err.text);
      file = NULL;
    }
  }
  buf_free(text);
  return file;
}

void out_discard(djFile* file) {
  int kept = 0;
  interrupt_hold();
  for (int i = 0; i < nfile; i++) {
    if (files[i] == file) {
      free(paths[i]);
      continue;
    }
    paths[kept] = paths[i];
    files[kept++] = files[i];
  }
  nfile = kept;
  dj_discardFile(file);
  interrupt_release();
}

int out_commit(const char* verb) {
  djError err;
  djStatus status = DJ_OK;
  for (int i = 0; i < nfile && status == DJ_OK; i++) status = dj_finishFile(files[i], &err);
  if (status == DJ_OK) {
    interrupt_hold();
    status = dj_commitFiles(files, nfile, &err);
    for (int i = 0; i < nfile; i++) free(paths[i]);
    nfile = 0;
    if (status == DJ_OK) {
      for (int i = 0; i < nfolder; i++) free(folders[i]);
      nfolder = 0;
    }
    interrupt_release();
  }
  if (status == DJ_OK) return 0;
  clean_up();
  return tool_fail(verb, NULL, NULL, "%s", err.text);
}

void out_write(djFile* file, const Buffer* text) { dj_writeFile(file, text->text, text->size); }
