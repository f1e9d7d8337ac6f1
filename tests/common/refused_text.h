// Models and tasks in JSON that are refused: rows of a text and the message it brings.

#ifndef DJ_TESTS_COMMON_REFUSED_TEXT_H_
#define DJ_TESTS_COMMON_REFUSED_TEXT_H_

#include "common/json.h"
#include "common/message.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

// Reads a text, and resolves it with the model, unless NULL.
typedef djStatus djtAttempt(const djModel* m, const char* text, djError* err);

static inline djStatus djt_tryModel(const djModel* none, const char* text, djError* err) {
  djModel* m = NULL;
  (void)none;
  djStatus status = dj_loadModelText(&m, text, err);
  djt_failIf(status < 0 && m, "%s: refused, but made", text);
  dj_deleteModel(m);
  return status;
}

static inline djStatus djt_tryTask(const djModel* m, const char* text, djError* err) {
  djTask* task = NULL;
  djProblem* problem = NULL;
  djStatus status = dj_loadTaskText(&task, text, NULL, err);
  djt_failIf(status < 0 && (task || m), "%s: %s", text, err ? err->text : "no task");
  if (m) status = dj_resolveTask(&problem, task, m, err);
  djt_failIf(status < 0 && problem, "%s: refused, but resolved", text);
  dj_deleteProblem(problem);
  dj_deleteTask(task);
  return status;
}

// row[n]: a text with ' for ", which stands where frame has %s, and the message, or, after a ~, a
// part of it, after a ^, its beginning. wanted: the status; 0: any that is an error.
static inline void djt_refuseRows(djtAttempt* attempt, djStatus wanted, const djModel* m,
                                  const char* frame, const char* const (*row)[2], size_t n) {
  const char* place = strstr(frame, "%s");
  for (size_t i = 0; i < n; i++) {
    char text[8000];
    djError err = {""};
    snprintf(text, sizeof text, "%.*s%s%s", (int)(place - frame), frame, row[i][0], place + 2);
    djStatus status = attempt(m, djt_json(text), &err);
    const char* want = row[i][1];
    const bool part = *want == '~', begins = *want == '^';
    const char* found = part || begins ? strstr(err.text, want + 1) : NULL;
    const bool said = part     ? found != NULL
                      : begins ? found == err.text
                               : djt_isMessage(err.text, want);
    djt_failIf((wanted ? status != wanted : status >= 0) || !said,
               "row %zu: %s\n  is %d \"%s\"\n not \"%s\"", i, row[i][0], status, err.text, want);
    djt_failIf(attempt(m, djt_json(text), NULL) != status, "row %zu: without a message", i);
  }
}
#define djt_refuseModels(status, frame, rows)                                                      \
  djt_refuseRows(djt_tryModel, status, NULL, frame, rows, sizeof(rows) / sizeof *(rows))
// model NULL: refused where they are read; with one where they are resolved.
#define djt_refuseTasks(status, model, frame, rows)                                                \
  djt_refuseRows(djt_tryTask, status, model, frame, rows, sizeof(rows) / sizeof *(rows))

#endif // DJ_TESTS_COMMON_REFUSED_TEXT_H_
