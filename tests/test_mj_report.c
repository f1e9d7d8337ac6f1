// The importer's report: every row appears for a model that has the feature, and does not for one
// that lacks it or on which it has no effect.

#include "common/report_case.h"
#include "common/test.h"

#include "import_checks.h"

static void editFrictionloss(mjModel* m) { *djt_dof(m, m->dof_frictionloss, 1) = 0.1; }
static void editDamping(mjModel* m) { *djt_dof(m, m->dof_damping, 1) = 0.1; }
static void editArmature(mjModel* m) { *djt_dof(m, m->dof_armature, 1) = 0.1; }

// A mesh, either a block of 2 x 2 x 2 or one with a notch of a fourth of it, 1 deep, whose edge is in
// the middle of its top.
#define MESH "<body name='B' pos='0 0 3'><freejoint/><geom name='b' type='mesh' mesh='x'/></body>"
#define BLOCK "<asset><mesh name='x' vertex='-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 " \
  "-1 1 1'/></asset>"
#define WEDGED "<asset><mesh name='x' vertex='-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 " \
  "1 1 1 -1 1 1 0 -1 0 0 1 0' face='0 3 2 0 2 1 0 8 4 0 1 8 1 5 8 2 3 9 3 7 9 2 9 6 1 2 6 1 6 5 " \
  "0 4 7 0 7 3 4 8 9 4 9 7 5 6 9 5 9 8'/></asset>"

