// The book stack: twenty planks, each reaching as far over the one below as it can, less 2 mm.
// DiJoCo stands them for a minute from the first step; MuJoCo does with the scene's settings when
// gravity is ramped. At the end, force and centre of pressure of each interface from both engines
// are set beside statics; then MuJoCo runs the same stack at its default settings.

#include "common/mj_scene.h"
#include "common/vec3.h"

#define NPLANK 20
#define GRAVITY 9.81
#define HALF_HEIGHT 0.1

typedef struct Interface {
  double force, centre;      // normal force (N), x of the centre of pressure (m)
} Interface;

// Largest displacement of a body frame from its start.
static double drift(const djModel* m, const double* xpos) {
  double most = 0;
  for (int b = 1; b < m->nbody; b++) {
    most = djv_worst(most, djv_dist(xpos + 3 * b, m->body_pos + 3 * b));
  }
  return most;
}

// Interface k (plank k on plank k - 1) from contact forces. The torque about the frame's origin is
// r x F with r on the plank's lower face: t_y = r_z F_x - r_x F_z.
static void readInterfaces(Interface out[NPLANK], const djContactForce* contact, int n,
                           const double* xpos) {
  for (int k = 0; k < NPLANK; k++) {
    double F[3] = {0, 0, 0}, ty = 0;
    for (int i = 0; i < n; i++) {
      if (contact[i].body1 != k || contact[i].body2 != k + 1) continue;
      for (int a = 0; a < 3; a++) F[a] += contact[i].force[a];
      ty += contact[i].torque[1];
    }
    out[k].force = F[2];
    out[k].centre = xpos[3 * (k + 1)] + (-HALF_HEIGHT * F[0] - ty) / F[2];
  }
}

// Statics: an interface carries the weight of all planks above, at their common centre.
static void solveStatics(Interface out[NPLANK], const djModel* m) {
  double mass = 0, moment = 0;
  for (int k = NPLANK - 1; k >= 0; k--) {
    mass += m->body_mass[k + 1];
    moment += m->body_mass[k + 1] * m->body_pos[3 * (k + 1)];
    out[k].force = GRAVITY * mass;
    out[k].centre = moment / mass;
  }
}

static double runDiJoCo(djvBoth* both, Interface out[NPLANK], double seconds, djvReport* r) {
  const djModel* m = both->model;
  djData* d = both->data;
  double most = 0, start = djv_clock(), last = 0;
  long n = lround(seconds / m->opt.timestep);
  for (long k = 0; k < n; k++) {
    if (dj_step(m, d) < 0) djv_fail("DiJoCo: %s", dj_errorText(d));
    most = djv_worst(most, drift(m, d->xpos));
    if (d->time < 1) last = drift(m, d->xpos);
  }
  readInterfaces(out, d->contact, d->ncontact, d->xpos);
  djv_below(r, "DiJoCo, no ramp: largest drift of a plank", 1e3 * most, 1, "mm");
  djv_figure(r, "time", seconds, "s");
  djv_figure(r, "largest drift", 1e3 * most, "mm");
  djv_note("after 1 s %.3g mm, at the end %.3g mm", 1e3 * last, 1e3 * drift(m, d->xpos));
  djv_count(r, "unconverged steps", d->stats.unconverged_steps, 0);
  djv_note("%.2f Newton iterations and %.3g ms a step; deepest overlap %.3g mm",
           (double)d->stats.newton_iterations / (double)n,
           1e3 * (djv_clock() - start) / (double)n, 1e3 * d->stats.deepest_overlap);
  return most;
}

// Steps MuJoCo, gravity ramped over `ramp` seconds, until `seconds` or a drift of `limit`.
static double runMuJoCo(djStock* stock, const djModel* m, double seconds, double ramp,
                        double limit, double* most) {
  djError err;
  *most = 0;
  while (stock->d->time < seconds - 1e-9 && *most < limit) {
    double f = ramp > 0 ? stock->d->time / ramp : 1;
    stock->gravity_scale = f < 1 ? f : 1;
    if (dj_stepStock(stock, NULL, &err)) djv_fail("MuJoCo: %s", err.text);
    mj_kinematics(stock->m, stock->d);
    *most = djv_worst(*most, drift(m, stock->d->xpos));
  }
  return stock->d->time;
}

