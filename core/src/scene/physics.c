#include "scene/physics.h"

#include "base/status.h"
#include "integrate/method.h"

#include <stddef.h>

djStatus dj_choosePhysics(djModel* m, djError* err) {
  if (m->opt.contact != DJ_CONTACT_MUJOCO) return DJ_OK;
  if (!m->physics) {
    return dj_fail(err, DJ_UNSUPPORTED,
                   "option: contact: mujoco is of scenes that are loaded by MuJoCo (.xml, .mjb)");
  }
  const djMethod* method = dj_method(m->opt.integrator);
  if (method && method->history) {
    return dj_fail(err, DJ_UNSUPPORTED, "option: contact: mujoco has no integrator %s",
                   method->name);
  }
  return m->physics->choose(m->physics_own, m, err);
}

djStatus dj_tellPhysics(djModel* m, const djParam* param, djError* err) {
  if (m->opt.contact != DJ_CONTACT_MUJOCO || !m->physics) return DJ_OK;
  return m->physics->set_param(m->physics_own, m, param, err);
}

djStatus dj_setPhysics(djModel* m, const djPhysics* physics, void* own, djError* err) {
  if (!m || !physics) return dj_fail(err, DJ_INVALID, "model or physics: NULL");
  if (m->physics) return dj_fail(err, DJ_INVALID, "physics: the model has one");
  m->physics = physics;
  m->physics_own = own;
  djStatus status = dj_choosePhysics(m, err);
  if (status < 0) {
    m->physics = NULL;
    m->physics_own = NULL;
  }
  return status;
}
