// Scenes with and without a feature that the importer reports.

#ifndef DJ_TESTS_REPORT_CASE_H_
#define DJ_TESTS_REPORT_CASE_H_

#include "common/mjcf.h"
#include "common/plugin.h"

#include <stdio.h>

// Scenes: options, content of the world, what follows it. A is a hinged body, B a free one.
// By `position`, which approximates more than the default does.
#define SCENE(option, world, rest) \
  "<mujoco><compiler angle='radian'/><option" option "<worldbody>" world "</worldbody>" rest \
  "<custom><text name='dijoco_integrator' data='position'/></custom></mujoco>"
#define A(joint, geom) "<body name='A' pos='0 0 3'><joint name='j' " joint "/><geom name='a' " \
  "size='.1' contype='0' conaffinity='0' " geom "/><site name='sa' pos='.2 0 0'/></body>"
#define A2 "<body name='A2' pos='1 0 3'><joint name='j2' type='slide'/><geom name='a2' size='.1' " \
  "contype='0' conaffinity='0'/><site name='sa2' pos='.1 0 0'/></body>"
#define FLOOR(more) "<geom name='f' type='plane' size='1 1 1' condim='1' " more "/>"
#define B(geom) "<body name='B' pos='0 0 1'><freejoint/><geom name='b' size='.1 .1 .1' " \
  geom "/></body>"
#define PENALTY "<custom><text name='dijoco_contact' data='penalty'/></custom>"
#define BB "<body name='B' pos='0 0 1'><freejoint/><geom name='b' size='.1' condim='1'/><geom " \
  "name='c' size='.1' condim='1'/></body>"
#define PAIR(more) "<contact><pair name='p' geom1='f' geom2='b' " more "/></contact>"
#define FLEX(attributes, inner) "<flexcomp name='x' type='grid' count='3 3 1' spacing='.1 .1 .1' " \
  "mass='1' dim='2' pos='0 0 1' radius='.01' " attributes ">" inner "</flexcomp>"
#define LONE "<contact contype='0' conaffinity='0'/>"
#define ACT(text) "<actuator>" text "</actuator>"
#define MOTOR(more) ACT("<motor name='u' joint='j' " more "/>")
#define TENDON(more) "<tendon><fixed name='t' " more "><joint joint='j' coef='1'/><joint " \
  "joint='j2' coef='2'/></fixed></tendon>"
#define AROUND(more) "<tendon><spatial name='t' " more "><site site='sa'/><geom geom='a2'/><site " \
  "site='sa2'/></spatial></tendon>"
#define EQ(text) "<equality>" text "</equality>"
#define FLAG(text) "><flag " text "/></option>"

typedef struct djReportCase {
  const char *element, *feature;
  djFeatureState state;
  const char* with;
  const char* without;
  void (*edit)(mjModel* m);     // made to the model with the feature
} djReportCase;

// Number k of joint j's numbers in an array over the dofs.
static inline mjtNum* djt_dof(const mjModel* m, mjtNum* array, int k) {
  return array + m->jnt_dofadr[mj_name2id(m, mjOBJ_JOINT, "j")] + k;
}

static inline void djt_idleCompute(const mjModel* m, mjData* d, int instance, int capability) {
  (void)m, (void)d, (void)instance, (void)capability;
}

// Group setup: scenes may have plugins that do nothing.
static inline int djt_registerIdle(void** state) {
  (void)state;
  static const char* const names[] = {"test.force", "dijoco.force", "test.act"};
  for (int i = 0; i < 3; i++) {
    int capability = i == 2 ? mjPLUGIN_ACTUATOR : mjPLUGIN_PASSIVE;
    if (djt_registerPlugin(names[i], capability, djt_idleCompute) < 0) return -1;
  }
  return 0;
}

// Elements that stand before those of a case, of every kind that the case has; they share nothing
// with its own. Their names begin with "other". First such without any feature, then with many.
typedef struct djOthers {
  const char* behind;     // where they go
  const char* text[2];
} djOthers;

