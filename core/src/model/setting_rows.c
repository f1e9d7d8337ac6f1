// The table of settings: one row each.

#include "model/check.h"
#include "model/kernel_setting.h"

#define PLACE(name) offsetof(djOption, name)
#define OPTION(name)                                                                    \
  #name, .field = "opt." #name, .offset = PLACE(name), .in_force = "opt." #name,        \
         .in_force_offset = offsetof(djModel, opt) + PLACE(name), .size = 1
#define VECTOR(name)                                                                    \
  #name, .field = "opt." #name, .offset = PLACE(name), .in_force = "opt." #name,        \
         .in_force_offset = offsetof(djModel, opt) + PLACE(name), .size = 3
#define OPTION_IN_FORCE(name)                                                           \
  #name, .field = "opt." #name, .offset = PLACE(name), .in_force = "contact." #name,    \
         .in_force_offset = offsetof(djModel, contact.name), .size = 1
enum {
  BY_FILES = DJ_BY_SCENE | DJ_BY_MJCF,
  BY_ALL = BY_FILES | DJ_BY_TASK | DJ_BY_COMMAND | DJ_BY_PLUGIN,
  BY_ALL_OUTSIDE = BY_ALL & ~DJ_BY_PLUGIN   // inside MuJoCo's step they are its own
};

#define CHOICE(enumerator, name) {#name, enumerator},
// `momentum` was the default's name before it was euler.
static const djChoice integrators[] = {
    DJ_INTEGRATORS(CHOICE) {"momentum", DJ_EULER}, {NULL, 0}};
static const djChoice implicits[] = {{"damping", DJ_TERMS_DAMPING},
                                     {"none", DJ_TERMS_NONE},
                                     {"rates", DJ_TERMS_RATES},
                                     {NULL, 0}};
static const djChoice overlaps[] = {
    {"recover", DJ_OVERLAP_RECOVER}, {"error", DJ_OVERLAP_ERROR}, {NULL, 0}};
static const djChoice vertices[] = {
    {"hull", DJ_VERTICES_HULL}, {"all", DJ_VERTICES_ALL}, {NULL, 0}};
static const djChoice spins[] = {{"exact", DJ_SPIN_EXACT}, {"mujoco", DJ_SPIN_MUJOCO}, {NULL, 0}};
static const djChoice equalities[] = {
    {"soft", DJ_EQUALITY_SOFT}, {"hard", DJ_EQUALITY_HARD}, {NULL, 0}};
static const djChoice frictions[] = {
    {"lagged", DJ_FRICTION_LAGGED}, {"implicit", DJ_FRICTION_IMPLICIT}, {NULL, 0}};
static const djChoice softnesses[] = {
    {"hard", DJ_SOFTNESS_HARD}, {"mujoco", DJ_SOFTNESS_MUJOCO}, {NULL, 0}};
static const djChoice restitutions[] = {
    {"given", DJ_RESTITUTION_GIVEN}, {"solref", DJ_RESTITUTION_SOLREF}, {NULL, 0}};
static const djChoice disableBits[] = {{"contact", DJ_DSBL_CONTACT},
                                       {"limit", DJ_DSBL_LIMIT},
                                       {"frictionloss", DJ_DSBL_FRICTIONLOSS},
                                       {"spring", DJ_DSBL_SPRING},
                                       {"damper", DJ_DSBL_DAMPER},
                                       {"gravity", DJ_DSBL_GRAVITY},
                                       {"clampctrl", DJ_DSBL_CLAMPCTRL},
                                       {"filterparent", DJ_DSBL_FILTERPARENT},
                                       {"actuation", DJ_DSBL_ACTUATION},
                                       {"equality", DJ_DSBL_EQUALITY},
                                       {NULL, 0}};

