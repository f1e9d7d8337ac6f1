// Settings in force: those of the scene, of geoms and of pairs, by default rules where they are not
// given. The rules see what each geom was when the model was compiled, its size and the weight of
// its tree, and nothing of geoms far away. In derivatives by the design these stay as they are: a
// step is the same function of the design whatever its defaults would be elsewhere.

#include "base/hash.h"
#include "base/status.h"
#include "contact/pairs/collision.h"
#include "contact/shapes/given.h"
#include "contact/shapes/points.h"
#include "model/geom_row.h"
#include "model/kinematics.h"

#include <string.h>

// ------------------------------------------ geoms ----------------------------------------------

// Weights of trees: that of all bodies that move with them, kg; at the roots' places.
static void weighTrees(double* mass, const djModel* m) {
  for (int b = 0; b < m->nbody; b++) {
    mass[b] = 0;
    if (m->body_root[b] > 0 && m->body_lastdof[b] >= 0) mass[m->body_root[b]] += m->body_mass[b];
  }
}

// What a row of the first kernel with this name gives for a geom; negative: nothing.
static double givenFor(const djModel* m, const char* name, int geom) {
  int row = dj_settingNamed(name, 0);
  return dj_geomGiven(m, 0, row, geom);
}

// geom_radius, geom_load, geom_push, geom_bound, geom_part, geom_pointrule and geom_sharpness.
static void measureDefaults(djShapeBuilder* b) {
  djModel* m = b->model;
  dj_measureSurfaces(b);
  weighTrees(b->mass, m);
  for (int g = 0; g < m->ngeom; g++) {
    bool plane = dj_isGround(m->geom_type[g]);
    double radius = givenFor(m, "inner_radius", g), load = givenFor(m, "load", g);
    int body = m->geom_body[g], root = m->body_root[body];
    if (!(radius > 0)) radius = isfinite(b->inner[g]) && !plane ? b->inner[g] : 0;
    double weight = 0, push = givenFor(m, "recovery_load", g);
    if (m->body_lastdof[body] >= 0) {
      weight = (b->mass[root] > 0 ? b->mass[root] : 1) * m->contact.gravity;
    }
    m->geom_radius[g] = plane ? 0 : radius;
    m->geom_load[g] = load > 0 ? load : weight;
    m->geom_push[g] = push > 0 ? push : fmin(b->push[body] * m->contact.gravity, weight);
    double bound = givenFor(m, "guide_radius", g), part = givenFor(m, "guide_part", g);
    if (bound > 0 && !plane) m->geom_bound[g] = bound;
    if (part >= 0) m->geom_part[g] = part;
    m->geom_pointrule[g] = dj_ruleOfPoints(m->geom_type[g], m->geom_size + 3 * g);
    if (m->geom_sharpgiven[g]) continue;
    m->geom_sharpness[g] = 0;
    if (!(m->geom_bound[g] > 0)) continue;
    m->geom_sharpness[g] = dj_ruleOfSharpness(m->geom_type[g], m->geom_bound[g], m->geom_radius[g]);
  }
}

// Weight of all that moves: of each tree the load that its geoms have as their own, which a written
// design keeps, else what it weighs. A load of the whole scene is a scale alone.
static double weighAll(djShapeBuilder* b) {
  const djModel* m = b->model;
  int slot = dj_settingNamed("load", 0);
  double sum = 0;
  weighTrees(b->mass, m);
  for (int i = 0; i < m->nbody; i++) b->mass[i] *= m->contact.gravity;
  for (int i = 0; i < m->nsetting; i++) { // loads are negative there
    if (m->setting_slot[i] != slot || m->setting_geom[i] < 0) continue;
    int body = m->geom_body[m->setting_geom[i]];
    if (m->body_lastdof[body] < 0 || !(m->setting_value[i] > 0)) continue;
    double* tree = &b->mass[m->body_root[body]];
    *tree = *tree > 0 ? -m->setting_value[i] : fmin(*tree, -m->setting_value[i]);
  }
  for (int i = 0; i < m->nbody; i++) sum += fabs(b->mass[i]);
  return sum > 0 ? sum : m->contact.gravity;
}

