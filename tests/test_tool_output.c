// Output files: all that a verb has opened appears together, or nothing does.

#include "common/test.h"
#include "common/tool_case.h"
#include "output.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void put(djFile* file, const char* text) {
  Buffer b = {0};
  buf_add(&b, text);
  out_write(file, &b);
  buf_free(&b);
}

static void testCommit(void) {
  djt_writeText("old", "before");
  djFile *a = out_open("test", "old"), *b = out_openIn("test", ".", "new");
  assert_true(a && b);
  put(a, "af");
  put(a, "ter");
  put(b, "b");
  assert_string_equal(djt_readText("old"), "before");
  assert_null(djt_readText("new"));
  int files = djt_countFiles(".");
  djt_says(out_commit("test"), 0, "");
  assert_string_equal(djt_readText("old"), "after");
  assert_string_equal(djt_readText("new"), "b");
  assert_int_equal(djt_countFiles("."), files - 1);   // one of the temporary files took a place
  assert_int_equal(out_commit("test"), 0);          // nothing is open
  assert_string_equal(djt_readText("old"), "after");
  remove("old");
  remove("new");
}

static void testDiscard(void) {
  djt_writeText("old", "before");
  int files = djt_countFiles(".");
  djFile* f[3];
  for (int i = 0; i < 3; i++) {
    f[i] = out_openIn("test", ".", (const char*[]){"x", "old", "y"}[i]);
    put(f[i], (const char*[]){"1", "2", "3"}[i]);
  }
  out_discard(f[1]);
  assert_int_equal(out_commit("test"), 0);
  assert_string_equal(djt_readText("old"), "before");
  assert_string_equal(djt_readText("x"), "1");
  assert_string_equal(djt_readText("y"), "3");
  assert_int_equal(djt_countFiles("."), files + 2);
  remove("old");
  remove("x");
  remove("y");
}

static void testFolders(void) {
  struct stat info;
  assert_true(out_folder("a/b//c/"));
  assert_true(stat("a/b/c", &info) == 0 && S_ISDIR(info.st_mode));
  assert_true(out_folder("a/b"));
  assert_true(out_folder("."));
  assert_true(out_folder("/"));
  assert_false(out_folder(""));
  djt_writeText("a/file", "");
  errno = 0;
  assert_false(out_folder("a/file"));
  assert_int_equal(errno, ENOTDIR);
  assert_false(out_folder("a/file/b"));
  remove("a/file");
  // A commit that fails takes back the folders, and all files.
  put(out_open("test", "a/b/c/x"), "x");
  put(out_open("test", "y"), "y");
  assert_int_equal(mkdir("y", 0700), 0);   // in the way of the second
  djt_listen(2);
  assert_int_equal(out_commit("test"), EXIT_BAD_INPUT);
  assert_non_null(strstr(djt_heard(2), "dijoco test: y: cannot be written: "));
  assert_int_equal(djt_countFiles("a"), -1);
  assert_int_equal(djt_countFiles("y"), 0);
  rmdir("y");
  // Committed folders stay, whatever fails later.
  assert_true(out_folder("kept/empty"));
  assert_int_equal(out_commit("test"), 0);
  put(out_open("test", "y"), "y");
  assert_int_equal(mkdir("y", 0700), 0);
  djt_listen(2);
  assert_int_equal(out_commit("test"), EXIT_BAD_INPUT);
  djt_heard(2);
  assert_int_equal(djt_countFiles("kept/empty"), 0);
  rmdir("y");
  rmdir("kept/empty");
  rmdir("kept");
}

static void testRefused(void) {
  int files = djt_countFiles(".");
  djt_listen(2);
  assert_null(out_open("test", "none/x"));
  assert_string_equal(djt_heard(2),
                      "dijoco test: none/x: cannot be written: No such file or directory\n");
  enum { MOST = 1300 };
  djFile* f[MOST + 1] = {NULL};
  char name[16];
  djt_listen(2);
  for (int i = 0; i <= MOST; i++) {
    Buffer text = {0};
    snprintf(name, sizeof name, "f%d", i);
    f[i] = out_addIn("test", ".", name, &text);
    assert_int_equal(f[i] != NULL, i < MOST);
  }
  assert_string_equal(djt_heard(2), "dijoco test: ./f1300: cannot be written: too many files\n");
  for (int i = 0; i < MOST; i++) out_discard(f[i]);
  assert_int_equal(djt_countFiles("."), files);
  put(out_open("test", "again"), "room again");
  assert_int_equal(out_commit("test"), 0);
  assert_string_equal(djt_readText("again"), "room again");
  remove("again");
}

// Two outputs never become one file, however it is called; what takes both may have both.
static void testSame(void) {
  static const char* const other[] = {"one", "./one", "folder/../one", "link"};
  assert_true(out_folder("folder"));
  for (int there = 0; there < 2; there++) {
    if (there) {
      djt_writeText("one", "old");
      assert_int_equal(symlink("one", "link"), 0);
    }
    djFile* one = out_open("test", "one");
    assert_non_null(one);
    for (int k = 0; k < 3 + there; k++) {
      djt_listen(2);
      assert_null(out_open("test", other[k]));
      assert_non_null(strstr(djt_heard(2), "cannot be written: one is the same file\n"));
    }
    djFile* apart = out_open("test", "folder/one");
    assert_non_null(apart);
    out_discard(one);
    one = out_open("test", other[2]);
    assert_non_null(one);
    out_discard(one);
    out_discard(apart);
  }
  put(out_open("test", "/dev/null"), "x");
  put(out_open("test", "/dev/null"), "y");
  assert_int_equal(out_commit("test"), 0);
  remove("one");
  remove("link");
  rmdir("folder");
}

// A program that ends without a commit leaves nothing.
static void testExit(void) {
  int files = djt_countFiles(".");
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    out_folder("made/deep");
    put(out_open("test", "made/deep/x"), "x");
    put(out_open("test", "z"), "z");
    exit(djt_countFiles("made/deep") == 1 ? 5 : 6);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
  assert_int_equal(djt_countFiles("."), files);
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testCommit, testDiscard, testFolders, testRefused,
            testSame, testExit)
