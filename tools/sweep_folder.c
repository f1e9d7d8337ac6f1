// A folder of a sweep:
//
//   sweep.json    what the sweep is, made by the first process: others must be of the same
//   lock          byte i is locked by who works at sample i, byte n by who opens, byte n + 1 by who
//                 merges; the system gives locks back when a process ends, however that is
//   part_K.csv    "SECONDS;ROW" of each sample that a process has finished, in its order
//   samples.csv   all rows, in the order of samples, when none is missing
//
// Locks are fcntl()'s, which file systems of several machines know, too. They belong to processes:
// threads of one take different samples.

#include "sweep.h"

#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// What has been read of a process's file.
typedef struct Part {
  char name[32];
  long long end;
} Part;

struct Folder {
  const char *verb, *path;
  int n;
  int lock, own;            // descriptors
  char** row;               // (n) NULL: not done
  int npart;
  Part* part;
  SweepTally tally;
  pthread_mutex_t mutex;
};

static int fail(const Folder* f, const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", f->path, name);
  return tool_fail(f->verb, path, NULL, "%s", strerror(errno));
}

// wait: until it is free.
static bool lock_byte(const Folder* f, int byte, short type, bool wait) {
  struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
  int done;
  do done = fcntl(f->lock, wait ? F_SETLKW : F_SETLK, &l);
  while (done < 0 && errno == EINTR);
  return done == 0;
}

static int open_in(const Folder* f, const char* name, int flags) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", f->path, name);
  return open(path, flags | O_CLOEXEC, 0666);
}

static bool read_all(Buffer* text, int file, long long from) {
  char part[65536];
  ssize_t n;
  while ((n = pread(file, part, sizeof part, (off_t)from)) > 0) {
    buf_addn(text, part, (size_t)n);
    from += n;
  }
  return n == 0;
}

// ---- what is done

static void take_row(Folder* f, char* line) {
  char* row = strchr(line, ';');
  if (!row) return;
  char* end;
  long sample = strtol(row + 1, &end, 10);
  if (end == row + 1 || *end != ',' || sample < 0 || sample >= f->n || f->row[sample]) return;
  f->row[sample] = tool_copyText(row + 1);
  f->tally.done++;
  f->tally.seconds += strtod(line, NULL);
  for (int s = 0; s < SAMPLE_STATUSES; s++) {
    const char* name = sample_statusName((SampleStatus)s);
    size_t n = strlen(name);
    f->tally.status[s] += strncmp(end + 1, name, n) == 0 && end[1 + n] == ',';
  }
}

// A line without its end is of a process that writes it now, or was ended there.
static void read_part(Folder* f, Part* part) {
  int file = open_in(f, part->name, O_RDONLY);
  if (file < 0) return;
  Buffer text = {0};
  buf_add(&text, "");
  read_all(&text, file, part->end);
  close(file);
  char* line = text.text;
  for (char* end; (end = strchr(line, '\n')); line = end + 1) {
    *end = 0;
    take_row(f, line);
  }
  part->end += line - text.text;
  buf_free(&text);
}

static Part* find_part(Folder* f, const char* name) {
  for (int k = 0; k < f->npart; k++) {
    if (strcmp(f->part[k].name, name) == 0) return &f->part[k];
  }
  f->part = tool_grow(f->part, (size_t)f->npart + 1, sizeof *f->part);
  Part* part = &f->part[f->npart++];
  *part = (Part){.end = 0};
  snprintf(part->name, sizeof part->name, "%s", name);
  return part;
}

// All that others have finished since the last look.
static void look(Folder* f) {
  DIR* folder = opendir(f->path);
  if (!folder) return;
  for (const struct dirent* e; (e = readdir(folder));) {
    int number;
    char name[32];
    if (sscanf(e->d_name, "part_%d.csv", &number) != 1) continue;
    snprintf(name, sizeof name, "part_%d.csv", number);
    if (strcmp(name, e->d_name) == 0) read_part(f, find_part(f, name));
  }
  closedir(folder);
}

// ---- opening