static const djReportCase cases[] = {
    // options
    {"option", "integrator", DJ_APPROXIMATED, SCENE(" integrator='RK4'/>", A("", ""), ""),
     SCENE("/>", A("", ""), ""), 0},
    {"option", "integrator", DJ_APPROXIMATED, SCENE(" integrator='discrete'/>", A("", ""), ""),
     SCENE(" integrator='RK4'/>", "", ""), 0},
    {"option", "eulerdamp", DJ_APPROXIMATED,
     SCENE(FLAG("eulerdamp='disable'"), A("damping='1'", ""), ""),
     SCENE(FLAG("eulerdamp='disable'"), A("", ""), ""), 0},
    {"option", "cone", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B("condim='3'"), ""),
     SCENE("/>", FLOOR("") B("condim='1'"), ""), 0},
    {"option", "cone", DJ_APPROXIMATED, SCENE("/>", FLOOR("") BB, PAIR("condim='3'")),
     SCENE("/>", FLOOR("") BB, "<contact><pair geom1='b' geom2='c' condim='3'/></contact>"), 0},
    {"option", "o_friction", DJ_APPROXIMATED,
     SCENE(" o_friction='1 .5 0 0 0'" FLAG("override='enable'"), FLOOR("") B("condim='3'"), ""),
     SCENE(" o_friction='1 .5 0 0 0'/>", FLOOR("") B("condim='3'"), ""), 0},
    {"option", "impratio", DJ_APPROXIMATED,
     SCENE(" impratio='10'/>", FLOOR("") B("condim='3'"), ""),
     SCENE(" impratio='10'/>", FLOOR("") B("condim='1'"), ""), 0},
    {"option", "noslip_iterations", DJ_APPROXIMATED,
     SCENE(" noslip_iterations='3'/>", FLOOR("") B("condim='3'"), ""),
     SCENE(" noslip_iterations='3'/>", A("", ""), ""), 0},
    {"option", "sleep", DJ_IGNORED, SCENE(FLAG("sleep='enable'"), FLOOR("") B(""), ""),
     SCENE(FLAG("sleep='enable'"), FLOOR(""), ""), 0},
    {"option", "speculative", DJ_IGNORED,
     SCENE(FLAG("speculative='enable'"), FLOOR("") B(""), ""),
     SCENE(FLAG("speculative='enable'"), A("", ""), ""), 0},

    // joints
    {"joint/j", "range", DJ_APPROXIMATED, SCENE("/>", A("limited='true' range='-1 1'", ""), ""),
     SCENE(FLAG("limit='disable'"), A("limited='true' range='-1 1'", ""), ""), 0},
    {"joint/j", "frictionloss", DJ_APPROXIMATED, SCENE("/>", A("frictionloss='1'", ""), ""),
     SCENE(FLAG("frictionloss='disable'"), A("frictionloss='1'", ""), ""), 0},
    {"joint/j", "frictionloss", DJ_IGNORED, SCENE("/>", A("type='ball'", ""), ""),
     SCENE("/>", A("type='ball'", ""), ""), editFrictionloss},
    {"joint/j", "damping", DJ_IGNORED, SCENE("/>", A("type='ball'", ""), ""),
     SCENE("/>", A("type='ball' damping='1'", ""), ""), editDamping},
    {"joint/j", "armature", DJ_IGNORED, SCENE("/>", A("type='ball'", ""), ""),
     SCENE("/>", A("type='ball' armature='1'", ""), ""), editArmature},
    {"joint/j", "actuatorfrcrange", DJ_APPROXIMATED,
     SCENE("/>", A("actuatorfrcrange='-1 1' actuatorfrclimited='true'", ""), MOTOR("")),
     SCENE("/>", A("actuatorfrcrange='-1 1' actuatorfrclimited='true'", ""), ""), 0},
    {"joint/j", "actuatorgravcomp", DJ_IGNORED,
     SCENE("/>", "<body gravcomp='1'><joint name='j' actuatorgravcomp='true'/><geom size='.1'/>"
           "</body>", ""),
     SCENE("/>", "<body gravcomp='1'><joint name='j' actuatorgravcomp='true'/><geom size='.1'/>"
           "</body>", MOTOR("")), 0},
    {"joint/j", "springyield", DJ_IGNORED,
     SCENE("/>", A("stiffness='1' springyield='.1'", ""), ""),
     SCENE("/>", A("stiffness='1'", ""), ""), 0},

    // geoms, pairs
    {"geom/b", "type", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B("type='cylinder'"), ""),
     SCENE("/>", FLOOR("") B("type='cylinder' contype='0' conaffinity='0'"), ""), 0},
    {"geom/b", "type", DJ_APPROXIMATED,
     SCENE("/>", FLOOR("") "<body><freejoint/><geom name='b' type='ellipsoid' size='.1 .2 .1'/>"
           "</body>", ""),
     SCENE("/>", FLOOR("") "<body><freejoint/><geom name='b' type='ellipsoid' size='.1 .1 .1'/>"
           "</body>", ""), 0},
    {"geom/h", "hfield", DJ_APPROXIMATED,
     SCENE("/>", "<geom name='h' type='hfield' hfield='x'/>" B(""),
           "<asset><hfield name='x' nrow='2' ncol='2' size='1 1 1 1'/></asset>"),
     SCENE("/>", "<geom name='h' type='hfield' hfield='x'/>" FLOOR(""),
           "<asset><hfield name='x' nrow='2' ncol='2' size='1 1 1 1'/></asset>"), 0},
    {"geom/b", "type", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B("type='cylinder' contype='0' "
     "conaffinity='0'"), PAIR("")),
     SCENE("/>", FLOOR("") B("contype='0' conaffinity='0'"), PAIR("")), 0},
    {"geom/b", "solref", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B(""), ""),
     SCENE("/>", B(""), ""), 0},
    {"geom/b", "solimp", DJ_APPROXIMATED,
     SCENE("/>", FLOOR("") B("solimp='.1 .9 .02'"), ""),
     SCENE("/>", FLOOR("") B(""), ""), 0},
    {"geom/b", "solimp", DJ_APPROXIMATED,   // mixed by solmix: not the larger one
     SCENE("/>", FLOOR("solref='.02 .1'") B(""), ""),
     SCENE("/>", FLOOR("solref='.02 .1'") B("priority='1'"), ""), 0},
    {"geom/b", "mesh", DJ_APPROXIMATED, SCENE("/>", FLOOR("") MESH, WEDGED),
     SCENE("/>", FLOOR("") MESH, BLOCK), 0},
    {"geom/b", "mesh", DJ_APPROXIMATED, SCENE("/>", FLOOR("") MESH, WEDGED),
     SCENE("/>", FLOOR("") MESH, WEDGED "<custom><text name='dijoco_contact' data='penalty'/>"
           "</custom>"), 0},
    {"geom/b", "surface", DJ_APPROXIMATED,
     SCENE("/>", FLOOR("") B("type='box'"), "<custom><text name='dijoco_contact' "
           "data='implicit_surface'/></custom>"),
     SCENE("/>", FLOOR("") B("type='box'"), ""), 0},
    {"geom/b", "condim", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B("condim='4'"), PENALTY),
     SCENE("/>", FLOOR("") B("condim='3'"), PENALTY), 0},
    {"geom/f", "surfacevel", DJ_IGNORED,
     SCENE("/>", FLOOR("surfacevel='1 0 0 0 0 0'") B("condim='3'"), ""),
     SCENE("/>", FLOOR("surfacevel='1 0 0 0 0 0'") A("", ""), ""), 0},
    {"geom/b", "adhesion", DJ_IGNORED, SCENE("/>", FLOOR("") B("adhesion='1'"), ""),
     SCENE("/>", B("adhesion='1'"), ""), 0},
    {"geom/a", "fluidshape", DJ_IGNORED,
     SCENE(" density='1'/>", A("", "fluidshape='ellipsoid'"), ""),
     SCENE("/>", A("", "fluidshape='ellipsoid'"), ""), 0},
    {"pair/p", "solref", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B(""), PAIR("")),
     SCENE(FLAG("contact='disable'"), FLOOR("") B(""), PAIR("")), 0},
    // b and c are of one body
    {"pair/p", "solref", DJ_APPROXIMATED,
     SCENE("/>", FLOOR("") BB, PAIR("") "<contact><pair geom1='f' geom2='c'/></contact>"),
     SCENE("/>", FLOOR("") BB, "<contact><pair name='p' geom1='b' geom2='c'/><pair geom1='f' "
           "geom2='b'/><pair geom1='f' geom2='c'/></contact>"), 0},
    {"pair/p", "condim", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B(""),
     "<contact><pair name='p' geom1='f' geom2='b' condim='6'/></contact>" PENALTY),
     SCENE("/>", FLOOR("") B(""), PAIR("") PENALTY), 0},
    {"pair/p", "friction", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B(""),
     "<contact><pair name='p' geom1='f' geom2='b' friction='1 .5 0 0 0'/></contact>" PENALTY),
     SCENE("/>", FLOOR("") B(""), PAIR("condim='1' friction='1 .5 0 0 0'") PENALTY), 0},
    {"pair/p", "solimp", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B(""),
     PAIR("solimp='.1 .9 .02'")),
     SCENE("/>", FLOOR("") B("solimp='.1 .9 .02'"), PAIR("")), 0},
    {"pair/p", "solreffriction", DJ_APPROXIMATED, SCENE("/>", FLOOR("") B(""),
     PAIR("solreffriction='.01 1'")),
     SCENE("/>", FLOOR("") B(""), PAIR("condim='1' solreffriction='.01 1'")), 0},
    {"pair/p", "adhesion", DJ_IGNORED, SCENE("/>", FLOOR("") B(""), PAIR("adhesion='1'")),
     SCENE("/>", FLOOR("") B(""), PAIR("")), 0},

    // equality constraints
    {"equality/e", "connect", DJ_IGNORED,
     SCENE("/>", A("", ""), EQ("<connect name='e' body1='A' anchor='.5 0 0'/>")),
     SCENE("/>", A("", ""), EQ("<connect name='e' body1='A' anchor='.5 0 0' active='false'/>")), 0},
    {"equality/e", "weld", DJ_IGNORED,
     SCENE("/>", A("", "") A2, EQ("<weld name='e' site1='sa' site2='sa2'/>")),
     SCENE("/>", A("", "") "<body name='C'/><body name='D'/>",
           EQ("<weld name='e' body1='C' body2='D'/>")), 0},
    {"equality/e", "joint", DJ_IGNORED,
     SCENE("/>", A("", "") A2, EQ("<joint name='e' joint1='j' joint2='j2'/>")),
     SCENE(FLAG("equality='disable'"), A("", "") A2,
           EQ("<joint name='e' joint1='j' joint2='j2'/>")), 0},
    {"equality/e", "tendon", DJ_IGNORED,
     SCENE("/>", A("", "") A2, TENDON("") EQ("<tendon name='e' tendon1='t'/>")),
     SCENE(FLAG("constraint='disable'"), A("", "") A2,
           TENDON("") EQ("<tendon name='e' tendon1='t'/>")), 0},

    // tendons
    {"tendon/t", "geom", DJ_APPROXIMATED, SCENE("/>", A("", "") A2, AROUND("")),
     SCENE("/>", A("", "") A2, AROUND("") "<custom><numeric name='dijoco_wrap_onset' data='0'/>"
           "</custom>"), 0},
    {"tendon/t", "geom", DJ_APPROXIMATED, SCENE("/>", A("", "") A2, AROUND("damping='1'")),
     SCENE("/>", A("", "") A2, "<tendon><spatial name='t' damping='1'><site site='sa'/><site "
           "site='sa2'/></spatial></tendon>"), 0},
    {"tendon/t", "armature", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, TENDON("armature='1'")),
     SCENE("/>", A("", "") A2, "<tendon><fixed name='t' armature='1'><joint joint='j' coef='1'/>"
           "</fixed></tendon>"), 0},
    {"tendon/t", "springlength", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, TENDON("stiffness='1' springlength='0 1'")),
     SCENE("/>", A("", "") A2, TENDON("stiffness='1' springlength='1 1'")), 0},
    {"tendon/t", "springyield", DJ_IGNORED,
     SCENE("/>", A("", "") A2, TENDON("stiffness='1' springyield='.1'")),
     SCENE("/>", A("", "") A2, TENDON("stiffness='1'")), 0},
    {"tendon/t", "frictionloss", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, TENDON("frictionloss='1'")),
     SCENE("/>", A("", "") A2, TENDON("")), 0},
    {"tendon/t", "range", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, TENDON("limited='true' range='-1 1'")),
     SCENE("/>", A("", "") A2, TENDON("")), 0},
    {"tendon/t", "actuatorfrcrange", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, TENDON("actuatorfrclimited='true' actuatorfrcrange='-1 1'")
           ACT("<motor tendon='t'/>")),
     SCENE("/>", A("", "") A2, TENDON("actuatorfrclimited='true' actuatorfrcrange='-1 1'")
           ACT("<motor joint='j'/>")), 0},
    {"tendon/t", "springlength", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, "<tendon><spatial name='t' stiffness='1' springlength='0 1'><site "
           "site='sa'/><site site='sa2'/></spatial></tendon>"),
     SCENE("/>", A("", "") "<site name='s1'/><site name='s2' pos='1 0 0'/>",
           "<tendon><spatial name='t' stiffness='1' springlength='0 1'><site site='s1'/><site "
           "site='s2'/></spatial></tendon>"), 0},

    // actuators
    {"actuator/u", "biasprm", DJ_APPROXIMATED,
     SCENE("/>", A("", "") A2, ACT("<position name='u' site='sa' refsite='sa2' gear='0 0 0 1 0 "
           "0'/>")),
     SCENE("/>", A("", "") A2, ACT("<position name='u' site='sa' refsite='sa2' gear='1 0 0 0 0 "
           "0'/>")), 0},
    {"actuator/u", "transmission", DJ_IGNORED,
     SCENE("/>", A("", ""), ACT("<adhesion name='u' body='A' ctrlrange='0 1'/>")),
     SCENE("/>", A("", ""), MOTOR("")), 0},
    {"actuator/u", "transmission", DJ_APPROXIMATED,
     "<mujoco><option/><worldbody>" A("", "") "</worldbody><actuator><adhesion name='u' body='A' "
     "ctrlrange='0 1'/></actuator></mujoco>", SCENE("/>", A("", ""), MOTOR("")), 0},
    {"actuator/u", "transmission", DJ_IGNORED,
     SCENE("/>", A("type='ball'", ""), ACT("<orientation name='u' joint='j' kp='1'/>")),
     SCENE("/>", A("type='ball'", ""), MOTOR("")), 0},
    {"actuator/u", "dyntype", DJ_IGNORED,
     SCENE("/>", A("", ""), ACT("<general name='u' joint='j' dyntype='user' actdim='1'/>")),
     SCENE("/>", A("", ""), ACT("<general name='u' joint='j' dyntype='filter' dynprm='1'/>")), 0},
    {"actuator/u", "gaintype", DJ_IGNORED,
     SCENE("/>", A("type='ball'", ""), ACT("<muscle name='u' joint='j' lengthrange='0 1'/>")),
     SCENE("/>", A("", ""), ACT("<muscle name='u' joint='j' lengthrange='0 1'/>")), 0},
    {"actuator/u", "gaintype", DJ_IGNORED,
     SCENE("/>", A("type='ball'", ""), ACT("<dcmotor name='u' joint='j' motorconst='1' "
           "resistance='1' inductance='1 0'/>")),
     SCENE("/>", A("", ""), ACT("<dcmotor name='u' joint='j' motorconst='1' resistance='1' "
           "inductance='1 0'/>")), 0},
    {"actuator/u", "biastype", DJ_IGNORED,
     SCENE("/>", A("", ""), ACT("<general name='u' joint='j' biastype='user'/>")),
     SCENE("/>", A("", ""), ACT("<position name='u' joint='j'/>")), 0},
    {"actuator/u", "delay", DJ_IGNORED,
     SCENE("/>", A("", ""), MOTOR("nsample='3' delay='0.006'")),
     SCENE("/>", A("", ""), MOTOR("nsample='3'")), 0},
    {"actuator/u", "input", DJ_IGNORED,
     SCENE("/>", A("type='ball'", ""), ACT("<orientation name='u' joint='j' kp='1'/>")),
     SCENE("/>", A("", ""), ACT("<pid name='u' joint='j' kp='1'/>")), 0},
    {"actuator/u", "ctrlrange", DJ_APPROXIMATED,
     SCENE("/>", A("", ""), MOTOR("ctrllimited='true' ctrlrange='-1 1'")),
     SCENE(FLAG("clampctrl='disable'"), A("", ""), MOTOR("ctrllimited='true' ctrlrange='-1 1'")),
     0},
    {"actuator/u", "forcerange", DJ_APPROXIMATED,
     SCENE("/>", A("", ""), MOTOR("forcelimited='true' forcerange='-1 1'")),
     SCENE("/>", A("", ""), MOTOR("")), 0},
    {"actuator/u", "actrange", DJ_APPROXIMATED,
     SCENE("/>", A("", ""), ACT("<intvelocity name='u' joint='j' actrange='-1 1'/>")),
     SCENE("/>", A("", ""), ACT("<general name='u' joint='j' dyntype='integrator'/>")), 0},
    {"actuator/u", "biasprm", DJ_APPROXIMATED,
     SCENE("/>", A("type='ball'", ""), ACT("<position name='u' joint='j'/>")),
     SCENE("/>", A("type='ball'", ""), ACT("<velocity name='u' joint='j'/>")), 0},

    // deformable bodies
    {"flex/x", "flex", DJ_IGNORED,
     SCENE("/>", "<flexcomp name='x' type='grid' count='3 3 3' spacing='.1 .1 .1' mass='1' dim='3' "
           "radius='.01' dof='trilinear'><elasticity young='1e3'/>" LONE "</flexcomp>", ""),
     SCENE("/>", FLEX("", "<elasticity young='1e3' thickness='.01' elastic2d='both'/>" LONE), ""),
     0},
    {"flex/x", "contact", DJ_APPROXIMATED, SCENE("/>", FLEX("", ""), ""),
     SCENE("/>", FLEX("", LONE), ""), 0},
    {"flex/x", "selfcollide", DJ_IGNORED, SCENE("/>", FLEX("", ""), ""),
     SCENE("/>", FLEX("", "<contact selfcollide='none'/>"), ""), 0},
    {"equality/#0", "flex", DJ_IGNORED,
     SCENE("/>", "<flexcomp name='x' type='grid' count='3 3 1' spacing='.1 .1 .1' mass='1' "
           "dim='2' pos='0 0 1' radius='.01'><edge equality='true'/></flexcomp>", ""),
     SCENE(FLAG("equality='disable'"), "<flexcomp name='x' type='grid' count='3 3 1' "
           "spacing='.1 .1 .1' mass='1' dim='2' pos='0 0 1' radius='.01'><edge equality='true'/>"
           "</flexcomp>", ""), 0},
    // plugins that the test registers
    {"plugin/force", "passive", DJ_IGNORED,
     SCENE("/>", A("", ""), "<extension><plugin plugin='test.force'><instance name='force'/>"
           "</plugin></extension>"),
     SCENE("/>", A("", ""), "<extension><plugin plugin='dijoco.force'><instance name='force'/>"
           "</plugin></extension>"), 0},
    {"actuator/u", "plugin", DJ_IGNORED,
     SCENE("/>", A("", ""), "<extension><plugin plugin='test.act'/></extension>"
           ACT("<plugin name='u' joint='j' plugin='test.act'/>")),
     SCENE("/>", A("", ""), MOTOR("")), 0},
};
#define NCASE (sizeof(cases) / sizeof(*cases))

