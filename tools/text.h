// Growing text, memory that never fails quietly, and the one line that bad input ends with.

#ifndef DJ_TOOLS_TEXT_H_
#define DJ_TOOLS_TEXT_H_

#include <stdbool.h>
#include <stddef.h>

// Exit statuses of every verb.
enum {
  EXIT_DONE = 0,
  EXIT_NOT_HELD = 1,  // it ran, but a check failed or a step did not converge
  EXIT_BAD_INPUT = 2
};

typedef struct Buffer {
  char* text;  // always ends with 0 once something was added
  size_t size, capacity;
} Buffer;

// Zeroed memory for count things of `size` bytes; ends the program where there is none.
void* tool_alloc(size_t count, size_t size);
void* tool_grow(void* memory, size_t count, size_t size);
char* tool_copyText(const char* text);

void buf_add(Buffer* b, const char* text);
void buf_addn(Buffer* b, const char* text, size_t n);
void buf_addf(Buffer* b, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Text broken at blanks into lines of at most 98 columns, the first after `first` blanks, the others
// after `indent`.
void buf_addWrapped(Buffer* b, const char* text, int first, int indent);
void buf_free(Buffer* b);

// Length of the valid UTF-8 sequence at s, 0 where there is none.
size_t text_sequence(const unsigned char* s);

// Print `dijoco VERB: FILE: ELEMENT: what is wrong` as one line on stderr and return
// EXIT_BAD_INPUT. file and element may be NULL. What is no text in them shows as '?'.
int tool_fail(const char* verb, const char* file, const char* element, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// From now on what tool_fail says on this thread is added to a buffer (without the command's name)
// instead; NULL: no longer.
void tool_catch(Buffer* into);

// A number that fills the whole text (blanks around it allowed); false otherwise. May be infinite.
bool tool_number(double* value, const char* text);

#endif  // DJ_TOOLS_TEXT_H_
