// Models as users make, copy and change them: what is built from a definition, and the contact
// shapes and settings that are derived from it.

#include "base/status.h"
#include "contact/contact.h"
#include "model/check.h"
#include "model/kinematics.h"
#include "model/make.h"
#include "model/param.h"
#include "scene/physics.h"

#include <dijoco/physics.h>

#include <stdlib.h>
#include <string.h>

void dj_deleteModel(djModel* model) {
  if (!model) return;
  if (model->collision) dj_freeCollision(model);
  if (model->physics) model->physics->delete_model(model->physics_own);
  dj_deleteBuilt(model);
}

size_t dj_modelBytes(const djModel* m) {
  return m ? sizeof *m + m->nbuffer + dj_collisionBytes(m) : 0;
}

djStatus dj_makeModel(djModel** model, const djModelDef* def, djError* err) {
  if (!model) return dj_fail(err, DJ_INVALID, "model: NULL");
  *model = NULL;
  if (!def) return dj_fail(err, DJ_INVALID, "definition: NULL");
  djStatus status = dj_buildModel(model, def, err);
  if (status < 0) return status;
  status = dj_setEffectiveInertia(*model);
  if (status < 0) dj_failMemory(err);
  else status = dj_makeCollisionWatched(*model, false, &def->watch, err);
  if (status < 0) {
    dj_deleteModel(*model);
    *model = NULL;
  }
  return status;
}

djStatus dj_copyModel(djModel** copy, const djModel* model, djError* err) {
  if (!copy) return dj_fail(err, DJ_INVALID, "copy: NULL");
  *copy = NULL;
  if (!model) return dj_fail(err, DJ_INVALID, "model: NULL");
  djStatus status = dj_copyBuilt(copy, model, err);
  if (status < 0) return status;
  status = dj_copyCollision(*copy, model, err);
  if (status >= 0 && model->physics) {
    status = model->physics->copy_model(&(*copy)->physics_own, model->physics_own, err);
    if (status >= 0) (*copy)->physics = model->physics;
  }
  if (status < 0) {
    dj_deleteModel(*copy);
    *copy = NULL;
  }
  return status;
}

djStatus dj_addMeshVertices(djModel* model, int n, const int* mesh, const double* vert,
                            djError* err) {
  if (!model || n < 0 || (n > 0 && (!mesh || !vert))) {
    return dj_fail(err, DJ_INVALID, "vertices: model, mesh or vert: NULL");
  }
  for (int k = 0; k < n; k++) {
    if (mesh[k] < 0 || mesh[k] >= model->nmesh) {
      return dj_fail(err, DJ_INVALID, "vertices: there is no mesh #%d", mesh[k]);
    }
    if (!dj_allFinite(vert + 3 * k, 3)) {
      return dj_fail(err, DJ_INVALID, "vertices: numbers must be finite");
    }
  }
  if (n == 0) return DJ_OK;
  if (model->opt.contact == DJ_CONTACT_MUJOCO) {
    return dj_fail(err, DJ_UNSUPPORTED, "vertices: contact mujoco: none can be added");
  }
  djStatus status = dj_growMeshes(model, n, mesh, vert, err);
  return status < 0 ? status : dj_makeCollision(model, true, err);
}

djStatus dj_setOption(djModel* model, const djOption* option, djError* err) {
  if (!model || !option) return dj_fail(err, DJ_INVALID, "model or option: NULL");
  djStatus status = dj_checkOption(option, err);
  if (status < 0) return status;
  djOption old = model->opt;
  model->opt = dj_plainOption(option);
  status = dj_choosePhysics(model, err);
  if (status == DJ_OK) status = dj_makeCollision(model, false, err);
  if (status < 0) {
    model->opt = old;
    dj_choosePhysics(model, NULL);
  }
  return status;
}

static djStatus setParam(djModel* model, const djParam* param, const double* value,
                         djError* err) {
  if (!dj_paramMovesShapes(param)) {
    djStatus written = dj_writeParam(model, param, value, err);
    if (written == DJ_OK && param->field == DJ_FIELD_SETTING) dj_settingsChanged(model);
    if (written == DJ_OK && dj_paramIsCoefficient(param)) dj_coefficientsChanged(model);
    return written;
  }
  size_t size = sizeof(double) * (size_t)(param->nvalue > 0 ? param->nvalue : 1);
  double* old = malloc(size);
  if (!old) return dj_failMemory(err);
  djStatus status = dj_getParam(old, model, param);
  if (status < 0) {
    free(old);
    return dj_fail(err, status, "not a parameter of this model");
  }
  status = dj_writeParam(model, param, value, err);
  if (status == DJ_OK) {
    status = dj_changeCollision(model, param, err);
    if (status < 0) {
      memcpy(dj_paramData(model, param), old, sizeof(double) * (size_t)param->nvalue);
      dj_changeCollision(model, param, NULL);   // shapes that were made before one failed
    }
  }
  free(old);
  return status;
}

djStatus dj_setParam(djModel* model, const djParam* param, const double* value, djError* err) {
  if (!model || !param || !value) {
    return dj_fail(err, DJ_INVALID, "model, parameter or value: NULL");
  }
  if (model->opt.contact != DJ_CONTACT_MUJOCO || !model->physics) {
    return setParam(model, param, value, err);
  }
  double* old = calloc(param->nvalue > 0 ? (size_t)param->nvalue : 1, sizeof(double));
  if (!old) return dj_failMemory(err);
  djStatus status = dj_getParam(old, model, param);
  if (status < 0) dj_fail(err, status, "not a parameter of this model");
  else status = setParam(model, param, value, err);
  if (status == DJ_OK) {
    status = dj_tellPhysics(model, param, err);
    if (status < 0) setParam(model, param, old, NULL);
  }
  free(old);
  return status;
}
