#include "output.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 16, MAX_FOLDERS = 32 };

static djFile* files[MAX_FILES];
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
  for (int i = nfolder - 1; i >= 0; i--) rmdir(folders[i]);  // fails where it is not empty
  nfile = nfolder = 0;
}

static void interrupted(int signal_number) {
  remove_all();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void watch(void) {
  if (watching) return;
  watching = true;
  atexit(remove_all);
  signal(SIGINT, interrupted);
  signal(SIGTERM, interrupted);
  signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes is an error of writing
}

// While the list of files and what is on the disk differ, signals wait.
static void hold_signals(sigset_t* before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, before);
}

static void release_signals(const sigset_t* before) { pthread_sigmask(SIG_SETMASK, before, NULL); }

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
    if (mkdir(part, 0777) == 0) {
      if (nfolder < MAX_FOLDERS) {
        folders[nfolder] = tool_copyText(part);
        nfolder++;
      }
    } else if (stat(part, &info) != 0) {
      good = false;
    } else if (!S_ISDIR(info.st_mode)) {
      errno = ENOTDIR;
      good = false;
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

djFile* out_open(const char* verb, const char* path) {
  djError err;
  djFile* file = NULL;
  sigset_t before;
  watch();
  if (nfile == MAX_FILES) {
    tool_fail(verb, path, NULL, "cannot be written: too many files");
    return NULL;
  }
  bool waits = may_wait(path);
  if (!waits) hold_signals(&before);
  djStatus status = dj_openFile(&file, path, &err);
  if (status == DJ_OK) files[nfile++] = file;
  if (!waits) release_signals(&before);
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

void out_discard(djFile* file) {
  int kept = 0;
  sigset_t before;
  hold_signals(&before);
  for (int i = 0; i < nfile; i++) {
    if (files[i] != file) files[kept++] = files[i];
  }
  nfile = kept;
  dj_discardFile(file);
  release_signals(&before);
}

int out_commit(const char* verb) {
  djError err;
  sigset_t before;
  djStatus status = DJ_OK;
  for (int i = 0; i < nfile && status == DJ_OK; i++) status = dj_finishFile(files[i], &err);
  if (status == DJ_OK) {
    hold_signals(&before);
    status = dj_commitFiles(files, nfile, &err);
    nfile = 0;
    if (status == DJ_OK) {
      for (int i = 0; i < nfolder; i++) free(folders[i]);
      nfolder = 0;
    }
    release_signals(&before);
  }
  if (status == DJ_OK) return 0;
  remove_all();
  return tool_fail(verb, NULL, NULL, "%s", err.text);
}

void out_write(djFile* file, const Buffer* text) { dj_writeFile(file, text->text, text->size); }
