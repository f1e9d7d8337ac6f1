// A call opens a job, wakes the threads that wait, and takes tasks as they do. Who wakes up late,
// or not at all (in a process that was forked from that of the threads), finds the job closed: the
// caller waits for those alone that are at work.

#include <dijoco/crew.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct djCrewMember {
  djCrew* crew;
  int lane;
  pthread_t thread;
} djCrewMember;

struct djCrew {
  pthread_mutex_t lock;
  pthread_cond_t begun, ended;
  unsigned long job; // number of the last one
  bool leaves;       // threads are to end
  int nwork;         // threads other than the caller's that are at work
  int n;             // tasks of the job; 0: it is closed
  djCrewWork work;
  void* arg;
  atomic_int next; // task
  int nthread;
  pid_t process;         // that the threads are in: there are none in one forked from it
  djCrewMember member[]; // (nthread) the first is the caller
};

static void takeTasks(djCrew* c, int n, djCrewWork work, void* arg, int lane) {
  for (int task; (task = atomic_fetch_add(&c->next, 1)) < n;) work(arg, task, lane);
}

static void* serve(void* own) {
  djCrewMember* self = own;
  djCrew* c = self->crew;
  unsigned long seen = 0;
  pthread_mutex_lock(&c->lock);
  for (;;) {
    while (c->job == seen && !c->leaves) pthread_cond_wait(&c->begun, &c->lock);
    if (c->leaves) break;
    seen = c->job;
    if (c->n == 0) continue;
    int n = c->n;
    djCrewWork work = c->work;
    void* arg = c->arg;
    c->nwork++;
    pthread_mutex_unlock(&c->lock);
    takeTasks(c, n, work, arg, self->lane);
    pthread_mutex_lock(&c->lock);
    if (--c->nwork == 0) pthread_cond_signal(&c->ended);
  }
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

djCrew* dj_makeCrew(int nthread) {
  long processors = nthread > 0 ? nthread : sysconf(_SC_NPROCESSORS_ONLN);
  int most = processors < 1 ? 1 : (int)processors;
  djCrew* c = calloc(1, sizeof *c + (size_t)most * sizeof *c->member);
  if (!c) return NULL;
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->begun, NULL);
  pthread_cond_init(&c->ended, NULL);
  c->nthread = 1;
  c->process = getpid();
  sigset_t all, before;
  sigfillset(&all);
  if (most > 1) pthread_sigmask(SIG_SETMASK, &all, &before);
  while (c->nthread < most) {
    djCrewMember* m = &c->member[c->nthread];
    *m = (djCrewMember){.crew = c, .lane = c->nthread};
    if (pthread_create(&m->thread, NULL, serve, m) != 0) break;
    c->nthread++;
  }
  if (most > 1) pthread_sigmask(SIG_SETMASK, &before, NULL);
  return c;
}

void dj_deleteCrew(djCrew* c) {
  if (!c) return;
  pthread_mutex_lock(&c->lock);
  c->leaves = true;
  pthread_cond_broadcast(&c->begun);
  pthread_mutex_unlock(&c->lock);
  bool here = c->process == getpid();
  for (int k = 1; k < c->nthread && here; k++) pthread_join(c->member[k].thread, NULL);
  if (here) pthread_cond_destroy(&c->ended); // which waits for those that wait
  if (here) pthread_cond_destroy(&c->begun);
  pthread_mutex_destroy(&c->lock);
  free(c);
}

int dj_crewSize(const djCrew* c) { return c->nthread; }

size_t dj_crewBytes(const djCrew* c) { return sizeof *c + (size_t)c->nthread * sizeof *c->member; }

void dj_crewDo(djCrew* c, int n, djCrewWork work, void* arg) {
  if (n <= 0) return;
  if (c->nthread == 1 || n == 1) {
    for (int task = 0; task < n; task++) work(arg, task, 0);
    return;
  }
  pthread_mutex_lock(&c->lock);
  atomic_store(&c->next, 0);
  c->n = n;
  c->work = work;
  c->arg = arg;
  c->job++;
  pthread_cond_broadcast(&c->begun);
  pthread_mutex_unlock(&c->lock);
  takeTasks(c, n, work, arg, 0);
  pthread_mutex_lock(&c->lock);
  c->n = 0;
  while (c->nwork > 0) pthread_cond_wait(&c->ended, &c->lock);
  pthread_mutex_unlock(&c->lock);
}
