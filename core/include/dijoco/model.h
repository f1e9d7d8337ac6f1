// Models: definition structs, from which a model is made, and the model itself.
//
// A djModelDef lists bodies, joints, geoms... in any program's memory; dj_makeModel checks and
// copies it. A djModel is immutable after that and may be shared by threads; to change options or
// parameters, copy it (dj_copyModel) and set them on the copy, which belongs to one thread until
// the last change. The layout of qpos, qvel and ctrl is MuJoCo's.

#ifndef DIJOCO_MODEL_H_
#define DIJOCO_MODEL_H_

#include <dijoco/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// Body 0 is the world. Bodies are listed parents first.
typedef struct djBodyDef {
  const char* name;       // may be NULL or ""
  int parent;             // id of a body before it
  double pos[3];          // m; frame relative to the parent's
  double quat[4];         // unit quaternion, likewise
  double ipos[3];         // m; inertial frame relative to the body's
  double iquat[4];        // unit quaternion, likewise
  double mass;            // kg
  double inertia[3];      // kg m^2; principal moments
  double gravcomp;        // 1; fraction of its weight that is compensated
  bool mocap;             // pose comes from djData.mocap_*
} djBodyDef;

// Joints of one body are listed in the order in which they act; bodies in ascending order.
typedef struct djJointDef {
  const char* name;           // may be NULL or ""
  int body;                   // id
  djJointType type;           // free, ball, slide, hinge
  double pos[3];              // m; anchor, body frame
  double axis[3];             // unit vector, body frame; slide and hinge
  double qpos0[7];            // reference coordinates (1, 4 or 7 of them): m, rad, quaternion
  double springref[7];        // coordinates at which the spring is at rest, in the same units. In
                              //   both a zero quaternion means "not given": a ball's identity, a
                              //   free body's pos and quat
  double stiffness;           // a (N/m or N m/rad), with stiffnesspoly b, c:
                              //   f = -(a x + b x^2 + c x^3);
  double stiffnesspoly[2];    // a's units by m or rad, and by m^2 or rad^2; ball, free: radial law
                              //   f = -(a + b|x| + c|x|^2) x
  double damping;             // a (N s/m or N m s/rad), with dampingpoly b, c:
                              //   f = -(a v + b v|v| + c v^3) per dof
  double dampingpoly[2];      // a's units by m/s or rad/s, and by their square
  double armature;            // kg m^2 or kg, added to the inertia of each dof
  double frictionloss;        // N or N m, per dof
  bool limited;               // range is in force
  double range[2];            // m or rad; slide, hinge: bounds of q; ball: range[1] bounds the
                              //   angle
  double margin;              // m or rad; the limit acts from this distance on
  double limit_stiffness;     // 1/s^2, times the dof's effective inertia at qpos0
  double limit_damping;       // 1/s, likewise; outside; never outweighs the spring on the way out
  double limit_impedance[5];  // of integrator euler: dmin, dmax, width (m or rad), midpoint, power
  double frictionloss_damping;    // 1/s; of integrator euler, as is
  double frictionloss_impedance;  // share of what would move it that it holds, in (0, 1)
  bool actfrclimited;         // actfrcrange is in force
  double actfrcrange[2];      // N or N m; bounds of the total actuator force; slide, hinge
  bool actgravcomp;           // gravity compensation along it is a part of the actuator force: its
                              //   range bounds it, and it vanishes where there is no actuation
} djJointDef;

// The implicit surface of a geom, as the contact model implicit_surface sees it: a family of
// dijoco/implicit.h with its numbers, in a frame of its own. Of a smooth_polytope without facets
// (size: L, beta), which geoms of type mesh may have, these are the hull's, and its frame is at the
// mean of the hull's vertices.
typedef struct djSurfaceDef {
  const char* family;         // a name
  int nface;                  // of a smooth_polytope with facets, else 0
  int nsize;                  // how many numbers
  const double* size;         // (nsize) m, sharpness last (1)
  double pos[3];              // m; its frame in the geom's
  double quat[4];             // unit quaternion, likewise; zeros: none is given, as pos
} djSurfaceDef;

// Geoms are listed in the order of their bodies; after all others those of flexes, on bodies that
// have no others, those of each body together.
typedef struct djGeomDef {
  const char* name;           // may be NULL or ""
  int body;                   // id
  djGeomType type;            // of shape
  double size[3];             // m; as MuJoCo's
  double pos[3];              // m; body frame
  double quat[4];             // unit quaternion; body frame
  int mesh;                   // index into meshes, or -1
  int hfield;                 // index into height fields, or -1: one that does not collide
  int contype, conaffinity;   // bits; as MuJoCo's
  int condim;                 // 1: frictionless, 4: with torsion, 6: with rolling, too
  int priority;               // as MuJoCo's
  double friction[3];         // of sliding (1); torsional, from condim 4 on; rolling, 6 (m)
  double restitution;         // 1; normal velocity after an impact over that before, 0 to 1
  double solref_restitution;  // 1; what MuJoCo's solref gives, 0 to 1: counts in its place under
                              //   option restitution = solref; 0: does not
  double margin, gap;         // m; rest at distance margin - gap, summed over both geoms
  double soft_depth;          // m; how deep MuJoCo's contact rests in what does not move: under
                              //   option softness = mujoco contact begins so much deeper, summed
  const char* contact;        // name of its pairs' contact model, or "none"; NULL or "": the
                              //   default. See djSettingDef for which counts
  double sharpness;           // 1; of its implicit surface, at least 1; 0: by the default rule, or
                              //   the surface has it
  int point_count;            // points by which penalty sees it, where none are given: how many
                              //   are wanted; 0: none, -1: by the default rule
  int field;                  // 0: it has no distance field; -1, 1: its shape's
  int inside;                 // 1: points are kept in it instead of out of it: its field has the
                              //   other sign
  double contact_scale;       // 1; factor of kn, kt and kd of its points
  const djSurfaceDef* surface;   // NULL: one that fits its shape
  int npoint;                 // points that are given; 0: none
  const double* point;        // (npoint x 3) m; in the geom's frame
  int flex;                   // -1; of a flex one of whose vertices it stands for, a sphere about
                              //   it: such do not collide with each other
} djGeomDef;

// A mesh collides as the convex hull of its vertices, unless its contact model sees its triangles.
typedef struct djMeshDef {
  const char* name;           // may be NULL or ""
  int nvert;                  // vertices
  const double* vert;         // (nvert x 3) m
  int nface;                  // triangles of the convex hull, outward, vertex indices; 0: computed
  const int* face;            // (nface x 3)
  int ntri;                   // triangles of the mesh itself, vertex indices; 0: it has none
  const int* tri;             // (ntri x 3)
} djMeshDef;

// Heights over a rectangle about the origin of the geom's frame, x and y along its sides: a C2 surface
// goes through them (docs/sdrs.md). What is deeper than the base, below z = 0, is beneath it all.
typedef struct djHfieldDef {
  const char* name;           // may be NULL or ""
  int nrow, ncol;             // at least 2: along y and along x
  double size[3];             // m; half extents along x and y, thickness of the base
  const double* height;       // (nrow x ncol) m; the first row is at the lowest y
} djHfieldDef;

