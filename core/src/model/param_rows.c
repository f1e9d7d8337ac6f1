// The table of parameters: one row each.

#include "model/kernel_setting.h"
#include "model/param_row.h"

#define OF(object_, kind_, name_, array)                                                \
  .entry.name = kind_ "/N/" name_, .object = object_, .kind = kind_, .name = name_,     \
  .offset = offsetof(djModel, array)
#define BODY(name) OF(DJ_OBJ_BODY, "body", #name, body_##name)
#define JOINT(name) OF(DJ_OBJ_JOINT, "joint", #name, jnt_##name)
#define GEOM(name) OF(DJ_OBJ_GEOM, "geom", #name, geom_##name)
#define TENDON(name) OF(DJ_OBJ_TENDON, "tendon", #name, tendon_##name)
#define EQUALITY(name) OF(DJ_OBJ_EQUALITY, "equality", #name, eq_##name)
#define FLEX(name) OF(DJ_OBJ_FLEX, "flex", #name, flex_##name), BY(LAW)
#define ACTUATOR(name) OF(DJ_OBJ_ACTUATOR, "actuator", #name, actuator_##name)
#define OF_MODEL(kind_, name_, place)                                                   \
  .entry.name = kind_ "/" #name_, .object = DJ_NOBJ, .kind = kind_, .name = #name_,     \
  .offset = offsetof(djModel, place)
// How many numbers, and entries of a derivative.
#define NUMBERS(n) .nvalue = n, .ntangent = n
#define TURN .nvalue = 4, .ntangent = 3, .rule = RULE_QUAT, .mirror = DJ_MIRROR_QUAT
#define PLACE NUMBERS(3), .mirror = DJ_MIRROR_PLACES, .entry.unit = "m"
#define BY(what) .changes = DJ_BY_##what
#define SAY(unit_, help_) .entry.unit = unit_, .entry.help = help_
#define HELP(help_) .entry.help = help_
#define BOUNCE "coefficient of restitution, 0 to 1; what MuJoCo's solref gives until it is set"

