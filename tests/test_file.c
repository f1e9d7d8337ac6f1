// Files that are written whole or not at all: contents, links, permissions, pipes and devices,
// groups, and every failure of the system on the way.

#include "common/file.h"
#include "common/file_faults.h"
#include "common/make_model.h"
#include "common/sample_model.h"

#include <dijoco/csv.h>
#include <dijoco/io.h>

#include <sys/file.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define FOLDER "test_file.d"

static const char old_text[] = "what was there before\n";

static void put(const char* path, const char* text, mode_t mode) {
  djt_writeText(path, text);
  assert_int_equal(chmod(path, mode), 0);
}

static void check(const char* path, const char* text) {
  char* content = djt_content(path);
  assert_string_equal(content, text);
  free(content);
}

// Write a text; the status.
static djStatus save(const char* path, const char* text, djError* err) {
  djFile* file;
  djStatus status = dj_openFile(&file, path, err);
  if (status < 0) {
    assert_null(file);
    return status;
  }
  dj_writeFile(file, text, strlen(text));
  return dj_commitFile(file, err);
}

static void saved(const char* path, const char* text) {
  djError err = {""};
  if (save(path, text, &err) != DJ_OK) fail_msg("%s", err.text);
}

static void refused(const char* path, int reason) {
  djError err = {""};
  char wanted[512];
  djtText before = djt_folder(FOLDER);
  assert_int_equal(save(path, "new", &err), DJ_FILE);
  snprintf(wanted, sizeof wanted, "%s: cannot be written: %s", path, strerror(reason));
  assert_string_equal(err.text, wanted);
  djtText after = djt_folder(FOLDER);
  assert_true(djt_sameText(&before, &after));
  free(before.data);
  free(after.data);
}

static int removeFolder(void** state) {
  (void)state;
  return system("rm -rf " FOLDER);
}

static int setup(void** state) { return removeFolder(state) | mkdir(FOLDER, 0755); }

// ---- contents ---------------------------------------------------------------------------------

// Pieces of all sizes around the buffer's, by both calls.
static void test_content(void) {
  static const size_t size[] = {0, 1, 4000, 61535, 65536, 65537, 1, 200000, 65535, 2};
  static char piece[200001];
  djtText wanted = {NULL, 0};
  for (int mode = 0; mode < 3; mode++) {
    djFile* file;
    djError err;
    assert_int_equal(dj_openFile(&file, FOLDER "/x", &err), DJ_OK);
    wanted.size = 0;
    for (size_t k = 0; k < sizeof size / sizeof size[0]; k++) {
      for (size_t i = 0; i < size[k]; i++) piece[i] = (char)('a' + (i * 7 + k) % 26);
      piece[size[k]] = 0;
      djt_append(&wanted, piece, size[k]);
      if (mode == 0 || (mode == 2 && k % 2)) dj_writeFile(file, piece, size[k]);
      else dj_printFile(file, "%.3s%s", piece, size[k] > 3 ? piece + 3 : "");
    }
    assert_int_equal(dj_commitFile(file, &err), DJ_OK);
    check(FOLDER "/x", wanted.data);
  }
  free(wanted.data);
}

// The target stays what it is until the end, and after giving up.
static void test_old(void) {
  djFile *file, *other;
  djError err;
  put(FOLDER "/x", old_text, 0644);
  for (int finished = 0; finished < 2; finished++) {
    djtText before = djt_folder(FOLDER);
    assert_int_equal(dj_openFile(&file, FOLDER "/x", &err), DJ_OK);
    dj_writeFile(file, "new", 3);
    assert_non_null(dj_fileTemporary(file));
    assert_int_equal(access(dj_fileTemporary(file), F_OK), 0);
    if (finished) {
      assert_int_equal(dj_finishFile(file, &err), DJ_OK);
      check(dj_fileTemporary(file), "new");
      assert_int_equal(dj_finishFile(file, &err), DJ_OK);
      dj_writeFile(file, "more", 4);   // too late: nothing
      dj_printFile(file, "more");
    }
    check(FOLDER "/x", old_text);
    dj_discardFile(file);
    djtText after = djt_folder(FOLDER);
    assert_true(djt_sameText(&before, &after));
    free(before.data);
    free(after.data);
  }
  // Two at once do not know of each other; the last one stays.
  assert_int_equal(dj_openFile(&file, FOLDER "/x", &err), DJ_OK);
  assert_int_equal(dj_openFile(&other, FOLDER "/x", &err), DJ_OK);
  assert_string_not_equal(dj_fileTemporary(file), dj_fileTemporary(other));
  dj_writeFile(file, "one", 3);
  dj_writeFile(other, "two", 3);
  assert_int_equal(dj_commitFile(other, &err), DJ_OK);
  check(FOLDER "/x", "two");
  assert_int_equal(dj_commitFile(file, &err), DJ_OK);
  check(FOLDER "/x", "one");
}