// Of a flex of dim 2: which of its forces act, numbered as MuJoCo's elastic2d.
typedef enum djElastic2d {
  DJ_ELASTIC_NONE = 0, DJ_ELASTIC_BEND = 1, DJ_ELASTIC_STRETCH = 2, DJ_ELASTIC_BOTH = 3
} djElastic2d;

// Something elastic whose vertices are points of bodies: a rope, a cloth, a solid (docs/flex.md).
typedef struct djFlexDef {
  const char* name;           // may be NULL or ""
  int dim;                    // 1: of edges, 2: of triangles, 3: of tetrahedra
  int nvert;                  // vertices
  const int* body;            // (nvert) ids
  const double* pos;          // (nvert x 3) m; in the frames of bodies; NULL: their origins
  const double* vert;         // (nvert x 3) m; where they are at rest, in any frame
  int nelem;                  // edges, triangles or tetrahedra
  const int* elem;            // (nelem x (dim + 1)) vertices
  djElastic2d elastic2d;      // of dim 2: what young acts in
  double young;               // N/m2; of dim 2 and 3
  double poisson;             // 1; from 0 to below 1/2
  double thickness;           // m; of dim 2
  double damping;             // s; of what young gives: times the rate in place of the strain
  double edgestiffness;       // N/m; of edges, dim 1
  double edgedamping;         // N s/m; of edges
  double radius;              // m; its surface is so far from edges, triangles and vertices
} djFlexDef;

// A frame on a body, for losses and sensors.
typedef struct djSiteDef {
  const char* name;           // may be NULL or ""
  int body;                   // id
  double pos[3];              // m; body frame
  double quat[4];             // unit quaternion; body frame
} djSiteDef;

// What a tendon's length is made of: a joint, site, pulley, or a geom that it goes around.
typedef struct djWrapDef {
  djWrap type;                // joints alone, or the others
  int id;                     // joint, site or geom
  double prm;                 // joint: coefficient (1 or m/rad); pulley: divisor (1); geom: site by
                              //   which the path goes, also the longer way; one within radius of
                              //   the centre: the path goes through; -1: none
} djWrapDef;

// A tendon's length is a function of the configuration, along which it pulls. Fixed: the sum of
// coefficients times coordinates of slides and hinges. Spatial: the path through sites one after
// the other; a pulley interrupts it and divides what follows, up to the next one. Between two sites
// it may go around the sphere of a geom or around a cylinder, which has no ends there.
typedef struct djTendonDef {
  const char* name;           // may be NULL or ""
  int nwrap;                  // what its length is made of
  const djWrapDef* wrap;      // (nwrap) spatial: begins and ends with a site, pulleys between two
                              //   sites each, geoms between two sites; or begins with a pulley
  double springlength[2];     // m; the spring pulls outside of these; -1 -1: the length where
                              //   joints have their springref
  double stiffness;           // a (N/m), with stiffnesspoly b, c: f = -(a x + b x^2 + c x^3)
  double stiffnesspoly[2];    // N/m^2, N/m^3
  double damping;             // a (N s/m), with dampingpoly b, c: f = -(a v + b v|v| + c v^3)
  double dampingpoly[2];      // N s^2/m^2, N s^3/m^3
  double frictionloss;        // N
  double armature;            // kg
  bool limited;               // range is in force
  double range[2];            // m; of the length
  double margin;              // m; the limit acts from this distance on
  double limit_stiffness;     // 1/s^2, times the tendon's effective inertia at qpos0
  double limit_damping;       // 1/s, likewise
  double limit_impedance[5];  // m: the third; of integrator euler, as of joints
  double frictionloss_damping;    // 1/s, likewise
  double frictionloss_impedance;  // share, in (0, 1), likewise
  bool actfrclimited;         // actfrcrange is in force
  double actfrcrange[2];      // N; bounds of the sum of its actuators' forces; holds 0
} djTendonDef;

// What integrator euler keeps at 0, softly: its force is D (aref - a) along each of its numbers r,
// a their acceleration, with the reference aref = -b r' - k d(|r|) r (less what a connect's or
// weld's r'' has by velocities alone) and D = m d/(1 - d), as of MuJoCo's regularised constraints.
// With the differences y and x of coordinates from those at qpos0:
//   joint:   y - (c0 + c1 x + ... + c4 x^4) of slides or hinges joint1 and joint2; without joint2
//            y - c0;
//   tendon:  the same of the lengths of tendon1 and tendon2;
//   connect: anchor1 less anchor2, points of body1 and body2, along the world's axes (3 numbers);
//   weld:    the same, and torquescale times the vector part of q2^-1 q1 quat (6 numbers).
// Of connect and weld site1 and site2 may be given in place of bodies: their origins are the
// anchors, their frames those that are welded. m is the inverse sum of both sides' inverse inertia
// at qpos0.
typedef struct djEqualityDef {
  const char* name;           // may be NULL or ""
  djEqualityType type;        // what it is between
  bool active;                // when a simulation begins: djData.eq_active
  int joint1, joint2;         // ids, or -1, like the others
  int tendon1, tendon2;       // ids
  int body1, body2, site1, site2;   // ids
  double polycoef[5];         // c: m or rad, by powers of x's unit
  double anchor1[3];          // m; in the frame of body1
  double anchor2[3];          // m; in the frame of body2
  double quat[4];             // unit quaternion; of body2's frame in body1's; not of sites
  double torquescale;         // m
  double stiffness;           // 1/s^2; as limit_stiffness: k = (1 - dmax)/dmax^2 of it
  double damping;             // 1/s; likewise: b = (1 - dmax)/dmax of it
  double impedance[5];        // d(|r|): dmin, dmax, width (m or rad), midpoint, power
} djEqualityDef;

