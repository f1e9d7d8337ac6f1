// Settings of contact kernels: numbers that a user may give, and the rules by which they are found
// where he does not. Every kernel brings its own rows (contact/kernel.h); here is what the layers
// below contact know of them.
//
// The settings of all kernels of the table have slots in a row: kernel by kernel, in their order.
// Those of the first kernel are fields of djOption, and so belong to the table of settings
// (dijoco/setting.h) too; those of others have no `field`.

#ifndef DJ_MODEL_KERNEL_SETTING_H_
#define DJ_MODEL_KERNEL_SETTING_H_

#include "model/setting.h"

#include <dijoco/entry.h>
#include <dijoco/model.h>

#define DJ_MAX_OF_KERNEL 24   // settings

// What default rules look at: sizes of a pair of geoms (or of one geom, as of a pair of two like
// it) when the model was compiled.
typedef struct djContactScale {
  double radius[2];        // inner radii, m; of a plane that of the other geom. Of a plane alone:
                           //   infinite
  double bound[2];         // bounding radii, m; of a plane that of the other geom
  double weight;           // on the lighter of both: of its kinematic tree, N
  double gravity;          // max(|gravity|, 9.81), m/s^2
  double timestep;         // s
  double heavier;          // as weight, on the heavier of both, N
  double push;             // lesser weight of the inertia that both bodies show to a push, N
} djContactScale;

// Of the pair that djContactSettings describes, as of two geoms like the first.
static inline djContactScale dj_sceneScale(const djModel* m) {
  const djContactSettings* c = &m->contact;
  return (djContactScale){
      {c->radius, c->radius}, {c->bound, c->bound}, c->load, c->gravity, m->opt.timestep, c->load,
      c->push};
}

// What a setting has beside its row.
typedef struct djKernelRule {
  // The default, from a pair's scale and from the settings before it that are in force; NULL: the
  // row's standard. It is its factor's value times what does not depend on that.
  double (*rule)(const djContactScale* scale, const double* setting);
  djEntry param;           // of the parameter `contact/KERNEL/name`; without a name: there is none
  int factor;              // 1 + the row of the setting that scales the default; 0: none. Where
                           //   the default is in force a parameter changes its factor, so that all
                           //   pairs follow; its value is that of the pair that djContactSettings
                           //   describes. An automatic parameter has one
  // Derivative of the default's logarithm by the setting of a row before it that is a parameter;
  // NULL: it depends on none.
  double (*slope)(const djContactScale* scale, const double* setting, int row);
} djKernelRule;

// What the layers below contact know of a kernel.
typedef struct djKernelSettings {
  const char* name;         // of the kernel
  int n;
  const djSetting* row;     // (n)
  const djKernelRule* rule; // (n) one may look at the settings before its own
} djKernelSettings;

// Registered by contact (contact/setting_table.c): those of all kernels, in their order, up to
// NULL; and names of kernels, "none" and "mujoco". Nothing else of a higher layer is known here.
extern const djKernelSettings* const dj_settingTable[];
extern const djChoice dj_contactNames[];

// The laws of a force, without "auto" and, those of all kernels, with it.
extern const djChoice dj_laws[], dj_dampedLaws[], dj_anyLaws[];
// Of points of damped contact: friction, and the poses that normals are of.
extern const djChoice dj_pointFrictions[], dj_dampedNormals[];

// Whether contact is the core's: neither switched off nor that of physics from outside.
static inline bool dj_ownContact(const djModel* m) { return (int)m->opt.contact >= 0; }

// Kernels of the table, and the number of all slots.
int dj_kernelCount(void);
int dj_settingSlots(void);

// A kernel's rows and its first slot; its name; the kernel of a name, or -1.
const djSetting* dj_kernelSettings(int* n, int* first_slot, int kernel);
const char* dj_kernelName(int kernel);
int dj_kernelNamed(const char* name);

// The row of a slot and its kernel, NULL: none; the first slot with this name from `slot` on, or
// -1.
const djSetting* dj_settingOfSlot(int* kernel, int slot);
int dj_settingNamed(const char* name, int slot);

// Settings that have derivatives count by themselves: the slot of the i-th, or -1; how many lie
// before a slot; the parameter that a slot is, or NULL.
int dj_settingParam(int i);
int dj_settingParams(int slot);
const djEntry* dj_settingEntry(int slot);

// A kernel's rules, one for each row.
const djKernelRule* dj_kernelRules(int kernel);

// A parameter has set this slot to a value that is possible. What default rules made of the old one
// stays: settings that were not given are held by their factors.
void dj_changeSetting(djModel* model, int slot, double value);

// The option of a slot's name, where it is about this slot: an option is about the scene's kernel,
// and where that has no such setting about the first that has. Else NULL.
const djSetting* dj_optionOfSlot(const djModel* model, int slot);

// What options give into kernel_given.
void dj_readGiven(djModel* model, int slot);

// Copies what is given and in force to the fields that options and contact settings have for it.
void dj_mirrorSetting(djModel* model, int slot);

// ------------------------------ of single geoms and pairs ---------------------------------------

// The model of a name, DJ_CONTACT_DEFAULT for none, and back ("" for that). Names that there are
// not have been refused (dj_checkContact).
int dj_contactNamed(const char* name);
const char* dj_contactWord(int contact);

// A definition's settings: what is wrong; how many are of single geoms and pairs; those of a model;
// and back, at most dj_settingCount of them.
djStatus dj_checkContact(const djModelDef* def, djError* err);
int dj_ownSettings(const djModelDef* def);
void dj_fillSettings(djModel* model, const djModelDef* def);
int dj_settingCount(const djModel* model);
int dj_getSettings(djSettingDef* setting, const djModel* model);

// Into setting, a kernel's, what a pair of geoms (pair: its explicit pair, or -1) has of its own.
// Returns bits of those.
unsigned dj_addOwn(double* setting, const djModel* model, int kernel, int pair, int geom1,
                   int geom2);
// The setting of a row that a geom has of its own or the scene gives; negative: neither.
double dj_geomGiven(const djModel* model, int kernel, int row, int geom);

#endif  // DJ_MODEL_KERNEL_SETTING_H_
