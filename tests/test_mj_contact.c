// Contacts against the list of MuJoCo's own collision detection: their coefficients after mixing,
// what the report says of them, and which of them an instance of the plugin makes ours.
//
// All geoms are spheres within reach of each other, so MuJoCo lists everything that may touch.

#include "common/mjcf.h"
#include "common/near.h"
#include "common/random_mjcf.h"
#include "common/test.h"
#include "instance.h"

#include "contact/contact.h"

#include <dijoco/dijoco.h>

// A random scene, with an instance of the plugin if there is a configuration for it.
static mjModel* makeScene(djRng* rng, int nbody, const char* config) {
  char* text = djt_randomMjcf(rng, nbody, DJT_MJCF_CONTACT | DJT_MJCF_MOCAP | DJT_MJCF_CLUSTER);
  assert_non_null(text);
  size_t size = strlen(text) + (config ? strlen(config) : 0) + 200;
  char* scene = malloc(size);
  const char* place = strstr(text, "<compiler");
  assert_true(scene && place);
  if (config) {
    snprintf(scene, size, "%.*s<extension><plugin plugin='dijoco.contact'><instance name='dj'>%s"
             "</instance></plugin></extension>%s", (int)(place - text), text, config, place);
  } else {
    memcpy(scene, text, strlen(text) + 1);
  }
  mjModel* m = djt_compile(scene);
  free(text);
  free(scene);
  return m;
}

// The list of MuJoCo's contacts, whatever the flags say.
static mjData* collide(const mjModel* m) {
  mjModel view = *m;
  view.nplugin = 0;
  view.opt.disableflags &= ~(mjDSBL_CONTACT | mjDSBL_CONSTRAINT);
  view.opt.disableflags |= mjDSBL_MIDPHASE;   // its trees lack geoms that had no bits
  mjData* d = mj_makeData(&view);
  assert_non_null(d);
  mj_kinematics(&view, d);
  mj_comPos(&view, d);
  mj_collision(&view, d);
  return d;
}

static int findPair(const mjModel* m, int a, int b) {
  for (int i = 0; i < m->npair; i++) {
    int g = m->pair_geom1[i], h = m->pair_geom2[i];
    if ((g == a && h == b) || (g == b && h == a)) return i;
  }
  return -1;
}

// Pairs that are listed twice are two contacts of MuJoCo's, and one of ours.
static bool isTwice(const mjModel* m, int a, int b) {
  int n = 0;
  for (int i = 0; i < m->npair; i++) {
    int g = m->pair_geom1[i], h = m->pair_geom2[i];
    n += (g == a && h == b) || (g == b && h == a);
  }
  return n > 1;
}

// ------------------------------ coefficients ----------------------------------------------------

static void randomOverride(djRng* rng, mjModel* m) {
  m->opt.enableflags |= mjENBL_OVERRIDE;
  m->opt.o_margin = djt_uniform(rng, 0, 0.05);
  for (int k = 0; k < 5; k++) m->opt.o_friction[k] = djt_uniform(rng, 0.1, 1);
}

// Sliding along both tangents (the second 0: as the first), torsion and rolling about both, as
// MuJoCo's contact has them; of geoms sliding and rolling are alike in all directions.
static void expectedFriction(double mu[5], const mjModel* m, const mjContact* c, bool explicit) {
  const mjtNum* f = c->friction;
  bool mean = (m->opt.enableflags & mjENBL_OVERRIDE) && !explicit;
  if (c->dim > 1) mu[0] = mean ? 0.5 * (f[0] + f[1]) : f[0];
  if (c->dim > 1) mu[1] = mean || f[1] == f[0] ? 0 : f[1];
  if (c->dim > 3) mu[2] = f[2];
  if (c->dim > 4) mu[3] = f[3];
  if (c->dim > 4) mu[4] = mean ? f[3] : f[4];
}

