// Values in structs that users set by name: the table of settings, and what any such table needs.

#ifndef DJ_MODEL_SETTING_H_
#define DJ_MODEL_SETTING_H_

#include "model/choice.h"

// Rows that belong together, in the order in which they are listed.
typedef struct djSettingTable {
  int n;
  const djSetting* row;
} djSettingTable;

// Rows of all tables, at most: djSettings has a bit for each.
enum { DJ_MAX_SETTINGS = 64 };

extern const djSettingTable dj_engineSettings, dj_contactSettings;   // then the first kernel's

// Room for what is wrong with a value.
typedef struct djProblemText {
  char text[320];
} djProblemText;

// The numbers of a row in the struct at base, which its offset is in.
void dj_readRow(double* value, const void* base, const djSetting* row);
void dj_readPlace(double* value, const void* place, const djSetting* row);   // at its place
void dj_storeRow(void* base, const djSetting* row, const double* value);

// The setting that a text means in place of this one, "auto", with the value 1; else NULL.
const djSetting* dj_settingOfText(const djSetting* row, const char* text);

// Its choices are true and false.
extern const djChoice dj_switch[];
static inline bool dj_isSwitch(const djSetting* row) { return row->choice == dj_switch; }

// "must be positive"..., or NULL; automatic: negative numbers that ask for the rule are fine.
const char* dj_rowProblem(djProblemText* what, const djSetting* row, const double* value,
                          bool automatic);

// The row's bounds alone, which default rules may not leave either.
static inline bool dj_settingInRange(const djSetting* row, double value) {
  if (row->kind == DJ_SETTING_CHOICE) return dj_isChoice(row->choice, (int)value);
  if (value == 0) return row->zero;
  if (value == row->also) return true;
  return (value > 0 || (row->negative && value < 0)) && (row->below == 0 || value < row->below);
}

// "unknown value 'text', expected one of ..."
void dj_unknownChoice(char* what, size_t size, const char* text, const djChoice* choice);

// "unknown setting, expected one of ...": those of these ways.
void dj_unknownSetting(char* what, size_t size, unsigned ways);

// Append ", expected one of NAME" to a text, or ", NAME" after the first.
void dj_expectName(char* what, size_t size, const char* name, bool first);

#endif  // DJ_MODEL_SETTING_H_
