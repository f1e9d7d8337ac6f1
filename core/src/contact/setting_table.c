// What contact registers with the model's layer: settings and names of all kernels. Settings need
// nothing of their kernels, so that no circle comes of it.

#include "contact/kernel_list.h"
#include "model/kernel_setting.h"

#define DECLARATION(name, kernel, settings) extern const djKernelSettings settings;
DJ_KERNELS(DECLARATION)

#define ROW(name, kernel, settings) &settings,
#define PLACE(name, kernel, settings) PLACE_##kernel,
#define NAME(name, kernel, settings) {name, PLACE_##kernel},
enum { DJ_KERNELS(PLACE) NKERNEL };
const djKernelSettings* const dj_settingTable[NKERNEL + 1] = {DJ_KERNELS(ROW) NULL};
const djChoice dj_contactNames[NKERNEL + 3] = {
    {"none", DJ_CONTACT_NONE}, {"mujoco", DJ_CONTACT_MUJOCO}, DJ_KERNELS(NAME) {NULL, 0}};
