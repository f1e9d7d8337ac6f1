#include "contact/kernel.h"

#include "contact/separating_plane.h"

const djKernel* dj_kernel(djContactModel model) {
  static const djKernel* const table[DJ_NCONTACT] = {
      [DJ_SEPARATING_PLANE] = &dj_separatingPlane,
  };
  return model > DJ_CONTACT_NONE && model < DJ_NCONTACT ? table[model] : NULL;
}
