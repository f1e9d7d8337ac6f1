// Texts that grow, numbers in them, and paths.

#ifndef DJ_IO_TEXT_H_
#define DJ_IO_TEXT_H_

#include <dijoco/types.h>

// A text that grows. After a failed allocation nothing is added any more.
typedef struct djText {
  char* data;        // ends with 0 unless empty
  size_t length;
  size_t capacity;
  bool failed;
} djText;

void dj_addText(djText* text, const char* more);
void dj_addNumber(djText* text, double value);   // as dj_formatNumber
void dj_addExact(djText* text, double value);    // %.17g
void dj_addInt(djText* text, long value);
void dj_addQuoted(djText* text, const char* string);      // as a JSON string
void dj_addJsonNumber(djText* text, double value);        // not finite ones as strings
void dj_freeText(djText* text);

// %.17g of a number with a decimal point in every locale, "inf", "-inf", "nan". Returns text.
const char* dj_exactNumber(char text[32], double value);

// A number at the start of text, written with a decimal point in every locale. *end is text where
// there is none.
double dj_scanNumber(const char* text, const char** end);

// path as seen from folder, which ends with a slash or is empty. New memory.
char* dj_joinPath(const char* folder, const char* path);
// Folder of a path with its last slash, "" where it has none. New memory.
char* dj_folderOf(const char* path);

#endif  // DJ_IO_TEXT_H_
