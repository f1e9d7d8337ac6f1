// Entries of the tables of what users name besides settings: losses, parameters, maps, optimizers.
// Readers, help, documentation and other languages list them by these.

#ifndef DIJOCO_ENTRY_H_
#define DIJOCO_ENTRY_H_

#include <dijoco/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the value of a key is.
typedef enum djHolds {
  DJ_HOLDS_WHOLE,      // an integer
  DJ_HOLDS_NUMBERS,    // numbers
  DJ_HOLDS_ROWS,       // rows of numbers
  DJ_HOLDS_ELEMENT     // an element of the model: a name or "#id"
} djHolds;

// A key of an object that has a type.
typedef struct djKey {
  const char* name;        // NULL ends a list
  djHolds holds;           // what its value is
  int size;                // of NUMBERS: how many; 0: any number of them
  djObject object;         // of ELEMENT: its kind
  bool required;           // of several ELEMENTs that follow one another one is
  const char* unit;        // "" where it has none
  const char* standard;    // what holds where it is not given; "" where it is required
} djKey;

// A row of a table, to be read only.
typedef struct djEntry {
  const char* name;        // as users write it
  const char* unit;        // of its value; "" where it has none
  const char* help;        // what it is, in a line
  const djKey* key;        // its own keys, beside those that all entries of the table have
} djEntry;

// Row i = 0, 1, ... of a table; NULL after the last.
DJ_API const djEntry* dj_lossEntry(int i);        // by djLossType
DJ_API const djEntry* dj_mapEntry(int i);
DJ_API const djEntry* dj_optimizerEntry(int i);
DJ_API const djEntry* dj_parameterEntry(int i);   // by djParam.field; named "kind/N/field"

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_ENTRY_H_
