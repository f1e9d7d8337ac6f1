// Text of limited length, for scenes and tasks drawn at random.

#ifndef DJ_VALIDATION_TEXT_H_
#define DJ_VALIDATION_TEXT_H_

#include <stddef.h>

typedef struct djvText {
  char* text;         // malloc'ed
  size_t used;
} djvText;

djvText djv_text(void);
// Ends the program where the text is too long.
void djv_put(djvText* t, const char* format, ...) __attribute__((format(printf, 2, 3)));

#endif  // DJ_VALIDATION_TEXT_H_
