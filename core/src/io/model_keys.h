// The keys of our model file: one table per kind of element, for reading and for writing. Those of
// `option` are the table of settings (dijoco/setting.h).

#ifndef DJ_IO_MODEL_KEYS_H_
#define DJ_IO_MODEL_KEYS_H_

#include "io/json.h"

#include <dijoco/model.h>

typedef enum djKeyKind {
  DJ_KEY_REAL,      // count numbers
  DJ_KEY_REALS,     // at most count numbers; the others are 0
  DJ_KEY_COORD,     // numbers: the coordinates of a joint
  DJ_KEY_INT,
  DJ_KEY_BOOL,
  DJ_KEY_NAMED,     // one of names
  DJ_KEY_TEXT,
  DJ_KEY_BODY,      // references: name or index
  DJ_KEY_JOINT,
  DJ_KEY_GEOM,
  DJ_KEY_MESH,
  DJ_KEY_HFIELD,
  DJ_KEY_SITE,
  DJ_KEY_TENDON,
  DJ_KEY_FLEX
} djKeyKind;

typedef struct djKeySpec {
  const char* key;      // NULL ends a table
  djKeyKind kind;
  size_t offset;        // in the def struct
  int count;
  const djNamed* names;
  bool always;          // written even where it is the default
} djKeySpec;

#define DJ_MAX_KEYS 160

extern const djKeySpec dj_bodyKeys[], dj_jointKeys[], dj_geomKeys[], dj_siteKeys[],
    dj_tendonKeys[], dj_actuatorKeys[], dj_pairKeys[], dj_excludeKeys[], dj_equalityKeys[],
    dj_flexKeys[];

// Defaults of kinds that have no public constructor.
djSiteDef dj_siteDefault(void);
djPairDef dj_pairDefault(void);

#endif  // DJ_IO_MODEL_KEYS_H_
