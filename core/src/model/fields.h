// Fields by name, for the tables of dijoco/array.h.

#ifndef DJ_MODEL_FIELDS_H_
#define DJ_MODEL_FIELDS_H_

#include <dijoco/array.h>

// Type of what a pointer points to. What is not listed is an int or an enumeration, which is a type
// of its own to some compilers, and an int or unsigned to others.
#define DJ_TYPE_OF(pointer)                                                                  \
  _Generic((pointer), double*: DJ_ARRAY_DOUBLE, const double*: DJ_ARRAY_DOUBLE,              \
           long*: DJ_ARRAY_LONG, const long*: DJ_ARRAY_LONG, bool*: DJ_ARRAY_BOOL,           \
           const bool*: DJ_ARRAY_BOOL, char*: DJ_ARRAY_CHAR, const char*: DJ_ARRAY_CHAR,     \
           default: DJ_ARRAY_INT)

// The first number of a field of so many columns.
#define DJ_FIRST_1(field) &(field)
#define DJ_FIRST_3(field) &(field)[0]

// A field of an option by its name alone. False: none.
bool dj_optionArray(djArray* array, const djOption* option, const char* name);

static inline djArray dj_array(const void* data, djArrayType type, int rows, int columns,
                               size_t stride) {
  return (djArray){(void*)(size_t)data, type, rows, columns, (int)stride};
}

#endif  // DJ_MODEL_FIELDS_H_
