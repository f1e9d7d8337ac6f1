#include "integrate/method_need.h"

#include "base/status.h"
#include "model/check.h"
#include "model/motor.h"

static int compensated(const djWork* w, const djModel* m) {
  (void)w;
  return dj_firstCompensated(m);
}

static int adhesion(const djWork* w, const djModel* m) {
  (void)w;
  return dj_firstAdhesion(m);
}

// Muscles have no law by the end of a step, an integral in a control (pid) no energy.
static int muscle(const djWork* w, const djModel* m) {
  (void)w;
  int k = dj_firstMuscle(m);
  return k >= 0 && m->actuator_zadr[k] < 0 ? k : -1;
}

static int motor(const djWork* w, const djModel* m) {
  (void)w;
  return dj_firstMotor(m);
}

static int integral(const djWork* w, const djModel* m) {
  (void)w;
  int k = dj_firstMuscle(m);
  return k >= 0 && m->actuator_zadr[k] >= 0 ? k : -1;
}

static bool keepsAnywhere(const djMethod* method) { return !method->within; }

static bool hasRows(const djMethod* method) { return method->rows; }

typedef struct Need {
  int (*first)(const djWork* work, const djModel* model);   // element that needs it, -1: none
  bool (*met)(const djMethod* method);
  djObject type;
  bool named;        // the method's name comes before why
  const char* why;
} Need;

static const Need needs[] = {
    {dj_hardEquality, keepsAnywhere, DJ_OBJ_EQUALITY, true,
     "has no hard equality constraints, all others have"},
    {dj_activeEquality, hasRows, DJ_OBJ_EQUALITY, true,
     "has no soft equality constraints, euler has (equality: hard, or disable: equality)"},
    {compensated, hasRows, DJ_OBJ_JOINT, false,
     "actgravcomp within a range, or without actuation, needs the integrator euler"},
    {adhesion, hasRows, DJ_OBJ_ACTUATOR, false, "adhesion needs the integrator euler"},
    {muscle, hasRows, DJ_OBJ_ACTUATOR, false, "muscles need the integrator euler"},
    {motor, hasRows, DJ_OBJ_ACTUATOR, false, "a dcmotor needs the integrator euler"},
    {integral, hasRows, DJ_OBJ_ACTUATOR, false, "an integral needs the integrator euler"},
};

enum { NNEED = sizeof needs / sizeof *needs };

static const Need* firstUnmet(int* id, const djWork* w, const djModel* m, const djMethod* method) {
  for (int k = 0; k < NNEED; k++) {
    if (needs[k].met(method)) continue;
    *id = needs[k].first(w, m);
    if (*id >= 0) return &needs[k];
  }
  return NULL;
}

bool dj_hasNeeded(const djWork* w, const djModel* m, const djMethod* method) {
  int id;
  return !firstUnmet(&id, w, m, method);
}

djStatus dj_checkMethod(djWork* w, const djModel* m, const djMethod* method) {
  int id;
  const Need* need = firstUnmet(&id, w, m, method);
  if (!need) return DJ_OK;
  djElementText name = dj_elementText(dj_objectName(need->type), dj_id2name(m, need->type, id), id);
  return dj_fail(&w->error, DJ_UNSUPPORTED, "%s: %s%s%s%s", name.text,
                 need->named ? "integrator " : "", need->named ? method->name : "",
                 need->named ? " " : "", need->why);
}