// Force p = clamp(gain * (w or u) + bias), times gear, along what it is on, of which one is given:
//   joint;
//   tendon;
//   cranksite and slidersite: the way of a slider along slidersite's z axis, moved from cranksite
//     by a rod of length cranklength;
//   site: a wrench in axes of the site (gear: force, torque); with refsite in that one's axes, and
//     against its body, which reacts. Dofs that move both sites have no part in it;
//   adds_to: no thing, but an actuator before it, which has several inputs by those that add to it:
//     gain times its input is a part of that one's force before the clamp, or input of a dcmotor;
//   body: adhesion. p pulls the body's geoms and those that they touch together, along the normals
//     of contact; there is no length (l = l' = 0).
typedef struct djActuatorDef {
  const char* name;           // may be NULL or ""
  int joint;                  // or -1, like the others
  int tendon;                 // id
  int site, refsite;          // ids
  int cranksite, slidersite;  // ids
  int body;                   // id
  int adds_to;                // id of an actuator before it
  double cranklength;         // m
  bool in_parent;             // ball, free: the torque's axes are the parent's
  double gear[6];             // 1 (or m: p is a force and acts on a rotation)
  djGain gain;                // how the force follows the input
  double gainprm[DJ_NPRM];    // N or N m, by the units of the input; fixed: prm0;
                              //   affine: prm0 + prm1 l + prm2 l', l in m or rad; muscle: MuJoCo's
                              //   nine, range (2), force, scale, lmin, lmax, vmax, fpmax, fvmax
  djBias bias;                // what is added to it
  double biasprm[DJ_NPRM];    // N or N m, by those of 1, l, l'; muscle: as gainprm
                              //   dcmotor (both): MuJoCo's; gain: resistance (ohm), constant (N m/A),
                              //   its change by temperature (1/K), at which that is 0 (C), kp, ki,
                              //   kd, limit of the controller's voltage (V; 0: none); bias: cogging
                              //   (N m), periods by length, phase (rad), Coulomb's and static
                              //   friction (N m), Stribeck's velocity
  djMotorInput input;         // of a dcmotor, and of what adds to one: which of its inputs
  double motorprm[DJ_NMOTORPRM];   // of a dcmotor: time constant of the current (s; 0: none) and
                              //   limit of its rate (A/s; 0: none); thermal resistance (K/W; 0: none)
                              //   and capacity (J/K), ambient temperature (C); stiffness (N m/rad;
                              //   0: none) and damping of bristles (N m s/rad). Where the three are
                              //   above 0 act has the temperature above the ambient one, the
                              //   bristles' deflection, the current, after dyn's and the integral
  double lengthrange[2];      // m or rad; of muscles, between which l is range
  double acc0;                // 1/kg or 1/(kg m); of muscles with a force below 0, which have the
                              //   peak force scale/acc0
  djDyn dyn;                  // of the activation
  double tau;                 // s; time constant of filters, and of a muscle's activation
  double tau_deactivation;    // s; of muscles
  double tau_smooth;          // units of the input; width over which the one becomes the other;
                              //   0: a switch
  double integral;            // gain of z, N or N m by units of the input and s, whose rate is the
                              //   input less l; 0: there is no z. The actuator has it as its last
                              //   activation; on slides, hinges and fixed tendons alone
  double integral_limit;      // units of the input and s; from there on |z| does not grow; 0: it
                              //   does
  bool integral_clipped;      // z is clipped to that limit, too
  bool actearly;              // the force uses the next activation, as it always does under bdf2,
                              //   where filters are exact
  bool ctrllimited, forcelimited, actlimited;        // the ranges that are in force
  double ctrlrange[2], forcerange[2], actrange[2];   // units of the input; N or N m; of the input
  double armature, damping;   // kg or kg m^2, N s/m or N m s/rad: times gear[0]^2 on the joint's
                              //   dofs, or along the tendon
  double dampingpoly[2];      // damping's units by m/s or rad/s, and by their square
} djActuatorDef;

// Explicit pair: overrides filters and mixing.
typedef struct djPairDef {
  const char* name;           // may be NULL or ""
  int geom1, geom2;           // ids
  int condim;                 // 1: frictionless, 4: with torsion, 6: with rolling, too
  double friction;            // 1; of sliding along the first tangent (docs/contact.md)
  double friction2;           // 1; along the second; 0: as along the first
  double torsion;             // m; about the normal
  double rolling[2];          // m; about the tangents
  double restitution;         // 1; as of geoms
  double solref_restitution;  // 1; likewise
  double margin, gap;         // m; as of geoms, not summed
  double soft_depth;          // m; likewise
  const char* contact;        // as of geoms
} djPairDef;

// A setting of a contact model where it is not in djOption: of one pair or geom (of a skin: a
// geom), or of all pairs of a model other than the first. Where several things name a model or a
// setting, an explicit pair counts most, then the geom of higher priority, then the later geom,
// then the scene. Default rules see the scene's settings only.
typedef struct djSettingDef {
  const char* name;           // of the setting
  const char* model;          // of all pairs of this model; NULL or "": of a geom or pair
  int geom, pair;             // one of them; the other, or both where a model is given, -1
  double value;               // in the setting's units; choices ("friction_arms") by their numbers
} djSettingDef;

// Two bodies whose geoms do not collide.
typedef struct djExcludeDef {
  int body1, body2;           // ids
} djExcludeDef;

// A keyframe: a state with controls and mocap poses.
typedef struct djKeyDef {
  const char* name;           // may be NULL or ""
  double time;                // s
  const double* qpos;         // (nq) m, rad, quaternions; NULL: the model's reference, zeros
  const double* qvel;         // (nv) m/s, rad/s
  const double* act;          // (na) units of the actuators' inputs
  const double* ctrl;         // (nu) units of the actuators' inputs
  const double* mocap_pos;    // (nmocap x 3) m
  const double* mocap_quat;   // (nmocap x 4) unit quaternions
} djKeyDef;

// Everything that a model is made from. Arrays are the caller's and are copied. Numbers are finite
// (ranges: where they limit) and at most 1e20; masses, moments, stiffnesses, dampings, gains,
// forces, times of filters and speeds of friction 1e60; timestep, support, length scale and sizes
// are at least 1e-20. Beyond that their products would overflow: it is an error that names the
// element.
typedef struct djModelDef {
  const char* name;           // of the model; may be NULL or ""
  djOption option;            // of the scene
  int nbody, njnt, ngeom, nmesh, nsite, ntendon, nu, npair, nexclude, nkey, nsetting;   // of these:
  int nguide;                       // 0: all bodies
  const djBodyDef* body;            // (nbody)
  const djJointDef* joint;          // (njnt)
  const djGeomDef* geom;            // (ngeom)
  const djMeshDef* mesh;            // (nmesh)
  const djSiteDef* site;            // (nsite)
  const djTendonDef* tendon;        // (ntendon)
  const djActuatorDef* actuator;    // (nu)
  const djPairDef* pair;            // (npair)
  const djExcludeDef* exclude;      // (nexclude)
  const djExcludeDef* guide;        // (nguide) bodies whose geoms a guide acts between
  const djKeyDef* key;              // (nkey)
  const djSettingDef* setting;      // (nsetting)
  djWatch watch;              // told while the hulls of meshes are made
  int nequality;                    // equality constraints
  const djEqualityDef* equality;    // (nequality)
  int nhfield;                      // height fields
  const djHfieldDef* hfield;        // (nhfield)
  int nflex;                        // ropes, cloth, solids
  const djFlexDef* flex;            // (nflex)
} djModelDef;

// What a scalar coordinate is.
typedef enum djCoordType {
  DJ_COORD_JOINT = 0,           // the coordinate of a slide or hinge
  DJ_COORD_TENDON = 1,          // the length of a tendon
  DJ_COORD_CRANK = 2,           // the way of an actuator's slider
  DJ_COORD_EQUALITY = 3         // a number of an equality constraint
} djCoordType;

// Definitions with defaults, so that fields can be added later without changing programs.
DJ_API djBodyDef dj_defaultBodyDef(void);
DJ_API djJointDef dj_defaultJointDef(void);
DJ_API djGeomDef dj_defaultGeomDef(void);
DJ_API djTendonDef dj_defaultTendonDef(void);
DJ_API djActuatorDef dj_defaultActuatorDef(void);
DJ_API djEqualityDef dj_defaultEqualityDef(void);
DJ_API djFlexDef dj_defaultFlexDef(void);
DJ_API djModelDef dj_defaultModelDef(void);