// ------------------------------ tests -----------------------------------------------------------

static void testCases(void) {
  for (size_t i = 0; i < NCASE; i++) {
    djt_checkCase(cases + i, true);
    djt_checkCase(cases + i, false);
  }
}

// No row of the table is without a case.
static void testAllRows(void) {
  static const char* const kinds[DJM_NKIND] = {"option",   "joint",    "geom", "pair",  "equality",
                                               "tendon",   "actuator", "flex", "plugin", "sensor", "body"};
  int n;
  const djmCheck* rows = djm_checks(&n);
  for (int i = 0; i < n; i++) {
    // told beside MuJoCo's step alone (test_mj_plugin_warn), or by a scene's text (mj_cli_report)
    bool covered = rows[i].kind == DJM_SENSOR || strcmp(rows[i].feature, "contact") == 0;
    // of a compiled model whose stiffness is another one (test_mj_flex)
    covered |= strcmp(rows[i].feature, "elasticity") == 0;
    // of signed distance fields alone, which need a plugin
    covered |= rows[i].kind == DJM_GEOM && rows[i].state == DJ_IGNORED &&
               strcmp(rows[i].feature, "type") == 0;
    for (size_t k = 0; k < NCASE && !covered; k++) {
      covered = strncmp(cases[k].element, kinds[rows[i].kind], strlen(kinds[rows[i].kind])) == 0 &&
                strcmp(cases[k].feature, rows[i].feature) == 0 && cases[k].state == rows[i].state;
    }
    if (!covered) fail_msg("no case for %s %s", kinds[rows[i].kind], rows[i].feature);
  }
}

