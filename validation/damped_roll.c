// A blob of 400 points with two ears, thrown down with a spin (damped contact, Fig. 3;
// models/damped/roll): how far it turns in 2 s, and how much it hops, which is the sum of changes
// of its vertical velocity. By damped contact of kn 1000 and alpha 1.5; undamped; with hard
// undamped contact, sigma -> 0; and with critical damping of detected contacts, integrated here in
// short steps: at points below the ground
//   f = -kn z - 2 sqrt(kn m) z',
// which pulls at points that leave. The paper says that damped contact turns three times as far.

#include "common/report.h"
#include "common/scene.h"

#include <dijoco/dijoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPIN 12.0
#define SECONDS 2.0

enum { NWAY = 4 };
static const char* const names[NWAY] = {"damped", "undamped", "sigma -> 0", "critical damping"};
static const struct {
  djLaw law;
  double sigma, alpha;
} ways[NWAY - 1] = {{DJ_LAW_SMOOTH_PENALTY, 1e-5, 1.5},
                    {DJ_LAW_SMOOTH_PENALTY, 1e-5, 0},
                    {DJ_LAW_PERTURBED, 1e-8, 0}};

typedef struct Rolled {
  double turned, hops, rolled, late; // rad, m/s, m, m/s: largest |z'| of the last quarter
} Rolled;

static void add(Rolled* out, double t, double h, const double v[6], double before) {
  out->turned += h * sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]);
  out->hops += fabs(v[2] - before);
  if (t > 0.75 * SECONDS) out->late = fmax(out->late, fabs(v[2]));
}

// The blob with ears of which `part` is left, and its start just above the ground.
static djModel* openBlob(double q[7], double part) {
  char path[500];
  djError err;
  djModel* m;
  djParam p;
  snprintf(path, sizeof path, "%s/models/damped/roll/scene.json", DIJOCO_SOURCE_DIR);
  if (dj_loadModel(&m, path, &err) < 0 || dj_paramId(&p, m, "geom/blob/points", &err) < 0) {
    djv_fail("%s", err.text);
  }
  double *x = djv_take((size_t)p.nvalue, sizeof *x), low = 0;
  if (dj_getParam(x, m, &p) < 0) djv_fail("no points");
  for (int i = 0; i < p.nvalue; i += 3) {
    const double length = sqrt(x[i] * x[i] + x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2]);
    const double scale = (0.1 + part * (length - 0.1)) / length;
    for (int k = 0; k < 3; k++) x[i + k] *= scale;
    low = fmax(low, -x[i + 2]);
  }
  if (dj_setParam(m, &p, x, &err) < 0) djv_fail("%s", err.text);
  free(x);
  const double start[7] = {0, 0, low + 0.005, 1, 0, 0, 0};
  memcpy(q, start, sizeof start);
  return m;
}

static Rolled byContact(djModel* m, const double q[7], int way) {
  Rolled out = {0};
  djError err;
  djData* d;
  djOption o = m->opt;
  o.law = ways[way].law;
  o.sigma = ways[way].sigma;
  o.alpha = ways[way].alpha;
  o.kn = 1000;
  if (dj_setOption(m, &o, &err) < 0 || dj_makeData(&d, m, &err) < 0) djv_fail("%s", err.text);
  memcpy(d->qpos, q, 7 * sizeof *q);
  d->qvel[4] = SPIN;
  for (int i = 0; i * o.timestep < SECONDS; i++) {
    const double before = d->qvel[2];
    if (dj_step(m, d) < 0) djv_fail("%s", dj_errorText(d));
    add(&out, i * o.timestep, o.timestep, d->qvel, before);
  }
  out.rolled = d->qpos[0];
  dj_deleteData(d);
  return out;
}

