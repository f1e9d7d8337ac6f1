// Presets of contact: one row each, of a name, what it is for and its price, and what it sets where
// the user sets nothing. They set factors on the default rules, so that they are free of units and
// follow each pair. docs/contact.md has what they were measured to do.

#include "contact/plane/separating_plane.h"

#define PRESETS(X)                                                                                \
  X(none, "the defaults as they are", [DJ_PLANE_PRESET] = 0)                                      \
  X(smooth,                                                                                       \
    "plans and control that are optimized through contact: soft, early, viscous; what sticks "    \
    "creeps at 0.1 m/s, impacts lose friction below 5 ms",                                        \
    [DJ_PLANE_SUPPORT_SCALE] = 10, [DJ_PLANE_STIFFNESS_SCALE] = 1e-6,                             \
    [DJ_PLANE_FRICTION_EPS_SCALE] = 5e8)

#define ROW(name_, help_, ...) {.name = #name_, .help = help_, .value = {__VA_ARGS__}},
#define NUMBER(name_, ...) PRESET_##name_,
#define CHOICE(name_, ...) {#name_, PRESET_##name_},

enum { PRESETS(NUMBER) };

const djPreset dj_planePresets[] = {PRESETS(ROW) {.name = NULL}};
const djChoice dj_planePresetNames[] = {PRESETS(CHOICE) {NULL, 0}};
_Static_assert((int)DJ_MAX_PRESET >= (int)DJ_PLANE_NSETTING, "a preset has room for all settings");