// ---- paths ------------------------------------------------------------------------------------

static void test_refused(void) {
  put(FOLDER "/x", old_text, 0644);
  assert_int_equal(mkdir(FOLDER "/folder", 0755), 0);
  assert_int_equal(symlink("folder", FOLDER "/to_folder"), 0);
  assert_int_equal(symlink("b", FOLDER "/a"), 0);
  assert_int_equal(symlink("a", FOLDER "/b"), 0);
  assert_int_equal(symlink("no/where", FOLDER "/lost"), 0);
  refused(FOLDER "/folder", EISDIR);
  refused(FOLDER "/folder/", EISDIR);
  refused(FOLDER "/folder/.", EISDIR);
  refused(FOLDER "/folder/..", EISDIR);
  refused(FOLDER "/to_folder", EISDIR);
  refused("/", EISDIR);
  refused("", ENOENT);
  refused(FOLDER "/none/x", ENOENT);
  refused(FOLDER "/lost", ENOENT);
  refused(FOLDER "/x/y", ENOTDIR);
  refused(FOLDER "/a", ELOOP);
  djError err;
  djFile* file;
  assert_int_equal(dj_openFile(NULL, "x", &err), DJ_INVALID);
  assert_int_equal(dj_openFile(&file, NULL, &err), DJ_INVALID);
  assert_int_equal(dj_commitFiles(NULL, 1, &err), DJ_INVALID);
  assert_int_equal(dj_commitFile(NULL, &err), DJ_INVALID);
  assert_int_equal(dj_commitFiles(NULL, 0, &err), DJ_OK);
  assert_int_equal(dj_finishFile(NULL, &err), DJ_INVALID);
  assert_null(dj_fileTemporary(NULL));
  dj_writeFile(NULL, "x", 1);
  dj_printFile(NULL, "x");
  dj_discardFile(NULL);
}