// Contact begins at the distance margin.
static void testCoefficients(void) {
  djRng rng = {41};
  int mixed = 0, explicit = 0;
  for (int trial = 0; trial < 400; trial++) {
    mjModel* m = makeScene(&rng, 2 + trial % 5, NULL);
    if (trial % 4 == 0) randomOverride(&rng, m);
    djModel* x = djt_import(NULL, m);
    mjData* d = collide(m);
    for (int i = 0; i < 2 * m->ngeom && trial % 4 == 0; i++) {   // torsional and rolling friction
      djt_near(x->geom_friction[3 * (i / 2) + 1 + i % 2], m->opt.o_friction[2 + i % 2], 0);
    }
    for (int i = 0; i < d->ncon; i++) {
      const mjContact* c = d->contact + i;
      int a = c->geom[0], b = c->geom[1];
      if (isTwice(m, a, b)) continue;
      double mu[5] = {0};
      expectedFriction(mu, m, c, findPair(m, a, b) >= 0);
      for (int side = 0; side < 2; side++) {
        djPairCoefficients own = dj_pairCoefficients(x, side ? b : a, side ? a : b);
        const double got[5] = {own.friction, own.cone.friction2, own.cone.torsion,
                               own.cone.rolling[0], own.cone.rolling[1]};
        for (int k = 0; k < 5; k++) {   // MuJoCo's are no smaller than mjMINMU
          djt_near(mu[k] > 0 ? fmax(got[k], mjMINMU) : got[k], mu[k], 1e-15);
        }
        const struct djCollision* of = x->collision;
        double margin = own.inflate + of->bounds[a].inflate + of->bounds[b].inflate;
        if (dj_isContactPair(x, a, b)) djt_near(margin, c->includemargin, 1e-15);
      }
      bool same = m->geom_friction[3 * a] == m->geom_friction[3 * b];
      mixed += !same && m->geom_priority[a] != m->geom_priority[b];
      explicit += findPair(m, a, b) >= 0 && c->friction[0] != c->friction[1];
    }
    mj_deleteData(d);
    dj_deleteModel(x);
    mj_deleteModel(m);
  }
  assert_true(mixed > 100 && explicit > 50);
}

// ------------------------------ report ----------------------------------------------------------

static bool hasDofs(const mjModel* m, int body) {
  for (int b = body; b > 0; b = m->body_parentid[b]) {
    if (m->body_dofnum[b] > 0) return true;
  }
  return false;
}

static void expectEntry(const djReport* report, const char* kind, int id, const char* feature,
                        bool wanted) {
  char element[40];
  if (id < 0) snprintf(element, sizeof(element), "%s", kind);
  else if (strcmp(kind, "geom") == 0) snprintf(element, sizeof(element), "geom/g%d", id + 1);
  else snprintf(element, sizeof(element), "%s/#%d", kind, id);
  bool found = djt_entry(report, element, feature) != NULL;
  if (found != wanted) fail_msg("%s %s: reported %d", element, feature, found);
}

// What is said of contacts is said of those geoms and pairs that have some, by their condim.
static void testReport(void) {
  djRng rng = {42};
  int geoms = 0, none = 0;
  for (int trial = 0; trial < 300; trial++) {
    mjModel* m = makeScene(&rng, 1 + trial % 5, NULL);
    if (trial % 7 == 0) m->opt.disableflags |= trial % 2 ? mjDSBL_CONTACT : mjDSBL_CONSTRAINT;
    if (trial % 3 == 0) m->opt.impratio = 2;
    bool off = trial % 7 == 0;
    djReport* report;
    djModel* x = djt_import(&report, m);
    mjData* d = collide(m);
    int *dim = calloc(m->ngeom, sizeof(int)), *pair = calloc(m->npair + 1, sizeof(int)), most = 0;
    assert_true(dim && pair);
    for (int i = 0; i < d->ncon && !off; i++) {
      const mjContact* c = d->contact + i;
      int a = c->geom[0], b = c->geom[1], p = findPair(m, a, b);
      int body[2] = {m->geom_bodyid[a], m->geom_bodyid[b]};
      if (m->body_weldid[body[0]] == m->body_weldid[body[1]]) continue;   // cannot move apart
      if (!hasDofs(m, body[0]) && !hasDofs(m, body[1])) continue;
      if (c->dim > most) most = c->dim;
      if (p >= 0) pair[p] = c->dim;
      for (int s = 0; s < 2 && p < 0; s++) {
        if (c->dim > dim[c->geom[s]]) dim[c->geom[s]] = c->dim;
      }
    }
    expectEntry(report, "option", -1, "cone", most > 1);
    expectEntry(report, "option", -1, "impratio", most > 1 && trial % 3 == 0);
    for (int g = 0; g < m->ngeom; g++) {
      expectEntry(report, "geom", g, "solref", dim[g] > 0);
      expectEntry(report, "geom", g, "condim", false);
      geoms += dim[g] > 0;
      none += dim[g] == 0;
    }
    for (int p = 0; p < m->npair; p++) {
      if (isTwice(m, m->pair_geom1[p], m->pair_geom2[p])) continue;
      expectEntry(report, "pair", p, "solref", pair[p] > 0);
      expectEntry(report, "pair", p, "friction", false);
    }
    free(dim);
    free(pair);
    mj_deleteData(d);
    dj_deleteReport(report);
    dj_deleteModel(x);
    mj_deleteModel(m);
  }
  assert_true(geoms > 500 && none > 100);
}

