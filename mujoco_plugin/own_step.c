// The step of contact model mujoco on the caller's mjData, by the caller's mjModel: of the
// context's model only options act that MuJoCo has.

#include "own_step.h"

typedef struct Job {
  mjModel view;
  mjData* d;
  int steps;
  int iterations;
} Job;

static Job jobOf(const mjModel* m, mjData* d, const djmContext* c) {
  Job job = {.view = *m, .d = d, .steps = c->substeps};
  const djOption* from = &c->model->opt;
  mjOption* to = &job.view.opt;
  to->timestep = from->timestep;
  mju_scl3(to->gravity, from->gravity, c->data->gravity_scale);
  mju_copy3(to->wind, from->wind);
  to->density = from->density;
  to->viscosity = from->viscosity;
  return job;
}

static void runStep(void* arg) {
  Job* job = arg;
  for (int k = 0; k < job->steps; k++) {
    mj_step(&job->view, job->d);
    int islands = job->d->nisland < 1 ? 1 : job->d->nisland;
    for (int i = 0; i < islands && i < mjNISLAND; i++) job->iterations += job->d->solver_niter[i];
  }
}

static void runForward(void* arg) {
  Job* job = arg;
  mj_forward(&job->view, job->d);
}

djStatus djm_stepItself(const mjModel* m, mjData* d, djmContext* c) {
  Job job = jobOf(m, d, c);
  djStatus status = djm_catch(c, runStep, &job);
  if (status < 0) return status;
  djStats* s = &c->data->stats;
  s->steps += c->substeps;
  s->iterations = s->evaluations = job.iterations;
  s->newton_iterations += job.iterations;
  s->attempts = 1;
  djm_readData(c, d);
  return DJ_OK;
}

djStatus djm_forwardItself(const mjModel* m, mjData* d, djmContext* c) {
  Job job = jobOf(m, d, c);
  return djm_catch(c, runForward, &job);
}

djStatus djm_transitionItself(const mjModel* m, const mjData* d, djmContext* c, mjtNum* A,
                              mjtNum* B, mjtNum* C, mjtNum* D) {
  Job job = jobOf(m, NULL, c);
  if (c->substeps > 1) {
    return djm_fail(c, DJ_UNSUPPORTED, "contact: mujoco: substeps have no derivatives");
  }
  djStatus status = c->own_work ? DJ_OK : djm_makeTransitionWork(&c->own_work, m, &c->error);
  if (status < 0) return status;
  return djm_transitionMuJoCoWith(&job.view, d, c->own_work, A, B, C, D, &c->error);
}
