// What is stored of a scene: named vectors.

#ifndef DJ_TESTS_REFERENCES_RESULT_H_
#define DJ_TESTS_REFERENCES_RESULT_H_

#include <dijoco/dijoco.h>

#include <stdbool.h>

enum { REF_MAX_VECTOR = 64, REF_NAME = 32 };

typedef struct refVector {
  char name[REF_NAME];
  int n;
  double* value;          // (n)
} refVector;

typedef struct refResult {
  int n;
  refVector vector[REF_MAX_VECTOR];
} refResult;

// A new vector of n zeros.
double* ref_add(refResult* result, const char* name, int n);
void ref_free(refResult* result);

// Steps a scene from its first keyframe and differentiates the steps; see measure.c.
void ref_measure(refResult* result, const djModel* model);

// Prints why, and ends the program with 1.
_Noreturn void ref_fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif  // DJ_TESTS_REFERENCES_RESULT_H_