// Contact settings in force, options with the default rules applied, of the scene's contact model;
// what that does not have, of the first that has. Those of all models are in kernel_setting. Where
// defaults differ from pair to pair: the largest skin, and what a pair has in which the first geom
// with that skin is.
typedef struct djContactSettings {
  double support;          // s: 1
  double length_scale;     // L, m
  double stiffness;        // K, J: the barrier coefficient (no spring constant)
  double recovery_stiffness;   // 1: part of it
  double skin;             // m; largest over geoms; geom_skin has each
  double friction_eps;     // m^2/s^2
  double support_scale;    // 1
  double stiffness_scale;  // 1
  double friction_eps_scale;   // 1
  double guide_factor;     // 1
  double guide_length;     // a, m: distance below which it levels off
  double guide;            // c, J: tail by which geoms repel from afar
  double exponent;         // 1
  double damping;          // s/m
  double kn, kt, kd;       // N/m, N s/m, N s/m2
  double triangles;        // 1, of geoms that are no meshes
  double scale;            // 1
  double sigma, damping_time, alpha, sigma_t;   // N m, s, 1, W
  double detect, cut;      // m, N
  double range;            // 2 s L/(1-s), m: surfaces of contact shapes act on each other below
                           //   this
  double weight;           // total movable weight, N
  double radius;           // r, inner radius of that geom, m; geom_radius has each
  double load;             // W, weight on that pair, N; geom_load has that of each geom
  double push;             // weight that recovery knows of it, N; geom_push has that of each geom
  double bound;            // bounding radius of that geom, m; geom_bound has each
  double part;             // 1; geom_part has each geom's
  double gravity;          // max(|gravity|, 9.81), m/s^2, for scales
} djContactSettings;

