// A box falls on a table under mj_step: MuJoCo's contact is off, the plugin dijoco.contact acts.
//   needs dijoco/mujoco.h and libdijoco_plugin; ./plugin

#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>

static const char kScene[] =
    "<mujoco>"
    "  <extension>"
    "    <plugin plugin='dijoco.contact'>"
    "      <instance name='dj'><config key='geoms' value='table box'/></instance>"
    "    </plugin>"
    "  </extension>"
    "  <option><flag contact='disable'/></option>"
    "  <worldbody>"
    "    <geom name='table' type='box' size='0.5 0.5 0.02' pos='0 0 0.78'/>"
    "    <body name='box' pos='0 0 1' euler='5 10 15'>"
    "      <freejoint/>"
    "      <geom name='box' type='box' size='0.1 0.08 0.06' mass='2'/>"
    "    </body>"
    "  </worldbody>"
    "</mujoco>";

int main(void) {
  // The plugin is registered when its library is loaded, that is before main.
  char error[500];
  mjSpec* spec = mj_parseXMLString(kScene, NULL, error, sizeof(error));
  mjModel* m = spec ? mj_compile(spec, NULL) : NULL;
  mjData* d = m ? mj_makeData(m) : NULL;
  if (!d) {
    fprintf(stderr, "%s\n", spec ? mjs_getError(spec) : error);
    return 2;
  }
  while (d->time < 2) mj_step(m, d);

  const djData* contact = djm_data(djm_pluginContext(m, d));
  double height = d->qpos[2], force = 0, weight = m->body_subtreemass[1] * -m->opt.gravity[2];
  for (int i = 0; i < contact->npair; i++) force += contact->pair[i].force[2];
  printf("height %.4f m, of a box at rest 0.8600\n", height);
  printf("force  %.4f N, weight %.4f, MuJoCo's contacts %d\n", force, weight, d->ncon);
  mj_deleteData(d);
  mj_deleteModel(m);
  mj_deleteSpec(spec);
  return fabs(height - 0.86) < 1e-4 && fabs(force / weight - 1) < 1e-4 ? 0 : 1;
}