static bool isLink(const char* path) {
  struct stat info;
  return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

static void test_links(void) {
  char here[400], text[512];
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(mkdir(FOLDER "/folder", 0755), 0);
  put(FOLDER "/folder/x", old_text, 0600);
  snprintf(text, sizeof text, "%s/" FOLDER "/folder/second", here);
  assert_int_equal(symlink(text, FOLDER "/first"), 0);            // absolute
  assert_int_equal(symlink("../folder/./x", FOLDER "/folder/second"), 0);
  assert_int_equal(link(FOLDER "/folder/x", FOLDER "/hard"), 0);
  saved(FOLDER "/first", "through links");
  check(FOLDER "/folder/x", "through links");
  check(FOLDER "/hard", old_text);                                // a hard link parts
  assert_true(isLink(FOLDER "/first") && isLink(FOLDER "/folder/second"));
  assert_false(isLink(FOLDER "/folder/x"));
  // what a link leads to need not exist yet
  assert_int_equal(symlink("folder/new", FOLDER "/dangling"), 0);
  saved(FOLDER "/dangling", "made");
  check(FOLDER "/folder/new", "made");
  assert_true(isLink(FOLDER "/dangling"));
}

// A name as long as they may be, and a folder that changes its meaning on the way.
static void test_names(void) {
  char path[300] = FOLDER "/";
  memset(path + strlen(path), 'n', 255);
  saved(path, "long");
  check(path, "long");
  djFile* file;
  djError err;
  assert_int_equal(dj_openFile(&file, FOLDER "/x", &err), DJ_OK);
  dj_printFile(file, "%s", "home");
  assert_int_equal(chdir("/"), 0);
  djStatus status = dj_commitFile(file, &err);
  assert_int_equal(chdir(DIJOCO_BUILD_DIR "/tests"), 0);
  assert_int_equal(status, DJ_OK);
  check(FOLDER "/x", "home");
}

enum { GROUP = 4 };
static const char* const group_path[GROUP] = {FOLDER "/a", FOLDER "/link", FOLDER "/new",
                                              FOLDER "/d"};

static void openGroup(djFile** file) {
  djError err;
  for (int i = 0; i < GROUP; i++) {
    if (dj_openFile(&file[i], group_path[i], &err) < 0) fail_msg("%s", err.text);
    dj_printFile(file[i], "new content of %d", i);
  }
}

static void resetGroup(void* user) {
  (void)user;
  remove(FOLDER "/new");
  remove(FOLDER "/link");
  put(FOLDER "/a", "old a", 0640);
  put(FOLDER "/b", "old b", 0604);
  put(FOLDER "/d", "old d", 0755);
  assert_int_equal(symlink("b", FOLDER "/link"), 0);
}

// A name that is taken, by a trap at that, is neither used nor removed.
static void test_taken(void) {
  djFile* file[GROUP];
  djError err;
  resetGroup(NULL);
  put(FOLDER "/victim", old_text, 0644);
  assert_int_equal(symlink("victim", FOLDER "/.dijoco-0000000000000000.part"), 0);
  djt_fault.zeros = 3;
  saved(FOLDER "/a", "new");
  assert_int_equal(djt_fault.zeros, 0);
  openGroup(file);
  djt_fault.zeros = 2;   // names of the old content
  assert_int_equal(dj_commitFiles(file, GROUP, &err), DJ_OK);
  assert_int_equal(djt_fault.zeros, 0);
  check(FOLDER "/a", "new content of 0");
  check(FOLDER "/victim", old_text);
  assert_true(isLink(FOLDER "/.dijoco-0000000000000000.part"));
}

// Where everybody may make files, a link of somebody else is not followed (root can make one).
static void test_trap(void) {
  if (geteuid() != 0) skip();
  put(FOLDER "/victim", old_text, 0644);
  assert_int_equal(mkdir(FOLDER "/shared", 0777), 0);
  assert_int_equal(chmod(FOLDER "/shared", 01777), 0);
  assert_int_equal(symlink("../victim", FOLDER "/shared/x"), 0);
  assert_int_equal(lchown(FOLDER "/shared/x", 4321, 4321), 0);
  refused(FOLDER "/shared/x", EACCES);
  assert_int_equal(chmod(FOLDER "/shared", 0777), 0);
  saved(FOLDER "/shared/x", "followed");
  check(FOLDER "/victim", "followed");
}

// ---- permissions ------------------------------------------------------------------------------

static mode_t modeOf(const char* path) {
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  return info.st_mode & 07777;
}

static void test_permissions(void) {
  static const mode_t mode[] = {0600, 0640, 0644, 0666, 0755, 0200, 0777};
  for (size_t k = 0; k < sizeof mode / sizeof mode[0]; k++) {
    put(FOLDER "/x", old_text, mode[k]);
    saved(FOLDER "/x", "new");
    assert_int_equal(modeOf(FOLDER "/x"), mode[k]);
  }
  static const mode_t mask[] = {022, 027, 077, 0};
  mode_t before = umask(0);
  for (size_t k = 0; k < sizeof mask / sizeof mask[0]; k++) {
    umask(mask[k]);
    remove(FOLDER "/y");
    saved(FOLDER "/y", "new");
    assert_int_equal(modeOf(FOLDER "/y"), 0666 & ~mask[k]);
  }
  umask(before);
}

// Nobody can read on the way what only some may read in the end.
static void test_secret(void) {
  djFile* file;
  djError err;
  put(FOLDER "/x", old_text, 0600);
  mode_t before = umask(0);
  assert_int_equal(dj_openFile(&file, FOLDER "/x", &err), DJ_OK);
  umask(before);
  assert_int_equal(modeOf(dj_fileTemporary(file)), 0600);
  assert_int_equal(djt_fault.mode & 077, 0);   // from the first moment
  dj_discardFile(file);
}

enum { CLOSED = 3 };   // exit status: others cannot get at the test's folder

// As an ordinary user in a process of its own, for root may write everything.
static void asUser(void (*work)(void)) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (geteuid() == 0 && (setegid(4321) != 0 || seteuid(4321) != 0)) _exit(2);
    if (faccessat(AT_FDCWD, DIJOCO_BUILD_DIR "/tests", X_OK, AT_EACCESS) != 0) _exit(CLOSED);
    work();
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == CLOSED) skip();
  assert_int_equal(WEXITSTATUS(status), 0);
}

