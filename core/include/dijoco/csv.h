// Tables of numbers in text files. Numbers are written so that reading gives the same bits.

#ifndef DIJOCO_CSV_H_
#define DIJOCO_CSV_H_

#include <dijoco/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// n numbers separated by commas or white space: exactly n, all finite. Errors do not name text.
DJ_API djStatus dj_parseNumbers(double* value, int n, const char* text, djError* err);
// The same from a file; errors begin with the path.
DJ_API djStatus dj_readNumbers(double* value, int n, const char* path, djError* err);

// --qpos and --qvel. qpos (nq): quaternions are normalised, a zero one is an error; qvel (nv).
DJ_API djStatus dj_readQpos(double* qpos, const djModel* model, const char* path, djError* err);
DJ_API djStatus dj_readQvel(double* qvel, const djModel* model, const char* path, djError* err);

// Controls: header `ctrl[0],ctrl[1],...`, then one row of nu numbers per step, at least one row.
// *ctrl (nrow x nu) is new memory; dj_freeNumbers releases it.
DJ_API djStatus dj_readCtrl(double** ctrl, int* nrow, int nu, const char* path, djError* err);
DJ_API void dj_freeNumbers(double* value);

// Writing a table row by row, to a djFile. Failures are remembered and reported by dj_closeCsv; the
// file is then what it was before.
typedef struct djCsv djCsv;
DJ_API djStatus dj_openCsv(djCsv** csv, const char* path, const char* header, djError* err);
// A line of texts (NULL: none) followed by n numbers.
DJ_API void dj_writeCsv(djCsv* csv, const char* texts, const double* value, int n);
DJ_API djStatus dj_closeCsv(djCsv* csv, djError* err);

// A trajectory: a column for each number of the state (dj_getState), with its name: `time,qpos[0],
// ...,qvel[0],...,act[0],...`, and the integrator's history where it has one.
DJ_API djStatus dj_openStateCsv(djCsv** csv, const djModel* model, const char* path, djError* err);
DJ_API void dj_writeStateCsv(djCsv* csv, const djModel* model, const double* state);

// Shortest text of a number that reads back as the same bits; "inf", "-inf", "nan". Returns text.
DJ_API const char* dj_formatNumber(char text[32], double value);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_CSV_H_