const djFieldRow dj_paramRows[DJ_NFIELD] = {
    [DJ_FIELD_BODY_POS] = {BODY(pos), BY(POS), PLACE, HELP("place of its frame in the parent's")},
    [DJ_FIELD_BODY_QUAT] = {BODY(quat), BY(QUAT), TURN,
                            SAY("", "turn of its frame in the parent's")},
    [DJ_FIELD_BODY_MASS] = {BODY(mass), BY(INERTIA), NUMBERS(1), .rule = RULE_MASS, .force = true,
                            SAY("kg", "mass")},
    [DJ_FIELD_BODY_IPOS] = {BODY(ipos), BY(INERTIA), PLACE, HELP("centre of mass in its frame")},
    [DJ_FIELD_BODY_IQUAT] = {BODY(iquat), BY(INERTIA), TURN,
                             SAY("", "turn of the principal axes in its frame")},
    [DJ_FIELD_BODY_INERTIA] = {BODY(inertia), BY(INERTIA), NUMBERS(3), .rule = RULE_INERTIA,
                               .force = true,
                               SAY("kg m2", "principal moments of inertia")},
    [DJ_FIELD_BODY_GRAVCOMP] = {BODY(gravcomp), BY(INERTIA), NUMBERS(1),
                                SAY("", "part of its weight that is held")},
    [DJ_FIELD_JOINT_POS] = {JOINT(pos), BY(ANCHOR), PLACE, HELP("anchor in the body's frame")},
    [DJ_FIELD_JOINT_AXIS] = {JOINT(axis), BY(AXIS), NUMBERS(3), .rule = RULE_AXIS,
                             .mirror = DJ_MIRROR_AXIS, SAY("", "axis in the body's frame")},
    [DJ_FIELD_JOINT_DAMPING] = {JOINT(damping), BY(LAW), NUMBERS(1), .rule = RULE_NONNEGATIVE,
                                .force = true, SAY("N s/m or N m s/rad", "of each dof")},
    [DJ_FIELD_JOINT_STIFFNESS] = {JOINT(stiffness), BY(LAW), NUMBERS(1), .rule = RULE_NONNEGATIVE,
                                  .force = true, SAY("N/m or N m/rad", "of its spring")},
    [DJ_FIELD_JOINT_SPRINGREF] = {OF(DJ_OBJ_JOINT, "joint", "springref", qpos_spring), BY(LAW),
                                  .rule = RULE_COORDINATES, .mirror = DJ_MIRROR_NUMBER,
                                  SAY("m or rad", "coordinates at which its spring rests")},
    [DJ_FIELD_JOINT_ARMATURE] = {JOINT(armature), BY(LAW), NUMBERS(1), .rule = RULE_NONNEGATIVE,
                                 .force = true,
                                 SAY("kg or kg m2", "inertia of each dof beside the bodies'")},
    [DJ_FIELD_JOINT_FRICTIONLOSS] = {JOINT(frictionloss), BY(LAW), NUMBERS(1),
                                     .rule = RULE_NONNEGATIVE, .force = true,
                                     SAY("N or N m", "dry friction of each dof")},
    [DJ_FIELD_JOINT_RANGE] = {JOINT(range), BY(LAW), NUMBERS(2), .rule = RULE_RANGE,
                              SAY("m or rad", "its limits")},
    [DJ_FIELD_GEOM_POS] = {GEOM(pos), BY(SHAPE), PLACE, .shapes = true,
                           HELP("place in the body's frame")},
    [DJ_FIELD_GEOM_QUAT] = {GEOM(quat), BY(SHAPE), TURN, .shapes = true,
                            SAY("", "turn in the body's frame")},
    [DJ_FIELD_GEOM_SIZE] = {GEOM(size), BY(SHAPE), NUMBERS(3), .rule = RULE_SIZE, .shapes = true,
                            SAY("m", "sizes, as MuJoCo's")},
    [DJ_FIELD_GEOM_FRICTION] = {GEOM(friction), BY(COEFFICIENT), NUMBERS(3),
                                .rule = RULE_NONNEGATIVE,
                                SAY("", "of sliding (1), torsion and rolling (m)")},
    [DJ_FIELD_GEOM_RESTITUTION] = {GEOM(restitution), BY(COEFFICIENT), NUMBERS(1),
                                   .rule = RULE_BOUNCE,
                                   SAY("", BOUNCE)},
    [DJ_FIELD_GEOM_SHARPNESS] = {GEOM(sharpness), BY(SHAPE), NUMBERS(1), .rule = RULE_SHARPNESS,
                                 .shapes = true,
                                 SAY("", "beta or n of its implicit surface, at least 1")},
    [DJ_FIELD_GEOM_SURFACE] = {OF(DJ_OBJ_GEOM, "geom", "surface", surface_number), BY(SHAPE),
                               .shapes = true,
                               .mirror = DJ_MIRROR_NONE,
                               SAY("m", "numbers of its implicit surface where one is given, but "
                                        "for the sharpness")},
    [DJ_FIELD_GEOM_POINTS] = {OF(DJ_OBJ_GEOM, "geom", "points", point_pos), BY(SHAPE),
                              .shapes = true,
                              .mirror = DJ_MIRROR_PLACES,
                              SAY("m", "points of penalty contact where they are given, in the "
                                       "geom's frame")},
    [DJ_FIELD_GEOM_CONTACT_SCALE] = {GEOM(contact_scale), BY(SHAPE), NUMBERS(1),
                                     .rule = RULE_NONNEGATIVE, .shapes = true,
                                     SAY("", "factor of kn, kt and kd of its points")},
    [DJ_FIELD_PAIR_FRICTION] = {OF(DJ_OBJ_PAIR, "pair", "friction", pair_friction), BY(COEFFICIENT),
                                NUMBERS(1), .rule = RULE_NONNEGATIVE,
                                SAY("", "coefficient of sliding")},
    [DJ_FIELD_PAIR_FRICTION2] = {OF(DJ_OBJ_PAIR, "pair", "friction2", pair_friction2),
                                 BY(COEFFICIENT),
                                 NUMBERS(1), .rule = RULE_NONNEGATIVE,
                                 SAY("", "along the second tangent; 0: as along the first")},
    [DJ_FIELD_PAIR_TORSION] = {OF(DJ_OBJ_PAIR, "pair", "torsion", pair_torsion), BY(COEFFICIENT),
                               NUMBERS(1), .rule = RULE_NONNEGATIVE,
                               SAY("m", "coefficient of turning about the normal")},
    [DJ_FIELD_PAIR_ROLLING] = {OF(DJ_OBJ_PAIR, "pair", "rolling", pair_rolling), BY(COEFFICIENT),
                               NUMBERS(2), .rule = RULE_NONNEGATIVE,
                               SAY("m", "coefficients of rolling, about the tangents")},
    [DJ_FIELD_PAIR_RESTITUTION] = {OF(DJ_OBJ_PAIR, "pair", "restitution", pair_restitution),
                                   BY(COEFFICIENT), NUMBERS(1), .rule = RULE_BOUNCE, SAY("", BOUNCE)},
    [DJ_FIELD_MESH_VERT] = {OF(DJ_OBJ_MESH, "mesh", "vert", mesh_vert), BY(SHAPE), .shapes = true,
                            .mirror = DJ_MIRROR_PLACES,
                            SAY("m", "vertices in the compiled mesh's frame")},
    [DJ_FIELD_HFIELD_HEIGHTS] = {OF(DJ_OBJ_HFIELD, "hfield", "heights", hfield_height), BY(SHAPE),
                                 .shapes = true, .mirror = DJ_MIRROR_NONE,
                                 SAY("m", "above the z = 0 of its geom, row by row, from the lowest "
                                          "y and x on")},
    [DJ_FIELD_SITE_POS] = {OF(DJ_OBJ_SITE, "site", "pos", site_pos), BY(SITE), PLACE,
                           HELP("place in the body's frame")},
    [DJ_FIELD_TENDON_STIFFNESS] = {TENDON(stiffness), BY(LAW), NUMBERS(1), .rule = RULE_NONNEGATIVE,
                                   .force = true, SAY("N/m", "of its spring")},
    [DJ_FIELD_TENDON_DAMPING] = {TENDON(damping), BY(LAW), NUMBERS(1), .rule = RULE_NONNEGATIVE,
                                 .force = true, SAY("N s/m", "of its length's rate")},
    [DJ_FIELD_TENDON_SPRINGLENGTH] = {OF(DJ_OBJ_TENDON, "tendon", "springlength",
                                         tendon_lengthspring), BY(LAW),
                                      NUMBERS(2), .rule = RULE_LENGTHS,
                                      SAY("m", "lengths between which its spring rests")},
    [DJ_FIELD_TENDON_FRICTIONLOSS] = {TENDON(frictionloss), BY(LAW), NUMBERS(1),
                                      .rule = RULE_NONNEGATIVE, .force = true,
                                      SAY("N", "dry friction of its length")},
    [DJ_FIELD_TENDON_RANGE] = {TENDON(range), BY(LAW), NUMBERS(2), .rule = RULE_RANGE,
                               SAY("m", "limits of its length")},
    [DJ_FIELD_ACTUATOR_GAINPRM] = {ACTUATOR(gainprm), BY(LAW), NUMBERS(DJ_NPRM), .force = true,
                                   SAY("", "gain: constant, by length, by velocity; a muscle's 9, a "
                                          "dcmotor's 8")},
    [DJ_FIELD_ACTUATOR_BIASPRM] = {ACTUATOR(biasprm), BY(LAW), NUMBERS(DJ_NPRM), .force = true,
                                   SAY("", "bias: constant, by length, by velocity; a muscle's 9, a "
                                          "dcmotor's 6")},
    [DJ_FIELD_ACTUATOR_MOTORPRM] = {ACTUATOR(motorprm), BY(LAW), NUMBERS(DJ_NMOTORPRM),
                                    .rule = RULE_MOTOR, .force = true,
                                    SAY("", "of a dcmotor: current's time constant and limit of "
                                            "its rate, thermal resistance and capacity, ambient "
                                            "temperature, stiffness and damping of bristles")},
    [DJ_FIELD_ACTUATOR_GEAR] = {ACTUATOR(gear), BY(LAW), NUMBERS(6), .mirror = DJ_MIRROR_NONE,
                                SAY("", "what its force is multiplied by")},
    [DJ_FIELD_EQUALITY_POLYCOEF] = {EQUALITY(polycoef), BY(LAW), NUMBERS(5),
                                    .mirror = DJ_MIRROR_NONE,
                                    SAY("m or rad", "coefficients of joints or tendons")},
    [DJ_FIELD_EQUALITY_ANCHOR] = {EQUALITY(anchor), BY(SITE), NUMBERS(6), .mirror = DJ_MIRROR_NONE,
                                  SAY("m", "points of two bodies in their frames, where these are "
                                           "given")},
    [DJ_FIELD_FLEX_YOUNG] = {FLEX(young), NUMBERS(1), .rule = RULE_FLEX, .force = true,
                             SAY("N/m2", "Young's modulus, of dim 2 and 3")},
    [DJ_FIELD_FLEX_POISSON] = {FLEX(poisson), NUMBERS(1), .rule = RULE_FLEX,
                               SAY("", "Poisson's ratio, from 0 to below 1/2")},
    [DJ_FIELD_FLEX_THICKNESS] = {FLEX(thickness), NUMBERS(1), .rule = RULE_FLEX,
                                 SAY("m", "of cloth, as young sees it")},
    [DJ_FIELD_FLEX_DAMPING] = {FLEX(damping), NUMBERS(1), .rule = RULE_FLEX,
                               SAY("s", "of what young gives")},
    [DJ_FIELD_FLEX_EDGESTIFFNESS] = {FLEX(edgestiffness), NUMBERS(1), .rule = RULE_FLEX,
                                     .force = true, SAY("N/m", "of edges, of dim 1")},
    [DJ_FIELD_FLEX_VERT] = {OF(DJ_OBJ_FLEX, "flex", "vert", flexvert_rest), BY(LAW),
                            .rule = RULE_REST, .mirror = DJ_MIRROR_PLACES,
                            SAY("m", "vertices of the shape at rest, in a frame of its own")},
    [DJ_FIELD_GRAVITY] = {OF_MODEL("option", gravity, opt.gravity), BY(INERTIA), NUMBERS(3),
                          .mirror = DJ_MIRROR_PLACES, SAY("m/s2", "acceleration of gravity")},
    [DJ_FIELD_SETTING] = {BY(SHAPE), .object = DJ_NOBJ, .kind = "contact", .name = "", NUMBERS(1),
                          .offset = offsetof(djModel, kernel_setting), .rule = RULE_SETTING},
};

// Settings of kernels come last, each with its own entry.
const djEntry* dj_parameterEntry(int i) {
  if (i < 0) return NULL;
  if (i < DJ_FIELD_SETTING) return &dj_paramRows[i].entry;
  return dj_settingEntry(dj_settingParam(i - DJ_FIELD_SETTING));
}