// Arrays of a model: X(type, name, rows, columns). Rows and columns are fields of djModel or
// constants.
#define DJ_MODEL_ARRAYS(X)                                                                         \
  X(int, body_parent, nbody, 1)      /* id */                                                      \
  X(int, body_root, nbody, 1)        /* first body of the tree; 0: the world's static part */      \
  X(int, body_weld, nbody, 1)        /* nearest with dofs of its own or mocap, or 0 */             \
  X(int, body_mocap, nbody, 1)       /* index into mocap arrays, or -1 */                          \
  X(int, body_jntadr, nbody, 1)      /* its first joint, or -1 */                                  \
  X(int, body_jntnum, nbody, 1)      /* its joints */                                              \
  X(int, body_dofadr, nbody, 1)      /* first dof of its own joints, or -1 */                      \
  X(int, body_dofnum, nbody, 1)      /* its dofs */                                                \
  X(int, body_lastdof, nbody, 1)     /* last dof that moves it (own or ancestor's), or -1 */       \
  X(int, body_geomadr, nbody, 1)     /* its first geom, or -1 */                                   \
  X(int, body_geomnum, nbody, 1)     /* its geoms */                                               \
  X(double, body_pos, nbody, 3)      /* m; frame in the parent's */                                \
  X(double, body_quat, nbody, 4)     /* unit quaternion, likewise */                               \
  X(double, body_ipos, nbody, 3)     /* m; inertial frame in the body's */                         \
  X(double, body_iquat, nbody, 4)    /* unit quaternion, likewise */                               \
  X(double, body_mass, nbody, 1)     /* kg */                                                      \
  X(double, body_inertia, nbody, 3)  /* kg m^2; principal moments */                               \
  X(double, body_gravcomp, nbody, 1) /* 1; part of its weight that is compensated */               \
  X(int, jnt_type, njnt, 1)          /* djJointType */                                             \
  X(int, jnt_body, njnt, 1)          /* id */                                                      \
  X(int, jnt_qposadr, njnt, 1)       /* its first entry of qpos */                                 \
  X(int, jnt_dofadr, njnt, 1)        /* its first dof */                                           \
  X(int, jnt_limited, njnt, 1)       /* jnt_range is in force */                                   \
  X(int, jnt_actfrclimited, njnt, 1) /* jnt_actfrcrange is in force */                             \
  X(int, jnt_actgravcomp, njnt, 1)   /* gravity compensation counts as actuator force */           \
  X(double, jnt_pos, njnt, 3)        /* m; anchor in the body's frame */                           \
  X(double, jnt_axis, njnt, 3)       /* unit vector in the body's frame */                         \
  X(double, jnt_stiffness, njnt, 1)  /* N/m or N m/rad; this and the next: see djJointDef */       \
  X(double, jnt_stiffnesspoly, njnt, 2) /* units of stiffness by m or rad, m^2 or rad^2 */         \
  X(double, jnt_damping, njnt, 1)    /* N s/m or N m s/rad */                                      \
  X(double, jnt_dampingpoly, njnt, 2) /* units of damping by m/s or rad/s, their square */         \
  X(double, jnt_armature, njnt, 1)   /* kg or kg m^2 */                                            \
  X(double, jnt_frictionloss, njnt, 1) /* N or N m */                                              \
  X(double, jnt_range, njnt, 2)      /* m or rad */                                                \
  X(double, jnt_margin, njnt, 1)     /* m or rad */                                                \
  X(double, jnt_limit_stiffness, njnt, 1) /* 1/s^2 */                                              \
  X(double, jnt_limit_damping, njnt, 1) /* 1/s */                                                  \
  X(double, jnt_limit_impedance, njnt, 5) /* m or rad: the third */                                \
  X(double, jnt_frictionloss_damping, njnt, 1) /* 1/s */                                           \
  X(double, jnt_frictionloss_impedance, njnt, 1) /* share, in (0, 1) */                            \
  X(double, jnt_actfrcrange, njnt, 2) /* N or N m */                                               \
  X(double, jnt_effinertia, njnt, 1) /* kg or kg m^2; at qpos0: 1/mean diag(M^-1) */               \
  X(int, jnt_coord, njnt, 1)         /* scalar coordinate of a slide or hinge, or -1 */            \
  X(int, coord_type, ncoord, 1)      /* djCoordType */                                             \
  X(int, coord_id, ncoord, 1)        /* joint, tendon, actuator, equality */                       \
  X(int, coord_dofadr, ncoord, 1)    /* dofs that move it: in coord_dof, ascending */              \
  X(int, coord_dofnum, ncoord, 1)    /* how many */                                                \
  X(int, coord_dof, ncoorddof, 1)    /* ids of dofs */                                             \
  X(int, dof_jnt, nv, 1)             /* its joint */                                               \
  X(int, dof_body, nv, 1)            /* its body */                                                \
  X(int, dof_parent, nv, 1)          /* previous dof of the chain, or -1 */                        \
  X(double, qpos0, nq, 1)            /* m, rad, quaternions; reference */                          \
  X(double, qpos_spring, nq, 1)      /* m, rad, quaternions; where springs rest */                 \
  X(int, geom_type, ngeom, 1)        /* djGeomType */                                              \
  X(int, geom_body, ngeom, 1)        /* id */                                                      \
  X(int, geom_mesh, ngeom, 1)        /* id, or -1 */                                               \
  X(int, geom_hfield, ngeom, 1)      /* id, or -1 */                                               \
  X(int, geom_flex, ngeom, 1)        /* id of a flex whose vertex it stands for, or -1 */           \
  X(int, geom_contype, ngeom, 1)     /* bits */                                                    \
  X(int, geom_conaffinity, ngeom, 1) /* bits */                                                    \
  X(int, geom_condim, ngeom, 1)      /* 1: frictionless, 4: with torsion, 6: with rolling */       \
  X(int, geom_priority, ngeom, 1)    /* the higher one's coefficients count */                     \
  X(double, geom_size, ngeom, 3)     /* m; as MuJoCo's */                                          \
  X(double, geom_pos, ngeom, 3)      /* m; in the body's frame */                                  \
  X(double, geom_quat, ngeom, 4)     /* unit quaternion, likewise */                               \
  X(double, geom_friction, ngeom, 3) /* of sliding (1), torsion, rolling (m) */                    \
  X(double, geom_restitution, ngeom, 1) /* 1; as given */                                          \
  X(double, geom_solref_restitution, ngeom, 1) /* 1; see djGeomDef */                              \
  X(double, geom_margin, ngeom, 1)   /* m */                                                       \
  X(double, geom_gap, ngeom, 1)      /* m */                                                       \
  X(double, geom_soft_depth, ngeom, 1)   /* m; see djGeomDef */                                    \
  X(double, geom_skin, ngeom, 1)     /* m; erosion of the contact shape; infinite: of a plane, as  \
                                        much as that of the other geom of each pair */             \
  X(double, geom_radius, ngeom, 1)   /* m; inner radius when the model was compiled, or given, for \
                                        default rules; 0: does not count */                        \
  X(double, geom_push, ngeom, 1)     /* N; of what its body shows to a push then, or given */      \
  X(double, geom_load, ngeom, 1)     /* N; weight of its tree then, or given; 0: static */         \
  X(double, geom_bound, ngeom, 1)    /* m; radius of a ball about its centre that holds it, then; \
                                        0: a plane */                                             \
  X(double, geom_part, ngeom, 1)     /* 1; of the surface of its body's colliding geoms, then */   \
  X(int, geom_contact, ngeom, 1)     /* djContactModel of its pairs */                             \
  X(int, geom_family, ngeom, 1)      /* of its implicit surface, djc_implicitFamily; -1: not given */ \
  X(int, geom_surfaceadr, ngeom, 1)  /* first number of that */                                    \
  X(int, geom_surfacenum, ngeom, 1)  /* how many, without the sharpness */                         \
  X(double, geom_surfacepos, ngeom, 3) /* m; frame of that in the geom's */                        \
  X(double, geom_surfacequat, ngeom, 4) /* unit quaternion, likewise */                            \
  X(double, geom_sharpness, ngeom, 1) /* 1; of its implicit surface, as given or when the model was \
                                        compiled; 0: it has none */                                \
  X(int, geom_sharpgiven, ngeom, 1)  /* that is given */                                           \
  X(double, surface_number, nsurface, 1) /* m; of implicit surfaces that are given */              \
  X(int, geom_pointadr, ngeom, 1)    /* its first point in point_pos */                            \
  X(int, geom_pointnum, ngeom, 1)    /* how many are given */                                      \
  X(int, geom_pointcount, ngeom, 1)  /* wanted where none are given; -1: by the default rule */    \
  X(int, geom_pointrule, ngeom, 1)   /* what that gave when the model was compiled */              \
  X(int, geom_inside, ngeom, 1)      /* as in djGeomDef */                                         \
  X(int, geom_field, ngeom, 1)       /* as in djGeomDef */                                         \
  X(double, geom_contact_scale, ngeom, 1) /* 1; of kn, kt and kd of its points */                  \
  X(double, point_pos, npoint, 3)    /* m; given points, in their geom's frame */                  \
  X(int, mesh_vertadr, nmesh, 1)     /* its first vertex */                                        \
  X(int, mesh_vertnum, nmesh, 1)     /* its vertices */                                            \
  X(int, mesh_faceadr, nmesh, 1)     /* hull triangles, indices local to the mesh */               \
  X(int, mesh_facenum, nmesh, 1)     /* how many */                                                \
  X(double, mesh_vert, nmeshvert, 3) /* m; in the mesh's frame */                                  \
  X(int, mesh_face, nmeshface, 3)    /* vertices of triangles */                                   \
  X(int, mesh_triadr, nmesh, 1)      /* its own triangles, likewise */                             \
  X(int, mesh_trinum, nmesh, 1)      /* how many */                                                \
  X(int, mesh_tri, nmeshtri, 3)      /* vertices of triangles */                                   \
  X(int, hfield_nrow, nhfield, 1)    /* heights along y */                                         \
  X(int, hfield_ncol, nhfield, 1)    /* along x */                                                 \
  X(int, hfield_adr, nhfield, 1)     /* its first height */                                        \
  X(double, hfield_size, nhfield, 3) /* m; half extents along x and y, thickness of the base */    \
  X(double, hfield_height, nhfielddata, 1) /* m; row by row */                                     \
  X(int, site_body, nsite, 1)        /* id */                                                      \
  X(double, site_pos, nsite, 3)      /* m; in the body's frame */                                  \
  X(double, site_quat, nsite, 4)     /* unit quaternion, likewise */                               \
  X(int, tendon_adr, ntendon, 1)     /* its wraps */                                               \
  X(int, tendon_num, ntendon, 1)     /* how many */                                                \
  X(int, tendon_coord, ntendon, 1)   /* scalar coordinate */                                       \
  X(int, tendon_limited, ntendon, 1) /* tendon_range is in force */                                \
  X(int, tendon_actfrclimited, ntendon, 1) /* tendon_actfrcrange is in force */                    \
  X(double, tendon_lengthspring, ntendon, 2) /* m; between them the spring rests */                \
  X(double, tendon_stiffness, ntendon, 1) /* N/m; this and the next: see djTendonDef */            \
  X(double, tendon_stiffnesspoly, ntendon, 2) /* N/m^2, N/m^3 */                                   \
  X(double, tendon_damping, ntendon, 1) /* N s/m */                                                \
  X(double, tendon_dampingpoly, ntendon, 2) /* N s^2/m^2, N s^3/m^3 */                             \
  X(double, tendon_armature, ntendon, 1) /* kg */                                                  \
  X(double, tendon_frictionloss, ntendon, 1) /* N */                                               \
  X(double, tendon_range, ntendon, 2) /* m */                                                      \
  X(double, tendon_margin, ntendon, 1) /* m */                                                     \
  X(double, tendon_limit_stiffness, ntendon, 1) /* 1/s^2 */                                        \
  X(double, tendon_limit_damping, ntendon, 1) /* 1/s */                                            \
  X(double, tendon_limit_impedance, ntendon, 5) /* m: the third */                                 \
  X(double, tendon_frictionloss_damping, ntendon, 1) /* 1/s */                                     \
  X(double, tendon_frictionloss_impedance, ntendon, 1) /* share, in (0, 1) */                      \
  X(double, tendon_actfrcrange, ntendon, 2) /* N */                                                \
  X(int, tendon_hasarmature, ntendon, 1) /* of its own or of an actuator */                        \
  X(double, tendon_length0, ntendon, 1) /* m; length at qpos0 */                                   \
  X(double, tendon_effinertia, ntendon, 1) /* kg; at qpos0: 1/(J M^-1 J^T) */                      \
  X(int, wrap_type, nwrap, 1)        /* djWrap */                                                  \
  X(int, wrap_objid, nwrap, 1)       /* joint, site or geom, or -1 */                              \
  X(double, wrap_prm, nwrap, 1)      /* joint: 1 or m/rad; pulley: divisor, 1; geom: site or -1 */ \
  X(int, actuator_joint, nu, 1)      /* or -1 */                                                   \
  X(int, actuator_coord, nu, 1)      /* scalar coordinate that it acts along, or -1 */             \
  X(int, actuator_tendon, nu, 1)     /* or -1 */                                                   \
  X(int, actuator_site, nu, 2)       /* site and refsite, or -1 */                                 \
  X(int, actuator_crank, nu, 2)      /* crank's and slider's site, or -1 */                        \
  X(double, actuator_cranklength, nu, 1) /* m */                                                   \
  X(int, actuator_body, nu, 1)       /* whose geoms adhere, or -1 */                               \
  X(int, actuator_addsto, nu, 1)     /* of whose force it is a part, or -1 */                      \
  X(int, actuator_zadr, nu, 1)       /* address of its integral in act, or -1 */                   \
  X(double, actuator_integral, nu, 1) /* N or N m by units of the input and s */                   \
  X(double, actuator_integral_limit, nu, 1) /* units of the input and s */                         \
  X(int, actuator_integral_clipped, nu, 1) /* z is clipped to it */                                \
  X(int, actuator_inparent, nu, 1)   /* the torque's axes are the parent's */                      \
  X(int, actuator_gain, nu, 1)       /* djGain */                                                  \
  X(int, actuator_bias, nu, 1)       /* djBias */                                                  \
  X(int, actuator_dyn, nu, 1)        /* djDyn */                                                   \
  X(int, actuator_actadr, nu, 1)     /* address in act, or -1 */                                   \
  X(int, actuator_actearly, nu, 1)   /* the force uses the next activation */                      \
  X(int, actuator_ctrllimited, nu, 1) /* actuator_ctrlrange is in force */                         \
  X(int, actuator_forcelimited, nu, 1) /* actuator_forcerange is in force */                       \
  X(int, actuator_actlimited, nu, 1) /* actuator_actrange is in force */                           \
  X(double, actuator_gear, nu, 6)    /* 1, or m; see djActuatorDef */                              \
  X(double, actuator_gainprm, nu, DJ_NPRM) /* N or N m by units of the input; likewise */          \
  X(double, actuator_biasprm, nu, DJ_NPRM) /* N or N m by those of 1, l, l' */                     \
  X(int, actuator_input, nu, 1)      /* djMotorInput */                                            \
  X(int, actuator_motoradr, nu, DJ_NMOTORSTATE) /* of a dcmotor's states in act, or -1 */          \
  X(double, actuator_motorprm, nu, DJ_NMOTORPRM) /* s, A/s, K/W, J/K, C, N m/rad, N m s/rad */     \
  X(double, actuator_lengthrange, nu, 2) /* m or rad; of muscles */                                \
  X(double, actuator_acc0, nu, 1)    /* 1/kg or 1/(kg m); of muscles */                            \
  X(double, actuator_tau, nu, 1)     /* s */                                                       \
  X(double, actuator_tau_deactivation, nu, 1) /* s; of muscles */                                  \
  X(double, actuator_tau_smooth, nu, 1) /* units of the input; of muscles */                       \
  X(double, actuator_ctrlrange, nu, 2) /* units of the input */                                    \
  X(double, actuator_forcerange, nu, 2) /* N or N m */                                             \
  X(double, actuator_actrange, nu, 2) /* units of the input */                                     \
  X(double, actuator_armature, nu, 1) /* kg or kg m^2 */                                           \
  X(double, actuator_damping, nu, 1) /* N s/m or N m s/rad */                                      \
  X(double, actuator_dampingpoly, nu, 2) /* units of damping by m/s or rad/s, their square */      \
  X(int, pair_geom1, npair, 1)       /* id */                                                      \
  X(int, pair_geom2, npair, 1)       /* id */                                                      \
  X(int, pair_condim, npair, 1)      /* as of geoms */                                             \
  X(double, pair_friction, npair, 1) /* 1; of sliding along the first tangent */                   \
  X(double, pair_friction2, npair, 1)   /* 1; along the second; 0: as along the first */           \
  X(double, pair_torsion, npair, 1)  /* m; about the normal */                                     \
  X(double, pair_rolling, npair, 2)  /* m; about the tangents */                                   \
  X(double, pair_restitution, npair, 1) /* 1; as given */                                          \
  X(double, pair_solref_restitution, npair, 1) /* 1; see djGeomDef */                              \
  X(double, pair_margin, npair, 1)   /* m */                                                       \
  X(double, pair_gap, npair, 1)      /* m */                                                       \
  X(double, pair_soft_depth, npair, 1)   /* m; see djGeomDef */                                    \
  X(int, pair_contact, npair, 1)     /* djContactModel */                                          \
  X(int, param_adr, nparamkind, 1)   /* first of each kind in a gradient by all parameters */      \
  X(double, kernel_given, nkernelsetting, 1) /* dj_contactSetting's, its units; < 0: not given */  \
  X(double, kernel_setting, nkernelsetting, 1) /* likewise its units; in force */                  \
  X(int, setting_slot, nsetting, 1)  /* of one geom or pair: first of the name in these */         \
  X(int, setting_geom, nsetting, 1)  /* or -1 */                                                   \
  X(int, setting_pair, nsetting, 1)  /* or -1 */                                                   \
  X(double, setting_value, nsetting, 1) /* units of the setting */                                 \
  X(int, exclude_body1, nexclude, 1) /* id */                                                      \
  X(int, exclude_body2, nexclude, 1) /* id */                                                      \
  X(int, guide_body1, nguide, 1)     /* id, the lower one; sorted */                               \
  X(int, guide_body2, nguide, 1)     /* id */                                                      \
  X(double, key_time, nkey, 1)       /* s */                                                       \
  X(double, key_qpos, nkey, nq)      /* m, rad, quaternions */                                     \
  X(double, key_qvel, nkey, nv)      /* m/s, rad/s */                                              \
  X(double, key_act, nkey, na)       /* units of the actuators' inputs */                          \
  X(double, key_ctrl, nkey, nu)      /* units of the actuators' inputs */                          \
  X(double, key_mpos, nkey, nmocap * 3) /* m */                                                    \
  X(double, key_mquat, nkey, nmocap * 4) /* unit quaternions */                                    \
  X(int, name_body, nbody, 1)        /* offsets into names */                                      \
  X(int, name_jnt, njnt, 1)          /* likewise, as the following */                              \
  X(int, name_geom, ngeom, 1)        /* offset */                                                  \
  X(int, name_mesh, nmesh, 1)        /* offset */                                                  \
  X(int, name_site, nsite, 1)        /* offset */                                                  \
  X(int, name_tendon, ntendon, 1)    /* offset */                                                  \
  X(int, name_actuator, nu, 1)       /* offset */                                                  \
  X(int, name_pair, npair, 1)        /* offset */                                                  \
  X(int, name_key, nkey, 1)          /* offset */                                                  \
  X(int, eq_type, nequality, 1)      /* djEqualityType */                                          \
  X(int, eq_active0, nequality, 1)   /* djData.eq_active after a reset */                          \
  X(int, eq_coord, nequality, 1)     /* its first scalar coordinate */                             \
  X(int, eq_coordnum, nequality, 1)  /* how many */                                                \
  X(int, eq_pair, nequality, 2)      /* joints, tendons or bodies; -1: no second one */            \
  X(int, eq_site, nequality, 2)      /* of connect and weld, or -1 */                              \
  X(double, eq_polycoef, nequality, 5) /* m or rad, see djEqualityDef */                           \
  X(double, eq_anchor, nequality, 6) /* m; in either body's frame */                               \
  X(double, eq_quat, nequality, 4)   /* unit quaternion; of body2's frame in body1's */            \
  X(double, eq_torquescale, nequality, 1) /* m */                                                  \
  X(double, eq_stiffness, nequality, 1) /* 1/s^2 */                                                \
  X(double, eq_damping, nequality, 1) /* 1/s */                                                    \
  X(double, eq_impedance, nequality, 5) /* the third: m or rad */                                  \
  X(double, eq_effinertia, nequality, 2) /* at qpos0; kg or kg m^2; of welds: kg and, of turns,    \
                                        kg m^2 */                                                  \
  X(int, name_equality, nequality, 1) /* offset */                                                 \
  X(int, name_hfield, nhfield, 1)    /* offset */                                                  \
  X(int, flex_dim, nflex, 1)         /* 1: of edges, 2: of triangles, 3: of tetrahedra */          \
  X(int, flex_elastic2d, nflex, 1)   /* djElastic2d */                                             \
  X(int, flex_vertadr, nflex, 1)     /* its first vertex */                                        \
  X(int, flex_vertnum, nflex, 1)     /* how many */                                                \
  X(int, flex_edgeadr, nflex, 1)     /* its first edge */                                          \
  X(int, flex_edgenum, nflex, 1)     /* how many */                                                \
  X(int, flex_elemadr, nflex, 1)     /* its first element */                                       \
  X(int, flex_elemnum, nflex, 1)     /* how many */                                                \
  X(double, flex_young, nflex, 1)    /* N/m2 */                                                    \
  X(double, flex_poisson, nflex, 1)  /* 1 */                                                       \
  X(double, flex_thickness, nflex, 1) /* m */                                                      \
  X(double, flex_damping, nflex, 1)  /* s */                                                       \
  X(double, flex_edgestiffness, nflex, 1) /* N/m */                                                \
  X(double, flex_edgedamping, nflex, 1) /* N s/m */                                                \
  X(double, flex_radius, nflex, 1)   /* m */                                                       \
  X(int, flexvert_body, nflexvert, 1) /* id */                                                     \
  X(double, flexvert_pos, nflexvert, 3) /* m; in the body's frame */                               \
  X(double, flexvert_rest, nflexvert, 3) /* m; at rest, in a frame of the flex */                  \
  X(int, flexedge_flex, nflexedge, 1) /* id */                                                     \
  X(int, flexedge_vert, nflexedge, 2) /* vertices of the model */                                  \
  X(int, flexedge_flap, nflexedge, 2) /* of dim 2: opposite ones in its triangles; -1 */           \
  X(int, flexedge_rim, nflexedge, 4) /* edges to these; -1: no two triangles */                    \
  X(double, flexedge_length0, nflexedge, 1) /* m; at rest */                                       \
  X(double, flexedge_bending, nflexedge, 17) /* N/m, the last N/m2; as MuJoCo's flex_bending */    \
  X(int, flexelem_flex, nflexelem, 1) /* id */                                                     \
  X(int, flexelem_vert, nflexelem, 4) /* vertices of the model; -1: no more */                     \
  X(int, flexelem_edge, nflexelem, 6) /* edges of the model; -1: no more */                        \
  X(double, flexelem_stiffness, nflexelem, 21) /* N/m3; as flex_stiffness */                       \
  X(int, name_flex, nflex, 1)        /* offset */                                                  \
  X(char, names, nnames, 1)          /* all names, each ends with 0; offset 0 is the model's */

