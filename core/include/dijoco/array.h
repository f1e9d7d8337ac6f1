// Fields of models and data by name: what programs in other languages read instead of mirroring
// structs. Names are those of C: "nq", "body_mass", "opt.timestep", "contact.support" of a djModel;
// "qpos", "time", "stats.steps", "pair.normal" of a djData.

#ifndef DIJOCO_ARRAY_H_
#define DIJOCO_ARRAY_H_

#include <dijoco/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// Type of the entries; enumerations are DJ_ARRAY_INT.
typedef enum djArrayType {
  DJ_ARRAY_DOUBLE = 0,
  DJ_ARRAY_INT = 1,
  DJ_ARRAY_LONG = 2,
  DJ_ARRAY_BOOL = 3,
  DJ_ARRAY_CHAR = 4
} djArrayType;

// Where a field is: rows x columns entries; a number is 1 x 1. Memory is that of the model or data.
typedef struct djArray {
  void* data;              // of the type below
  djArrayType type;        // of an entry
  int rows, columns;       // 1 x 1: a number
  int stride;              // bytes from one row to the next
} djArray;

// A field of a model, to be read only. It stays where it is as long as the model lives.
// DJ_INVALID: there is no field of that name.
DJ_API djStatus dj_modelArray(djArray* array, const djModel* model, const char* name);

// A field of a data. Fields marked "in" (data.h) may be written. They stay where they are as long
// as the data lives; of "contact.*" and "pair.*" (a row for each) the number of rows is that of the
// last step.
DJ_API djStatus dj_dataArray(djArray* array, const djModel* model, djData* data,
                             const char* name);

// Names of the fields in order, i = 0, 1, ...; NULL after the last.
DJ_API const char* dj_modelArrayName(int i);
DJ_API const char* dj_dataArrayName(int i);

// dj_setOption with one option changed: `name` without "opt.", its n entries as numbers
// (enumerations too). err names what is wrong.
DJ_API djStatus dj_setOptionEntry(djModel* model, const char* name, const double* value, int n,
                                  djError* err);

// Bytes of a public struct ("djError", "djRollout"...), so that bindings can check their idea of
// it; 0: unknown.
DJ_API size_t dj_sizeOf(const char* type);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_ARRAY_H_