// A model all of whose features are carried exactly has an empty report.
static void testExact(void) {
  mjModel* m = djt_compile(SCENE(
      " gravity='1 2 -9' density='1.2' viscosity='1e-4' wind='1 0 0'/>",
      A("stiffness='3 1 1' damping='1 1 1' armature='.1' springref='.4' ref='.2'", "")
      "<body gravcomp='.5'><freejoint/><geom type='cylinder' size='.1 .2' contype='0' "
      "conaffinity='0'/></body><body mocap='true'/>" A2,
      TENDON("stiffness='1 2' damping='3' springlength='1 1'")
      ACT("<motor tendon='t'/><motor site='sa'/><motor cranksite='sa' slidersite='sa2' "
          "cranklength='2'/><position site='sa' refsite='sa2' gear='1 0 0 0 0 0'/>"
          "<general joint='j' dyntype='filter' dynprm='.1' gear='2' gaintype='affine' "
                     "gainprm='1 .2 .1' biastype='affine' biasprm='0 -2 -.1' armature='.1'/>")
      "<sensor><clock name='c'/><jointpos joint='j'/></sensor>"
      "<keyframe><key time='1'/></keyframe>"));
  djReport* report;
  djModel* x = djt_import(&report, m);
  djt_failIf(report->n, "%s %s: %s", report->entry[0].element, report->entry[0].feature,
             report->entry[0].note);
  assert_int_equal(report->state, DJ_EXACT);
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

// Actuators that are left out keep the layout of ctrl, and make no force.
static void testPlaceholders(void) {
  mjModel* m = djt_compile(
      SCENE("/>", A("", "") A2 "<body><joint name='ball' type='ball'/><geom size='.1'/></body>",
            ACT("<motor name='m1' joint='j' gear='3'/>"
                           "<general name='m2' joint='j' gaintype='user'/>"
                           "<orientation name='m3' joint='ball' kp='5'/>"
                           "<dcmotor name='m4' joint='ball' motorconst='1' resistance='1' "
                           "controller='1 1 0 0 0 9' input='pos vel' inductance='1 0'/>"
                           "<intvelocity name='m5' joint='j2' actrange='-1 1'/>"
                           "<motor name='m6' joint='j' nsample='3' delay='.006'/>")
            "<keyframe><key act='.1 .2 .3' ctrl='1 2 3 4 5 6 7 8 9'/></keyframe>"));
  assert_int_equal(m->nu, 9);
  assert_int_equal(m->na, 3);
  for (int i = 0; i < 9; i++) {   // of controls, not of actuators
    m->actuator_ctrllimited[i] = i % 2;
    m->actuator_ctrlrange[2 * i] = -1 - i;
    m->actuator_ctrlrange[2 * i + 1] = 2 + i;
  }
  djReport* report;
  djModel* x = djt_import(&report, m);
  assert_int_equal(report->state, DJ_IGNORED);
  assert_int_equal(x->nu, 9);
  assert_int_equal(x->na, 3);
  for (int i = 0; i < 9; i++) {
    assert_int_equal(x->actuator_ctrllimited[i], i % 2);
    assert_true(x->actuator_ctrlrange[2 * i] == -1 - i);
    assert_true(x->actuator_ctrlrange[2 * i + 1] == 2 + i);
  }
  assert_int_equal(dj_name2id(x, DJ_OBJ_ACTUATOR, "m5"), 7);
  for (int i = 1; i < 9; i++) {
    if (i == 7) continue;
    assert_true(x->actuator_gainprm[DJ_NPRM * i] == 0 && x->actuator_biasprm[DJ_NPRM * i + 1] == 0);
  }
  assert_true(x->actuator_gear[0] == 3 && x->actuator_gainprm[0] == 1);
  assert_int_equal(x->actuator_dyn[7], DJ_DYN_INTEGRATOR);
  const double act[] = {.1, .2, .3};
  assert_memory_equal(x->key_act, act, sizeof(act));
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

// flag override: margin and friction of every contact are the option's.
static void testOverride(void) {
  mjModel* m = djt_compile(SCENE(
      " o_margin='.03' o_friction='.3 .3 .1 .1 .1'><flag override='enable'/></option>",
      FLOOR("margin='.01'") B("margin='.005' friction='1 1 1'"), PAIR("margin='.05'")));
  djModel* x = djt_import(NULL, m);
  assert_float_equal((x->geom_margin[0] + x->geom_margin[1]), .03, 1e-15);
  assert_float_equal(x->geom_friction[3], .3, 1e-15);
  assert_float_equal(x->pair_margin[0], .03, 1e-15);
  assert_float_equal(x->pair_friction[0], .3, 1e-15);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

DJT_MAIN_IN(djt_registerIdle, NULL, testCases, testAllRows, testExact, testPlaceholders,
            testOverride)
