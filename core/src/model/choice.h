// Tables of types of which model files have the names: a list of rows makes an array of them and
// one of their names.

#ifndef DJ_MODEL_CHOICE_H_
#define DJ_MODEL_CHOICE_H_

#include <dijoco/setting.h>

// Of X(type, name, ...).
#define DJ_TYPE_ROW(type, ...) [type] = {__VA_ARGS__},
#define DJ_TYPE_NAME(type, name, ...) {name, type},

// A choice's name, "" when it is not there.
const char* dj_nameOf(const djChoice* choice, int value);

// The value of a name; NULL: it is not there.
const int* dj_valueNamed(const djChoice* choice, const char* name);

static inline bool dj_isChoice(const djChoice* choice, int value) {
  return dj_nameOf(choice, value)[0] != 0;
}

#endif  // DJ_MODEL_CHOICE_H_
