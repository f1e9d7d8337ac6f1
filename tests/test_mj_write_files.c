// Changed meshes as OBJ files beside the scene.

#include "common/make_model.h"
#include "common/mjcf.h"
#include "common/test.h"
#include "write_files.h"

// What files of a scene compile to, floats of meshes in their own frames.
static mjModel* compileFiles(const djmSceneFiles* f) {
  char error[1000] = "";
  mjVFS vfs;
  mj_defaultVFS(&vfs);
  for (int i = 0; i < f->nfile; i++) {
    assert_int_equal(mj_addBufferVFS(&vfs, f->name[i], f->obj[i], (int)strlen(f->obj[i])), 0);
  }
  mj_addBufferVFS(&vfs, "scene.xml", f->scene, (int)strlen(f->scene));
  mjModel* m = mj_loadXML("scene.xml", &vfs, error, sizeof error);
  mj_deleteVFS(&vfs);
  if (!m) fail_msg("%s", error);
  return m;
}

// A changed mesh is in a file, from which the same model comes.
static void testFiles(void) {
  const char* path = DIJOCO_SOURCE_DIR "/models/hammer/scene.xml";
  djModel* m;
  djError err;
  djmSceneFiles files;
  double vert[24];
  assert_int_equal(dj_loadMJCF(&m, NULL, NULL, path, &err), DJ_OK);
  assert_int_equal(djm_makeSceneFiles(&files, path, m, NULL, "", &err), DJ_OK);
  assert_null(files.scene);
  assert_int_equal(files.nfile, 0);
  assert_null(strstr(files.text, ".obj"));
  djm_freeSceneFiles(&files);

  djParam param = djt_param(m, "mesh/head/vert");
  assert_int_equal(param.nvalue, 24);
  dj_getParam(vert, m, &param);
  for (int k = 0; k < 24; k++) vert[k] *= 1 + 0.01 * k;
  assert_int_equal(dj_setParam(m, &param, vert, &err), DJ_OK);
  assert_int_equal(djm_makeSceneFiles(&files, path, m, NULL, "_x", &err), DJ_OK);
  assert_int_equal(files.nfile, 1);
  assert_string_equal(files.name[0], "head_x.obj");
  assert_non_null(strstr(files.scene, "file=\"head_x.obj\""));
  assert_non_null(strstr(files.obj[0], "\nf "));
  mjModel *one = djt_compile(files.text), *other = compileFiles(&files);
  assert_int_equal(one->nmeshvert, other->nmeshvert);
  assert_memory_equal(one->mesh_vert, other->mesh_vert, sizeof(float) * 3 * (size_t)one->nmeshvert);
  assert_int_equal(djm_checkDesign(other, m, NULL, 1e-10, &err), DJ_OK);
  for (int k = 0; k < 3 * one->nbody; k++) {
    assert_true(one->body_inertia[k] == other->body_inertia[k]);
    assert_true(one->body_ipos[k] == other->body_ipos[k]);
  }
  mj_deleteModel(one);
  mj_deleteModel(other);
  djm_freeSceneFiles(&files);

  // no MJCF: the text alone
  assert_int_equal(djm_makeSceneFiles(&files, "scene.json", m, NULL, "", &err), DJ_OK);
  assert_non_null(files.text);
  assert_null(files.scene);
  djm_freeSceneFiles(&files);
  dj_deleteModel(m);
}

DJT_MAIN(testFiles)
