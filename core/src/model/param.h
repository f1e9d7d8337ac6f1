// Parameters: numbers of a model that have a name and a derivative.

#ifndef DJ_MODEL_PARAM_H_
#define DJ_MODEL_PARAM_H_

#include <dijoco/model.h>

// djParam.field
typedef enum djField {
  DJ_FIELD_BODY_POS,
  DJ_FIELD_BODY_QUAT,
  DJ_FIELD_BODY_MASS,
  DJ_FIELD_BODY_IPOS,
  DJ_FIELD_BODY_IQUAT,
  DJ_FIELD_BODY_INERTIA,
  DJ_FIELD_BODY_GRAVCOMP,
  DJ_FIELD_JOINT_POS,
  DJ_FIELD_JOINT_AXIS,
  DJ_FIELD_JOINT_DAMPING,
  DJ_FIELD_JOINT_STIFFNESS,
  DJ_FIELD_JOINT_SPRINGREF,
  DJ_FIELD_JOINT_ARMATURE,
  DJ_FIELD_JOINT_FRICTIONLOSS,
  DJ_FIELD_JOINT_RANGE,
  DJ_FIELD_GEOM_POS,
  DJ_FIELD_GEOM_QUAT,
  DJ_FIELD_GEOM_SIZE,
  DJ_FIELD_GEOM_FRICTION,
  DJ_FIELD_GEOM_RESTITUTION,
  DJ_FIELD_GEOM_SHARPNESS,
  DJ_FIELD_GEOM_SURFACE,
  DJ_FIELD_GEOM_POINTS,
  DJ_FIELD_GEOM_CONTACT_SCALE,
  DJ_FIELD_PAIR_FRICTION,
  DJ_FIELD_PAIR_FRICTION2,
  DJ_FIELD_PAIR_TORSION,
  DJ_FIELD_PAIR_ROLLING,
  DJ_FIELD_PAIR_RESTITUTION,
  DJ_FIELD_MESH_VERT,
  DJ_FIELD_HFIELD_HEIGHTS,
  DJ_FIELD_SITE_POS,
  DJ_FIELD_TENDON_STIFFNESS,
  DJ_FIELD_TENDON_DAMPING,
  DJ_FIELD_TENDON_SPRINGLENGTH,
  DJ_FIELD_TENDON_FRICTIONLOSS,
  DJ_FIELD_TENDON_RANGE,
  DJ_FIELD_ACTUATOR_GAINPRM,
  DJ_FIELD_ACTUATOR_BIASPRM,
  DJ_FIELD_ACTUATOR_MOTORPRM,
  DJ_FIELD_ACTUATOR_GEAR,
  DJ_FIELD_EQUALITY_POLYCOEF,
  DJ_FIELD_EQUALITY_ANCHOR,
  DJ_FIELD_FLEX_YOUNG,
  DJ_FIELD_FLEX_POISSON,
  DJ_FIELD_FLEX_THICKNESS,
  DJ_FIELD_FLEX_DAMPING,
  DJ_FIELD_FLEX_EDGESTIFFNESS,
  DJ_FIELD_FLEX_VERT,
  DJ_FIELD_GRAVITY,
  DJ_FIELD_SETTING,   // of a contact kernel; elements: dj_settingParam (model/kernel_setting.h)
  DJ_NFIELD
} djField;

// The parameter of an element, without a name. False when there is none.
bool dj_makeParam(djParam* param, const djModel* model, djField field, int id);

// It is as dj_makeParam gives it for this model.
bool dj_isParam(const djModel* model, const djParam* param);

// All n are; else the error names the first that is not.
djStatus dj_checkParams(const djModel* model, int n, const djParam* param, djError* err);

// Where its nvalue numbers are in the model.
double* dj_paramData(const djModel* model, const djParam* param);

// Tangent entry k is a rotation (of a quaternion), not the change of a number.
bool dj_paramIsRotation(const djModel* model, const djParam* param, int k);

