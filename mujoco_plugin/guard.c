// MuJoCo's errors and warnings, caught.
//
// MuJoCo reports through two process-wide handlers, and expects its error handler not to return.
// While any guarded call runs, ours are installed; they look up the frame of the thread that they
// are called on. On threads without a frame they behave as the handlers that were there before.

#include <dijoco/mujoco.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

typedef struct djGuardFrame {
  struct djGuardFrame* outer;
  jmp_buf target;
  char text[512];
} djGuardFrame;

static _Thread_local djGuardFrame* top;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int running;                            // guarded calls, over all threads
static void (*previous_error)(const char*);    // handlers before the first of them
static void (*previous_warning)(const char*);

// Copies text onto one line: line ends become "; ", repeated blanks one.
static void oneLine(char* line, size_t size, const char* text) {
  size_t n = 0;
  for (const char* c = text; *c && n + 3 < size; c++) {
    if (*c == '\n' || *c == '\r') {
      const char* rest = c + strspn(c, " \t\r\n'");
      if (*rest && n > 0) {
        line[n++] = ';';
        line[n++] = ' ';
      }
      c += strspn(c, " \t\r\n") - 1;
    } else if (n > 0 || *c != ' ') {
      line[n++] = *c;
    }
  }
  while (n > 0 && line[n - 1] == ' ') n--;
  line[n] = '\0';
}

static void onError(const char* text) {
  if (top) {
    oneLine(top->text, sizeof(top->text), text);
    longjmp(top->target, 1);
  }
  if (previous_error) {
    previous_error(text);
  } else {
    mju_user_error = NULL;    // not ours: MuJoCo's own way
    mju_error("%s", text);
  }
}

static void onWarning(const char* text) {
  if (top) {
    oneLine(top->text, sizeof(top->text), text);
  } else if (previous_warning) {
    previous_warning(text);
  }
}

static void enter(djGuardFrame* frame) {
  pthread_mutex_lock(&lock);
  if (running++ == 0) {
    previous_error = mju_user_error;
    previous_warning = mju_user_warning;
    mju_user_error = onError;
    mju_user_warning = onWarning;
  }
  pthread_mutex_unlock(&lock);
  frame->outer = top;
  frame->text[0] = '\0';
  top = frame;
}

static void leave(djGuardFrame* frame) {
  top = frame->outer;
  pthread_mutex_lock(&lock);
  if (--running == 0) {
    mju_user_error = previous_error;
    mju_user_warning = previous_warning;
  }
  pthread_mutex_unlock(&lock);
}

djStatus djm_guard(void (*run)(void* arg), void* arg, djError* err) {
  djGuardFrame frame;
  enter(&frame);
  bool failed = true;
  if (setjmp(frame.target) == 0) {
    run(arg);
    leave(&frame);
    failed = false;
  } else {
    leave(&frame);
    failed = true;
  }
  if (err) snprintf(err->text, sizeof(err->text), "%s", frame.text);
  return failed ? DJ_INVALID : DJ_OK;
}
