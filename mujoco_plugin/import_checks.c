// The table: what is approximated or ignored.
//
// Every field of mjModel is in one of four groups:
// - carried by import_*.c: exact, unless a row below says otherwise;
// - in a row below;
// - derived from others by MuJoCo's compiler (body_weldid, dof_invweight0, *_length0, acc0,
//   lengthrange, bounding volumes, sparse structures, names_map, stat...), or a size;
// - without effect on motion: vis, cameras, lights, skins, textures, materials, rgba, groups, user
//   data, sensors (delays and history of sensors too), tuples, magnetic field; opt.jacobian,
//   solver, iterations, tolerances, ccd, sdf: they steer MuJoCo's solver; flags warmstart, sensor,
//   midphase, autoreset, nativeccd, multiccd, island, energy, fwdinv, invdiscrete, diagexact, ipc
//   (flexes only); refsafe enters the softness.
// opt.o_* (flag override) replaces margin and friction of all contacts: carried.
// geom_gap, pair_gap only list contacts without force, except under adhesion: see there.

#include "import_checks.h"

#define CLIP_NOTE \
  "the clip is rounded within 1 % of the range of each bound, by at most 0.19 % of the range"
#define INPUT_NOTE \
  "exact within the range and from 1 % of it outside on; between up to 0.2 % of it beyond the bound"

