// Settings: one table of what may be set about how a scene is simulated. Scenes, tasks, the
// command, MJCF's <custom> fields, the plugin's keys and Python all read and write by it, and
// docs/settings.md is printed from it.

#ifndef DIJOCO_SETTING_H_
#define DIJOCO_SETTING_H_

#include <dijoco/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a setting holds.
typedef enum djSettingKind {
  DJ_SETTING_REAL,     // numbers
  DJ_SETTING_WHOLE,    // an integer
  DJ_SETTING_CHOICE,   // one of its choices
  DJ_SETTING_FLAGS     // any of its choices, whose values are bits
} djSettingKind;

// Where a setting may be given, as a sum. dj_setOption and Python's `option` take all of them.
typedef enum djWay {
  DJ_BY_SCENE = 1 << 0,     // `option` of a .json scene
  DJ_BY_TASK = 1 << 1,      // a key of a task
  DJ_BY_COMMAND = 1 << 2,   // --NAME of the command
  DJ_BY_MJCF = 1 << 3,      // <custom>: numeric or text `dijoco_NAME`
  DJ_BY_PLUGIN = 1 << 4,    // <config key="NAME"> of dijoco.contact
  DJ_BY_PAIR = 1 << 5       // a pair of geoms
} djWay;

// A value with a name; lists end with the name NULL.
typedef struct djChoice {
  const char* name;        // NULL ends a list
  int value;               // in djOption; of flags: a bit
} djChoice;

// A row of the table, to be read only. Numbers are more than 0 and finite unless it says otherwise.
typedef struct djSetting {
  const char* name;        // as users write it
  djSettingKind kind;      // what it holds
  int size;                // numbers: 1, or 3 of a vector
  const djChoice* choice;  // of CHOICE and FLAGS, else NULL
  bool zero;               // may be 0
  bool negative;           // may be negative
  bool automatic;          // chosen by `rule` where it is not given: negative in djOption
  bool mujoco;             // MJCF's own <option> has it too
  bool per_geom;           // each geom has its own in force; dj_settingInForce gives the largest
  double least;            // units of `unit`: smallest positive value; 0: any
  double below;            // units of `unit`: all values are less; 0: no bound
  double most;             // units of `unit`: largest magnitude; 0: any
  double also;             // units of `unit`: may be, though it is not below; 0: none
  double standard[3];      // units of `unit`: default, where it is not automatic
  unsigned ways;           // sum of djWay
  const char* group;       // key of a task whose object holds it; NULL: the top level
  const char* unit;        // "" where it has none
  const char* symbol;      // stands for its value in help
  const char* automatic_by;   // the setting of which 1 is what the text "auto" means here; NULL:
                           //   there is no such text
  const char* rule;        // how the default follows from the scene; NULL: it is standard
  const char* help;        // what it is, in a line
  const char* field;       // its name for dj_modelArray
  const char* in_force;    // likewise of the value in force
  size_t offset;           // bytes, in djOption
  size_t in_force_offset;  // bytes, in djModel
} djSetting;

// Row i = 0, 1, ... of the table; NULL after the last.
DJ_API const djSetting* dj_setting(int i);

// The row of a name that may be given in one of these ways (0: in any); NULL: there is none.
DJ_API const djSetting* dj_findSetting(const char* name, unsigned ways);

// The numbers of a setting (size); choices and flags by their values.
DJ_API void dj_getSetting(double* value, const djOption* option, const djSetting* setting);

// Those in force in a model, where default rules are applied.
DJ_API void dj_settingInForce(double* value, const djModel* model, const djSetting* setting);

// Set one in an option; a negative automatic one asks for its rule. The error names the setting.
DJ_API djStatus dj_setSetting(djOption* option, const djSetting* setting, const double* value,
                              djError* err);

// Name of a choice; "" when there is none of this value.
DJ_API const char* dj_choiceName(const djSetting* setting, int value);

enum { DJ_MAX_SETTINGS = 128 }; // rows that the table may have

// Settings that one source gives: a task, a command line.
typedef struct djSettings {
  bool given[DJ_MAX_SETTINGS]; // row i of the table
  djOption option;             // their values; the others are defaults
} djSettings;

// Whether a source gives a setting; any (NULL).
DJ_API bool dj_isGiven(const djSettings* settings, const djSetting* setting);

// Add a setting to those given, by its numbers or by its text ("0.01", "recover"). Errors are
// "NAME: what is wrong". An automatic one cannot be taken back by a negative number.
DJ_API djStatus dj_giveSetting(djSettings* settings, const djSetting* setting, const double* value,
                               djError* err);
DJ_API djStatus dj_parseSetting(djSettings* settings, const char* name, const char* text,
                                djError* err);

// Override the options that are given.
DJ_API void dj_applySettings(djOption* option, const djSettings* settings);

// Row i = 0, 1, ... of the settings of all contact models, one model after the other, and the model
// that it is of; NULL after the last. Those of the first are in the table above, too. In this order
// djModel has them as kernel_given and kernel_setting; those with DJ_BY_PAIR may be given for
// single pairs and geoms (djSettingDef).
DJ_API const djSetting* dj_contactSetting(int* model, int i);

// Whether the options of a model hold what is given for row i of these: they are about the scene's
// contact model, and where that has no setting of a name about the first that has.
DJ_API bool dj_isOption(const djModel* model, int i);

// Whether a setting of a contact model is given, other than by default, that acts on nothing in a
// model, since no pair of geoms is of that contact model: kn without penalty contact.
DJ_API bool dj_isIdle(const djModel* model, const djSetting* setting);

enum { DJ_MAX_PRESET = 24 };   // settings of a preset

// A preset of contact: what takes the place of defaults under a name, where the user gives nothing.
typedef struct djPreset {
  const char* name;        // as users write it
  const char* help;        // what it is for, and its price, in a line
  double value[DJ_MAX_PRESET];   // of row i of dj_contactSetting, in its unit; 0:
                           //   the default stays
} djPreset;

// Preset i = 0 ("none"), 1, ...; NULL after the last. Its number is the value of the setting
// `preset`.
DJ_API const djPreset* dj_preset(int i);

// Names of the values of options: "separating_plane", "position", "recover"...
DJ_API const char* dj_contactName(djContactModel contact);
DJ_API const char* dj_integratorName(djIntegrator integrator);
DJ_API const char* dj_overlapName(djOverlap overlap);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_SETTING_H_