// A model: sizes, options and arrays (rows x columns). Its fields may be read, not written.
typedef struct djModel {
  int nq, nv, nu, na, nbody, njnt, ngeom, nmesh, nmeshvert, nmeshface, nmeshtri, nsite;   // sizes
  int nmocap;                   // bodies that are mocap
  int npair, nexclude, nkey, nnames, nkernelsetting, nsetting;   // likewise sizes; bytes of names
  int nguide;                   // pairs of bodies that a guide acts between; 0: all
  int nsurface;                 // numbers of implicit surfaces that are given
  int npoint;                   // points of geoms that are given
  int ntendon, nwrap;           // tendons; what they are made of
  int nparamkind;               // kinds of design parameters
  int ncoord, ncoorddof;        // scalar coordinates, on which springs, limits and motors act: of
                                //   joints, then of tendons, then
  int ncrank;                   //   those of sliders, on which actuators act alone, then
  djOption opt;                 // as given; dj_setOption changes it on an unshared copy
  djContactSettings contact;    // in force
  int defaults_kept;            // parameters have been set that default rules follow: 1; geom_skin,
                                //   geom_radius and geom_load stay and count as given when written
  double total_mass;            // kg; of all bodies but the world
  double moving_mass;           // kg; of bodies with dofs above them
#define X(type, name, rows, columns) type* name;
  DJ_MODEL_ARRAYS(X)
#undef X
  void* buffer;                 // owns every array
  size_t nbuffer;               // bytes
  struct djCollision* collision;  // contact shapes and pair tables, derived; see contact/contact.h
  const struct djPhysics* physics;  // from outside, or NULL; see dijoco/physics.h
  void* physics_own;                // its part of the model
  int nequality;                // equality constraints
  int nequalitycoord;           //   their scalar coordinates, on which they act alone
  int nhfield, nhfielddata;     // height fields; all their heights
  int nflex, nflexvert, nflexedge, nflexelem;   // ropes, cloth, solids; all of their parts
  int changed;                  // parameters have been set since it was made of its definition: 1
} djModel;