// Semi-implicit steps of a body of 1 kg with a round inertia; velocities along the world's axes.
static Rolled byCriticalDamping(const djModel* m, const double q[7]) {
  const double h = 2.5e-4, kn = 1000, mass = m->body_mass[1], inertia = m->body_inertia[3];
  const double c = 2 * sqrt(kn * mass), mu = 0.8;
  const int n = m->geom_pointnum[1];
  const double* point = m->point_pos + 3 * m->geom_pointadr[1];
  double p[3] = {q[0], q[1], q[2]}, v[6] = {0, 0, 0, 0, SPIN, 0};
  double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  Rolled out = {0};
  for (int i = 0; i * h < SECONDS; i++) {
    double f[6] = {0, 0, -9.81 * mass, 0, 0, 0};
    for (int k = 0; k < n; k++) {
      const double* x = point + 3 * k;
      double r[3];
      for (int a = 0; a < 3; a++) {
        r[a] = R[3 * a] * x[0] + R[3 * a + 1] * x[1] + R[3 * a + 2] * x[2];
      }
      if (p[2] + r[2] >= 0) continue;
      const double u[3] = {v[0] + v[4] * r[2] - v[5] * r[1], v[1] + v[5] * r[0] - v[3] * r[2],
                           v[2] + v[3] * r[1] - v[4] * r[0]};
      const double N = -kn * (p[2] + r[2]) - c * u[2];
      const double drag = mu * fmax(N, 0) / sqrt(u[0] * u[0] + u[1] * u[1] + 1e-4);
      const double F[3] = {-drag * u[0], -drag * u[1], N};
      for (int a = 0; a < 3; a++) {
        f[a] += F[a];
        f[3 + a] += r[(a + 1) % 3] * F[(a + 2) % 3] - r[(a + 2) % 3] * F[(a + 1) % 3];
      }
    }
    const double before = v[2];
    for (int a = 0; a < 6; a++) v[a] += h * f[a] / (a < 3 ? mass : inertia);
    for (int a = 0; a < 3; a++) p[a] += h * v[a];
    // columns of R turn by h w, and stay a rotation's
    for (int a = 0; a < 3; a++) {
      const double w = sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]);
      if (!(w > 0)) break;
      const double e[3] = {v[3] / w, v[4] / w, v[5] / w}, s = sin(h * w), co = cos(h * w);
      const double b[3] = {R[a], R[3 + a], R[6 + a]};
      const double along = e[0] * b[0] + e[1] * b[1] + e[2] * b[2];
      for (int k = 0; k < 3; k++) {
        const double cross = e[(k + 1) % 3] * b[(k + 2) % 3] - e[(k + 2) % 3] * b[(k + 1) % 3];
        R[3 * k + a] = co * b[k] + s * cross + (1 - co) * along * e[k];
      }
    }
    add(&out, i * h, h, v, before);
  }
  out.rolled = p[0];
  return out;
}

int main(void) {
  djvReport r = {0};
  for (int k = 0; k < 2; k++) {
    const double part = k ? 0.25 : 1;
    double q[7];
    Rolled of[NWAY];
    djModel* m = openBlob(q, part);
    of[NWAY - 1] = byCriticalDamping(m, q);
    for (int w = 0; w < NWAY - 1; w++) of[w] = byContact(m, q, w);
    djv_title("ears of %g m, %g rad/s, %g s", 0.06 * part, SPIN, SECONDS);
    for (int w = 0; w < NWAY; w++) {
      printf("  %-18s turns %.2f rad, goes %.2f m, hops %.2f m/s, at last %.1e m/s\n", names[w],
             of[w].turned, of[w].rolled, of[w].hops, of[w].late);
    }
    djv_above(&r, "turns, over those with critical damping", of[0].turned / of[3].turned, 1.3, "");
    djv_above(&r, "hops undamped over damped", of[1].hops / of[0].hops, 3, "");
    djv_above(&r, "hops with sigma -> 0 over damped", of[2].hops / of[0].hops, 8, "");
    dj_deleteModel(m);
  }
  djv_note("published: turns three times as far");
  return djv_finish(&r);
}
