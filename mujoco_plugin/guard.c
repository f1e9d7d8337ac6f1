// MuJoCo's errors and warnings, caught.
//
// MuJoCo gives messages to a handler of the thread, if there is one (its Python bindings and its
// compiler set one while they run), else to the process's. It expects that the handler does not
// return from an error. While a guarded call runs, the thread's handler is ours.

#include "attach.h"
#include "guard.h"

#include <dijoco/mujoco.h>

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

typedef struct djGuardFrame {
  struct djGuardFrame* outer;
  mjfLogHandler previous;
  jmp_buf target;
  char text[512];
} djGuardFrame;

static _Thread_local djGuardFrame* top;

bool djm_isGuarded(void) { return top != NULL; }

// Copies text onto one line: line ends and the blanks after them become "; ".
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

static void onMessage(const mjLogMessage* message) {
  if (message->level != mjLOG_ERROR && message->level != mjLOG_WARNING) return;
  char text[2048];
  snprintf(text, sizeof(text), "%s%s%s", message->func ? message->func : "",
           message->func ? ": " : "", message->subject);
  oneLine(top->text, sizeof(top->text), text);
  if (message->level == mjLOG_ERROR) longjmp(top->target, 1);
}

static void enter(djGuardFrame* frame) {
  frame->outer = top;
  frame->text[0] = '\0';
  frame->previous = _mjPRIVATE_setTlsLogHandler(onMessage);
  top = frame;
}

static void leave(const djGuardFrame* frame) {
  top = frame->outer;
  _mjPRIVATE_setTlsLogHandler(frame->previous);
}

djStatus djm_guard(void (*run)(void* arg), void* arg, djError* err) {
  djStatus status = djm_attach(err);
  if (status != DJ_OK) return status;
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