// Make a model from its definition. On failure *model is NULL and err (may be NULL) says why.
DJ_API djStatus dj_makeModel(djModel** model, const djModelDef* def, djError* err);
DJ_API djStatus dj_copyModel(djModel** copy, const djModel* model, djError* err);
DJ_API void dj_deleteModel(djModel* model);
// Bytes it holds now.
DJ_API size_t dj_modelBytes(const djModel* model);

// The pairs of bodies between whose geoms the guide of contact acts, on an unshared model: names
// (npair x 2), where * stands for any characters; npair 0: all. The model's arrays move: pointers
// to them are void. The error names what is not there.
DJ_API djStatus dj_setGuideBodies(djModel* model, int npair, const char* const* names,
                                  djError* err);
// The same as a text, "rod box, rod cube*".
DJ_API djStatus dj_setGuideText(djModel* model, const char* text, djError* err);

// More vertices at the end of meshes of an unshared model, at vert (n x 3, m, in the mesh's frame),
// the k-th of mesh[k]: inside of hulls they change nothing. The model's arrays move: pointers to
// them are void.
DJ_API djStatus dj_addMeshVertices(djModel* model, int n, const int* mesh, const double* vert,
                                   djError* err);

// Whether the guide acts in derivatives alone, as option guide_backward_only, on an unshared model;
// with false one with a guide_decay is in the run, too, which options refuse: to see its forces;
// default rules are not applied anew.
DJ_API djStatus dj_setGuideBackwardOnly(djModel* model, bool only);
// Whether some pair of geoms may have a guide that acts in runs; in derivatives alone, which are
// then not those of the run.
DJ_API bool dj_guidesRuns(const djModel* model);
DJ_API bool dj_guidesDerivatives(const djModel* model);
// Pairs of bodies between some of whose geoms a guide may act, in runs or in derivatives alone, in
// order, the lower id first: the first n of them into body (n x 2). Returns how many there are.
DJ_API int dj_guidedBodies(int* body, int n, const djModel* model);

