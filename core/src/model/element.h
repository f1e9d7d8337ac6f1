// The elements of models by tables: a row for each kind, and in it a row for each field of its
// definition. Defaults, checks, the way from definitions to models and back, and model files follow
// from these; what a field cannot say by itself is in functions of the kind.

#ifndef DJ_MODEL_ELEMENT_H_
#define DJ_MODEL_ELEMENT_H_

#include <dijoco/setting.h>

#include <stddef.h>

// Kinds: those of djObject, and two without names.
enum { DJ_ELEMENT_EXCLUDE = DJ_NOBJ, DJ_ELEMENT_GUIDE, DJ_NELEMENT };

typedef enum djFieldType {
  DJ_IS_REAL,       // count numbers
  DJ_IS_REALS,      // likewise; files may give less of them, the others are 0
  DJ_IS_COORD,      // likewise; of them those that the joint's type has
  DJ_IS_INT,
  DJ_IS_BOOL,
  DJ_IS_NAMED,      // an enumerator: one of `choice`
  DJ_IS_TEXT,
  DJ_IS_REFERENCE   // id of an element of kind `object`, in files also its name; -1: none
} djFieldType;

typedef struct djElementField djElementField;

// What is wrong with a field of an element of a definition ("is negative"), or NULL.
typedef const char* (*djFieldCheck)(const djElementField* field, const void* element);

struct djElementField {
  const char* name;        // in C, in files and in messages; NULL ends a table
  djFieldType type;
  int count;               // of numbers
  size_t at;               // in the definition
  size_t array;            // in djModel: of the pointer to its numbers, doubles or ints; 0: it goes
                           //   to the model otherwise
  int column, columns;     // where in the rows of that array, and their length; 0: all of the row
  bool unit_length;        // it is normalised on the way; of zeros (1, 0, 0...)
  double standard[DJ_NPRM];   // default
  const char* unit;
  djFieldCheck check;
  double most;             // how large it may be: see check.h; 0: it is never computed with
  size_t flag;             // in the definition: of a bool without which it means nothing; 0: none
  const djChoice* choice;
  djObject object;
  bool always;             // written where it is the default, too
};

typedef struct djElementKind {
  const char* name;        // in messages and names of parameters: "joint"
  const char* list;        // in model files: "joints"
  const char* words;       // in messages: "equality constraints"
  const djElementField* field;
  size_t size;             // bytes of a definition
  size_t n, array;         // in djModelDef: their number and definitions
  size_t count;            // in djModel: their number
  size_t name_offset;      // in djModel: of the pointer to offsets of names; 0: they have none
  const char* (*before)(const djModelDef* def, int i);   // what is wrong with an element before
                                                         //   its fields are looked at; NULL: none
  const char* (*after)(const djModelDef* def, int i);    // and after
} djElementKind;

extern const djElementKind dj_elementKinds[DJ_NELEMENT];

static inline bool dj_hasNumbers(const djElementField* f) {
  return f->type == DJ_IS_REAL || f->type == DJ_IS_REALS || f->type == DJ_IS_COORD;
}
// Bytes of a field.
size_t dj_fieldSize(const djElementField* field);

// Number of a definition's elements of a kind, their list, one of it and its name (NULL: none).
int dj_elementCount(const djModelDef* def, int kind);
const void* dj_elementList(const djModelDef* def, int kind);
const void* dj_elementAt(const djModelDef* def, int kind, int i);
const char* dj_elementName(const djModelDef* def, int kind, int i);

// Offsets into names of the elements of a model (name.c); not of kinds without names.
int* dj_nameOffsets(const djModel* model, int kind);

typedef union djAnyElement {
  djBodyDef body;
  djJointDef joint;
  djGeomDef geom;
  djSiteDef site;
  djTendonDef tendon;
  djActuatorDef actuator;
  djPairDef pair;
  djExcludeDef exclude;
  djEqualityDef equality;
  djFlexDef flex;
} djAnyElement;
void dj_defaultElement(void* element, int kind);

// Of all elements of a kind. The error names the first that is wrong.
djStatus dj_checkKind(const djModelDef* def, int kind, djError* err);
djStatus dj_checkKindSizes(const djModelDef* def, int kind, djError* err);
// What the tables copy: to a model, whose arrays are zero, and to definitions, which are the
// defaults otherwise, with their names.
void dj_fillKind(djModel* model, const djModelDef* def, int kind);
void dj_getKind(void* element, const djModel* model, int kind);

// Functions of the kinds (check_tree.c, check_elements.c, equality.c, check_flex.c).
const char* dj_bodyBefore(const djModelDef* def, int i);
const char* dj_bodyAfter(const djModelDef* def, int i);
const char* dj_jointBefore(const djModelDef* def, int i);
const char* dj_jointAfter(const djModelDef* def, int i);
const char* dj_geomBefore(const djModelDef* def, int i);
const char* dj_meshBefore(const djModelDef* def, int i);
const char* dj_hfieldBefore(const djModelDef* def, int i);
const char* dj_siteBefore(const djModelDef* def, int i);
const char* dj_tendonBefore(const djModelDef* def, int i);
const char* dj_tendonAfter(const djModelDef* def, int i);
const char* dj_actuatorBefore(const djModelDef* def, int i);
const char* dj_actuatorAfter(const djModelDef* def, int i);
const char* dj_pairBefore(const djModelDef* def, int i);
const char* dj_pairAfter(const djModelDef* def, int i);
const char* dj_excludeBefore(const djModelDef* def, int i);
const char* dj_guideBefore(const djModelDef* def, int i);
const char* dj_equalityBefore(const djModelDef* def, int i);
const char* dj_equalityAfter(const djModelDef* def, int i);
const char* dj_flexBefore(const djModelDef* def, int i);

#endif  // DJ_MODEL_ELEMENT_H_
