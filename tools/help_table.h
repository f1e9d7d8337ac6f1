// Tables of words, to be printed in several ways.

#ifndef DJ_TOOLS_HELP_TABLE_H_
#define DJ_TOOLS_HELP_TABLE_H_

#include "text.h"

enum { HELP_COLUMNS = 6 };

// A table: rows of cells, which are texts of their own. The first column names the row; the last is
// the longest one, which is what is said about it.
typedef struct HelpTable {
  const char* title;             // of the page; NULL: the table is part of another one
  const char* before;            // paragraphs above and below it, in Markdown; NULL: none
  const char* after;
  int ncolumn;
  const char* column[HELP_COLUMNS];
  int nrow;
  char* (*row)[HELP_COLUMNS];
} HelpTable;

// Add a row of ncolumn texts, which are copied; NULL: empty.
void help_add(HelpTable* table, const char* const cell[HELP_COLUMNS]);
void help_free(HelpTable* table);

void help_text(Buffer* out, const HelpTable* table);        // at most 100 columns
void help_markdown(Buffer* out, const HelpTable* table);
void help_json(Buffer* out, const HelpTable* table);

// The topics.
void help_settings(HelpTable* table);
void help_presets(HelpTable* table);
void help_losses(HelpTable* table);
void help_parameters(HelpTable* table);
void help_maps(HelpTable* table);
void help_optimizers(HelpTable* table);

#endif  // DJ_TOOLS_HELP_TABLE_H_
