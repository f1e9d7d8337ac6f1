#include "help_table.h"

#include "json_out.h"

#include <stdlib.h>
#include <string.h>

void help_add(HelpTable* t, const char* const cell[HELP_COLUMNS]) {
  t->row = tool_grow(t->row, (size_t)t->nrow + 1, sizeof *t->row);
  for (int c = 0; c < HELP_COLUMNS; c++) {
    const char* text = c < t->ncolumn && cell[c] ? cell[c] : "";
    t->row[t->nrow][c] = tool_copyText(text);
  }
  t->nrow++;
}

void help_free(HelpTable* t) {
  for (int i = 0; i < t->nrow; i++) {
    for (int c = 0; c < HELP_COLUMNS; c++) free(t->row[i][c]);
  }
  free(t->row);
  *t = (HelpTable){0};
}

// ---- text -------------------------------------------------------------------------------------

enum { WIDTH = 100, INDENT = 4 };

// Words, broken into lines; *column is where the present one has got to.
static void add_words(Buffer* out, const char* text, int* column) {
  while (*text) {
    int n = (int)strcspn(text, " ");
    if (*column + 1 + n > WIDTH && *column > INDENT) {
      buf_addf(out, "\n%*s", INDENT, "");
      *column = INDENT;
    } else if (*column > INDENT) {
      buf_add(out, " ");
      ++*column;
    }
    buf_addn(out, text, (size_t)n);
    *column += n;
    text += n;
    while (*text == ' ') text++;
  }
}

// A paragraph for each row: its name, then "column: cell" of what is not empty.
void help_text(Buffer* out, const HelpTable* t) {
  for (int i = 0; i < t->nrow; i++) {
    buf_addf(out, "%s\n%*s", t->row[i][0], INDENT, "");
    int column = INDENT, last = t->ncolumn - 1;
    add_words(out, t->row[i][last], &column);
    for (int c = 1; c < last; c++) {
      if (!t->row[i][c][0]) continue;
      buf_addf(out, "\n%*s%s:", INDENT, "", t->column[c]);
      column = INDENT + (int)strlen(t->column[c]) + 1;
      add_words(out, t->row[i][c], &column);
    }
    buf_add(out, "\n");
  }
}

// ---- Markdown ---------------------------------------------------------------------------------

// Bars would end a cell.
static void add_cell(Buffer* out, const char* text) {
  for (; *text; text++) {
    if (*text == '|') buf_add(out, "\\");
    buf_addn(out, text, 1);
  }
}

void help_markdown(Buffer* out, const HelpTable* t) {
  if (t->title) buf_addf(out, "# %s\n\n", t->title);
  if (t->before) buf_addf(out, "%s\n\n", t->before);
  for (int c = 0; c < t->ncolumn; c++) buf_addf(out, "| %s ", t->column[c]);
  buf_add(out, "|\n");
  for (int c = 0; c < t->ncolumn; c++) buf_add(out, "|---");
  buf_add(out, "|\n");
  for (int i = 0; i < t->nrow; i++) {
    for (int c = 0; c < t->ncolumn; c++) {
      const char* cell = t->row[i][c];
      buf_add(out, c == 0 ? "| `" : *cell ? "| " : "|");
      add_cell(out, cell);
      buf_add(out, c == 0 ? "` " : " ");
    }
    buf_add(out, "|\n");
  }
  if (t->after) buf_addf(out, "\n%s\n", t->after);
}

// ---- JSON -------------------------------------------------------------------------------------

void help_json(Buffer* text, const HelpTable* t) {
  Json out;
  json_start(&out, text);
  json_object(&out, NULL);
  json_list(&out, "rows");
  for (int i = 0; i < t->nrow; i++) {
    json_object(&out, NULL);
    for (int c = 0; c < t->ncolumn; c++) json_text(&out, t->column[c], t->row[i][c]);
    json_end(&out);
  }
  json_end(&out);
  json_end(&out);
}
