// Error texts, memory that is released at once, and blocks of one piece of memory.

#include "common/test.h"
#include "base/arena.h"
#include "base/pool.h"
#include "base/room.h"
#include "base/status.h"

#include <wchar.h>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
#include <malloc.h>
static size_t inUse(void) { return mallinfo2().uordblks; }
#else
static size_t inUse(void) { return 0; }
#endif

// ---- errors

static void testFail(void) {
  djError err;
  memset(&err, 'x', sizeof err);
  djt_refused(DJ_INVALID, dj_fail(&err, DJ_INVALID, "%s: %d", "size", -3), err, "size: -3");
  assert_int_equal(dj_fail(NULL, DJ_FILE, "%s", "nobody listens"), DJ_FILE);
  assert_int_equal(dj_failMemory(&err), DJ_NO_MEMORY);
  assert_string_equal(err.text, "out of memory");
  // What cannot be printed leaves no rest of an earlier text.
  djt_refused(DJ_INVALID, dj_fail(&err, DJ_INVALID, "%lc", (wint_t)0x20ac), err, "");
}

// One line on any terminal: control characters are gone, all others stay.
static void testOneLine(void) {
  djError err;
  char all[256];
  for (int c = 1; c < 256; c++) all[c - 1] = (char)c;
  all[255] = 0;
  dj_fail(&err, DJ_INVALID, "%s", all);
  assert_int_equal(strlen(err.text), 255);
  for (int c = 1; c < 256; c++) {
    char seen = c < 32 || c == 127 ? '?' : (char)c;
    assert_int_equal(err.text[c - 1], seen);
  }
  dj_fail(&err, DJ_INVALID, "end");
  dj_prefix(&err, DJ_INVALID, "a\nb\x7f");
  assert_string_equal(err.text, "a?b?: end");
}

static void testPrefix(void) {
  djError err;
  dj_fail(&err, DJ_FILE, "not there");
  djt_refused(DJ_FILE, dj_prefix(&err, DJ_FILE, "scene.json"), err, "scene.json: not there");
  assert_int_equal(dj_prefix(NULL, DJ_FILE, "scene.json"), DJ_FILE);
  dj_fail(&err, DJ_INVALID, "%s", "100%d %n");   // names may hold anything
  dj_prefix(&err, DJ_INVALID, "50%s");
  assert_string_equal(err.text, "50%s: 100%d %n");
}

// Both too long: 300 characters of the reason stay, and the line is full.
static void testLongPrefix(void) {
  enum { LONG = 2000 };
  char prefix[LONG];
  memset(prefix, 'p', LONG - 1);
  prefix[LONG - 1] = 0;
  for (int n = 299; n <= 301; n++) {
    char reason[400] = "";
    for (int k = 0; k < n; k++) reason[k] = (char)('a' + k % 26);
    djError err;
    dj_fail(&err, DJ_INVALID, "%s", reason);
    dj_prefix(&err, DJ_INVALID, prefix);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    reason[300] = 0;
    size_t kept = strlen(reason), at = sizeof err.text - 1 - kept;
    assert_string_equal(err.text + at, reason);
    assert_memory_equal(err.text + at - 3, "p: ", 3);
  }
  // Texts that a caller left without an end are read no further than they go.
  djError err;
  memset(&err, 'r', sizeof err);
  dj_prefix(&err, DJ_INVALID, "p");
  assert_int_equal(strlen(err.text), 303);
}

static int answer(void* user, double done) {
  *(double*)user = done;
  return done > 0.5;
}

static void testTell(void) {
  double seen = -1;
  djError err = {"before"};
  djWatch watch = {answer, &seen}, deaf = {NULL, &seen};
  assert_int_equal(dj_tell(NULL, 1, &err), DJ_OK);
  assert_int_equal(dj_tell(&deaf, 1, &err), DJ_OK);
  assert_int_equal(dj_tell(&watch, 0.5, &err), DJ_OK);
  assert_true(seen == 0.5);
  assert_string_equal(err.text, "before");
  djt_refused(DJ_CANCELLED, dj_tell(&watch, 0.75, &err), err, "cancelled");
}

// ---- memory