static const djmCheck checks[] = {
    // ---- options
    {DJM_OPTION, "contact", DJ_APPROXIMATED, djm_optContactOff,
     "contact is disabled, and the extension dijoco.contact has no instance: bodies pass through "
     "each other (<plugin plugin=\"dijoco.contact\"><instance name=\"dj\"/></plugin>)"},
    {DJM_OPTION, "integrator", DJ_APPROXIMATED, djm_optIntegrator, 0},
    {DJM_OPTION, "eulerdamp", DJ_APPROXIMATED, djm_optEulerDamp,
     "damping is integrated implicitly, not explicitly: velocities differ by O(h damping/inertia)"},
    {DJM_OPTION, "cone", DJ_APPROXIMATED, djm_optCone, 0},
    {DJM_OPTION, "o_friction", DJ_APPROXIMATED, djm_optFriction, 0},
    {DJM_OPTION, "impratio", DJ_APPROXIMATED, djm_optImpratio,
     "MuJoCo's slip of sticking contacts depends on impratio; here they creep at friction_eps^1/2 "
     "p/sqrt(1-p^2), p being the demand over the friction limit"},
    {DJM_OPTION, "noslip_iterations", DJ_APPROXIMATED, djm_optNoslip,
     "MuJoCo's correction of slip has no counterpart; here sticking contacts creep at "
     "friction_eps^1/2 p/sqrt(1-p^2), p being the demand over the friction limit"},
    {DJM_OPTION, "sleep", DJ_IGNORED, djm_optSleep, "nothing falls asleep here"},
    {DJM_OPTION, "speculative", DJ_IGNORED, djm_optSpeculative,
     "no forces act before contact; fast bodies are stopped by the limit of approach instead"},

    // ---- joints (damping, stiffness, armature, springref, gravcomp, margin: exact)
    {DJM_JOINT, "range", DJ_APPROXIMATED, djm_jntRange, 0},
    {DJM_JOINT, "frictionloss", DJ_APPROXIMATED, djm_jntFrictionloss, 0},
    {DJM_JOINT, "frictionloss", DJ_IGNORED, djm_jntFrictionlossDofs,
     "differs between the joint's dofs; the first one's is used for all"},
    {DJM_JOINT, "damping", DJ_IGNORED, djm_jntDampingDofs,
     "differs between the joint's dofs; the first one's is used for all"},
    {DJM_JOINT, "armature", DJ_IGNORED, djm_jntArmatureDofs,
     "differs between the joint's dofs; the first one's is used for all"},
    {DJM_JOINT, "actuatorfrcrange", DJ_APPROXIMATED, djm_jntActfrcrange,
     CLIP_NOTE},
    {DJM_JOINT, "actuatorgravcomp", DJ_IGNORED, djm_jntActgravcomp, 0},
    {DJM_JOINT, "springyield", DJ_IGNORED, djm_jntSpringyield,
     "plastic spring: the rest position stays at springref"},

    // ---- geoms and contact pairs
    {DJM_GEOM, "type", DJ_IGNORED, djm_geomType, 0},
    {DJM_GEOM, "type", DJ_APPROXIMATED, djm_geomCurve, 0},
    {DJM_GEOM, "hfield", DJ_APPROXIMATED, djm_geomHfield, 0},
    {DJM_GEOM, "mesh", DJ_APPROXIMATED, djm_geomHull, 0},
    {DJM_GEOM, "surface", DJ_APPROXIMATED, djm_geomSurface, 0},
    {DJM_GEOM, "solref", DJ_APPROXIMATED, djm_geomSoftness, 0},
    {DJM_GEOM, "solimp", DJ_APPROXIMATED, djm_geomRebound, 0},
    {DJM_GEOM, "condim", DJ_APPROXIMATED, djm_geomCondim, 0},
    {DJM_GEOM, "surfacevel", DJ_IGNORED, djm_geomSurfacevel, "the surface is at rest on its body"},
    {DJM_GEOM, "adhesion", DJ_IGNORED, djm_geomAdhesion, "contacts do not adhere"},
    {DJM_GEOM, "fluidshape", DJ_IGNORED, djm_geomFluid,
     "ellipsoid fluid model: its body has the drag of its inertia box instead"},
    {DJM_PAIR, "solref", DJ_APPROXIMATED, djm_pairSoftness, 0},
    {DJM_PAIR, "solimp", DJ_APPROXIMATED, djm_pairRebound, 0},
    {DJM_PAIR, "condim", DJ_APPROXIMATED, djm_pairCondim, 0},
    {DJM_PAIR, "friction", DJ_APPROXIMATED, djm_pairFriction, 0},
    {DJM_PAIR, "solreffriction", DJ_APPROXIMATED, djm_pairSolreffriction,
     "MuJoCo's friction of its own softness is replaced by creep, as solref's is"},
    {DJM_PAIR, "adhesion", DJ_IGNORED, djm_pairAdhesion, "contacts do not adhere"},

    // ---- equality constraints, by type
    {DJM_EQUALITY, "connect", DJ_IGNORED, djm_eqConnect, "the bodies are not connected"},
    {DJM_EQUALITY, "weld", DJ_IGNORED, djm_eqWeld, "the bodies are not welded"},
    {DJM_EQUALITY, "contact", DJ_APPROXIMATED, djm_eqTied, 0},
    {DJM_EQUALITY, "joint", DJ_IGNORED, djm_eqJoint, "the joints are not coupled"},
    {DJM_EQUALITY, "tendon", DJ_IGNORED, djm_eqTendon, "the tendons are not coupled"},
    {DJM_EQUALITY, "flex", DJ_IGNORED, djm_eqFlex, "the flex is not constrained"},

    // ---- tendons (stiffness, damping, armature: exact; actuators on them: see actuators)
    {DJM_TENDON, "geom", DJ_APPROXIMATED, djm_tenWrap, 0},
    {DJM_TENDON, "armature", DJ_APPROXIMATED, djm_tenFork,
     "it couples the inertia of joints of which none carries the other: MuJoCo leaves that out of "
     "its inertia matrix, here it is in"},
    {DJM_TENDON, "springlength", DJ_APPROXIMATED, djm_tenSpringlength,
     "the spring sets in smoothly, within 0.1 % of the dead band of its ends, where it pulls as if "
     "stretched by up to 0.019 % of the band"},
    {DJM_TENDON, "springyield", DJ_IGNORED, djm_tenSpringyield,
     "plastic spring: the rest lengths stay at springlength"},
    {DJM_TENDON, "frictionloss", DJ_APPROXIMATED, djm_tenFrictionloss, 0},
    {DJM_TENDON, "range", DJ_APPROXIMATED, djm_tenRange, 0},
    {DJM_TENDON, "actuatorfrcrange", DJ_APPROXIMATED, djm_tenActfrcrange,
     CLIP_NOTE},

    // ---- actuators
    {DJM_ACTUATOR, "transmission", DJ_IGNORED, djm_actTransmission, 0},
    {DJM_ACTUATOR, "transmission", DJ_APPROXIMATED, djm_actAdhesion,
     "its force is shared by the pairs of geoms that touch, not by points of contact, and ends "
     "smoothly within the range of contact forces beyond them"},
    {DJM_ACTUATOR, "dyntype", DJ_IGNORED, djm_actDyntype, 0},
    {DJM_ACTUATOR, "gaintype", DJ_IGNORED, djm_actGaintype, 0},
    {DJM_ACTUATOR, "biastype", DJ_IGNORED, djm_actBiastype, 0},
    {DJM_ACTUATOR, "plugin", DJ_IGNORED, djm_actPlugin, "actuator of a plugin: it makes no force"},
    {DJM_ACTUATOR, "delay", DJ_IGNORED, djm_actDelay, "delayed controls: it makes no force"},
    {DJM_ACTUATOR, "input", DJ_IGNORED, djm_actInputs,
     "more than one control, or none: it makes no force"},
    {DJM_ACTUATOR, "ctrlrange", DJ_APPROXIMATED, djm_actCtrlrange,
     INPUT_NOTE},
    {DJM_ACTUATOR, "forcerange", DJ_APPROXIMATED, djm_actForcerange,
     CLIP_NOTE},
    {DJM_ACTUATOR, "actrange", DJ_APPROXIMATED, djm_actActrange,
     INPUT_NOTE},
    {DJM_ACTUATOR, "biasprm", DJ_APPROXIMATED, djm_actBallServo,
     "position servo on a ball joint: MuJoCo wraps the setpoint to the nearest turn, this one does "
     "not; equal while they are less than half a turn apart"},
    {DJM_ACTUATOR, "biasprm", DJ_APPROXIMATED, djm_actSiteServo,
     "position servo on the rotation of a site: MuJoCo wraps the setpoint to the nearest turn, "
     "this one does not; equal while they are less than half a turn apart"},

    // ---- the rest
    {DJM_FLEX, "flex", DJ_IGNORED, djm_flex, 0},
    {DJM_FLEX, "elasticity", DJ_IGNORED, djm_flexElasticity,
     "its stiffness is that of no Saint Venant-Kirchhoff material at rest in qpos0: it has none"},
    {DJM_FLEX, "contact", DJ_APPROXIMATED, djm_flexContact, 0},
    {DJM_FLEX, "selfcollide", DJ_IGNORED, djm_flexSelf,
     "it touches neither itself nor other flexes, as with selfcollide=\"none\" and bits that keep them apart"},
    {DJM_PLUGIN, "passive", DJ_IGNORED, djm_pluginPassive, "forces of a plugin are left out"},
    {DJM_SENSOR, "force", DJ_IGNORED, djm_sensorForce,
     "MuJoCo fills it without the forces of this contact and of these limits (djm_forward has them)"},
};

const djmCheck* djm_checks(int* n) {
  *n = (int)(sizeof(checks) / sizeof(*checks));
  return checks;
}

djmSize* djm_sizeOf(const djmCheck* check) {
  static const struct {
    bool (*applies)(const djmImport* imp, int i, djmNote note);
    djmSize* size;
  } sizes[] = {
      {djm_geomHull, djm_geomDent},         {djm_geomSurface, djm_geomSurfaceSize},
      {djm_geomSoftness, djm_geomDepth},    {djm_pairSoftness, djm_pairDepth},
      {djm_geomRebound, djm_geomReboundSize},
  };
  for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
    if (sizes[i].applies == check->applies) return sizes[i].size;
  }
  return NULL;
}
