// A page of its own that plays runs, in one file that needs nothing else: `--player FILE` of
// simulate, player.html of compare.

#ifndef DJ_TOOLS_PAGE_H_
#define DJ_TOOLS_PAGE_H_

#include "film.h"
#include "record.h"

enum { PAGE_BYTES = 2500000 }; // at most

typedef struct Page {
  int n;
  struct {
    const Engine* engine;
    const char *name, *color;
    Film film;
  } run[ENGINES];
  TouchList touch;
} Page;

// Runs of so many steps, one for each engine, which have been opened. Close it in any case. What is
// added to a page that is not open is dropped.
void page_open(Page* page, int n, const Engine* engine, long steps);
// The state of a run after k steps (0: the start), before its engine is measured.
void page_add(Page* page, int run, long k);
void page_write(Buffer* out, const Page* page, const char* scene);
void page_close(Page* page);

#endif // DJ_TOOLS_PAGE_H_
