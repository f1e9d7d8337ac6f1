// The one reader of whole files: everything that comes in as text comes through here.

#ifndef DJ_IO_READ_FILE_H_
#define DJ_IO_READ_FILE_H_

#include <dijoco/io.h>

#include <stdio.h>

// The rest of an open file, at most `limit` bytes; otherwise as dj_readFile.
djStatus dj_readStream(char** text, size_t* length, FILE* file, size_t limit, djError* err);

#endif  // DJ_IO_READ_FILE_H_
