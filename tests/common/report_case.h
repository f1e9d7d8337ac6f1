// Scenes with and without a feature that the importer reports.

#ifndef DJ_TESTS_REPORT_CASE_H_
#define DJ_TESTS_REPORT_CASE_H_

#include "common/mjcf.h"

// Scenes: options, content of the world, what follows it. A is a hinged body, B a free one.
#define SCENE(option, world, rest) \
  "<mujoco><compiler angle='radian'/><option" option "<worldbody>" world "</worldbody>" rest \
  "</mujoco>"
#define A(joint, geom) "<body name='A' pos='0 0 3'><joint name='j' " joint "/><geom name='a' " \
  "size='.1' contype='0' conaffinity='0' " geom "/><site name='sa' pos='.2 0 0'/></body>"
#define A2 "<body name='A2' pos='1 0 3'><joint name='j2' type='slide'/><geom name='a2' size='.1' " \
  "contype='0' conaffinity='0'/><site name='sa2' pos='.1 0 0'/></body>"
#define FLOOR(more) "<geom name='f' type='plane' size='1 1 1' condim='1' " more "/>"
#define B(geom) "<body name='B' pos='0 0 1'><freejoint/><geom name='b' size='.1 .1 .1' " \
  geom "/></body>"
#define BB "<body name='B' pos='0 0 1'><freejoint/><geom name='b' size='.1' condim='1'/><geom " \
  "name='c' size='.1' condim='1'/></body>"
#define PAIR(more) "<contact><pair name='p' geom1='f' geom2='b' " more "/></contact>"
#define ACT(text) "<actuator>" text "</actuator>"
#define MOTOR(more) ACT("<motor name='u' joint='j' " more "/>")
#define TENDON(more) "<tendon><fixed name='t' " more "><joint joint='j' coef='1'/><joint " \
  "joint='j2' coef='2'/></fixed></tendon>"
#define EQ(text) "<equality>" text "</equality>"
#define FLAG(text) "><flag " text "/></option>"

typedef struct djReportCase {
  const char *element, *feature;
  djFeatureState state;
  const char* with;
  const char* without;
  void (*edit)(mjModel* m);     // made to the model with the feature
} djReportCase;

static inline int djt_idleState(const mjModel* m, int instance) {
  (void)m, (void)instance;
  return 0;
}
static inline int djt_idleInit(const mjModel* m, mjData* d, int instance) {
  (void)m, (void)d, (void)instance;
  return 0;
}
static inline void djt_idleCompute(const mjModel* m, mjData* d, int instance, int capability) {
  (void)m, (void)d, (void)instance, (void)capability;
}

// Group setup: scenes may have plugins that do nothing.
static inline int djt_registerIdle(void** state) {
  (void)state;
  static const char* const names[] = {"test.force", "dijoco.force", "test.act"};
  for (int i = 0; i < 3; i++) {
    mjpPlugin plugin;
    mjp_defaultPlugin(&plugin);
    plugin.name = names[i];
    plugin.capabilityflags = i == 2 ? mjPLUGIN_ACTUATOR : mjPLUGIN_PASSIVE;
    plugin.nstate = djt_idleState;
    plugin.init = djt_idleInit;
    plugin.compute = djt_idleCompute;
    mjp_registerPlugin(&plugin);
  }
  return 0;
}

static inline void djt_checkCase(const djReportCase* c, bool with) {
  mjModel* m = djt_compile(with ? c->with : c->without);
  if (with && c->edit) c->edit(m);
  djReport* report;
  djModel* x = djt_import(&report, m);
  const djReportEntry* entry = djt_entry(report, c->element, c->feature);
  if (with) {
    if (!entry) fail_msg("%s %s: not reported\n%s", c->element, c->feature, c->with);
    if (entry->state != c->state) fail_msg("%s %s: wrong state", c->element, c->feature);
    if (!entry->note[0]) fail_msg("%s %s: no note", c->element, c->feature);
    assert_true(report->state >= c->state);
  } else if (entry && entry->state == c->state) {
    fail_msg("%s %s: reported without reason\n%s", c->element, c->feature, c->without);
  }
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

#endif  // DJ_TESTS_REPORT_CASE_H_
