#include "io/model_keys.h"

#include <dijoco/task.h>

const djNamed dj_integratorNames[] = {
    {"position", DJ_POSITION}, {"variational", DJ_VARIATIONAL}, {NULL, 0}};
const djNamed dj_contactNames[] = {
    {"none", DJ_CONTACT_NONE}, {"separating_plane", DJ_SEPARATING_PLANE}, {NULL, 0}};
const djNamed dj_overlapNames[] = {
    {"recover", DJ_OVERLAP_RECOVER}, {"error", DJ_OVERLAP_ERROR}, {NULL, 0}};

static const djNamed armsNames[] = {
    {"plane", DJ_ARMS_PLANE}, {"paper", DJ_ARMS_PAPER}, {NULL, 0}};
static const djNamed capNames[] = {
    {"magnitude", DJ_CAP_MAGNITUDE}, {"paper", DJ_CAP_PAPER}, {NULL, 0}};
static const djNamed disableNames[] = {{"contact", DJ_DSBL_CONTACT},
                                       {"limit", DJ_DSBL_LIMIT},
                                       {"frictionloss", DJ_DSBL_FRICTIONLOSS},
                                       {"spring", DJ_DSBL_SPRING},
                                       {"damper", DJ_DSBL_DAMPER},
                                       {"gravity", DJ_DSBL_GRAVITY},
                                       {"clampctrl", DJ_DSBL_CLAMPCTRL},
                                       {"filterparent", DJ_DSBL_FILTERPARENT},
                                       {"actuation", DJ_DSBL_ACTUATION},
                                       {NULL, 0}};
static const djNamed jointNames[] = {
    {"free", DJ_FREE}, {"ball", DJ_BALL}, {"slide", DJ_SLIDE}, {"hinge", DJ_HINGE}, {NULL, 0}};
static const djNamed geomNames[] = {
    {"plane", DJ_PLANE},         {"hfield", DJ_HFIELD},     {"sphere", DJ_SPHERE},
    {"capsule", DJ_CAPSULE},     {"ellipsoid", DJ_ELLIPSOID}, {"cylinder", DJ_CYLINDER},
    {"box", DJ_BOX},             {"mesh", DJ_MESH},         {NULL, 0}};
static const djNamed gainNames[] = {
    {"fixed", DJ_GAIN_FIXED}, {"affine", DJ_GAIN_AFFINE}, {NULL, 0}};
static const djNamed biasNames[] = {
    {"none", DJ_BIAS_NONE}, {"affine", DJ_BIAS_AFFINE}, {NULL, 0}};
static const djNamed dynNames[] = {{"none", DJ_DYN_NONE},
                                   {"integrator", DJ_DYN_INTEGRATOR},
                                   {"filter", DJ_DYN_FILTER},
                                   {"filterexact", DJ_DYN_FILTEREXACT},
                                   {NULL, 0}};

#define KEY(type, kind, field, count) {#field, kind, offsetof(type, field), count, NULL, false}
#define NAMED(type, key, field, names) {key, DJ_KEY_NAMED, offsetof(type, field), 1, names, false}
#define ALWAYS(type, key, kind, field, names) {key, kind, offsetof(type, field), 1, names, true}
#define END {NULL, DJ_KEY_INT, 0, 0, NULL, false}

#define REAL(field, count) KEY(djOption, DJ_KEY_REAL, field, count)
const djKeySpec dj_optionKeys[] = {
    REAL(timestep, 1),
    REAL(gravity, 3),
    REAL(wind, 3),
    REAL(density, 1),
    REAL(viscosity, 1),
    {"disable", DJ_KEY_FLAGS, offsetof(djOption, disable), 1, disableNames, false},
    NAMED(djOption, "integrator", integrator, dj_integratorNames),
    NAMED(djOption, "contact", contact, dj_contactNames),
    KEY(djOption, DJ_KEY_AUTO, support, 1),
    REAL(length_scale, 1),
    KEY(djOption, DJ_KEY_AUTO, stiffness, 1),
    KEY(djOption, DJ_KEY_AUTO, skin, 1),
    KEY(djOption, DJ_KEY_AUTO, friction_eps, 1),
    REAL(tolerance, 1),
    KEY(djOption, DJ_KEY_INT, max_iterations, 1),
    NAMED(djOption, "overlap", overlap, dj_overlapNames),
    NAMED(djOption, "friction_arms", friction_arms, armsNames),
    NAMED(djOption, "friction_cap", friction_cap, capNames),
    REAL(frictionloss_eps, 1),
    END,
};
#undef REAL

#define REAL(field, count) KEY(djBodyDef, DJ_KEY_REAL, field, count)
const djKeySpec dj_bodyKeys[] = {
    KEY(djBodyDef, DJ_KEY_TEXT, name, 1),
    KEY(djBodyDef, DJ_KEY_BODY, parent, 1),
    REAL(pos, 3),
    REAL(quat, 4),
    REAL(ipos, 3),
    REAL(iquat, 4),
    REAL(mass, 1),
    REAL(inertia, 3),
    REAL(gravcomp, 1),
    KEY(djBodyDef, DJ_KEY_BOOL, mocap, 1),
    END,
};
#undef REAL

