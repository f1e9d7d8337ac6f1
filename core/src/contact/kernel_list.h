// The contact kernels, a row each: name, kernel, what it registers with the model's layer. The first
// is the model of scenes that name none.

#ifndef DJ_CONTACT_KERNEL_LIST_H_
#define DJ_CONTACT_KERNEL_LIST_H_

#define DJ_KERNELS(X)                                          \
  X("separating_plane", dj_separatingPlane, dj_planeSettings)  \
  X("implicit_surface", dj_implicitSurface, dj_implicitSettings) \
  X("penalty", dj_penalty, dj_penaltySettings)                 \
  X("damped", dj_damped, dj_dampedSettings)                    \
  X("long_range", dj_longRange, dj_longSettings)

#endif  // DJ_CONTACT_KERNEL_LIST_H_