#define DEMAND(condition) if (!(condition)) _exit(__LINE__ % 200 + 10)

static void writeProtected(void) {
  djError err = {""};
  DEMAND(save("x", "new", &err) == DJ_FILE);
  DEMAND(strcmp(err.text, "x: cannot be written: Permission denied") == 0);
  DEMAND(save("locked/y", "new", &err) == DJ_FILE);
  DEMAND(strcmp(err.text, "locked/y: cannot be written: Permission denied") == 0);
  DEMAND(save("z", "new", &err) == DJ_OK);
}

static void test_protected(void) {
  assert_int_equal(mkdir(FOLDER "/locked", 0755), 0);
  put(FOLDER "/x", old_text, 0444);
  put(FOLDER "/locked/y", old_text, 0666);
  assert_int_equal(chmod(FOLDER "/locked", 0555), 0);
  assert_int_equal(chmod(FOLDER, 0777), 0);
  assert_int_equal(chdir(FOLDER), 0);
  asUser(writeProtected);
  assert_int_equal(chdir(DIJOCO_BUILD_DIR "/tests"), 0);
  check(FOLDER "/x", old_text);
  check(FOLDER "/locked/y", old_text);
  check(FOLDER "/z", "new");
}

static void test_owner(void) {
  if (geteuid() != 0) skip();
  struct stat info;
  put(FOLDER "/x", old_text, 0644);
  assert_int_equal(chown(FOLDER "/x", 4321, 1234), 0);
  assert_int_equal(chmod(FOLDER "/x", 0640), 0);
  saved(FOLDER "/x", "new");
  assert_int_equal(stat(FOLDER "/x", &info), 0);
  assert_int_equal(info.st_uid, 4321);
  assert_int_equal(info.st_gid, 1234);
  assert_int_equal(info.st_mode & 07777, 0640);
}

// Where the owner cannot be kept, others get no rights by that: none that run as the owner, and
// none of another group's.
static void test_ownerLost(void) {
  if (geteuid() != 0) skip();
  struct stat info;
  for (int both = 0; both < 2; both++) {
    put(FOLDER "/x", old_text, 0644);
    assert_int_equal(chown(FOLDER "/x", 4321, 1234), 0);
    assert_int_equal(chmod(FOLDER "/x", 06775), 0);
    djt_fault.call = DJT_FCHOWN;
    djt_fault.countdown = 0;
    djt_fault.from_then_on = both;
    djt_fault.error = EPERM;
    saved(FOLDER "/x", "new");
    assert_true(djt_fault.fired);
    djt_fault = (djtFault){.countdown = -1};
    assert_int_equal(stat(FOLDER "/x", &info), 0);
    assert_int_equal(info.st_uid, 0);
    assert_int_equal(info.st_gid, both ? 0 : 1234);
    assert_int_equal(info.st_mode & 07777, both ? 0705 : 0775);
    assert_int_equal(remove(FOLDER "/x"), 0);
  }
}

// ---- pipes and devices ------------------------------------------------------------------------

static bool isKind(const char* path, mode_t kind) {
  struct stat info;
  return lstat(path, &info) == 0 && (info.st_mode & S_IFMT) == kind;
}

static void test_fifo(void) {
  assert_int_equal(mkfifo(FOLDER "/fifo", 0600), 0);
  assert_int_equal(mkfifo(FOLDER "/other", 0600), 0);
  assert_int_equal(symlink("other", FOLDER "/to_fifo"), 0);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {   // reads each to the end
    alarm(60);        // where nothing comes
    char* one = djt_content(FOLDER "/fifo");
    DEMAND(strcmp(one, "through a pipe") == 0);
    char* two = djt_content(FOLDER "/other");
    DEMAND(strcmp(two, "through a link") == 0);
    free(one);
    free(two);
    _exit(0);
  }
  saved(FOLDER "/fifo", "through a pipe");
  saved(FOLDER "/to_fifo", "through a link");
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_true(isKind(FOLDER "/fifo", S_IFIFO) && isKind(FOLDER "/other", S_IFIFO));
  assert_true(isLink(FOLDER "/to_fifo"));
}

