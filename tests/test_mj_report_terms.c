// The importer's report: each term of a row's condition by itself, and what its note says.

#include "common/report_case.h"
#include "common/test.h"

#define COMPENSATED(more) "<body gravcomp='1'><joint name='j' actuatorgravcomp='true' " more \
  "/><geom size='.1'/></body>"
#define RIGID(more) "<flexcomp name='x' type='grid' count='3 3 1' spacing='.1 .1 .1' mass='1' " \
  "dim='2' pos='0 0 1' radius='.01' rigid='true'><contact " more "/></flexcomp>"
#define FIXED "<site name='s1'/><site name='s2' pos='1 0 0'/>"
#define STILL "<spatial name='still' stiffness='1' damping='1' frictionloss='1' armature='1' " \
  "limited='true' range='0 1'><site site='s1'/><site site='s2'/></spatial>"

#define HFIELD "<geom name='h' type='hfield' hfield='x'/>"
#define HFIELD_DATA "<asset><hfield name='x' nrow='2' ncol='2' size='1 1 1 1'/></asset>"

static void editFrictionloss(mjModel* m) { *djt_dof(m, m->dof_frictionloss, 1) = 0.1; }
static void editLastDamping(mjModel* m) { m->dof_damping[m->nv - 1] = 0.1; }
static void editLastDampingPoly(mjModel* m) { m->dof_dampingpoly[mjNPOLY * m->nv - 1] = 0.1; }
static void editSixthArmature(mjModel* m) { *djt_dof(m, m->dof_armature, 5) = 0.1; }

