// The tables of losses, parameters, maps and optimizers.

#include "help_table.h"

#include <dijoco/csv.h>
#include <dijoco/entry.h>
#include <dijoco/optimize.h>

#include <stdio.h>
#include <string.h>

static const char* number(char text[32], double value) { return dj_formatNumber(text, value); }

// ---- keys of losses and maps ------------------------------------------------------------------

// One of the keys of which one is required, for the same element as the key before it.
static bool is_choice(const djKey* k) { return k->holds == DJ_HOLDS_ELEMENT && k->required; }

static bool is_second(const djKey* k) { return k->name[strlen(k->name) - 1] == '2'; }

static bool goes_with(const djKey* k, const djKey* before) {
  return is_choice(k) && is_choice(before) && is_second(k) == is_second(before);
}

// "3 numbers, m; default 0" in brackets.
static void add_value(Buffer* out, const djKey* k) {
  char text[80] = "";
  if (k->holds == DJ_HOLDS_WHOLE) strcpy(text, "a whole number");
  else if (k->holds == DJ_HOLDS_ROWS) strcpy(text, "rows of numbers");
  else if (k->holds == DJ_HOLDS_NUMBERS && k->size == 1) strcpy(text, "a number");
  else if (k->holds == DJ_HOLDS_NUMBERS && k->size == 0) strcpy(text, "numbers");
  else if (k->holds == DJ_HOLDS_NUMBERS) snprintf(text, sizeof text, "%d numbers", k->size);
  if (!*text && k->required) return;
  buf_addf(out, " (%s", text);
  if (*k->unit) buf_addf(out, ", %s", k->unit);
  if (!k->required) buf_addf(out, "%sdefault %s", *text ? "; " : "", k->standard);
  buf_add(out, ")");
}

// "`body`, `site` or `geom`; `target` (3 numbers, m)"
static void add_keys(Buffer* out, const djKey* key) {
  for (const djKey* k = key; k->name; k++) {
    bool again = k > key && goes_with(k, k - 1);
    bool last = !(k[1].name && goes_with(k + 1, k));
    buf_addf(out, "%s`%s`", k == key ? "" : !again ? "; " : last ? " or " : ", ", k->name);
    add_value(out, k);
  }
}

static void fill(HelpTable* t, const djEntry* (*entry)(int)) {
  const djEntry* e;
  for (int i = 0; (e = entry(i)); i++) {
    Buffer keys = {0};
    if (e->key) add_keys(&keys, e->key);
    const char* with_unit[HELP_COLUMNS] = {e->name, keys.text, e->unit, e->help};
    const char* plain[HELP_COLUMNS] = {e->name, keys.text, e->help};
    help_add(t, t->ncolumn == 4 ? with_unit : plain);
    buf_free(&keys);
  }
}

void help_losses(HelpTable* t) {
  *t = (HelpTable){.ncolumn = 4, .column = {"type", "keys", "unit", "value"}};
  fill(t, dj_lossEntry);
}

void help_maps(HelpTable* t) {
  *t = (HelpTable){.ncolumn = 3, .column = {"type", "keys", "what it does"}};
  fill(t, dj_mapEntry);
}

void help_parameters(HelpTable* t) {
  *t = (HelpTable){.ncolumn = 3, .column = {"name", "unit", "what it is"}};
  const djEntry* e;
  for (int i = 0; (e = dj_parameterEntry(i)); i++) {
    const char* cell[HELP_COLUMNS] = {e->name, e->unit, e->help};
    help_add(t, cell);
  }
}

// ---- optimizers -------------------------------------------------------------------------------

static bool uses(const djEntry* e, const char* name) {
  for (const djKey* k = e->key; k->name; k++) {
    if (strcmp(k->name, name) == 0) return true;
  }
  return false;
}

static bool is_common(const char* name) {
  const djEntry* e;
  for (int i = 0; (e = dj_optimizerEntry(i)); i++) {
    if (uses(e, name)) return false;
  }
  return true;
}

// The keys of one type, or of none: those that all take.
static void add_numbers(Buffer* out, const djEntry* e) {
  const djSetting* key;
  const char* between = "";
  for (int i = 0; (key = dj_optimizerKey(i)); i++) {
    char text[32];
    if (e ? !uses(e, key->name) : !is_common(key->name)) continue;
    const char* standard = key->choice ? dj_choiceName(key, (int)key->standard[0])
                                       : number(text, key->standard[0]);
    buf_addf(out, "%s`%s` %s", between, key->name, standard);
    between = ", ";
  }
}

// The object `receding`: a row, its keys in words.
static void add_receding(HelpTable* t) {
  Buffer keys = {0}, help = {0};
  const djSetting* key;
  buf_add(&help, "an object: windows that move on through the task. ");
  for (int i = 0; (key = dj_recedingKey(i)); i++) {
    char text[32] = "";
    if (i > 0) number(text, key->standard[0]);
    buf_addf(&keys, "`%s`%s%s, ", key->name, *text ? " " : "", text);
    buf_addf(&help, "%s: %s; ", key->name, key->help);
  }
  buf_add(&keys, "`window`");
  buf_add(&help, "window: what the first one starts with, as variables list it");
  const char* cell[HELP_COLUMNS] = {"receding", keys.text, help.text};
  help_add(t, cell);
  buf_free(&keys);
  buf_free(&help);
}

// The object `anneal`.
static void add_anneal(HelpTable* t) {
  const char* cell[HELP_COLUMNS] = {
      "anneal", "names of parameters, [from, to] each",
      "an object: numbers that go from one value to another over the iterations; of adam alone"};
  help_add(t, cell);
}

// The list `stages`, and where a run in stages goes on.
static void add_stages(HelpTable* t) {
  const char* cell[HELP_COLUMNS] = {
      "stages", "`set`, `iterations`",
      "a list of runs one after the other, each from the result of the one before. set: parameters "
      "and their values from then on; iterations: of this one. The keys `stage` (a whole number, "
      "0), `start` (numbers, as variables list them) and `shrink` (1, of its steps) say where an "
      "interrupted run goes on"};
  help_add(t, cell);
}

void help_optimizers(HelpTable* t) {
  *t = (HelpTable){.ncolumn = 3, .column = {"name", "keys", "what it is"}};
  const djEntry* e = NULL;
  for (int i = 0; i == 0 || e; i++) {
    Buffer keys = {0};
    e = dj_optimizerEntry(i);
    add_numbers(&keys, e);
    const char* help = e ? e->help : "when to end; starts";
    const char* cell[HELP_COLUMNS] = {e ? e->name : "all", keys.text, help};
    help_add(t, cell);
    buf_free(&keys);
  }
  const djSetting* key;
  for (int i = 0; (key = dj_optimizerKey(i)); i++) {
    const char* cell[HELP_COLUMNS] = {key->name, "", key->help};
    help_add(t, cell);
  }
  add_anneal(t);
  add_receding(t);
  add_stages(t);
}
