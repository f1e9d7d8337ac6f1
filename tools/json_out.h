// JSON output: numbers round-trip (%.17g), infinite and undefined ones are the strings "inf",
// "-inf" and "nan", text is valid UTF-8. Keys are NULL inside arrays.

#ifndef DJ_TOOLS_JSON_OUT_H_
#define DJ_TOOLS_JSON_OUT_H_

#include "text.h"

enum { JSON_DEPTH = 16 };

typedef struct Json {
  Buffer* out;
  int depth;
  bool used[JSON_DEPTH];    // something was written at this depth
  char closing[JSON_DEPTH];
} Json;

void json_start(Json* j, Buffer* out);
void json_object(Json* j, const char* key);
void json_list(Json* j, const char* key);
void json_end(Json* j);     // of the innermost object or list
void json_number(Json* j, const char* key, double value);
void json_integer(Json* j, const char* key, long value);
void json_text(Json* j, const char* key, const char* value);
void json_bool(Json* j, const char* key, bool value);
void json_null(Json* j, const char* key);
void json_vector(Json* j, const char* key, size_t n, const double* value);
// Rows of a matrix, each a list; NULL values give null.
void json_matrix(Json* j, const char* key, size_t rows, size_t columns, const double* value);
// Raw JSON text that was written elsewhere.
void json_raw(Json* j, const char* key, const char* text);

// One number as JSON writes it.
void json_addNumber(Buffer* out, double value);

#endif  // DJ_TOOLS_JSON_OUT_H_
