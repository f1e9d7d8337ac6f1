#include "io/model_keys.h"

#include "model/activation.h"
#include "model/equality.h"
#include "model/flex.h"
#include "model/force_law.h"
#include "model/geom_row.h"
#include "model/joint_type.h"

#define KEY(type, kind, field, count) {#field, kind, offsetof(type, field), count, NULL, false}
#define NAMED(type, key, field, names) {key, DJ_KEY_NAMED, offsetof(type, field), 1, names, false}
#define ALWAYS(type, key, kind, field, names) {key, kind, offsetof(type, field), 1, names, true}
#define END {NULL, DJ_KEY_INT, 0, 0, NULL, false}

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
    ALWAYS(djJointDef, "type", DJ_KEY_NAMED, type, dj_jointNames),
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
    REAL(limit_impedance, 5),
    REAL(frictionloss_damping, 1),
    REAL(frictionloss_impedance, 1),
    KEY(djJointDef, DJ_KEY_BOOL, actfrclimited, 1),
    REAL(actfrcrange, 2),
    KEY(djJointDef, DJ_KEY_BOOL, actgravcomp, 1),
    END,
};
#undef REAL

#define REAL(field, count) KEY(djGeomDef, DJ_KEY_REAL, field, count)
const djKeySpec dj_geomKeys[] = {
    KEY(djGeomDef, DJ_KEY_TEXT, name, 1),
    ALWAYS(djGeomDef, "type", DJ_KEY_NAMED, type, dj_geomNames),
    ALWAYS(djGeomDef, "body", DJ_KEY_BODY, body, NULL),
    REAL(size, 3),
    REAL(pos, 3),
    REAL(quat, 4),
    KEY(djGeomDef, DJ_KEY_MESH, mesh, 1),
    KEY(djGeomDef, DJ_KEY_HFIELD, hfield, 1),
    KEY(djGeomDef, DJ_KEY_INT, contype, 1),
    KEY(djGeomDef, DJ_KEY_INT, conaffinity, 1),
    KEY(djGeomDef, DJ_KEY_INT, condim, 1),
    KEY(djGeomDef, DJ_KEY_INT, priority, 1),
    REAL(friction, 3),
    REAL(restitution, 1),
    REAL(solref_restitution, 1),
    REAL(margin, 1),
    REAL(gap, 1),
    REAL(soft_depth, 1),
    KEY(djGeomDef, DJ_KEY_TEXT, contact, 1),
    REAL(sharpness, 1),
    KEY(djGeomDef, DJ_KEY_INT, point_count, 1),
    KEY(djGeomDef, DJ_KEY_INT, field, 1),
    REAL(contact_scale, 1),
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

// Beside `joints` and `coef`, or `path`.
#define REAL(field, count) KEY(djTendonDef, DJ_KEY_REAL, field, count)
const djKeySpec dj_tendonKeys[] = {
    KEY(djTendonDef, DJ_KEY_TEXT, name, 1),
    REAL(springlength, 2),
    REAL(stiffness, 1),
    REAL(stiffnesspoly, 2),
    REAL(damping, 1),
    REAL(dampingpoly, 2),
    REAL(frictionloss, 1),
    REAL(armature, 1),
    KEY(djTendonDef, DJ_KEY_BOOL, limited, 1),
    REAL(range, 2),
    REAL(margin, 1),
    REAL(limit_stiffness, 1),
    REAL(limit_damping, 1),
    REAL(limit_impedance, 5),
    REAL(frictionloss_damping, 1),
    REAL(frictionloss_impedance, 1),
    KEY(djTendonDef, DJ_KEY_BOOL, actfrclimited, 1),
    REAL(actfrcrange, 2),
    END,
};
#undef REAL

#define REAL(field, count) KEY(djActuatorDef, DJ_KEY_REAL, field, count)
const djKeySpec dj_actuatorKeys[] = {
    KEY(djActuatorDef, DJ_KEY_TEXT, name, 1),
    KEY(djActuatorDef, DJ_KEY_JOINT, joint, 1),
    KEY(djActuatorDef, DJ_KEY_TENDON, tendon, 1),
    KEY(djActuatorDef, DJ_KEY_SITE, site, 1),
    KEY(djActuatorDef, DJ_KEY_SITE, refsite, 1),
    KEY(djActuatorDef, DJ_KEY_SITE, cranksite, 1),
    KEY(djActuatorDef, DJ_KEY_SITE, slidersite, 1),
    REAL(cranklength, 1),
    KEY(djActuatorDef, DJ_KEY_BODY, body, 1),
    KEY(djActuatorDef, DJ_KEY_INT, adds_to, 1),
    KEY(djActuatorDef, DJ_KEY_BOOL, in_parent, 1),
    REAL(gear, 6),
    NAMED(djActuatorDef, "gain", gain, dj_gainNames),
    KEY(djActuatorDef, DJ_KEY_REALS, gainprm, DJ_NPRM),
    NAMED(djActuatorDef, "bias", bias, dj_biasNames),
    KEY(djActuatorDef, DJ_KEY_REALS, biasprm, DJ_NPRM),
    REAL(lengthrange, 2),
    REAL(acc0, 1),
    NAMED(djActuatorDef, "dyn", dyn, dj_dynNames),
    REAL(tau, 1),
    REAL(tau_deactivation, 1),
    REAL(tau_smooth, 1),
    REAL(integral, 1),
    REAL(integral_limit, 1),
    KEY(djActuatorDef, DJ_KEY_BOOL, integral_clipped, 1),
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
    KEY(djPairDef, DJ_KEY_REAL, friction2, 1),
    KEY(djPairDef, DJ_KEY_REAL, torsion, 1),
    KEY(djPairDef, DJ_KEY_REAL, rolling, 2),
    KEY(djPairDef, DJ_KEY_REAL, restitution, 1),
    KEY(djPairDef, DJ_KEY_REAL, solref_restitution, 1),
    KEY(djPairDef, DJ_KEY_REAL, margin, 1),
    KEY(djPairDef, DJ_KEY_REAL, gap, 1),
    KEY(djPairDef, DJ_KEY_REAL, soft_depth, 1),
    KEY(djPairDef, DJ_KEY_TEXT, contact, 1),
    END,
};

const djKeySpec dj_excludeKeys[] = {
    ALWAYS(djExcludeDef, "body1", DJ_KEY_BODY, body1, NULL),
    ALWAYS(djExcludeDef, "body2", DJ_KEY_BODY, body2, NULL),
    END,
};

#define REAL(field, count) KEY(djEqualityDef, DJ_KEY_REAL, field, count)
const djKeySpec dj_equalityKeys[] = {
    KEY(djEqualityDef, DJ_KEY_TEXT, name, 1),
    ALWAYS(djEqualityDef, "type", DJ_KEY_NAMED, type, dj_equalityNames),
    KEY(djEqualityDef, DJ_KEY_BOOL, active, 1),
    KEY(djEqualityDef, DJ_KEY_JOINT, joint1, 1),
    KEY(djEqualityDef, DJ_KEY_JOINT, joint2, 1),
    KEY(djEqualityDef, DJ_KEY_TENDON, tendon1, 1),
    KEY(djEqualityDef, DJ_KEY_TENDON, tendon2, 1),
    KEY(djEqualityDef, DJ_KEY_BODY, body1, 1),
    KEY(djEqualityDef, DJ_KEY_BODY, body2, 1),
    KEY(djEqualityDef, DJ_KEY_SITE, site1, 1),
    KEY(djEqualityDef, DJ_KEY_SITE, site2, 1),
    REAL(polycoef, 5),
    REAL(anchor1, 3),
    REAL(anchor2, 3),
    REAL(quat, 4),
    REAL(torquescale, 1),
    REAL(stiffness, 1),
    REAL(damping, 1),
    REAL(impedance, 5),
    END,
};
#undef REAL

// Beside `bodies`, `pos`, `vert` and `elements`.
#define REAL(field) KEY(djFlexDef, DJ_KEY_REAL, field, 1)
const djKeySpec dj_flexKeys[] = {
    KEY(djFlexDef, DJ_KEY_TEXT, name, 1),
    ALWAYS(djFlexDef, "dim", DJ_KEY_INT, dim, NULL),
    NAMED(djFlexDef, "elastic2d", elastic2d, dj_elastic2dNames),
    REAL(young),
    REAL(poisson),
    REAL(thickness),
    REAL(damping),
    REAL(edgestiffness),
    REAL(edgedamping),
    REAL(radius),
    END,
};
#undef REAL

djSiteDef dj_siteDefault(void) { return (djSiteDef){.quat = {1, 0, 0, 0}}; }

djPairDef dj_pairDefault(void) { return (djPairDef){.condim = 3, .friction = 1}; }