// ------------------------------------------ scales ---------------------------------------------

djContactScale dj_pairScale(const djModel* m, int g1, int g2) {
  double r1 = m->geom_radius[g1], r2 = m->geom_radius[g2];
  double w1 = m->geom_load[g1], w2 = m->geom_load[g2];
  djContactScale s = {.gravity = m->contact.gravity, .timestep = m->opt.timestep};
  s.radius[0] = r1 > 0 ? r1 : r2;
  s.radius[1] = r2 > 0 ? r2 : r1;
  for (int k = 0; k < 2; k++) {
    bool plane = dj_isGround(m->geom_type[k == 0 ? g1 : g2]);
    if (!(s.radius[k] > 0)) s.radius[k] = plane ? INFINITY : m->contact.radius;
  }
  double b1 = m->geom_bound[g1], b2 = m->geom_bound[g2];
  s.bound[0] = b1 > 0 ? b1 : b2 > 0 ? b2 : m->contact.bound;
  s.bound[1] = b2 > 0 ? b2 : s.bound[0];
  s.weight = w1 > 0 && w2 > 0 ? fmin(w1, w2) : fmax(w1, w2);
  s.heavier = fmax(w1, w2);
  if (!(s.weight > 0)) s.weight = s.heavier = m->contact.load;
  double p1 = m->geom_push[g1], p2 = m->geom_push[g2];
  s.push = p1 > 0 && p2 > 0 ? fmin(p1, p2) : fmax(p1, p2);
  if (!(s.push > 0)) s.push = s.weight;
  return s;
}

unsigned dj_pairSettings(double* setting, const djModel* m, int kernel, int g1, int g2) {
  int n, first;
  dj_kernelSettings(&n, &first, kernel);
  djContactScale scale = dj_pairScale(m, g1, g2);
  dj_fillByRules(setting, dj_kernel(kernel), &scale, m->kernel_given + first);
  unsigned own = 0;
  if (m->nsetting > 0) {
    int pair = m->npair > 0 ? dj_explicitPair(m, g1, g2) : -1;
    own = dj_addOwn(setting, m, kernel, pair, g1, g2);
  }
  const djKernel* row = dj_kernel(kernel);
  if (row->limit) row->limit(setting, m, g1, g2);
  return own;
}

// The skin of a geom alone; infinite: of a plane, as the other geom's.
static double skinOf(const djModel* m, int number, int geom, double inner) {
  const djKernel* kernel = dj_kernel(number);
  int n, first;
  double given[DJ_MAX_OF_KERNEL], setting[DJ_MAX_OF_KERNEL];
  if (!kernel->skin) return 0;
  const djSetting* row = dj_kernelSettings(&n, &first, number);
  memcpy(given, m->kernel_given + first, (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    if (row[i].per_geom) given[i] = dj_geomGiven(m, number, i, geom);
  }
  djContactScale scale = dj_pairScale(m, geom, geom);
  dj_fillByRules(setting, kernel, &scale, given);
  return kernel->skin(setting, inner);
}

static void fillSkins(djShapeBuilder* b) {
  const djModel* m = b->model;
  for (int u = 0; u < b->nuse; u++) {
    for (int g = 0; g < m->ngeom; g++) {
      bool has = dj_hasShape(b, u, g);
      b->skin[u * m->ngeom + g] = has ? skinOf(m, b->use[u], g, b->inner[g]) : 0;
    }
  }
}

// ------------------------------------------ the scene ------------------------------------------

// The first geom with the largest skin, and the one of those it may touch with the largest; -1:
// there is none.
static void findLargest(int geom[2], const djShapeBuilder* b) {
  const djModel* m = b->model;
  geom[0] = geom[1] = -1;
  for (int g = 0; g < m->ngeom; g++) {
    bool larger = geom[0] < 0 || b->skin[g] > b->skin[geom[0]];
    if (b->collides[g] && isfinite(b->inner[g]) && m->geom_radius[g] > 0 && larger) geom[0] = g;
  }
  for (int g = 0; g < m->ngeom && geom[0] >= 0; g++) {
    bool larger = geom[1] < 0 || b->skin[g] > b->skin[geom[1]];
    if (b->collides[g] && larger && dj_canCollide(m, geom[0], g)) geom[1] = g;
  }
  if (geom[1] < 0) geom[1] = geom[0];
}

// The largest range of any pair's settings: by what the scene, geoms and pairs give or by the rules
// for the largest geom, whichever of each gives more. Ranges grow with the radius, and do not turn
// back as one setting grows.
static double largestRange(const djModel* m, int kernel) {
  int n, slot, of;
  const djKernel* row = dj_kernel(kernel);
  double setting[DJ_MAX_OF_KERNEL];
  dj_kernelSettings(&n, &slot, kernel);
  djContactScale scale = dj_sceneScale(m);
  for (int g = 0; g < m->ngeom; g++) {
    scale.radius[0] = scale.radius[1] = fmax(scale.radius[0], m->geom_radius[g]);
    scale.weight = fmax(scale.weight, m->geom_load[g]);
    scale.heavier = fmax(scale.heavier, m->geom_load[g]);
  }
  dj_fillByRules(setting, row, &scale, m->kernel_given + slot);
  double range = row->range(setting);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < m->nsetting; i++) {
      const char* name = dj_settingOfSlot(&of, m->setting_slot[i])->name;
      for (int k = 0; k < n; k++) {
        if (strcmp(row->settings->row[k].name, name) != 0) continue;
        double before = setting[k];
        setting[k] = m->setting_value[i];
        double now = row->range(setting);
        if (now > range) range = now;
        else setting[k] = before;
      }
    }
  }
  return range;
}