static const djReportCase cases[] = {
    {"option", "eulerdamp", DJ_APPROXIMATED,
     SCENE(FLAG("eulerdamp='disable'"), A2 A("damping='0 1'", ""), ""),
     SCENE(FLAG("eulerdamp='disable' damper='disable'"), A("damping='1'", ""), ""), 0},
    {"option", "eulerdamp", DJ_APPROXIMATED,
     SCENE(FLAG("eulerdamp='disable'"), A2 A("", ""), MOTOR("damping='1'")),
     SCENE(FLAG("eulerdamp='enable'"), A2 A("damping='1'", ""), MOTOR("damping='1'")), 0},
    {"option", "eulerdamp", DJ_APPROXIMATED,
     SCENE(FLAG("eulerdamp='disable'"), A2 A("", ""), MOTOR("damping='0 1'")),
     SCENE(" integrator='implicit'" FLAG("eulerdamp='disable'"), A("damping='1'", ""), ""), 0},
    {"option", "impratio", DJ_APPROXIMATED,
     SCENE(" impratio='2'/>", FLOOR("") B("condim='3'"), ""),
     SCENE("/>", FLOOR("") B("condim='3'"), ""), 0},
    {"option", "noslip_iterations", DJ_APPROXIMATED,
     SCENE(" noslip_iterations='1'/>", FLOOR("") B("condim='3'"), ""),
     SCENE(" noslip_iterations='3'/>", FLOOR("") B("condim='1'"), ""), 0},
    {"option", "noslip_iterations", DJ_APPROXIMATED,
     SCENE(" noslip_iterations='1'/>", FLOOR("") B("condim='3'"), ""),
     SCENE("/>", FLOOR("") B("condim='3'"), ""), 0},
    {"option", "sleep", DJ_IGNORED,
     SCENE(FLAG("sleep='enable'"), "<body name='B' pos='0 0 1' sleep='allowed'><freejoint/><geom "
           "name='b' size='.1'/></body>", ""),
     SCENE(FLAG("sleep='enable'"), "<body name='B' pos='0 0 1' sleep='never'><freejoint/><geom "
           "name='b' size='.1'/></body>", ""), 0},
    {"option", "sleep", DJ_IGNORED, SCENE(FLAG("sleep='enable'"), FLOOR("") B(""), ""),
     SCENE(FLAG("energy='enable'"), FLOOR("") B(""), ""), 0},
    {"option", "speculative", DJ_IGNORED,
     SCENE(FLAG("speculative='enable'"), FLOOR("") B("condim='1'"), ""),
     SCENE(FLAG("energy='enable'"), FLOOR("") B(""), ""), 0},
    {"joint/j", "frictionloss", DJ_APPROXIMATED,
     SCENE("/>", A2 A("type='ball' frictionloss='1'", ""), ""),
     SCENE("/>", "<body><freejoint/><geom size='.1'/></body>" A("", ""), ""), 0},
    {"joint/j", "damping", DJ_IGNORED, SCENE("/>", A2 A("type='ball' damping='1 2 3'", ""), ""),
     SCENE(FLAG("damper='disable'"), A("type='ball'", ""), ""), editLastDamping},
    {"joint/j", "damping", DJ_IGNORED, SCENE("/>", A2 A("type='ball' damping='1 2 3'", ""), ""),
     SCENE("/>", A2 A("type='ball' damping='1 2 3'", ""), ""), editLastDampingPoly},
    {"joint/j", "armature", DJ_IGNORED, SCENE("/>", A("type='free'", ""), ""),
     SCENE("/>", A2 A("type='free' armature='1'", ""), ""), editSixthArmature},
    {"joint/j", "frictionloss", DJ_IGNORED, SCENE("/>", A("type='ball'", ""), ""),
     SCENE(FLAG("frictionloss='disable'"), A("type='ball'", ""), ""), editFrictionloss},
    {"joint/j", "actuatorfrcrange", DJ_APPROXIMATED,
     SCENE("/>", A("actuatorfrcrange='-1 1' actuatorfrclimited='true'", "") A2,
           ACT("<motor joint='j2'/>")),
     SCENE(FLAG("actuation='disable'"), A("actuatorfrcrange='-1 1' actuatorfrclimited='true'", ""),
           MOTOR("")), 0},
    {"joint/j", "actuatorfrcrange", DJ_APPROXIMATED,
     SCENE("/>", A("actuatorfrcrange='-1 1' actuatorfrclimited='true'", ""), MOTOR("")),
     SCENE("/>", A("actuatorfrcrange='-1 1' actuatorfrclimited='false'", ""), MOTOR("")), 0},
    {"joint/j", "actuatorgravcomp", DJ_IGNORED,
     SCENE("/>", COMPENSATED("actuatorfrcrange='-1 1' actuatorfrclimited='true'"), MOTOR("")),
     SCENE(" gravity='0 0 0'/>",
           COMPENSATED("actuatorfrcrange='-1 1' actuatorfrclimited='true'"), MOTOR("")), 0},
    {"joint/j", "actuatorgravcomp", DJ_IGNORED,
     SCENE(" gravity='0 0 -1'" FLAG("actuation='disable'"), COMPENSATED(""), MOTOR("")),
     SCENE(FLAG("actuation='disable' gravity='disable'"), COMPENSATED(""), MOTOR("")), 0},
    {"joint/j", "actuatorgravcomp", DJ_IGNORED,
     SCENE(FLAG("spring='disable'"), COMPENSATED(""), ""),
     SCENE(FLAG("spring='disable' damper='disable'"), COMPENSATED(""), ""), 0},
    {"joint/j", "actuatorgravcomp", DJ_IGNORED,
     SCENE(FLAG("damper='disable'"), "<body><joint name='j' actuatorgravcomp='true'/><geom "
           "size='.1'/><body pos='1 0 0'><geom size='.1'/><body gravcomp='1'><geom size='.1'/>"
           "</body></body></body>", ""),
     SCENE("/>", "<body gravcomp='1'><joint/><geom size='.1'/><body pos='1 0 0'><joint name='j' "
           "actuatorgravcomp='true'/><geom size='.1'/></body></body>", ""), 0},
    {"joint/j", "springyield", DJ_IGNORED,
     SCENE("/>", A2 A("stiffness='0 1' springyield='.1'", ""), ""),
     SCENE("/>", A2 A("springyield='.1'", ""), ""), 0},
    {"joint/j", "springyield", DJ_IGNORED,
     SCENE("/>", A2 A("stiffness='1' springyield='.1'", ""), ""),
     SCENE(FLAG("spring='disable'"), A("stiffness='1' springyield='.1'", ""), ""), 0},
    {"option", "sleep", DJ_IGNORED,   // what is actuated never sleeps
     SCENE(FLAG("sleep='enable'"), A("", ""), ""),
     SCENE(FLAG("sleep='enable'"), A("", ""), MOTOR("")), 0},
    {"flex/x", "contact", DJ_APPROXIMATED,
     SCENE("/>", RIGID("contype='1' conaffinity='0'"), ""),
     SCENE("/>", RIGID("contype='0' conaffinity='0'"), ""), 0},
    {"flex/x", "contact", DJ_APPROXIMATED,
     SCENE("/>", RIGID("contype='0' conaffinity='1'"), ""),
     SCENE("/>", A("", ""), ""), 0},
    {"plugin/i", "passive", DJ_IGNORED,
     SCENE("/>", A("", ""), "<extension><plugin plugin='test.force'><instance name='i'/></plugin>"
           "</extension>"),
     SCENE("/>", A("", ""), "<extension><plugin plugin='test.act'><instance name='i'/></plugin>"
           "</extension>" ACT("<plugin name='u' joint='j' plugin='test.act' instance='i'/>")), 0},
    {"geom/b", "condim", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B("condim='4'"), PENALTY),
     SCENE("/>", FLOOR("priority='1'") B("condim='4'"), PENALTY), 0},
    {"geom/b", "condim", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B("condim='6'"), PENALTY),
     SCENE("/>", FLOOR("") B("condim='6'"), ""), 0},
    {"geom/f", "surfacevel", DJ_IGNORED,
     SCENE("/>", FLOOR("surfacevel='0 0 0 0 0 1'") BB, PAIR("")),
     SCENE("/>", FLOOR("surfacevel='0 0 0 0 0 1'") BB, ""), 0},
    {"geom/b", "surfacevel", DJ_IGNORED,
     SCENE("/>", FLOOR("") B("condim='3' surfacevel='0 1 0 0 0 0'"), ""),
     SCENE("/>", FLOOR("surfacevel='0 1 0 0 0 0'") B("condim='3'"), ""), 0},
    {"geom/b", "adhesion", DJ_IGNORED, SCENE("/>", FLOOR("") B("condim='1' adhesion='1'"), ""),
     SCENE("/>", FLOOR("adhesion='1'") B(""), ""), 0},
    {"geom/b", "fluidshape", DJ_IGNORED,
     SCENE(" viscosity='1e-4'" FLAG("spring='disable'"), FLOOR("") B("fluidshape='ellipsoid'"), ""),
     SCENE(" viscosity='1e-4'" FLAG("spring='disable' damper='disable'"),
           FLOOR("") B("fluidshape='ellipsoid'"), ""), 0},
    {"geom/b", "fluidshape", DJ_IGNORED,
     SCENE(" density='.5'" FLAG("damper='disable'"), FLOOR("") B("fluidshape='ellipsoid'"), ""),
     SCENE(" density='.5'/>", "<geom name='b' size='.1' fluidshape='ellipsoid'/>" A("", ""), ""),
     0},
    {"geom/b", "fluidshape", DJ_IGNORED,
     SCENE(" density='.5' viscosity='1'/>", FLOOR("") B("fluidshape='ellipsoid'"), ""),
     SCENE(" density='.5' viscosity='1'/>", A("", "fluidshape='ellipsoid'") B(""), ""), 0},
    {"pair/p", "solref", DJ_APPROXIMATED,
     SCENE("/>", B("") FLOOR(""), PAIR("")),
     SCENE("/>", "<geom name='b' size='.1' pos='0 0 1'/>" FLOOR("") A("", ""), PAIR("")), 0},
    {"pair/p", "solref", DJ_APPROXIMATED,
     SCENE("/>", FLOOR("") B("") A("", ""),
           "<contact><pair name='p' geom1='a' geom2='b'/></contact>"),
     SCENE("/>", "<geom name='b' size='.1' pos='0 0 1'/>" FLOOR("") A("", ""), PAIR("")), 0},
    {"pair/p", "friction", DJ_APPROXIMATED,
     SCENE(" o_friction='1 .5 0 0 0'" FLAG("override='enable'"), FLOOR("") B(""),
           PAIR("friction='1 1 0 0 0'") PENALTY),
     SCENE(" o_friction='1 .5 0 0 0'" FLAG("energy='enable'"), FLOOR("") B(""),
           PAIR("friction='1 1 .1 .2 .3'") PENALTY), 0},
    {"pair/p", "friction", DJ_APPROXIMATED,
     SCENE("/>", FLOOR("") BB, "<contact><pair geom1='f' geom2='c' friction='1 1 0 0 0'/><pair "
           "name='p' geom1='f' geom2='b' condim='3' friction='.7 .2 0 0 0'/></contact>" PENALTY),
     SCENE("/>", FLOOR("") BB, "<contact><pair geom1='f' geom2='c' condim='3' friction='.7 .2 0 0 "
           "0'/><pair name='p' geom1='f' geom2='b' condim='3' friction='1 1 0 0 0'/></contact>"
           PENALTY), 0},
    {"pair/p", "adhesion", DJ_IGNORED,
     SCENE("/>", FLOOR("") BB, "<contact><pair geom1='f' geom2='c'/><pair name='p' geom1='f' "
           "geom2='b' adhesion='1'/></contact>"),
     SCENE("/>", FLOOR("") BB, "<contact><pair geom1='f' geom2='c' adhesion='1'/><pair name='p' "
           "geom1='f' geom2='b'/></contact>"), 0},
    {"pair/p", "adhesion", DJ_IGNORED,
     SCENE("/>", FLOOR("") B(""), PAIR("adhesion='1'")),
     SCENE(FLAG("contact='disable'"), FLOOR("") B(""), PAIR("adhesion='1'")), 0},
    {"equality/e", "connect", DJ_IGNORED,
     SCENE("/>", A("", ""), EQ("<connect name='e' body1='A' anchor='.5 0 0'/>")),
     SCENE("/>", A("", "") "<body name='C'/>", EQ("<connect name='e' body1='C' anchor='1 0 0'/>")),
     0},
    {"equality/e", "connect", DJ_IGNORED,
     SCENE("/>", A("", "") A2, EQ("<connect name='e' site1='sa2' site2='sa'/>")),
     SCENE("/>", "<body name='A'><joint/><geom size='.1'/><body name='C'><geom size='.1'/></body>"
           "</body>", EQ("<connect name='e' body1='A' body2='C' anchor='1 0 0'/>")), 0},
    {"equality/e", "tendon", DJ_IGNORED,
     SCENE("/>", A("", "") A2 FIXED, "<tendon>" STILL "</tendon>" TENDON("")
           EQ("<tendon name='e' tendon1='still' tendon2='t'/>")),
     SCENE("/>", A("", "") A2 FIXED, "<tendon>" STILL "</tendon>"
           EQ("<tendon name='e' tendon1='still'/>")), 0},
    {"tendon/t", "geom", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2 FIXED, "<tendon>" STILL "</tendon>" AROUND("")),
     SCENE("/>", A("", "") A2 FIXED "<geom name='g' size='.1'/>",
           "<tendon><spatial name='t'><site site='s1'/><geom geom='g'/><site site='s2'/></spatial>"
           "</tendon>"), 0},
    {"tendon/t", "springlength", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, TENDON("stiffness='0 0 1' springlength='0 1'")),
     SCENE(FLAG("spring='disable'"), A("", "") A2, TENDON("stiffness='1' springlength='0 1'")), 0},
    {"tendon/t", "springyield", DJ_IGNORED,
     SCENE("/>", A("", "") A2, TENDON("stiffness='0 1' springyield='.1'")),
     SCENE("/>", A("", "") A2, TENDON("springyield='.1'")), 0},
    {"tendon/t", "frictionloss", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, TENDON("frictionloss='.5'")),
     SCENE(FLAG("frictionloss='disable'"), A("", "") A2, TENDON("frictionloss='1'")), 0},
    {"tendon/t", "range", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, TENDON("limited='true' range='-1 1'")),
     SCENE(FLAG("limit='disable'"), A("", "") A2, TENDON("limited='true' range='-1 1'")), 0},
    {"tendon/still", "frictionloss", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, "<tendon><fixed name='still' frictionloss='1'><joint joint='j' "
           "coef='1'/></fixed></tendon>"),
     SCENE("/>", A("", "") A2 FIXED, "<tendon>" STILL "</tendon>"), 0},
    {"tendon/still", "range", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, "<tendon><fixed name='still' limited='true' range='-1 1'><joint "
           "joint='j' coef='1'/></fixed></tendon>"),
     SCENE("/>", A("", "") A2 FIXED, "<tendon>" STILL "</tendon>"), 0},
    {"tendon/t", "actuatorfrcrange", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, TENDON("actuatorfrclimited='true' actuatorfrcrange='-1 1'")
           ACT("<pid joint='j' kp='1'/><motor tendon='t'/>")),
     SCENE(FLAG("actuation='disable'"), A("", "") A2,
           TENDON("actuatorfrclimited='true' actuatorfrcrange='-1 1'")
           ACT("<motor tendon='t'/>")), 0},
    // an actuator's armature counts as the tendon's; one joint carries the other
    {"tendon/t", "armature", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, TENDON("") ACT("<motor joint='j'/><motor tendon='t' "
           "armature='1'/>")),
     SCENE("/>", "<body><joint name='j'/><geom size='.1'/><body><joint name='j2'/><geom "
           "size='.1'/></body></body>", TENDON("armature='1'")), 0},
    {"actuator/u", "biasprm", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, ACT("<motor joint='j'/><position name='u' site='sa' refsite='sa2' "
           "gear='0 0 0 0 0 1'/>")),
     SCENE("/>", A("", "") A2, ACT("<motor joint='j'/><position name='u' site='sa' "
           "gear='0 0 0 0 0 1'/>")), 0},
    {"actuator/u", "ctrlrange", DJ_APPROXIMATED,
     SCENE("/>", A("", ""), ACT("<pid joint='j' kp='1'/><motor name='u' joint='j' "
           "ctrllimited='true' ctrlrange='-1 1'/>")),
     SCENE("/>", A("", ""), ACT("<dcmotor name='u' joint='j' motorconst='1' "
           "resistance='1' delay='.006' nsample='3' ctrllimited='true' ctrlrange='-1 1'/>")), 0},
    {"actuator/u", "forcerange", DJ_APPROXIMATED,
     SCENE("/>", A("", ""), MOTOR("forcelimited='true' forcerange='-1 1'")),
     SCENE(FLAG("actuation='disable'"), A("", ""), MOTOR("forcelimited='true' "
           "forcerange='-1 1'")), 0},
    {"actuator/u", "biasprm", DJ_APPROXIMATED,
     SCENE("/>", A2 A("type='ball'", ""), ACT("<motor joint='j2'/><motor joint='j2'/><position "
           "name='u' joint='j'/>")),
     SCENE("/>", A2 A("type='ball'", ""), ACT("<motor joint='j2'/><motor joint='j2'/><position "
           "name='u' joint='j2'/><position joint='j'/>")), 0},
    // behind elements of other types
    {"joint/j", "range", DJ_APPROXIMATED,
     SCENE("/>", B("") A("limited='true' range='-1 1'", ""), ""), SCENE("/>", B("") A("", ""), ""),
     0},
    {"equality/e", "weld", DJ_IGNORED,
     SCENE("/>", A("", "") A2 "<body name='C'><joint/><geom size='.1'/><site name='s1'/><site "
           "name='s2' pos='1 0 0'/></body>", EQ("<connect body1='A' anchor='.5 0 0'/><weld "
           "name='e' site1='s1' site2='sa'/>")),
     SCENE("/>", A("", "") A2 "<body name='C'><joint/><geom size='.1'/><site name='s1'/><site "
           "name='s2' pos='1 0 0'/></body>", EQ("<connect body1='A' anchor='.5 0 0'/><weld "
           "name='e' site1='s1' site2='s2'/>")), 0},
    {"geom/b", "condim", DJ_APPROXIMATED,
     SCENE("/>", HFIELD FLOOR("") B("condim='4'"), HFIELD_DATA PENALTY),
     SCENE("/>", HFIELD B("condim='3'") FLOOR(""), HFIELD_DATA PENALTY), 0},
    {"pair/p", "solref", DJ_APPROXIMATED, SCENE("/>", HFIELD FLOOR("") B(""), HFIELD_DATA PAIR("")),
     SCENE("/>", FLOOR("") "<geom name='b' size='.1'/><body><freejoint/><geom name='c' size='.1'/>"
           "</body>", "<contact><pair geom1='f' geom2='c'/><pair name='p' geom1='f' geom2='b'/>"
           "</contact>"), 0},
    {"geom/b", "surfacevel", DJ_IGNORED,
     SCENE("/>", FLOOR("") B("condim='1' surfacevel='0 1 0 0 0 0'"), PAIR("")),
     SCENE("/>", FLOOR("") B("condim='1' surfacevel='0 1 0 0 0 0'") "<body><freejoint/><geom "
           "name='c' size='.1' condim='1'/></body>",
           "<contact><pair geom1='f' geom2='c'/></contact>"), 0},
    // numbers that a bias without type does not use
    {"actuator/u", "biasprm", DJ_APPROXIMATED,
     SCENE("/>", A("type='ball'", ""), ACT("<general name='u' joint='j' biastype='affine' "
           "biasprm='0 -1 0'/>")),
     SCENE("/>", A("type='ball'", ""), ACT("<general name='u' joint='j' biastype='none' "
           "biasprm='0 -1 0'/>")), 0},
};