static void compareInterfaces(djvReport* r, const Interface ours[], const Interface theirs[],
                              const Interface book[]) {
  double df[3] = {0, 0, 0}, dc[3] = {0, 0, 0};
  djv_title("Interfaces at the end: normal force (N) and x of the centre of pressure (m)");
  djv_note("%5s %12s %12s %12s   %12s %12s %12s", "plank", "DiJoCo", "MuJoCo", "statics", "DiJoCo",
           "MuJoCo", "statics");
  for (int k = 0; k < NPLANK; k++) {
    const Interface *a = &ours[k], *b = &theirs[k], *c = &book[k];
    djv_note("%5d %12.6f %12.6f %12.6f   %12.7f %12.7f %12.7f", k + 1, a->force, b->force,
             c->force, a->centre, b->centre, c->centre);
    const Interface* pair[3][2] = {{a, c}, {b, c}, {a, b}};
    for (int i = 0; i < 3; i++) {
      df[i] = djv_worst(df[i], fabs(pair[i][0]->force - pair[i][1]->force) / c->force);
      dc[i] = djv_worst(dc[i], fabs(pair[i][0]->centre - pair[i][1]->centre));
    }
  }
  djv_below(r, "force, DiJoCo against statics, largest", 100 * df[0], 0.1, "%");
  djv_below(r, "force, DiJoCo against MuJoCo, largest", 100 * df[2], 0.1, "%");
  djv_figure(r, "forces beside statics, relative", df[0], "");
  djv_below(r, "centre of pressure, DiJoCo against statics", 1e3 * dc[0], 0.5, "mm");
  djv_below(r, "centre of pressure, DiJoCo against MuJoCo", 1e3 * dc[2], 0.5, "mm");
  djv_note("MuJoCo against statics: force %.3g %%, centre of pressure %.3g mm", 100 * df[1],
           1e3 * dc[1]);
}

// MuJoCo's defaults for everything that the scene sets for its sake; masses, friction and places
// stay.
static void setDefaults(mjModel* m) {
  const double solref[2] = {0.02, 1}, solimp[5] = {0.9, 0.95, 0.001, 0.5, 2};
  double timestep = m->opt.timestep;
  mj_defaultOption(&m->opt);
  m->opt.timestep = timestep;
  for (int g = 0; g < m->ngeom; g++) {
    for (int k = 0; k < 2; k++) m->geom_solref[mjNREF * g + k] = solref[k];
    for (int k = 0; k < 5; k++) m->geom_solimp[mjNIMP * g + k] = solimp[k];
  }
}

static void showDefaults(const djvBoth* both, double seconds) {
  const struct {
    const char* text;
    bool defaults;
    double ramp;
  } run[] = {{"default solver and contact, no ramp", true, 0},
             {"default solver and contact, ramp 2 s", true, 2},
             {"the scene's settings, no ramp", false, 0}};
  djv_title("MuJoCo at other settings (time until a plank has moved by its height, 0.2 m)");
  for (int i = 0; i < 3; i++) {
    mjModel* m = mj_copyModel(NULL, both->m);
    djStock* stock;
    djError err;
    double most;
    if (run[i].defaults) setDefaults(m);
    if (dj_makeStock(&stock, m, &err)) djv_fail("MuJoCo: %s", err.text);
    double end = runMuJoCo(stock, both->model, seconds, run[i].ramp, 0.2, &most);
    if (most < 0.2) djv_note("%-40s stands %g s, drift %.3g mm", run[i].text, end, 1e3 * most);
    else djv_note("%-40s topples: %.3g s", run[i].text, end);
    dj_deleteStock(stock);
    mj_deleteModel(m);
  }
}

int main(int argc, char** argv) {
  djIntegrator integrator = djv_takeIntegrator(&argc, argv);
  bool quick = djv_isQuick(argc, argv);
  double seconds = quick ? 3 : 60, most;
  djvReport r = {0};
  djvBoth both;
  Interface ours[NPLANK], theirs[NPLANK], book[NPLANK];
  djv_loadBoth(&both, "book_stacking");
  both.model->opt.integrator = integrator;
  djv_title("Book stack, %d planks, %g s, step %g ms", NPLANK, seconds,
            1e3 * both.model->opt.timestep);
  djv_note("s %.3g, barrier coefficient %.3g J, skin %.3g mm, sqrt(friction_eps) %.3g m/s",
           both.model->contact.support, both.model->contact.stiffness,
           1e3 * both.model->contact.skin, sqrt(both.model->contact.friction_eps));
  solveStatics(book, both.model);
  runDiJoCo(&both, ours, seconds, &r);
  double start = djv_clock(), end = runMuJoCo(both.stock, both.model, seconds, 2, 0.2, &most);
  djv_below(&r, "MuJoCo, scene's settings, 2 s ramp: largest drift", 1e3 * most, 1, "mm");
  djv_note("%.3g ms a step", 1e3 * (djv_clock() - start) / (end / both.m->opt.timestep));
  readInterfaces(theirs, both.stock->contact, both.stock->ncontact, both.stock->d->xpos);
  compareInterfaces(&r, ours, theirs, book);
  showDefaults(&both, seconds);
  djv_freeBoth(&both);
  return djv_finish(&r);
}