static const djSetting engineRows[] = {
    {OPTION(timestep), .kind = DJ_SETTING_REAL, .unit = "s", .symbol = "H",
     .ways = BY_ALL_OUTSIDE, .mujoco = true, .least = DJ_SMALLEST, .most = DJ_LARGEST,
     .standard = {0.002}, .help = "length of a step"},
    {OPTION(integrator), .kind = DJ_SETTING_CHOICE, .choice = integrators, .unit = "",
     .symbol = "NAME", .ways = BY_ALL_OUTSIDE, .standard = {DJ_EULER},
     .help = "time integration"},
    {OPTION(theta), .kind = DJ_SETTING_REAL, .unit = "", .symbol = "X", .ways = BY_ALL_OUTSIDE,
     .least = 0.5, .most = 1, .standard = {0.5},
     .help = "of midpoint: share of the velocity at the end in that of the step"},
    {OPTION(implicit), .kind = DJ_SETTING_CHOICE, .choice = implicits, .unit = "",
     .symbol = "NAME", .ways = BY_ALL_OUTSIDE,
     .help = "of euler: what is implicit in the velocity; in MJCF as its own integrator has it"},
    {OPTION(spin), .kind = DJ_SETTING_CHOICE, .choice = spins, .unit = "", .symbol = "NAME",
     .ways = BY_ALL_OUTSIDE,
     .help = "of euler: of free bodies, kept to rounding or by MuJoCo's explicit term"},
    {OPTION(equality), .kind = DJ_SETTING_CHOICE, .choice = equalities, .unit = "",
     .symbol = "NAME", .ways = BY_ALL,
     .help = "constraints by MuJoCo's soft law, or kept exactly"},
    {VECTOR(gravity), .kind = DJ_SETTING_REAL, .unit = "m/s2", .symbol = "X,Y,Z",
     .ways = DJ_BY_SCENE, .mujoco = true, .zero = true, .negative = true, .most = DJ_LARGEST,
     .standard = {0, 0, -9.81}, .help = "acceleration of gravity"},
    {VECTOR(wind), .kind = DJ_SETTING_REAL, .unit = "m/s", .symbol = "X,Y,Z",
     .ways = DJ_BY_SCENE, .mujoco = true, .zero = true, .negative = true, .most = DJ_LARGEST,
     .help = "velocity of the medium"},
    {OPTION(density), .kind = DJ_SETTING_REAL, .unit = "kg/m3", .symbol = "D",
     .ways = DJ_BY_SCENE, .mujoco = true, .zero = true, .most = DJ_LARGEST,
     .help = "of the medium"},
    {OPTION(viscosity), .kind = DJ_SETTING_REAL, .unit = "Pa s", .symbol = "V",
     .ways = DJ_BY_SCENE, .mujoco = true, .zero = true, .most = DJ_LARGEST,
     .help = "of the medium"},
    {OPTION(disable), .kind = DJ_SETTING_FLAGS, .choice = disableBits, .unit = "",
     .symbol = "NAMES", .ways = DJ_BY_SCENE, .mujoco = true,
     .help = "what is left out, as MuJoCo's flags"},
    {OPTION(tolerance), .kind = DJ_SETTING_REAL, .unit = "", .symbol = "T", .ways = BY_ALL,
     .standard = {1e-4}, .help = "relative, of Newton's method"},
    {OPTION(max_iterations), .kind = DJ_SETTING_WHOLE, .unit = "", .symbol = "N",
     .ways = BY_ALL, .standard = {100}, .help = "of Newton's method, per step"},
    {OPTION(impact_steps), .kind = DJ_SETTING_WHOLE, .unit = "", .symbol = "N", .zero = true,
     .ways = BY_ALL_OUTSIDE, .most = 1000, .standard = {32},
     .help = "most parts of a step in which bodies close fast, or that fails"},
    {OPTION(restitution), .kind = DJ_SETTING_CHOICE, .choice = restitutions, .unit = "",
     .symbol = "NAME", .ways = BY_ALL_OUTSIDE, .standard = {DJ_RESTITUTION_SOLREF},
     .help = "of impacts: as given, else by MuJoCo's solref"},
    {OPTION(frictionloss_eps), .kind = DJ_SETTING_REAL, .unit = "rad/s or m/s", .symbol = "V",
     .ways = BY_ALL, .least = DJ_SMALLEST, .most = DJ_LARGEST_FORCE, .standard = {1e-3},
     .help = "velocity below which friction loss of joints is viscous"},
    {OPTION(gravity_ramp), .kind = DJ_SETTING_REAL, .unit = "s", .symbol = "T",
     .ways = BY_FILES | DJ_BY_COMMAND, .zero = true,
     .help = "in simulate and compare, gravity rises from 0 over this time"},
    {OPTION(wrap_onset), .kind = DJ_SETTING_REAL, .unit = "", .symbol = "S",
     .ways = BY_ALL, .zero = true, .most = 1, .standard = {0.02},
     .help = "of what a tendon goes around, share of its radius over whose depth it begins to; 0: "
             "at once, as MuJoCo's"},
};