void dj_fillRanges(struct djCollision* c, const djModel* m) {
  for (int u = 0; u < c->nuse; u++) c->range[u] = largestRange(m, c->use[u]);
}

static void mirrorSettings(djModel* m) {
  for (int slot = 0; slot < m->nkernelsetting; slot++) dj_mirrorSetting(m, slot);
  m->contact.range = dj_kernel(0)->range(m->kernel_setting);
}

void dj_settingsChanged(djModel* m) {
  mirrorSettings(m);
  if (!m->collision) return;
  dj_fillRanges(m->collision, m);
  dj_mixNumbers(&m->collision->version, m->kernel_setting, (size_t)m->nkernelsetting);
}

djStatus dj_applyDefaults(djShapeBuilder* b, djError* err) {
  djModel* m = b->model;
  djContactSettings* c = &m->contact;
  for (int slot = 0; slot < m->nkernelsetting; slot++) dj_readGiven(m, slot);
  c->gravity = fmax(dju_norm3(dju_load3(m->opt.gravity)), 9.81);
  c->radius = m->opt.length_scale;
  c->load = (m->moving_mass > 0 ? m->moving_mass : 1) * c->gravity;
  c->push = c->load;
  c->bound = m->opt.length_scale;
  c->part = 1;
  m->defaults_kept = 0;
  if (dj_pushInertia(b->push, m) < 0) return dj_failMemory(err);
  measureDefaults(b);
  c->weight = weighAll(b);
  fillSkins(b);
  int geom[2];
  findLargest(geom, b);
  djContactScale scale = dj_sceneScale(m);
  if (geom[0] >= 0) {
    scale = dj_pairScale(m, geom[0], geom[1]);
    c->radius = m->geom_radius[geom[0]];
    c->load = scale.weight;
    c->push = scale.push;
    c->bound = m->geom_bound[geom[0]];
    c->part = m->geom_part[geom[0]];
  }
  for (int k = 0, first = 0; dj_kernel(k); first += dj_kernel(k++)->settings->n) {
    djStatus status = dj_applyRules(m->kernel_setting + first, dj_kernel(k), &scale,
                                    m->kernel_given + first, err);
    if (status < 0) return status;
  }
  mirrorSettings(m);
  c->skin = geom[0] >= 0 ? b->skin[geom[0]] : 0;
  memcpy(m->geom_skin, b->skin, (size_t)m->ngeom * sizeof(double));
  if (isnan(c->range) || !isfinite(c->stiffness) || !isfinite(c->skin)) {
    return dj_fail(err, DJ_INVALID, "contact settings are not finite");
  }
  return DJ_OK;
}
