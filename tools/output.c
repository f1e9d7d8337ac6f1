#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 16, MAX_FOLDERS = 32 };

typedef struct OutputFile {
  FILE* file;
  char* path;
  char* temporary;  // NULL: written in place (devices, pipes)
} OutputFile;

static OutputFile files[MAX_FILES];
static volatile sig_atomic_t nfile;
static char* folders[MAX_FOLDERS];
static volatile sig_atomic_t nfolder;
static bool watching;

// Only calls that a signal handler may make.
static void remove_all(void) {
  for (int i = 0; i < nfile; i++) {
    if (files[i].temporary) unlink(files[i].temporary);
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

FILE* out_open(const char* path) {
  watch();
  if (nfile == MAX_FILES) {
    errno = EMFILE;
    return NULL;
  }
  struct stat info;
  bool exists = stat(path, &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return NULL;
  }
  OutputFile* f = &files[nfile];
  *f = (OutputFile){.path = tool_copyText(path)};
  if (exists && !S_ISREG(info.st_mode)) {
    f->file = fopen(path, "w");
  } else {
    Buffer name = {0};
    buf_addf(&name, "%s.%ld.part", path, (long)getpid());
    f->temporary = name.text;
    f->file = fopen(f->temporary, "w");
  }
  if (!f->file) {
    free(f->temporary);
    free(f->path);
    return NULL;
  }
  nfile++;
  return f->file;
}

bool out_commit(const char** path) {
  int failed = 0;
  for (int i = 0; i < nfile && !failed; i++) {
    *path = files[i].path;
    bool good = !ferror(files[i].file);
    errno = 0;
    good = fclose(files[i].file) == 0 && good;
    files[i].file = NULL;
    if (!good) failed = errno ? errno : EIO;
  }
  for (int i = 0; i < nfile && !failed; i++) {
    *path = files[i].path;
    if (files[i].temporary && rename(files[i].temporary, files[i].path) != 0) failed = errno;
  }
  if (failed) {
    remove_all();
    errno = failed;
    return false;
  }
  for (int i = 0; i < nfile; i++) {
    free(files[i].path);
    free(files[i].temporary);
  }
  for (int i = 0; i < nfolder; i++) free(folders[i]);
  nfile = nfolder = 0;
  return true;
}

void out_write(FILE* file, const Buffer* text) { fwrite(text->text, 1, text->size, file); }
