// JSON models and tasks. Files are read and written here and nowhere else in the core.

#ifndef DIJOCO_IO_H_
#define DIJOCO_IO_H_

#include <dijoco/file.h>
#include <dijoco/gradient.h>

#ifdef __cplusplus
extern "C" {
#endif

// Our own model file. Saving and loading gives a model of the same numbers, to the bit: what is left
// of a model's making where parameters have been set since (dj_setParam) is written by the names of
// dj_modelArray, under the key "exact". Errors of files begin with the path, then name the element:
// "scene.json: joint 'knee': range is reversed".
DJ_API djStatus dj_loadModel(djModel** model, const char* path, djError* err);
DJ_API djStatus dj_loadModelText(djModel** model, const char* text, djError* err);
// dj_loadModel, told of to a watch (NULL: nobody) while the hulls of meshes are made.
DJ_API djStatus dj_loadModelWatched(djModel** model, const char* path, const djWatch* watch,
                                    djError* err);
DJ_API djStatus dj_saveModel(const djModel* model, const char* path, djError* err);
// The file's text, which dj_deleteText releases. On failure *text is NULL.
DJ_API djStatus dj_saveModelText(char** text, const djModel* model, djError* err);
DJ_API void dj_deleteText(char* text);                  // NULL is allowed
// The same into an open file, which is not yet committed then.
DJ_API djStatus dj_writeModel(const djModel* model, djFile* file, djError* err);

// A whole text of at most 1 GiB without NUL, with a 0 after its end; *text is new memory that
// dj_freeFile releases. From a file, or from standard input. Errors do not name the path.
DJ_API djStatus dj_readFile(char** text, size_t* length, const char* path, djError* err);
DJ_API djStatus dj_readInput(char** text, size_t* length, djError* err);
DJ_API void dj_freeFile(char* text);

// Whether a text is JSON (RFC 8259): "line 3, column 14: geoms[2].size: what is wrong". names: NaN,
// Infinity and -Infinity count as numbers.
DJ_API djStatus dj_checkJson(const char* text, size_t length, bool names, djError* err);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_IO_H_
