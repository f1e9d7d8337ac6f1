// djm_guard, whatever handlers of messages there are: the process's, the thread's.

#include "attach.h"
#include "common/mjcf.h"
#include "common/test.h"
#include "engine/tell.h"
#include "guard.h"

#include <dijoco/mujoco.h>

static int heard;            // messages that reached the handlers of this file
static jmp_buf outside;

static void hear(const mjLogMessage* message) {
  heard++;
  if (message->level == mjLOG_ERROR) longjmp(outside, 1);
}

static void hearText(const char* text) {
  (void)text;
  heard++;
  longjmp(outside, 1);
}

static void warnAndFail(void* arg) {
  mju_warning("be careful");
  mju_error("no %s", (const char*)arg);
}

static void warn(void* arg) { mju_warning("be careful\nwith %s", (const char*)arg); }

static void inner(void* arg) {
  djError err;
  djt_refused(DJ_INVALID, djm_guard(warnAndFail, "inner", &err), err, "no inner");
  assert_true(djm_isGuarded());
  warnAndFail(arg);
}

// MuJoCo's compiler has a handler of its own for a while.
static void compile(void* arg) {
  char error[200] = "";
  mjVFS vfs;
  mj_defaultVFS(&vfs);
  const char text[] = "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>";
  mj_addBufferVFS(&vfs, "a.xml", text, sizeof(text) - 1);
  mjModel* m = mj_loadXML("a.xml", &vfs, error, sizeof(error));
  mj_deleteVFS(&vfs);
  assert_null(m);
  assert_non_null(strstr(error, "mass"));
  warnAndFail(arg);
}

// All that a guard catches, then that the handlers from before are back.
static void checkGuard(void (*raise)(void*)) {
  djError err;
  heard = 0;
  assert_false(djm_isGuarded());
  assert_int_equal(djm_guard(warnAndFail, "way", &err), DJ_INVALID);
  assert_false(djm_isGuarded());
  assert_string_equal(err.text, "no way");
  assert_int_equal(djm_guard(warn, "it", &err), DJ_OK);
  assert_string_equal(err.text, "be careful; with it");
  djt_refused(DJ_INVALID, djm_guard(inner, "outer", &err), err, "no outer");
  djt_refused(DJ_INVALID, djm_guard(compile, "scene", &err), err, "no scene");
  assert_int_equal(djm_guard(warnAndFail, "text", NULL), DJ_INVALID);
  assert_int_equal(heard, 0);
  if (setjmp(outside) == 0) {
    raise("way");
    fail_msg("the error came back");
  }
  assert_true(heard > 0);
}

static void raiseError(void* arg) { mju_error("no %s", (const char*)arg); }

static void testTextHandler(void) {
  mju_user_error = hearText;
  checkGuard(raiseError);
  mju_user_error = NULL;
}

// A long message is cut, and what there is of it is its beginning.
static void testLongText(void) {
  mjfLogHandler previous = mju_setLogHandler(hear);
  for (int n = 480; n < 530; n++) {
    for (int lines = 1; lines < 3; lines++) {
      char text[900], wanted[900];
      djError err;
      memset(text, 'x', sizeof(text));
      memset(wanted, 'x', sizeof(wanted));
      text[899] = wanted[899] = '\0';
      if (lines == 2) {
        memcpy(text + n, "\n  y", 4);
        memcpy(wanted + n, "; y", 3);
      } else {
        text[n] = wanted[n] = '\0';
      }
      assert_int_equal(djm_guard(raiseError, text, &err), DJ_INVALID);
      size_t got = strlen(err.text), whole = strlen(wanted) + 3;
      assert_true(got + 6 > (whole < sizeof(err.text) ? whole : sizeof(err.text)));
      assert_true(got < sizeof(err.text) - 1);
      assert_memory_equal(err.text, "no ", 3);
      assert_memory_equal(err.text + 3, wanted, got - 3);
    }
  }
  mju_setLogHandler(previous);
}

static void testProcessHandler(void) {
  mjfLogHandler previous = mju_setLogHandler(hear);
  checkGuard(warnAndFail);
  mju_setLogHandler(previous);
}

// As in a call from MuJoCo's Python bindings.
static void testThreadHandler(void) {
  mjfLogHandler previous = _mjPRIVATE_setTlsLogHandler(hear);
  checkGuard(warnAndFail);
  assert_ptr_equal(_mjPRIVATE_setTlsLogHandler(previous), hear);
}

// Each text is said once for each plugin, as long as there is room to remember it; what there is no
// room for is said every time, rather than never. What a guard swallows does not count.
static void tell(void* text) { djm_tellOnce("p", text); }

static void testTellOnce(void) {
  mjfLogHandler previous = mju_setLogHandler(hear);
  djError err;
  heard = 0;
  assert_int_equal(djm_guard(tell, "listen", &err), DJ_OK);
  assert_string_equal(err.text, "p: listen");
  assert_int_equal(heard, 0);
  static const char* const text[] = {"listen", "silent", "p", "q"};   // the same letters too
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 4; i++) djm_tellOnce("p", text[i]);
    djm_tellOnce("q", "p");
    assert_int_equal(heard, 5);
  }
  int again = 0;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 300; i++) {
      char number[20];
      snprintf(number, sizeof(number), "%d", i);
      heard = 0;
      djm_tellOnce("p", number);
      assert_true(heard == 1 || round == 1);
      if (round == 1) again += heard;
    }
  }
  assert_true(again > 0 && again < 100);
  mju_setLogHandler(previous);
}

DJT_MAIN(testTextHandler, testLongText, testProcessHandler, testThreadHandler, testTellOnce)