// ------------------------------ ownership -------------------------------------------------------

// Configuration that names some geoms and the geoms of some bodies, and owns all the others or not.
static void randomNames(char* config, size_t size, djRng* rng, int nbody, int ngeom) {
  size_t n = 0;
  const char* const key[2] = {"geoms", "bodies"};
  int count[2] = {ngeom, nbody};
  bool all = djt_integer(rng, 6) == 0;
  config[0] = '\0';
  for (int k = 0; k < 2; k++) {
    n += (size_t)snprintf(config + n, size - n, "<config key='%s' value='", key[k]);
    for (int i = 1; i <= count[k]; i++) {
      if (djt_integer(rng, 3)) continue;
      n += (size_t)snprintf(config + n, size - n, "%c%d%s", key[k][0], i, i % 2 ? " " : ", ");
    }
    n += (size_t)snprintf(config + n, size - n, "%s'/>", all && k == 0 ? "all" : "");
  }
  assert_true(n < size);
}

static bool isListed(const char* config, const char* key, char letter, int number) {
  char name[20];
  const char* at = strstr(config, key);
  snprintf(name, sizeof(name), "%c%d", letter, number);
  at = strstr(at, "value='") + 7;
  const char* end = strchr(at, '\'');
  size_t n = strlen(name);
  for (; at < end; at++) {
    if (strncmp(at, name, n) == 0 && (at[n] < '0' || at[n] > '9')) return true;
  }
  return false;
}

static bool hasBits(const mjModel* m, int g) {
  return m->geom_contype[g] || m->geom_conaffinity[g];
}

// By name, or by its body: there geoms with bits count, or all where none has.
static bool isNamed(const mjModel* m, const char* config, int g) {
  if (isListed(config, "geoms", 'g', g + 1)) return true;
  int body = m->geom_bodyid[g];
  if (body == 0 || !isListed(config, "bodies", 'b', body)) return false;
  bool any = false;
  for (int k = 0; k < m->ngeom; k++) any = any || (m->geom_bodyid[k] == body && hasBits(m, k));
  return !any || hasBits(m, g);
}

// Whether MuJoCo's filters by bodies leave the pair: its list when all bits are set.
static bool* bodiesCollide(const mjModel* m) {
  mjModel* all = mj_copyModel(NULL, m);
  all->npair = 0;
  for (int g = 0; g < m->ngeom; g++) all->geom_contype[g] = all->geom_conaffinity[g] = 1;
  for (int b = 0; b < m->nbody; b++) all->body_contype[b] = all->body_conaffinity[b] = 1;
  mjData* d = collide(all);
  size_t n = (size_t)m->ngeom;
  bool* table = calloc(n * n, sizeof(bool));
  assert_non_null(table);
  for (int i = 0; i < d->ncon; i++) {
    const int* g = d->contact[i].geom;
    table[g[0] * m->ngeom + g[1]] = table[g[1] * m->ngeom + g[0]] = true;
  }
  mj_deleteData(d);
  all->nplugin = m->nplugin;
  mj_deleteModel(all);
  return table;
}