static void testTerms(void) {
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    djt_checkCase(cases + i, true);
    djt_checkCase(cases + i, false);
  }
}

// What the note of an entry says.
static void checkNote(const char* scene, const char* element, const char* feature,
                      const char* words) {
  mjModel* m = djt_compile(scene);
  djReport* report;
  djModel* x = djt_import(&report, m);
  const djReportEntry* entry = djt_entry(report, element, feature);
  if (!entry) fail_msg("%s %s: not reported\n%s", element, feature, scene);
  if (!strstr(entry->note, words)) fail_msg("'%s' lacks %s", entry->note, words);
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

// Notes name what is replaced or left out.
static void testNotes(void) {
  static const char* const integrators[] = {"RK4", "implicit", "implicitfast", "discrete"};
  for (int i = 0; i < 4; i++) {
    char scene[1000], words[100];
    snprintf(scene, sizeof(scene), SCENE(" timestep='.003' integrator='%s'/>", A("", ""), ""),
             integrators[i]);
    snprintf(words, sizeof(words),
             "%s is replaced by the integrator that is set here, at the same timestep, 0.003 s",
             integrators[i]);
    checkNote(scene, "option", "integrator", words);
  }
  checkNote(SCENE(" cone='elliptic'/>", FLOOR("") B("condim='3'"), ""), "option", "cone",
            "sticking contacts creep at");
  checkNote(SCENE(" cone='pyramidal'/>", FLOOR("") B("condim='3'"), ""), "option", "cone",
            "a round cone: MuJoCo's pyramid is up to 29 % weaker");
  checkNote(SCENE("/>", A("", "") A2, AROUND("")), "tendon/t", "geom",
            "over a depth of 0.02 radii");
  checkNote(SCENE("/>", A("", "") A2, TENDON("limited='true' range='-1 1' solreflimit='-100 -10' "
            "solimplimit='.9 .9 .01'")), "tendon/t", "range",
            "damper, 1e+03 /s^2 and 100 /s times");
  checkNote(SCENE("/>", A("", "") A2, TENDON("frictionloss='1'") "<custom><numeric "
            "name='dijoco_frictionloss_eps' data='.1'/></custom>"), "tendon/t", "frictionloss",
            "creeps at 0.058 m/s");
  checkNote(SCENE("/>", A("", ""), ACT("<adhesion name='u' body='A' ctrlrange='0 1'/>")),
            "actuator/u", "transmission", "body (adhesion): it makes no force");
  checkNote(SCENE("/>", A("type='ball'", ""), ACT("<orientation name='u' joint='j' kp='1'/>")),
            "actuator/u", "transmission", "so3: it makes no force");
  checkNote(SCENE("/>", A("type='ball'", ""), ACT("<muscle name='u' joint='j' lengthrange='0 1'/>")),
            "actuator/u", "gaintype", "a muscle on what turns freely");
  checkNote(SCENE("/>", A("type='ball'", ""), ACT("<dcmotor name='u' joint='j' motorconst='1' "
            "resistance='1' cogging='1 4 0'/>")), "actuator/u", "gaintype", "a dcmotor with");
  // 100/(1 - .9), 10/(1 - .9)
#define LIMIT "limited='true' range='-1 1' solreflimit='-100 -10' solimplimit='.9 .9 .01'"
  checkNote(SCENE("/>", A("type='slide' " LIMIT, ""), ""), "joint/j", "range",
            "damper, 1e+03 /s^2 and 100 /s times");
  checkNote(SCENE("/>", A("type='slide' " LIMIT, ""), ""), "joint/j", "range", "(0.1 m at 100 m/");
  // .05/(1 - .9) is less than 1 and still a spring; a limit that only damps holds nothing
  checkNote(SCENE("/>", A("limited='true' range='-1 1' solreflimit='-.05 -10' solimplimit='.9 .9 "
            ".01'", ""), ""), "joint/j", "range", "(2e+02 rad at");
  checkNote(SCENE("/>", A("limited='true' range='-1 1' solreflimit='0 -10' solimplimit='.9 .9 "
            ".01'", ""), ""), "joint/j", "range", "(inf rad at");
  // in the joint's unit
  checkNote(SCENE("/>", A("type='slide' limited='true' range='-1 1'", ""), ""), "joint/j", "range",
            "m at 100 m/s^2)");
  checkNote(SCENE("/>", A("limited='true' range='-1 1'", ""), ""), "joint/j", "range",
            "rad at 100 rad/s^2)");
  checkNote(SCENE(FLAG("actuation='disable'"), COMPENSATED(""), MOTOR("")), "joint/j",
            "actuatorgravcomp", "MuJoCo drops this compensation where there is no actuation");
  checkNote(SCENE("/>", COMPENSATED("actuatorfrcrange='-1 1' actuatorfrclimited='true'"),
            MOTOR("")), "joint/j", "actuatorgravcomp", "not part of the force that");
  checkNote(SCENE("/>", A("frictionloss='1'", ""), "<custom><numeric "
            "name='dijoco_frictionloss_eps' data='.1'/></custom>"), "joint/j", "frictionloss",
            "creeps at 0.058 rad/s");
  checkNote(SCENE("/>", FLOOR("") B("type='cylinder'"), ""), "geom/b", "type",
            "domes that are 0.001 m lower");
  checkNote(SCENE("/>", FLOOR("") "<body><freejoint/><geom name='b' type='ellipsoid' size='.1 .4 "
            ".2'/></body>", ""), "geom/b", "type", "up to 20 % of");
  static const char* const axes[] = {".1 .4 .2", ".4 .2 .1", ".2 .1 .4", ".1 .2 .4", ".4 .1 .2"};
  for (int i = 0; i < 5; i++) {
    char scene[1000];
    snprintf(scene, sizeof(scene), SCENE("/>", FLOOR("") "<body><freejoint/><geom name='b' "
             "type='ellipsoid' size='%s'/></body>", ""), axes[i]);
    checkNote(scene, "geom/b", "type", "up to 20 % of");
  }
  checkNote(SCENE("/>", FLOOR("") "<body><freejoint/><geom name='b' type='cylinder' "
            "size='.1 .3'/></body>", ""), "geom/b", "type", "domes that are 0.0015 m lower");
  // At rest (1-d) A f = d aref = d^2 k r, and k = 1000/d^2; a ball's A f is g, whatever it weighs.
#define SOFT "solref='-1000 -1' solimp='.9 .9 .001'"
#define SINKS "sink in by about 0.98 mm under their weight (41.1 N on one contact)"
  checkNote(SCENE("/>", FLOOR(SOFT) B(SOFT), ""), "geom/b", "solref", SINKS);
  checkNote(SCENE("/>", FLOOR("") B(SOFT "priority='1'"), ""), "geom/b", "solref", SINKS);
  checkNote(SCENE("/>", FLOOR(SOFT "priority='1'") B(""), ""), "geom/f", "solref", SINKS);
  // solmix: the one of 0 does not count, but the smaller of such solref does
  checkNote(SCENE("/>", FLOOR("solimp='.9 .9 .001' solmix='0'") B(SOFT), ""), "geom/b", "solref",
            SINKS);
  checkNote(SCENE("/>", FLOOR("solref='-1000 -1' solimp='.8 .8 .001' solmix='0'") B("solref='-1000 "
            "-1' solimp='1 1 .001' solmix='0'"), ""), "geom/b", "solref", "by about 0.98 mm under");
  checkNote(SCENE(" gravity='6 0 8' o_solref='-1000 -1' o_solimp='.9 .9 .001'"
            FLAG("override='enable'"), FLOOR("") B(""), ""), "geom/b", "solref",
            "sink in by about 1 mm under");
  checkNote(SCENE(" o_solref='-3000 -1'" FLAG("energy='enable'"), FLOOR(SOFT) B(SOFT), ""),
            "geom/b", "solref", SINKS);
  // four contacts, a pyramid's edges, impratio: mu^2/impratio (1 + mu^2)/(dim - 1) of it
  checkNote(SCENE("/>", FLOOR(SOFT) B(SOFT "type='box'"), ""), "geom/b", "solref",
            "sink in by about 0.25 mm under their weight (19.6 N on each of 4 contacts)");
  checkNote(SCENE(" impratio='2'/>", FLOOR(SOFT "friction='.5'") B(SOFT "condim='3' "
            "friction='.5'"), ""), "geom/b", "solref", "sink in by about 77 um");
  checkNote(SCENE(" impratio='2' cone='elliptic'/>", FLOOR(SOFT "friction='.5'") B(SOFT
            "condim='3' friction='.5'"), ""), "geom/b", "solref", SINKS);
  // of a pyramid without friction nothing is left
  checkNote(SCENE("/>", FLOOR(SOFT "friction='0'") B(SOFT "condim='3' friction='0'"), ""), "geom/b",
            "solref", "sink into what pushes them");
  // an arm's weight does not come down; what is held sinks with what is carried
  checkNote(SCENE("/>", FLOOR("") "<body pos='0 0 2'><joint/><geom size='.1'/><body pos='0 0 -1'>"
            "<joint/><geom name='b' size='.1'/></body></body>", ""), "geom/b", "solref",
            "(41.1 N on one contact)");
  checkNote(SCENE("/>", FLOOR("") "<body pos='0 0 2'><freejoint/><geom size='.1' contype='0' "
            "conaffinity='0'/><body pos='1 0 -1'><joint/><geom name='b' size='.1'/></body><body "
            "pos='-1 0 -1'><joint/><geom size='.1'/></body></body>", ""), "geom/b", "solref",
            "(61.6 N on each of 2 contacts)");
  checkNote(SCENE("/>", FLOOR("") BB, "<contact><pair geom1='f' geom2='c'/><pair name='p' "
            "geom1='f' geom2='b' condim='1' " SOFT "/></contact>"), "pair/p", "solref",
            "sink in by about 0.98 mm under their weight (82.2 N on one contact)");
  checkNote(SCENE(" gravity='0 0 0'/>", FLOOR("") B(""), ""), "geom/b", "solref",
            "MuJoCo's bodies sink into what pushes them, these rest");
  checkNote(SCENE("/>", FLOOR("") B(""), PAIR("") "<custom><text name='dijoco_contact' "
            "data='penalty'/></custom>"), "pair/p", "solref", "these by the law of penalty");
  checkNote(SCENE("/>", FLOOR("") B("solref='.02 .3' solimp='0 .8 .03' priority='1'"), ""),
            "geom/b", "solimp", "rebound with 0.61 of 1 m/s, these with 0.45");
  checkNote(SCENE("/>", FLOOR("") B("condim='4'"), PENALTY), "geom/b", "condim",
            "turning is resisted by the area");
  checkNote(SCENE("/>", FLOOR("") B(""), "<contact><pair name='p' geom1='f' geom2='b' "
            "friction='1 .5 0 0 0'/></contact>" PENALTY), "pair/p", "friction",
            "of the two tangential coefficients, 1 and 0.5, points");
  checkNote(SCENE(" o_friction='.8 .2 0 0 0'" FLAG("override='enable'"), FLOOR("") B("condim='3'"),
            ""), "option", "o_friction", "coefficients, 0.8 and 0.2, are replaced by their mean");
  checkNote(SCENE("/>", "<geom name='h' type='hfield' hfield='x'/>" B(""), "<asset><hfield "
            "name='x' nrow='2' ncol='2' size='1 1 1 1'/></asset>"), "geom/h", "hfield",
            "a smooth surface through the heights");
}

DJT_MAIN_IN(djt_registerIdle, NULL, testTerms, testNotes)
