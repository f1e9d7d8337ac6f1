// Elements that rows of the table of checks are about.

#include "import_checks.h"

int djm_elements(const char** kind, const int** name, const mjModel* m, djmKind which) {
  const struct {
    const char* kind;
    mjtSize n;
    const int* name;
  } table[DJM_NKIND] = {
      [DJM_OPTION] = {"option", 1, NULL},
      [DJM_JOINT] = {"joint", m->njnt, m->name_jntadr},
      [DJM_GEOM] = {"geom", m->ngeom, m->name_geomadr},
      [DJM_PAIR] = {"pair", m->npair, m->name_pairadr},
      [DJM_EQUALITY] = {"equality", m->neq, m->name_eqadr},
      [DJM_TENDON] = {"tendon", m->ntendon, m->name_tendonadr},
      [DJM_ACTUATOR] = {"actuator", m->nactuator, m->name_actuatoradr},
      [DJM_FLEX] = {"flex", m->nflex, m->name_flexadr},
      [DJM_PLUGIN] = {"plugin", m->nplugin, m->name_pluginadr},
      [DJM_SENSOR] = {"sensor", m->nsensor, m->name_sensoradr},
      [DJM_BODY] = {"body", m->nbody, m->name_bodyadr},
  };
  *kind = table[which].kind;
  *name = table[which].name;
  return (int)table[which].n;
}

int djm_kernelOf(const djmImport* imp, int geom) {
  const djModel* x = imp->model;
  int own = x->geom_contact[geom];
  return own == DJ_CONTACT_DEFAULT ? (int)x->opt.contact : own;
}

bool djm_pairLive(const djmImport* imp, int i) {
  const mjModel* m = imp->m;
  int a = m->pair_geom1[i], b = m->pair_geom2[i];
  if (!imp->geom_paired[a] || !imp->geom_paired[b]) return false;
  int body1 = m->geom_bodyid[a], body2 = m->geom_bodyid[b];
  return m->body_weldid[body1] != m->body_weldid[body2] &&
         (djm_moves(m, body1) || djm_moves(m, body2)) && djm_shapeSupported(m->geom_type[a]) &&
         djm_shapeSupported(m->geom_type[b]);
}