static void test_descriptor(void) {
  int pipes[2];
  char path[64], text[32] = "";
  assert_int_equal(pipe(pipes), 0);
  snprintf(path, sizeof path, "/dev/fd/%d", pipes[1]);
  saved(path, "straight");
  assert_int_equal(read(pipes[0], text, sizeof text - 1), 8);
  assert_string_equal(text, "straight");
  close(pipes[0]);
  close(pipes[1]);
  // of a regular file: it goes on where the descriptor is
  int file = open(FOLDER "/x", O_RDWR | O_CREAT, 0600);
  assert_true(file >= 0);
  assert_int_equal(write(file, "before, ", 8), 8);
  snprintf(path, sizeof path, "/dev/fd/%d", file);
  saved(path, "written");
  assert_int_equal(write(file, ", after", 7), 7);
  close(file);
  check(FOLDER "/x", "before, written, after");
  refused(path, ENOENT);
}

static void test_devices(void) {
  if (access("/dev/full", F_OK) == 0) {
    refused("/dev/full", ENOSPC);
    assert_true(isKind("/dev/full", S_IFCHR));
  }
  // A null device of our own: never the machine's.
  if (mknod(FOLDER "/null", S_IFCHR | 0666, makedev(1, 3)) != 0) skip();
  int file = open(FOLDER "/null", O_WRONLY);
  if (file < 0) skip();   // a file system without devices
  close(file);
  saved(FOLDER "/null", "gone");
  djError err;
  djFile* straight;
  assert_int_equal(dj_openFile(&straight, FOLDER "/null", &err), DJ_OK);
  assert_null(dj_fileTemporary(straight));
  dj_discardFile(straight);
  assert_true(isKind(FOLDER "/null", S_IFCHR));
}

// ---- groups -----------------------------------------------------------------------------------

// One target cannot be replaced in the end: all stay.
static void test_group(void) {
  djError err = {""};
  djFile* file[GROUP];
  for (int bad = 0; bad < GROUP; bad++) {
    const char* at = bad == 1 ? FOLDER "/b" : group_path[bad];
    resetGroup(NULL);
    remove(at);
    assert_int_equal(mkdir(at, 0700), 0);
    djtText before = djt_folder(FOLDER);
    rmdir(at);
    resetGroup(NULL);
    openGroup(file);
    remove(at);
    assert_int_equal(mkdir(at, 0700), 0);   // too late to be seen on opening
    assert_int_equal(dj_commitFiles(file, GROUP, &err), DJ_FILE);
    assert_memory_equal(err.text, group_path[bad], strlen(group_path[bad]));
    djtText after = djt_folder(FOLDER);
    assert_true(djt_sameText(&before, &after));
    free(before.data);
    free(after.data);
    rmdir(at);
  }
  resetGroup(NULL);
  openGroup(file);
  assert_int_equal(dj_commitFiles(file, GROUP, &err), DJ_OK);
  check(FOLDER "/a", "new content of 0");
  check(FOLDER "/b", "new content of 1");
  check(FOLDER "/new", "new content of 2");
  check(FOLDER "/d", "new content of 3");
  assert_true(isLink(FOLDER "/link"));
}

static int writeGroup(void* user, char text[512]) {
  (void)user;
  djFile* file[GROUP] = {NULL};
  djError err = {""};
  djStatus status = DJ_OK;
  for (int i = 0; i < GROUP && status == DJ_OK; i++) {
    status = dj_openFile(&file[i], group_path[i], &err);
    dj_printFile(file[i], "new content of %d", i);
  }
  if (status == DJ_OK) status = dj_commitFiles(file, GROUP, &err);
  else for (int i = 0; i < GROUP; i++) dj_discardFile(file[i]);
  memcpy(text, err.text, sizeof err.text);
  return status;
}

static void test_groupFaults(void) { djt_sweepAll(FOLDER, true, resetGroup, writeGroup, NULL); }

// Of two groups on the way to one folder, one waits.
static void test_turns(void) {
  djFile* file[GROUP];
  djError err;
  int status;
  resetGroup(NULL);
  openGroup(file);
  int lock = open(FOLDER, O_RDONLY);
  assert_int_equal(flock(lock, LOCK_EX), 0);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    close(lock);
    _exit(dj_commitFiles(file, GROUP, &err) != DJ_OK);
  }
  for (int k = 0; k < 20; k++) {
    usleep(10000);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    check(FOLDER "/a", "old a");
    check(FOLDER "/d", "old d");
  }
  close(lock);   // the other group is in place
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  check(FOLDER "/a", "new content of 0");
  check(FOLDER "/d", "new content of 3");
  for (int i = 0; i < GROUP; i++) dj_discardFile(file[i]);
}