static void testPool(void) {
  djPool pool = {0};
  unsigned char* blocks[40];
  for (size_t k = 0; k < 40; k++) {
    blocks[k] = dj_poolTake(&pool, k, 3);
    assert_non_null(blocks[k]);
    assert_int_equal((uintptr_t)blocks[k] % sizeof(double), 0);
    for (size_t i = 0; i < 3 * k; i++) assert_int_equal(blocks[k][i], 0);
    memset(blocks[k], (int)k + 1, 3 * k);
  }
  char* text = dj_poolText(&pool, "text");
  assert_string_equal(text, "text");
  assert_string_equal(dj_poolText(&pool, ""), "");
  for (size_t k = 0; k < 40; k++) {
    for (size_t i = 0; i < 3 * k; i++) assert_int_equal(blocks[k][i], k + 1);
  }
  assert_null(dj_poolTake(&pool, SIZE_MAX / 4, 8));     // the product wraps around
  assert_null(dj_poolTake(&pool, SIZE_MAX / 2 + 2, 2));
  assert_non_null(dj_poolTake(&pool, SIZE_MAX, 0));
  dj_poolFree(&pool);
  assert_null(pool.first);
  dj_poolFree(&pool);
}

static void testPoolReleasesAll(void) {
  djPool pool = {0};
  size_t before = inUse();
  for (int k = 0; k < 1000; k++) assert_non_null(dj_poolTake(&pool, 1, 100));
  assert_true(before == 0 || inUse() >= before + 100000);
  dj_poolFree(&pool);
  assert_true(inUse() <= before + 1000);   // the C library may keep something of its own
}

// Measured first, then taken: the same places, aligned, one behind the other.
static void testArena(void) {
  static const size_t count[] = {1, 0, DJ_ALIGN / 8, DJ_ALIGN / 8 + 1, 3, 5},
                      size[] = {1, 8, 8, 8, DJ_ALIGN, 0};
  static const size_t unit[] = {1, 0, 1, 2, 3, 0};      // of DJ_ALIGN, that each takes
  _Alignas(DJ_ALIGN) unsigned char buffer[16 * DJ_ALIGN];
  djArena measured = {NULL, 0}, arena = {buffer, 0};
  size_t used = 0;
  for (int k = 0; k < 6; k++) {
    assert_null(dj_take(&measured, count[k], size[k]));
    unsigned char* place = dj_take(&arena, count[k], size[k]);
    assert_ptr_equal(place, buffer + used);
    used += unit[k] * DJ_ALIGN;
    assert_int_equal(measured.used, used);
    assert_int_equal(arena.used, used);
  }
}

// More than there can be: remembered, whatever follows.
static void testArenaOverflow(void) {
  static const size_t count[] = {SIZE_MAX, SIZE_MAX / 8 + 2, SIZE_MAX / 2}, size[] = {1, 8, 4};
  for (int k = 0; k < 3; k++) {
    djArena a = {NULL, 0};
    dj_take(&a, 3, 8);
    assert_null(dj_take(&a, count[k], size[k]));
    assert_true(a.used == SIZE_MAX);
    for (int again = 0; again < 3; again++) {
      assert_null(dj_take(&a, (size_t)again, 100));
      assert_true(a.used == SIZE_MAX);
    }
  }
  djArena a = {NULL, 0};
  for (int k = 0; k < 9; k++) dj_take(&a, SIZE_MAX / 5, 1);
  assert_true(a.used == SIZE_MAX);
}

// ---- room

static void testRoom(void) {
  size_t size = 0;
  char* room = dj_roomFor(NULL, &size, 1000);
  assert_non_null(room);
  assert_true(size >= 1000 && (uintptr_t)room % DJ_ALIGN == 0);
  memset(room, 1, size);
  char* same = dj_roomFor(room, &size, size);
  assert_ptr_equal(same, room);
  size_t before = size;
  room = dj_roomFor(room, &size, before + 1);   // half as much again
  assert_non_null(room);
  assert_true(size >= before + before / 2 && (uintptr_t)room % DJ_ALIGN == 0);
  before = size;
  room = dj_roomFor(room, &size, 10 * before);
  assert_true(room && size >= 10 * before);
  memset(room, 2, size);
  before = size;
  assert_null(dj_roomFor(room, &size, SIZE_MAX / 4));   // nothing has changed
  assert_true(size == before && room[0] == 2 && room[size - 1] == 2);
  free(room);
}

DJT_MAIN(testRoom, testFail, testOneLine, testPrefix, testLongPrefix, testTell, testPool,
         testPoolReleasesAll, testArena, testArenaOverflow)