#define REAL(field, count) KEY(djJointDef, DJ_KEY_REAL, field, count)
const djKeySpec dj_jointKeys[] = {
    KEY(djJointDef, DJ_KEY_TEXT, name, 1),
    ALWAYS(djJointDef, "type", DJ_KEY_NAMED, type, jointNames),
    ALWAYS(djJointDef, "body", DJ_KEY_BODY, body, NULL),
    REAL(pos, 3),
    REAL(axis, 3),
    KEY(djJointDef, DJ_KEY_COORD, qpos0, 1),
    KEY(djJointDef, DJ_KEY_COORD, springref, 1),
    REAL(stiffness, 1),
    REAL(stiffnesspoly, 2),
    REAL(damping, 1),
    REAL(dampingpoly, 2),
    REAL(armature, 1),
    REAL(frictionloss, 1),
    KEY(djJointDef, DJ_KEY_BOOL, limited, 1),
    REAL(range, 2),
    REAL(margin, 1),
    REAL(limit_stiffness, 1),
    REAL(limit_damping, 1),
    KEY(djJointDef, DJ_KEY_BOOL, actfrclimited, 1),
    REAL(actfrcrange, 2),
    END,
};
#undef REAL

#define REAL(field, count) KEY(djGeomDef, DJ_KEY_REAL, field, count)
const djKeySpec dj_geomKeys[] = {
    KEY(djGeomDef, DJ_KEY_TEXT, name, 1),
    ALWAYS(djGeomDef, "type", DJ_KEY_NAMED, type, geomNames),
    ALWAYS(djGeomDef, "body", DJ_KEY_BODY, body, NULL),
    REAL(size, 3),
    REAL(pos, 3),
    REAL(quat, 4),
    KEY(djGeomDef, DJ_KEY_MESH, mesh, 1),
    KEY(djGeomDef, DJ_KEY_INT, contype, 1),
    KEY(djGeomDef, DJ_KEY_INT, conaffinity, 1),
    KEY(djGeomDef, DJ_KEY_INT, condim, 1),
    KEY(djGeomDef, DJ_KEY_INT, priority, 1),
    REAL(friction, 3),
    REAL(margin, 1),
    REAL(gap, 1),
    END,
};
#undef REAL

const djKeySpec dj_siteKeys[] = {
    KEY(djSiteDef, DJ_KEY_TEXT, name, 1),
    ALWAYS(djSiteDef, "body", DJ_KEY_BODY, body, NULL),
    KEY(djSiteDef, DJ_KEY_REAL, pos, 3),
    KEY(djSiteDef, DJ_KEY_REAL, quat, 4),
    END,
};

#define REAL(field, count) KEY(djActuatorDef, DJ_KEY_REAL, field, count)
const djKeySpec dj_actuatorKeys[] = {
    KEY(djActuatorDef, DJ_KEY_TEXT, name, 1),
    ALWAYS(djActuatorDef, "joint", DJ_KEY_JOINT, joint, NULL),
    KEY(djActuatorDef, DJ_KEY_BOOL, in_parent, 1),
    REAL(gear, 6),
    NAMED(djActuatorDef, "gain", gain, gainNames),
    REAL(gainprm, 3),
    NAMED(djActuatorDef, "bias", bias, biasNames),
    REAL(biasprm, 3),
    NAMED(djActuatorDef, "dyn", dyn, dynNames),
    REAL(tau, 1),
    KEY(djActuatorDef, DJ_KEY_BOOL, actearly, 1),
    KEY(djActuatorDef, DJ_KEY_BOOL, ctrllimited, 1),
    KEY(djActuatorDef, DJ_KEY_BOOL, forcelimited, 1),
    KEY(djActuatorDef, DJ_KEY_BOOL, actlimited, 1),
    REAL(ctrlrange, 2),
    REAL(forcerange, 2),
    REAL(actrange, 2),
    REAL(armature, 1),
    REAL(damping, 1),
    REAL(dampingpoly, 2),
    END,
};
#undef REAL

const djKeySpec dj_pairKeys[] = {
    KEY(djPairDef, DJ_KEY_TEXT, name, 1),
    ALWAYS(djPairDef, "geom1", DJ_KEY_GEOM, geom1, NULL),
    ALWAYS(djPairDef, "geom2", DJ_KEY_GEOM, geom2, NULL),
    KEY(djPairDef, DJ_KEY_INT, condim, 1),
    KEY(djPairDef, DJ_KEY_REAL, friction, 1),
    KEY(djPairDef, DJ_KEY_REAL, margin, 1),
    KEY(djPairDef, DJ_KEY_REAL, gap, 1),
    END,
};

const djKeySpec dj_excludeKeys[] = {
    ALWAYS(djExcludeDef, "body1", DJ_KEY_BODY, body1, NULL),
    ALWAYS(djExcludeDef, "body2", DJ_KEY_BODY, body2, NULL),
    END,
};

djSiteDef dj_siteDefault(void) { return (djSiteDef){.quat = {1, 0, 0, 0}}; }

djPairDef dj_pairDefault(void) { return (djPairDef){.condim = 3, .friction = 1}; }

const char* dj_contactName(djContactModel contact) {
  return dj_nameOf(dj_contactNames, (int)contact);
}
const char* dj_integratorName(djIntegrator integrator) {
  return dj_nameOf(dj_integratorNames, (int)integrator);
}
const char* dj_overlapName(djOverlap overlap) { return dj_nameOf(dj_overlapNames, (int)overlap); }