// Whether its values are an axis, which is normalised.
bool dj_paramIsAxis(const djModel* model, const djParam* param);

// What it changes, as a sum: what none that is asked for changes need not be computed. The first
// belong to a body, with its joints.
enum {
  DJ_BY_POS = 1,
  DJ_BY_QUAT = 2,
  DJ_BY_ANCHOR = 4,
  DJ_BY_AXIS = 8,
  DJ_BY_FRAME = 15,      // any of them: where bodies are
  DJ_BY_INERTIA = 16,    // masses, centres, inertia, weights
  DJ_BY_SITE = 32,
  DJ_BY_LAW = 64,        // of springs, dampers, limits, actuators, armature
  DJ_BY_SHAPE = 128,     // geoms, meshes, settings of contact
  DJ_BY_COEFFICIENT = 256,   // of friction and restitution
  DJ_BY_CONTACT = DJ_BY_SHAPE | DJ_BY_COEFFICIENT,
  DJ_BY_ALL = 511
};
int dj_paramChanges(const djParam* param);
// The body of what belongs to one, or -1.
int dj_paramBody(const djModel* model, const djParam* param);

// Coefficients of contact pairs follow from it.
bool dj_paramIsCoefficient(const djParam* param);

// Contact shapes depend on it.
bool dj_paramMovesShapes(const djParam* param);

// Of a geom that tendons go around.
bool dj_paramMovesPaths(const djModel* model, const djParam* param);

// Whether `*` in a pattern of this length stands for parts of the text so that they are equal.
bool dj_matches(const char* pattern, size_t length, const char* text);

// Append ", there are 'a', 'b'...": the first elements of a kind that have names.
void dj_listElements(char* what, size_t size, const djModel* model, djObject object);

// What a mirror makes of its values.
typedef enum djMirrorKind {
  DJ_MIRROR_COPY,
  DJ_MIRROR_PLACES,    // places and directions
  DJ_MIRROR_QUAT,
  DJ_MIRROR_AXIS,      // of a joint: turned the other way where it is a hinge's
  DJ_MIRROR_NUMBER,    // a copy where it is one number, else it cannot be told
  DJ_MIRROR_NONE       // it cannot be told
} djMirrorKind;
djMirrorKind dj_paramMirror(const djParam* param);

// Gradients by every parameter of a model lie in one array: a block a field, in it the elements in
// order, each with its ntangent entries (meshes: 3 a vertex; heights; springref: the joint's dofs; surface:
// its numbers; points: 3 each).
size_t dj_paramGradSize(const djModel* model);                      // doubles
void dj_fillParams(djModel* model);   // param_adr, of a model whose sizes are known
// First entry of the field's block; of element id in it.
static inline double* dj_paramBlock(double* grad, const djModel* model, djField field) {
  return grad + model->param_adr[field];
}
double* dj_paramEntry(double* grad, const djModel* model, djField field, int id);

// Blocks of two fields, of joints and of tendons, by the type of the coordinate they act along.
typedef struct djLinkBlocks {
  double* block[2];   // by djCoordType
} djLinkBlocks;

static inline djLinkBlocks dj_linkBlocks(double* grad, const djModel* m, djField joint,
                                         djField tendon) {
  return (djLinkBlocks){{dj_paramBlock(grad, m, joint), dj_paramBlock(grad, m, tendon)}};
}

// The n entries of what coordinate c belongs to.
static inline double* dj_linkEntry(const djLinkBlocks* b, const djModel* m, int c, int n) {
  return b->block[m->coord_type[c]] + n * m->coord_id[c];
}

// Check and store; quaternions and axes are normalised. Derived quantities of the model itself
// follow, contact shapes and what depends on settings in force do not.
djStatus dj_writeParam(djModel* model, const djParam* param, const double* value, djError* err);

#endif  // DJ_MODEL_PARAM_H_