// When putting back fails as well, the message tells where the old content is.
static void test_lost(void) {
  char text[512];
  resetGroup(NULL);
  djt_fault = (djtFault){.call = DJT_RENAME, .countdown = 1, .from_then_on = true, .error = EIO};
  int status = writeGroup(NULL, text);
  djt_fault.countdown = -1;
  assert_int_equal(status, DJ_FILE);
  char* place = strstr(text, "its old content is ");
  assert_non_null(place);
  check(place + strlen("its old content is "), "old a");
  check(FOLDER "/b", "old b");
  check(FOLDER "/d", "old d");
}

// ---- faults of what the library writes --------------------------------------------------------

static void resetOne(void* user) {
  (void)user;
  put(FOLDER "/x", old_text, 0640);
}

static int writeModel(void* user, char text[512]) {
  djError err = {""};
  djStatus status = dj_saveModel(user, FOLDER "/x", &err);
  memcpy(text, err.text, sizeof err.text);
  return status;
}

// Several buffers full.
static int writeTable(void* user, char text[512]) {
  static const double row[500] = {0.1, -1e-300, 1e300};
  djError err = {""};
  djCsv* csv;
  djStatus status = dj_openCsv(&csv, FOLDER "/x", "a,b", &err);
  (void)user;
  if (status == DJ_OK) {
    for (int i = 0; i < 200; i++) dj_writeCsv(csv, NULL, row, 500);
    status = dj_closeCsv(csv, &err);
  }
  memcpy(text, err.text, sizeof err.text);
  return status;
}

static void test_modelFaults(void) {
  djSample sample;
  djt_fillSample(&sample);
  djModel* m = djt_makeModel(&sample.def);
  djt_sweepAll(FOLDER, false, resetOne, writeModel, m);
  dj_deleteModel(m);
}

static void test_tableFaults(void) { djt_sweepAll(FOLDER, false, resetOne, writeTable, NULL); }

// Written in its place: what is flushed is there while it grows, a second writer is refused, links
// are followed, permissions kept, and pipes are written straight.
static void test_log(void) {
  djFile *log = NULL, *other = NULL;
  djError err = {""};
  put(FOLDER "/log", old_text, 0640);
  assert_int_equal(symlink("log", FOLDER "/link"), 0);
  assert_int_equal(dj_openLog(&log, FOLDER "/link", &err), DJ_OK);
  check(FOLDER "/log", "");
  assert_null(dj_fileTemporary(log));
  dj_printFile(log, "one %d\n", 1);
  check(FOLDER "/log", "");
  dj_flushFile(log);
  check(FOLDER "/log", "one 1\n");
  assert_int_equal(dj_openLog(&other, FOLDER "/log", &err), DJ_FILE);
  assert_non_null(strstr(err.text, FOLDER "/log: cannot be written: "));
  assert_null(other);
  check(FOLDER "/log", "one 1\n");
  dj_writeFile(log, "two", 3);
  assert_int_equal(dj_commitFile(log, &err), DJ_OK);
  check(FOLDER "/log", "one 1\ntwo");
  struct stat info;
  assert_int_equal(stat(FOLDER "/log", &info), 0);
  assert_int_equal(info.st_mode & 0777, 0640);
  assert_int_equal(dj_openLog(&log, FOLDER "/new", &err), DJ_OK);   // there is one now
  dj_discardFile(log);
  check(FOLDER "/new", "");
  assert_int_equal(dj_openLog(&log, FOLDER, &err), DJ_FILE);
  assert_int_equal(dj_openLog(&log, FOLDER "/no/log", &err), DJ_FILE);
  assert_int_equal(dj_openLog(&log, "/dev/full", &err), DJ_OK);
  dj_writeFile(log, "x", 1);
  dj_flushFile(log);
  assert_int_equal(dj_commitFile(log, &err), DJ_FILE);
  unlink(FOLDER "/link");
  unlink(FOLDER "/log");
  unlink(FOLDER "/new");
}

DJT_MAIN_EACH(setup, removeFolder, test_content, test_old, test_refused, test_links, test_names,
              test_taken, test_trap, test_permissions, test_secret, test_protected, test_owner,
              test_fifo, test_descriptor, test_devices, test_group, test_turns, test_groupFaults,
              test_ownerLost, test_log, test_lost, test_modelFaults, test_tableFaults)