// Pairs that are ours: of a step beside MuJoCo's those with an owned geom, of a whole step those
// that MuJoCo would have, too. Named geoms without bits touch all that is named or has bits.
static void checkOwnership(const mjModel* m, const char* config, djmPurpose purpose,
                           int count[2]) {
  bool* apart = bodiesCollide(m);
  djModel* x;
  djmInstance instance;
  djError err;
  if (djm_import(&x, NULL, &instance, m, purpose, NULL, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
  bool stock = purpose == DJM_WHOLE && !(m->opt.disableflags & mjDSBL_CONTACT);
  bool all = strstr(config, "all'") ||
             (strstr(config, "'geoms' value=''") && strstr(config, "'bodies' value=''"));
  for (int a = 0; a < m->ngeom; a++) {
    for (int b = a + 1; b < m->ngeom; b++) {
      bool named[2] = {isNamed(m, config, a), isNamed(m, config, b)};
      bool bare[2] = {named[0] && !hasBits(m, a), named[1] && !hasBits(m, b)};
      bool bits = (m->geom_contype[a] & m->geom_conaffinity[b]) ||
                  (m->geom_contype[b] & m->geom_conaffinity[a]);
      if (bare[0] || bare[1]) bits = (bare[0] || hasBits(m, a)) && (bare[1] || hasBits(m, b));
      bool ours = named[0] || named[1] || stock || all;
      int pair = findPair(m, a, b);
      bool wanted = ours && (pair >= 0 || (bits && apart[a * m->ngeom + b]));
      djt_failIf(dj_canCollide(x, a, b) != wanted, "geoms %d, %d: %d\n%s", a + 1, b + 1, !wanted,
                 config);
      count[wanted]++;
      if (!wanted || pair < 0) continue;
      const mjtNum* mu = m->pair_friction + 5 * pair;
      djPairCoefficients c = dj_pairCoefficients(x, a, b);
      djt_near(c.friction, m->pair_dim[pair] > 1 ? mu[0] : 0, 1e-15);
      double margin = c.inflate + x->collision->bounds[a].inflate + x->collision->bounds[b].inflate;
      djt_near(margin, m->pair_margin[pair], 1e-15);
    }
  }
  free(apart);
  dj_deleteModel(x);
}

static void testOwnership(void) {
  djRng rng = {43};
  int count[2][2] = {{0}};
  for (int trial = 0; trial < 300; trial++) {
    char config[1000];
    int nbody = 2 + trial % 5;
    unsigned long long seed = 1000 + (unsigned long long)trial;
    djRng first = {seed}, second = {seed};
    mjModel* plain = makeScene(&first, nbody, NULL);
    randomNames(config, sizeof(config), &rng, (int)plain->nbody - 1, (int)plain->ngeom);
    bool unsuited = djm_disabled(plain, mjDSBL_SPRING) && djm_disabled(plain, mjDSBL_DAMPER);
    mj_deleteModel(plain);
    if (unsuited) continue;   // no plugin there
    mjModel* m = makeScene(&second, nbody, config);
    for (int g = 0; g < m->ngeom; g++) {   // many without bits
      if (djt_integer(&rng, 3) == 0) m->geom_contype[g] = m->geom_conaffinity[g] = 0;
    }
    for (int off = 0; off < 2; off++) {
      if (off) m->opt.disableflags |= mjDSBL_CONTACT;
      checkOwnership(m, config, DJM_CONTACTS, count[0]);
      checkOwnership(m, config, DJM_WHOLE, count[1]);
    }
    mj_deleteModel(m);
  }
  for (int k = 0; k < 2; k++) assert_true(count[k][0] > 1000 && count[k][1] > 1000);
}

DJT_MAIN_IN(djt_registerContact, NULL, testCoefficients, testReport, testOwnership)