// Replace the options of an unshared model; the default rules are applied anew.
DJ_API djStatus dj_setOption(djModel* model, const djOption* option, djError* err);

// Kinds of named elements.
typedef enum djObject {
  DJ_OBJ_BODY, DJ_OBJ_JOINT, DJ_OBJ_GEOM, DJ_OBJ_MESH, DJ_OBJ_SITE, DJ_OBJ_ACTUATOR, DJ_OBJ_KEY,
  DJ_OBJ_TENDON, DJ_OBJ_PAIR, DJ_OBJ_EQUALITY, DJ_OBJ_HFIELD, DJ_OBJ_FLEX,
  DJ_NOBJ
} djObject;

// A kind as names of parameters have it ("body", "joint"...), and number of its elements.
DJ_API const char* dj_objectName(djObject type);
DJ_API int dj_objectCount(const djModel* model, djObject type);

// Types as model files have them: "hinge", "affine"...; "" of what is no type.
DJ_API const char* dj_jointTypeName(djJointType type);
DJ_API const char* dj_gainName(djGain gain);
DJ_API const char* dj_biasName(djBias bias);
DJ_API const char* dj_dynName(djDyn dyn);

// Name of an element ("" where it has none), and the element of a name or of "#id"; -1: none.
DJ_API const char* dj_id2name(const djModel* model, djObject type, int id);
DJ_API int dj_name2id(const djModel* model, djObject type, const char* name);

// Radius of the largest ball that passes between vertices of a flex that is at rest, spheres of its
// radius: through a triangle, or between the ends of an edge where there are none. m; 0: none does,
// or there is no such flex.
DJ_API double dj_flexHole(const djModel* model, int flex);

// Pairs of geoms that a connect or weld holds in each other: the point that it keeps together lies in
// both, so that nothing parts them while it acts. By contact separating_plane they do not collide
// then. How many such pairs there are; of one (or NULL) the geom of its first body and of its second.
DJ_API int dj_tiedGeoms(int geom[2], const djModel* model, int equality);

// A geom type as files and queries have it ("box"...), "" of an unknown one. nsize, or NULL: how
// many sizes it needs; -1: sizes do not describe it (mesh, height field).
DJ_API const char* dj_geomName(int* nsize, djGeomType type);

// Coefficient of restitution of a geom (pair: -1) or of an explicit pair (geom: -1), as option
// `restitution` has it. Of two geoms the one of higher priority counts, of equal ones the greater.
DJ_API double dj_restitution(const djModel* model, int geom, int pair);

// The definition that a model was made from, with pointers into the model and into *storage, which
// dj_freeDef releases. dj_makeModel of it gives an equal model.
DJ_API djStatus dj_getDef(djModelDef* def, void** storage, const djModel* model, djError* err);
DJ_API void dj_freeDef(void* storage);

// Parameters by name (`body/NAME/mass`, `geom/#3/size`, `option/gravity`, `contact/support`...).
// A parameter is set on an unshared model; entries are those of the compiled model.
typedef struct djParam {
  int field;      // row of the parameter table
  int id;         // element
  int nvalue;     // entries
  int ntangent;   // entries of a derivative (3 for quaternions)
} djParam;

// The parameters of a name in which kind, element and parameter may be patterns, `*` standing for
// any characters: "mesh/jaw_*/vert", "body/*", "contact/k*", "*". All that match, by rows of the
// table and in the order of the model's elements (not the world; those without a name match `*`),
// of which the first `room` are written; returns their number, or a negative status where there are
// none. An element that is called so goes before a pattern.
DJ_API int dj_matchParams(djParam* param, int room, const djModel* model, const char* name,
                          djError* err);

// Name of a parameter, "geom/foot/size" or "geom/#3/size", cut to size; returns text. Bytes that
// all of it needs.
DJ_API const char* dj_paramName(char* text, size_t size, const djModel* model,
                                const djParam* param);
DJ_API size_t dj_paramNameSize(const djModel* model, const djParam* param);

// Look up a parameter, read and set its nvalue entries.
DJ_API djStatus dj_paramId(djParam* param, const djModel* model, const char* name, djError* err);
DJ_API djStatus dj_getParam(double* value, const djModel* model, const djParam* param);
DJ_API djStatus dj_setParam(djModel* model, const djParam* param, const double* value,
                            djError* err);

// Make masses and inertias follow the geoms of an unshared copy of a compiled model, after geom
// pos, quat, size or mesh vertices were set: to the moments of each body's mass this adds its
// compiled density (mass over the volume of its geoms, colliding or not; overlaps count twice)
// times what the moments of the geoms have changed by, and reads mass, ipos, iquat and inertia from
// the sum. Bodies without mass or volume stay as they are; the others' values, also those that were
// set, are replaced: where the geoms are the compiled ones, by the compiled values. Contact
// settings in force do not change. DJ_INVALID: a body's geoms have shrunk until no mass or no
// possible inertia is left; the design is then unchanged.
//
// Meshes count as what the facets of the compiled hull enclose, with sign, so that mass is a smooth
// function of the vertices. It is the hull's volume while these facets are convex; beyond, that one
// is only C0 (a vertex pops out of a facet or falls into the hull).
DJ_API djStatus dj_followGeoms(djModel* design, const djModel* compiled, djError* err);

// How mass and inertia of a body follow its geoms.
typedef enum djInertiaRule {
  DJ_INERTIA_COMPILED = 0,  // not at all
  DJ_INERTIA_EXACT = 1,     // by the volumes of its geoms: overlaps count twice
  DJ_INERTIA_LUMPED = 2,    // in equal parts at the vertices of its meshes' hulls (SDRS eq. 4),
                            //   which share the compiled mass that meshes have, for ever; vertices
                            //   inside of a hull have none. Other geoms as before
  DJ_INERTIA_UNION = 3      // overlaps of its meshes and boxes count once, for any number of them,
                            //   to 1e-8 of the sum of volumes; those of other geoms as before. C1
                            //   in the vertices, but where facets come to coincide or bend
} djInertiaRule;

// dj_followGeoms by a rule other than DJ_INERTIA_COMPILED. By the latter two mass and inertia may
// be others than the compiled also where no geom has moved.
DJ_API djStatus dj_followGeomsBy(djModel* design, const djModel* compiled, djInertiaRule rule,
                                 djError* err);
// Name of a rule, as tasks have it, and the rule of a name; "" and -1: none.
DJ_API const char* dj_inertiaRuleName(djInertiaRule rule);
DJ_API int dj_inertiaRuleByName(const char* name);

// Make the design's meshes count by the facets of their hulls as they are from now on, instead of
// those of the compiled model or of the last call. *changed: how many have other facets than
// before; volumes of these jump where they had come to differ from their hulls', when masses follow
// next. A compiled model itself may be given as both, before it is copied.
DJ_API djStatus dj_renewFacets(int* changed, djModel* design, const djModel* compiled,
                               djError* err);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_MODEL_H_