static const djOthers djt_others[] = {
    {"<worldbody>",
     {"<geom name='other0' size='.1' pos='9 9 9' contype='0' conaffinity='0'/>"
      "<body name='other1' pos='9 0 9' sleep='never'><joint name='other1'/><joint name='other2' "
      "type='slide'/><geom name='other1' size='.1' contype='0' conaffinity='0'/></body>"
      "<body name='other2' pos='-9 0 9' sleep='never'><joint name='other3' type='free'/><geom "
      "name='other2' size='.1' contype='0' conaffinity='0'/></body>",
      "<geom name='other0' type='box' size='.1 .1 .1' pos='9 9 9' contype='2' conaffinity='2' "
      "condim='6' adhesion='1' surfacevel='1 0 0 0 0 0'/>"
      "<body name='other1' pos='9 0 9' gravcomp='1'><joint name='other1' pos='.5 0 0' "
      "limited='true' range='-2 2' frictionloss='3' damping='3' stiffness='2' springyield='.3' "
      "actuatorfrclimited='true' actuatorfrcrange='-2 2' actuatorgravcomp='true' "
      "solreflimit='-50 -5'/><joint name='other2' type='ball' limited='true' range='0 1' "
      "damping='1 1 1' frictionloss='2'/><geom name='other1' type='cylinder' size='.3 .2' "
      "contype='2' conaffinity='2' condim='6' adhesion='2' surfacevel='1 0 0 0 0 0' "
      "fluidshape='ellipsoid' solref='-700 -3'/></body>"
      "<body name='other2' pos='-9 0 9' gravcomp='1'><joint name='other3' type='free' "
      "damping='2'/><geom name='other2' type='ellipsoid' size='.1 .3 .2' contype='2' "
      "conaffinity='2' condim='4' fluidshape='ellipsoid'/></body>"}},
    {"<actuator>",
     {"<motor name='other1' joint='other1'/><motor name='other2' joint='other2' group='1'/>",
      "<pid name='other1' joint='other1' kp='1'/><general name='other2' joint='other1' "
      "dyntype='integrator' actlimited='true' actrange='-1 1' ctrllimited='true' ctrlrange='-1 1' "
      "forcelimited='true' forcerange='-1 1' damping='1'/><general name='other3' joint='other2' "
      "gaintype='affine' gainprm='1 2 3' biastype='affine' biasprm='1 2 3' armature='1'/>"
      "<motor name='other4' joint='other3' nsample='3' delay='.006'/>"}},
    {"<tendon>",
     {"<fixed name='other1'><joint joint='other1' coef='1'/><joint joint='other2' coef='1'/>"
      "</fixed>",
      "<fixed name='other1' stiffness='1' damping='1' frictionloss='1' armature='1' "
      "limited='true' range='-1 1'><joint joint='other1' coef='1'/></fixed>"}},
    {"<contact>",
     {"<pair name='other1' geom1='other0' geom2='other2' condim='1'/>",
      "<pair name='other1' geom1='other0' geom2='other2' condim='6' adhesion='1' "
      "friction='1 .3 0 0 0' solref='-900 -4'/>"}},
    {"<equality>",
     {"<joint name='other1' joint1='other1' active='false'/>",
      "<weld name='other1' body1='other1' body2='other2'/><joint name='other2' "
      "joint1='other1'/>"}},
};

// The scene with others before each of its elements.
static inline char* djt_withOthers(const char* scene, int which) {
  size_t size = strlen(scene) + 10000;
  char *text = malloc(size), *rest = malloc(size);
  assert_true(text && rest);
  snprintf(text, size, "%s", scene);
  for (size_t i = 0; i < sizeof(djt_others) / sizeof(*djt_others); i++) {
    char* place = strstr(text, djt_others[i].behind);
    if (!place) continue;
    place += strlen(djt_others[i].behind);
    snprintf(rest, size, "%s", place);
    snprintf(place, size - (size_t)(place - text), "%s%s", djt_others[i].text[which], rest);
  }
  free(rest);
  return text;
}

static inline const djReportEntry* djt_likeEntry(const djReport* report, const djReportEntry* e) {
  for (int i = 0; i < report->n; i++) {
    const djReportEntry* x = report->entry + i;
    if (strcmp(x->element, e->element) == 0 && strcmp(x->feature, e->feature) == 0 &&
        x->state == e->state && strcmp(x->note, e->note) == 0) {
      return x;
    }
  }
  return NULL;
}

// All of a's entries, but on others, on elements without a name, and of options, are b's.
static inline void djt_checkContained(const djReport* a, const djReport* b, bool options,
                                      const char* scene) {
  for (int i = 0; i < a->n; i++) {
    const djReportEntry* e = a->entry + i;
    if (strstr(e->element, "/other") || strchr(e->element, '#')) continue;
    if (!options && strcmp(e->element, "option") == 0) continue;
    if (djt_likeEntry(b, e)) continue;
    fail_msg("%s %s depends on other elements: '%s'\n%s", e->element, e->feature, e->note, scene);
  }
}

// What is said of an element does not depend on what stands before it.
static inline void djt_checkOthers(const djReportCase* c, bool with, const djReport* report,
                                   bool options) {
  for (int which = 0; which < 2; which++) {
    char* scene = djt_withOthers(with ? c->with : c->without, which);
    mjModel* m = djt_compile(scene);
    if (with && c->edit) c->edit(m);
    djReport* more;
    djModel* x = djt_import(&more, m);
    djt_checkContained(report, more, options && which == 0, scene);
    djt_checkContained(more, report, options && which == 0, scene);
    dj_deleteReport(more);
    dj_deleteModel(x);
    mj_deleteModel(m);
    free(scene);
  }
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
  djt_checkOthers(c, with, report, m->nv > 0);
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

#endif  // DJ_TESTS_REPORT_CASE_H_