// Of all contact models; each has more.
static const djSetting contactRows[] = {
    {OPTION(contact), .kind = DJ_SETTING_CHOICE, .choice = dj_contactNames, .unit = "",
     .symbol = "MODEL",
     .ways = BY_ALL, .group = "contact", .standard = {DJ_SEPARATING_PLANE},
     .help = "contact model"},
    {OPTION(overlap), .kind = DJ_SETTING_CHOICE, .choice = overlaps, .unit = "",
     .symbol = "NAME", .ways = BY_ALL, .group = "contact", .standard = {DJ_OVERLAP_RECOVER},
     .help = "what to do with geoms that overlap at the start"},
    {OPTION(vertices), .kind = DJ_SETTING_CHOICE, .choice = vertices, .unit = "",
     .symbol = "NAME", .ways = BY_ALL, .group = "contact", .standard = {DJ_VERTICES_HULL},
     .help = "of a mesh, by which the separating plane acts"},
    {OPTION(friction), .kind = DJ_SETTING_CHOICE, .choice = frictions, .unit = "",
     .symbol = "NAME", .ways = BY_ALL_OUTSIDE, .group = "contact",
     .standard = {DJ_FRICTION_LAGGED},
     .help = "by plane and forces at the step's start, or its end"},
    {OPTION(softness), .kind = DJ_SETTING_CHOICE, .choice = softnesses, .unit = "",
     .symbol = "NAME", .ways = BY_ALL, .group = "contact", .standard = {DJ_SOFTNESS_HARD},
     .help = "contact begins where geoms touch, or as deep as MuJoCo's rests"},
    {OPTION(guide_backward_only), .kind = DJ_SETTING_CHOICE, .choice = dj_switch, .unit = "",
     .symbol = "true|false", .ways = BY_ALL_OUTSIDE, .group = "contact",
     .help = "a guide acts in derivatives alone, not in the run"},
    {OPTION(law), .kind = DJ_SETTING_CHOICE, .choice = dj_anyLaws, .unit = "", .symbol = "NAME",
     .ways = BY_ALL, .group = "contact", .standard = {DJ_LAW_AUTO},
     .help = "of force by depth, in models with several"},
    {OPTION_IN_FORCE(exponent), .kind = DJ_SETTING_REAL, .unit = "", .symbol = "P",
     .ways = BY_ALL, .group = "contact", .automatic = true, .least = 1, .most = 10,
     .rule = "the contact model's", .help = "of depth, in a contact model's law"},
    {OPTION_IN_FORCE(damping), .kind = DJ_SETTING_REAL, .unit = "s/m", .symbol = "C",
     .ways = BY_ALL, .group = "contact", .automatic = true, .zero = true, .most = DJ_LARGEST,
     .rule = "the contact model's", .help = "force grows by this times the speed of approach"},
    {OPTION_IN_FORCE(kn), .kind = DJ_SETTING_REAL, .unit = "N/m", .symbol = "K", .ways = BY_ALL,
     .group = "contact", .automatic = true, .most = DJ_LARGEST_FORCE, .rule = "the contact model's",
     .help = "normal force of a point of penalty contact by its depth"},
    {OPTION_IN_FORCE(kt), .kind = DJ_SETTING_REAL, .unit = "N s/m", .symbol = "K", .ways = BY_ALL,
     .group = "contact", .automatic = true, .zero = true, .most = DJ_LARGEST_FORCE,
     .rule = "the contact model's", .help = "friction of such a point that sticks by its velocity"},
    {OPTION_IN_FORCE(kd), .kind = DJ_SETTING_REAL, .unit = "N s/m2", .symbol = "K", .ways = BY_ALL,
     .group = "contact", .automatic = true, .zero = true, .most = DJ_LARGEST_FORCE,
     .rule = "the contact model's", .help = "its damping by depth and speed of approach"},
    {OPTION_IN_FORCE(scale), .kind = DJ_SETTING_REAL, .unit = "", .symbol = "S", .ways = BY_ALL,
     .group = "contact", .automatic = true, .zero = true, .most = DJ_LARGEST,
     .rule = "the contact model's", .help = "factor of kn, kt and kd"},
    {OPTION_IN_FORCE(sigma), .kind = DJ_SETTING_REAL, .unit = "N m", .symbol = "S", .ways = BY_ALL,
     .group = "contact", .automatic = true, .most = DJ_LARGEST_FORCE,
     .rule = "the contact model's",
     .help = "of damped contact: a point's force times its distance"},
    {OPTION_IN_FORCE(damping_time), .kind = DJ_SETTING_REAL, .unit = "s", .symbol = "T",
     .ways = BY_ALL, .group = "contact", .automatic = true, .zero = true, .most = DJ_LARGEST,
     .rule = "the contact model's",
     .help = "of damped contact: alpha times the timestep, in place of alpha"},
    {OPTION_IN_FORCE(alpha), .kind = DJ_SETTING_REAL, .unit = "", .symbol = "A", .ways = BY_ALL,
     .group = "contact", .automatic = true, .zero = true, .most = DJ_LARGEST,
     .rule = "the contact model's",
     .help = "of damped contact: steps ahead at the velocity of approach by which gaps are seen"},
    {OPTION(friction_law), .kind = DJ_SETTING_CHOICE, .choice = dj_pointFrictions, .unit = "",
     .symbol = "NAME", .ways = BY_ALL, .group = "contact",
     .help = "of friction at a point of damped contact"},
    {OPTION_IN_FORCE(sigma_t), .kind = DJ_SETTING_REAL, .unit = "W", .symbol = "S",
     .ways = BY_ALL, .group = "contact", .automatic = true, .most = DJ_LARGEST_FORCE,
     .rule = "the contact model's", .help = "of its perturbed friction: what sticking creeps with"},
    {OPTION_IN_FORCE(detect), .kind = DJ_SETTING_REAL, .unit = "m", .symbol = "D", .ways = BY_ALL,
     .group = "contact", .automatic = true, .most = DJ_LARGEST, .rule = "the contact model's",
     .help = "of damped contact: where the law log begins, and points are detected"},
    {OPTION_IN_FORCE(cut), .kind = DJ_SETTING_REAL, .unit = "N", .symbol = "F", .ways = BY_ALL,
     .group = "contact", .automatic = true, .zero = true, .most = DJ_LARGEST_FORCE,
     .rule = "the contact model's",
     .help = "of damped contact: balls of points with less force at each are left out"},
    {OPTION(invariant), .kind = DJ_SETTING_CHOICE, .choice = dj_switch, .unit = "",
     .symbol = "true|false", .ways = BY_ALL, .group = "contact", .standard = {1},
     .help = "of damped contact: false: only points that are detected at a step's start act"},
    {OPTION(coordinate_derivative), .kind = DJ_SETTING_CHOICE, .choice = dj_switch, .unit = "",
     .symbol = "true|false", .ways = BY_ALL, .group = "contact", .standard = {1},
     .help = "of damped contact: false: derivatives are those for fixed normals"},
    {OPTION(normal), .kind = DJ_SETTING_CHOICE, .choice = dj_dampedNormals, .unit = "",
     .symbol = "NAME", .ways = BY_ALL, .group = "contact", .standard = {1},
     .help = "of damped contact: the poses that normals are of"},
    {OPTION_IN_FORCE(triangles), .kind = DJ_SETTING_REAL, .unit = "", .symbol = "N",
     .ways = BY_ALL, .group = "contact", .automatic = true, .zero = true, .most = 1e5,
     .rule = "the contact model's",
     .help = "of geoms that are no meshes, at least, in contact between triangles; 0: by their types"},
};

#define COUNT(rows) ((int)(sizeof rows / sizeof rows[0]))
const djSettingTable dj_engineSettings = {COUNT(engineRows), engineRows};
const djSettingTable dj_contactSettings = {COUNT(contactRows), contactRows};