// sweep.json is that of this sweep: made where there is none.
static int identify(Folder* f, const Buffer* identity) {
  int file = open_in(f, "sweep.json", O_RDONLY);
  if (file < 0 && errno != ENOENT) return fail(f, "sweep.json");
  if (file < 0) {
    Buffer text = {0};
    buf_addn(&text, identity->text, identity->size);
    return out_addIn(f->verb, f->path, "sweep.json", &text) ? out_commit(f->verb) : EXIT_BAD_INPUT;
  }
  Buffer text = {0};
  buf_add(&text, "");
  bool good = read_all(&text, file, 0);
  close(file);
  int status = good ? 0 : fail(f, "sweep.json");
  if (!status && strcmp(text.text, identity->text) != 0) {
    status = tool_fail(f->verb, f->path, "sweep.json",
                       "is of another sweep: the task, its scene, samples or options are not the "
                       "same");
  }
  buf_free(&text);
  return status;
}

// A file of its own.
static int open_own(Folder* f) {
  char name[32];
  for (int k = 0;; k++) {
    snprintf(name, sizeof name, "part_%d.csv", k);
    f->own = open_in(f, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
    if (f->own >= 0) return 0;
    if (errno != EEXIST) return fail(f, name);
  }
}

Folder* folder_open(const char* verb, const char* path, int nsample, const Buffer* identity) {
  Folder* f = tool_alloc(1, sizeof *f);
  *f = (Folder){.verb = verb, .path = path, .n = nsample, .lock = -1, .own = -1,
                .mutex = PTHREAD_MUTEX_INITIALIZER};
  f->row = tool_alloc((size_t)nsample, sizeof *f->row);
  int status = out_folder(path) ? 0 : tool_fail(verb, path, NULL, "%s", strerror(errno));
  if (!status) f->lock = open_in(f, "lock", O_RDWR | O_CREAT);
  if (!status && f->lock < 0) status = fail(f, "lock");
  if (!status && !lock_byte(f, nsample, F_WRLCK, true)) status = fail(f, "lock");
  if (!status) {
    status = identify(f, identity);
    lock_byte(f, nsample, F_UNLCK, false);
  }
  if (!status) look(f);
  if (!status) return f;
  folder_close(f);
  return NULL;
}

void folder_close(Folder* f) {
  if (!f) return;
  for (int i = 0; i < f->n; i++) free(f->row[i]);
  free(f->row);
  free(f->part);
  if (f->own >= 0) close(f->own);
  if (f->lock >= 0) close(f->lock);
  free(f);
}

// ---- samples

bool folder_take(Folder* f, int sample) {
  pthread_mutex_lock(&f->mutex);
  bool taken = !f->row[sample] && lock_byte(f, sample, F_WRLCK, false);
  if (taken) {
    look(f);   // who had the lock before has written by now
    if (f->row[sample]) {
      lock_byte(f, sample, F_UNLCK, false);
      taken = false;
    }
  }
  pthread_mutex_unlock(&f->mutex);
  return taken;
}

// By one write, so that what is there ends with a line.
bool folder_give(Folder* f, int sample, const Buffer* row, double seconds) {
  Buffer line = {0};
  buf_addf(&line, "%.6f;", seconds);
  buf_addn(&line, row->text, row->size);
  pthread_mutex_lock(&f->mutex);
  bool good = f->own >= 0 || open_own(f) == 0;
  if (good) {
    ssize_t sent = write(f->own, line.text, line.size);
    good = sent == (ssize_t)line.size;
    if (!good) tool_fail(f->verb, f->path, NULL, "cannot be written");
  }
  if (good) {
    f->tally.here++;
    look(f);
  }
  lock_byte(f, sample, F_UNLCK, false);
  pthread_mutex_unlock(&f->mutex);
  buf_free(&line);
  return good;
}

SweepTally folder_tally(Folder* f) {
  pthread_mutex_lock(&f->mutex);
  look(f);
  SweepTally t = f->tally;
  pthread_mutex_unlock(&f->mutex);
  return t;
}

int folder_merge(Folder* f, const Buffer* header) {
  if (!lock_byte(f, f->n + 1, F_WRLCK, true)) return fail(f, "lock");
  djFile* file = out_openIn(f->verb, f->path, "samples.csv");
  int status = file ? 0 : EXIT_BAD_INPUT;
  if (!status) {
    out_write(file, header);
    for (int i = 0; i < f->n; i++) {
      dj_writeFile(file, f->row[i], strlen(f->row[i]));
      dj_writeFile(file, "\n", 1);
    }
    status = out_commit(f->verb);
  }
  lock_byte(f, f->n + 1, F_UNLCK, false);
  return status;
}
