// dijoco replay: repeat a record, and tell the first difference.

#include "verbs.h"

#include "json_out.h"

#include <dijoco/record.h>

#include <stdio.h>
#include <string.h>

typedef struct Run {
  djReplay* replay;
  djReplayCall last;  // the last call
  djReplayCall first; // the first that differs; what NULL: none does
  bool reached;       // the step that was asked for
} Run;

// Calls up to the end, to the first difference, or to the step that was asked for.
static int repeat(Run* r, const Options* o) {
  djError err = {""};
  djReplayCall call;
  for (;;) {
    if (dj_nextReplay(&call, r->replay, &err) < 0) {
      const char* same = r->first.what ? "" : ", which are the same";
      bool cut = strstr(err.text, "is cut off") != NULL;
      return tool_fail(o->verb, NULL, NULL, "%s%s", err.text, cut ? same : "");
    }
    if (!call.what) return EXIT_DONE;
    r->last = call;
    if (call.differs && !r->first.what) r->first = call;
    r->reached = o->step > 0 && call.step == o->step && strcmp(call.what, "step") == 0;
    if (r->reached || (r->first.what && o->step <= 0)) return EXIT_DONE;
  }
}

// ---- as JSON ----------------------------------------------------------------------------------

static void write_call(Json* out, const char* key, const djReplayCall* c) {
  json_object(out, key);
  json_text(out, "what", c->what);
  json_integer(out, "call", c->call);
  json_integer(out, "step", c->step);
  json_number(out, "time", c->time);
  json_text(out, "array", c->array);
  if (c->entry >= 0)
    json_integer(out, "entry", c->entry);
  else
    json_null(out, "entry");
  json_text(out, "recorded", c->recorded);
  json_text(out, "found", c->found);
  json_end(out);
}

static void write_pair(Json* out, const djModel* m, const djContactPair* p) {
  json_object(out, NULL);
  json_text(out, "geom1", dj_id2name(m, DJ_OBJ_GEOM, p->geom1));
  json_text(out, "geom2", dj_id2name(m, DJ_OBJ_GEOM, p->geom2));
  json_integer(out, "id1", p->geom1);
  json_integer(out, "id2", p->geom2);
  json_number(out, "gap", p->gap);
  json_vector(out, "point", 3, p->point);
  json_vector(out, "normal", 3, p->normal);
  json_vector(out, "force", 3, p->force);
  json_end(out);
}

static void write_state(Json* out, const djModel* m, const djData* d) {
  json_object(out, "state");
  json_number(out, "time", d->time);
  json_vector(out, "qpos", (size_t)m->nq, d->qpos);
  json_vector(out, "qvel", (size_t)m->nv, d->qvel);
  json_vector(out, "act", (size_t)m->na, d->act);
  json_vector(out, "ctrl", (size_t)m->nu, d->ctrl);
  json_list(out, "contacts");
  for (int i = 0; i < d->npair; i++) write_pair(out, m, &d->pair[i]);
  json_end(out);
  json_integer(out, "iterations", d->stats.iterations);
  json_number(out, "residual", d->stats.residual);
  json_end(out);
}

static void write_run(const Run* r, const Options* o) {
  Buffer text = {0};
  Json out;
  json_start(&out, &text);
  json_object(&out, NULL);
  json_text(&out, "file", o->argument[0]);
  json_text(&out, "status", r->first.what ? "differs" : "same");
  json_text(&out, "recorded_by", dj_replayWriter(r->replay));
  json_text(&out, "replayed_by", dj_replayReader(r->replay));
  json_integer(&out, "calls", r->last.call);
  json_integer(&out, "steps", r->last.step);
  json_number(&out, "time", r->last.time);
  json_bool(&out, "ended", r->last.ended);
  if (r->first.what)
    write_call(&out, "difference", &r->first);
  else
    json_null(&out, "difference");
  if (r->reached) write_state(&out, dj_replayModel(r->replay), dj_replayData(r->replay));
  json_end(&out);
  opt_print(&text);
}

// ---- as text ----------------------------------------------------------------------------------

static void print_numbers(const char* name, int n, const double* value) {
  for (int i = 0; i < n; i++) {
    if (i % 4 == 0) printf("%s  %-6s", i ? "\n" : "", i ? "" : name);
    printf(" %21.16g", value[i]);
  }
  if (n) printf("\n");
}

static void print_geom(const djModel* m, int geom) {
  const char* name = dj_id2name(m, DJ_OBJ_GEOM, geom);
  if (*name)
    printf("%.30s", name);
  else
    printf("#%d", geom);
}

static void print_state(const djModel* m, const djData* d) {
  printf("state after step, time %.17g s, %d iterations, residual %.3g\n", d->time,
         d->stats.iterations, d->stats.residual);
  print_numbers("qpos", m->nq, d->qpos);
  print_numbers("qvel", m->nv, d->qvel);
  print_numbers("act", m->na, d->act);
  print_numbers("ctrl", m->nu, d->ctrl);
  printf("%d contacts\n", d->npair);
  for (int i = 0; i < d->npair; i++) {
    const djContactPair* p = &d->pair[i];
    printf("  ");
    print_geom(m, p->geom1);
    printf(", ");
    print_geom(m, p->geom2);
    printf(": gap %.6g m, force (%.6g, %.6g, %.6g) N\n", p->gap, p->force[0], p->force[1],
           p->force[2]);
  }
}

// Who, in lines of at most 98 columns.
static void print_who(const char* what, const char* who) {
  Buffer line = {0}, wrapped = {0};
  buf_addf(&line, "%s %s", what, who);
  buf_addWrapped(&wrapped, line.text, 0, 4);
  fputs(wrapped.text, stdout);
  if (wrapped.text[wrapped.size - 1] != '\n') putchar('\n');
  buf_free(&line);
  buf_free(&wrapped);
}

static void print_run(const Run* r, const Options* o) {
  const char *by = dj_replayWriter(r->replay), *now = dj_replayReader(r->replay);
  const djReplayCall* c = &r->first;
  printf("%s:\n", o->argument[0]);
  print_who("recorded by", by);
  if (strcmp(by, now) != 0) print_who("replayed by", now);
  if (!c->what) {
    printf("%ld calls, %ld steps, %.17g s: the same to the last bit\n", r->last.call, r->last.step,
           r->last.time);
    if (!r->last.ended) printf("the record ends within call %ld, %s\n", r->last.call, r->last.what);
  } else {
    printf("differs at %s%s, call %ld, step %ld, time %.17g s\n",
           strcmp(c->what, "model") ? "" : "a ", c->what, c->call, c->step, c->time);
    printf("  %s", c->array);
    if (c->entry >= 0) printf("[%d]", c->entry);
    printf(": recorded %s, found %s\n", c->recorded, c->found);
  }
  if (r->reached) print_state(dj_replayModel(r->replay), dj_replayData(r->replay));
}

int verb_replay(const Options* o) {
  Run r = {0};
  djError err = {""};
  if (dj_openReplay(&r.replay, o->argument[0], &err) < 0) {
    return tool_fail(o->verb, NULL, NULL, "%s", err.text);
  }
  int status = repeat(&r, o);
  if (status == EXIT_DONE && o->step > 0 && !r.reached) {
    status = tool_fail(o->verb, o->argument[0], "--step", "the record has %ld steps", r.last.step);
  }
  if (status == EXIT_DONE) {
    if (r.first.what) status = EXIT_NOT_HELD;
    if (o->json)
      write_run(&r, o);
    else
      print_run(&r, o);
  }
  dj_closeReplay(r.replay);
  return status;
}
