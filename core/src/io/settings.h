// Settings by name, in JSON.

#ifndef DJ_IO_SETTINGS_H_
#define DJ_IO_SETTINGS_H_

#include "io/json.h"
#include "io/text.h"

// The numbers of a setting from a JSON value of its kind; whether they are allowed is not asked.
djStatus dj_jsonValue(double* value, const djSetting* row, const cJSON* item, const djAt* at);

// Read a JSON value into a setting; messages name the item's own key.
djStatus dj_jsonSetting(djSettings* settings, const djSetting* row, const cJSON* item,
                        const djAt* at);

// Names of the settings of a group ("": the top level) that may be given in one of these ways;
// NULL after the last. names: DJ_MAX_SETTINGS + 1.
void dj_listSettings(const char** names, const char* group, unsigned ways);

// An object with the settings of a group; the one that is called like it is its `model`, and may
// stand for the object. top: of what has the group as a key. also: a key that the object may have
// beside them, for the caller to read; or NULL.
djStatus dj_jsonGroup(djSettings* settings, const char* group, unsigned ways, const char* also,
                      const cJSON* item, const djAt* top);

// A setting's numbers as a JSON value.
void dj_addSetting(djText* text, const djSetting* row, const double* value);

#endif  // DJ_IO_SETTINGS_H_
