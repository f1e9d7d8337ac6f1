// Settings by name.

#ifndef DJ_IO_SETTINGS_H_
#define DJ_IO_SETTINGS_H_

#include "io/json.h"

#include <dijoco/task.h>

// Read a JSON value into the setting of that name; messages name the item's own key.
djStatus dj_jsonSetting(djSettings* settings, const char* name, const cJSON* item,
                        const djAt* at);

#endif  // DJ_IO_SETTINGS_H_
