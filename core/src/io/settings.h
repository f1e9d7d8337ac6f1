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

// A setting's numbers as a JSON value.
void dj_addSetting(djText* text, const djSetting* row, const double* value);

#endif  // DJ_IO_SETTINGS_H_
