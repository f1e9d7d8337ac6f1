// A report in short: one line for each feature, by the settings in force, and how much is exact.

#include "import_report.h"

#include "common/report_case.h"
#include "common/test.h"

#include <dijoco/setting.h>

#define BALLS "<body pos='0 0 1'><freejoint/><geom name='light' size='.1'/></body>"             \
  "<body pos='1 0 1'><freejoint/><geom name='deep' size='.1' solimp='.1 .9 .02' "                \
  "priority='1'/></body><body pos='2 0 1'><freejoint/><geom name='heavy' size='.2'/></body>"

static char* lines(const djReport* r) {
  static char text[4000];
  text[0] = '\0';
  for (int i = 0; i < dj_reportLines(r); i++) {
    size_t n = strlen(text);
    snprintf(text + n, sizeof(text) - n, "%s\n", dj_reportLine(r, i));
  }
  return text;
}

static int countOf(const char* text, const char* word) {
  int n = 0;
  for (const char* c = text; (c = strstr(c, word)); c += strlen(word)) n++;
  return n;
}

// Of all geoms the one where MuJoCo's sink in deepest, whichever comes first.
static void testWorst(void) {
  mjModel* m = djt_compile(SCENE("/>", FLOOR("") BALLS, ""));
  djReport* report;
  djModel* x = djt_import(&report, m);
  const char* text = lines(report);
  djt_failIf(countOf(text, "solref of 4 geoms, most at geom/deep: MuJoCo's bodies sink") != 1, "%s",
             text);
  for (int i = 0; i < dj_reportLines(report); i++) {
    const djReportEntry* e = &report->entry[dj_reportWorst(report, i)];
    assert_ptr_equal(strstr(dj_reportLine(report, i), e->feature), dj_reportLine(report, i));
    assert_null(strchr(dj_reportLine(report, i), ';'));
  }
  assert_int_equal(dj_reportWorst(report, -1), -1);
  assert_int_equal(dj_reportWorst(report, dj_reportLines(report)), -1);
  assert_string_equal(dj_reportLine(report, -1), "");
  assert_string_equal(dj_reportLine(report, 99), "");
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

// What is ignored comes first, then contacts; options have no element.
static void testOrder(void) {
  mjModel* m = djt_compile(SCENE(
      " integrator='RK4'/>", FLOOR("") B("condim='4'") A("", "") A2,
      MOTOR("ctrllimited='true' ctrlrange='-1 1'") EQ("<joint joint1='j' joint2='j2'/>"
      "<joint name='e' joint1='j'/>")));
  djReport* report;
  djModel* x = djt_import(&report, m);
  static const char* const begin[] = {
      "joint of 2 equality constraints (equality/#0) is ignored: the joints are not coupled",
      "solref of ", "integrator: RK4", "cone: ", "ctrlrange of actuator/u: "};
  for (int i = 0; i < 5; i++) {
    if (strstr(dj_reportLine(report, i), begin[i]) == dj_reportLine(report, i)) continue;
    fail_msg("%s\nis not %s", dj_reportLine(report, i), begin[i]);
  }
  assert_int_equal(dj_reportLines(report), 5);
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

// Renewed by other settings of contact.
static void testRenewed(void) {
  mjModel* m = djt_compile(SCENE("/>", FLOOR("") B("condim='3' type='cylinder' solimp='.1 .9 .02'"),
                                 ""));
  djReport* report;
  djModel* x = djt_import(&report, m);
  assert_non_null(djt_entry(report, "geom/b", "type"));
  assert_non_null(djt_entry(report, "geom/b", "solimp"));
  static const struct {
    djContactModel contact;
    djRestitution restitution;
    bool type, solimp, solref, surface;
  } cases[] = {{DJ_CONTACT_NONE, DJ_RESTITUTION_SOLREF, 0, 0, 0, 0},
               {DJ_PENALTY, DJ_RESTITUTION_SOLREF, 0, 0, 1, 0},
               {DJ_IMPLICIT_SURFACE, DJ_RESTITUTION_SOLREF, 0, 0, 1, 1},
               {DJ_SEPARATING_PLANE, DJ_RESTITUTION_GIVEN, 1, 0, 1, 0}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    djOption option = x->opt;
    option.contact = cases[i].contact;
    option.restitution = cases[i].restitution;
    djError err;
    assert_int_equal(dj_setOption(x, &option, &err), DJ_OK);
    assert_int_equal(dj_renewReport(&report, m, x, &err), DJ_OK);
    assert_int_equal(djt_entry(report, "geom/b", "type") != NULL, cases[i].type);
    assert_int_equal(djt_entry(report, "geom/b", "solimp") != NULL, cases[i].solimp);
    assert_int_equal(djt_entry(report, "geom/b", "solref") != NULL, cases[i].solref);
    assert_int_equal(djt_entry(report, "geom/b", "surface") != NULL, cases[i].surface);
    assert_int_equal(djt_entry(report, "option", "cone") != NULL, cases[i].solref);
  }
  djError err;
  djReport* kept = report;
  assert_int_equal(dj_renewReport(&report, NULL, x, &err), DJ_INVALID);
  assert_int_equal(dj_renewReport(NULL, m, x, &err), DJ_INVALID);
  mjModel* other = djt_compile(SCENE("/>", FLOOR(""), ""));
  assert_int_equal(dj_renewReport(&report, other, x, &err), DJ_INVALID);
  assert_ptr_equal(report, kept);
  mj_deleteModel(other);
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

static int exactOf(const char* scene) {
  mjModel* m = djt_compile(scene);
  djReport* report;
  djModel* x = djt_import(&report, m);
  int n = dj_reportExact(report);
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteModel(m);
  return n;
}

static void testExact(void) {
  assert_int_equal(exactOf("<mujoco/>"), 1);   // gravity
  int base = exactOf(SCENE("/>", A("", ""), ""));
  assert_int_equal(base, 4);   // the step, gravity, a mass, a joint
  assert_int_equal(exactOf(SCENE(" integrator='RK4'/>", A("", ""), "")), 3);
  assert_int_equal(exactOf(SCENE("/>", A("damping='1' stiffness='2' armature='1'", ""), "")), 7);
  assert_int_equal(exactOf(SCENE("/>", A("limited='true' range='-1 1'", ""), "")), 4);
  assert_int_equal(exactOf(SCENE("/>", A("", ""), MOTOR(""))), 5);
  assert_int_equal(exactOf(SCENE("/>", A("", ""), MOTOR("ctrllimited='true' ctrlrange='-1 1'"))), 5);
  // shapes of both; softness is not exact, friction is
  assert_int_equal(exactOf(SCENE("/>", FLOOR("") B("condim='1'"), "")), 6);
  assert_int_equal(exactOf(SCENE("/>", FLOOR("") B("condim='3'"), "")), 8);
  assert_int_equal(exactOf(SCENE("/>", FLOOR("") B("condim='4'"), "")), 8);
  assert_int_equal(exactOf(SCENE("/>", FLOOR("") B("condim='1' type='cylinder'"), "")), 5);
  assert_int_equal(dj_reportExact(NULL), 0);
  assert_int_equal(dj_reportLines(NULL), 0);
}

DJT_MAIN_IN(djt_registerIdle, NULL, testWorst, testOrder, testRenewed, testExact)
