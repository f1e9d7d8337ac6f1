// Output files that appear only when the verb succeeds: each is written under a temporary name in
// its final folder and renamed at the end. Whatever was not committed is removed at exit, folders
// that were made for it included.

#ifndef DJ_TOOLS_OUTPUT_H_
#define DJ_TOOLS_OUTPUT_H_

#include "text.h"

#include <stdio.h>

// Make a folder (and its parents). Returns false with errno set.
bool out_folder(const char* path);

// Open a file that replaces `path` when out_commit is called. NULL with errno set.
FILE* out_open(const char* path);

// Close all files and put them in place. On failure nothing is left; *path names the culprit.
bool out_commit(const char** path);

// As fputs of the whole buffer.
void out_write(FILE* file, const Buffer* text);

#endif  // DJ_TOOLS_OUTPUT_H_
