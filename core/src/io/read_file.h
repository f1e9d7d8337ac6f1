// The one reader of whole files: everything that comes in comes through here.

#ifndef DJ_IO_READ_FILE_H_
#define DJ_IO_READ_FILE_H_

#include <dijoco/io.h>

#include <stdio.h>

// The rest of an open file, at most `limit` bytes; otherwise as dj_readFile.
djStatus dj_readStream(char** text, size_t* length, FILE* file, size_t limit, djError* err);

// dj_readFile of a file that is no text: it may have bytes that are 0.
djStatus dj_readBytes(char** bytes, size_t* length, const char* path, djError* err);

#endif  // DJ_IO_READ_FILE_H_
