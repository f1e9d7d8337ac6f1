// Output files that appear only when the verb succeeds (dijoco/file.h), all of them or none. What
// was not committed is removed at exit and by signals, folders that were made for it included.

#ifndef DJ_TOOLS_OUTPUT_H_
#define DJ_TOOLS_OUTPUT_H_

#include "text.h"

#include <dijoco/file.h>

// Make a folder (and its parents). Returns false with errno set.
bool out_folder(const char* path);

// Open a file that replaces `path`, or `folder`/`name`, when out_commit is called. NULL after a
// line on stderr.
djFile* out_open(const char* verb, const char* path);
djFile* out_openIn(const char* verb, const char* folder, const char* name);

// Put all open files in place. On failure nothing has changed. Returns 0, or EXIT_BAD_INPUT after a
// line on stderr.
int out_commit(const char* verb);

// Add a file with this text, which is freed; no more than one is open at a time. NULL likewise.
djFile* out_addIn(const char* verb, const char* folder, const char* name, Buffer* text);

// Give up one file.
void out_discard(djFile* file);

// The whole buffer.
void out_write(djFile* file, const Buffer* text);

#endif  // DJ_TOOLS_OUTPUT_H_
