#include "warn.h"

#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static Buffer kept;           // to be shown
static Buffer scenes;         // that were here, a line each

static bool is_known(const char* path) {
  Buffer line = {0};
  buf_addf(&line, "\n%s\n", path);
  if (!scenes.text) buf_add(&scenes, "\n");
  bool known = strstr(scenes.text, line.text) != NULL;
  if (!known) buf_add(&scenes, line.text + 1);
  buf_free(&line);
  return known;
}

#ifdef DJ_HAVE_MUJOCO
void warn_scene(const Scene* s, const Options* o) {
  int n = dj_reportLines(s->report);
  if (o->quiet || n == 0 || is_known(s->path)) return;
  buf_addf(&kept, "dijoco %s: %s: not as in MuJoCo (--quiet leaves this out):\n", o->verb,
           s->path);
  for (int i = 0; i < n; i++) buf_addWrapped(&kept, dj_reportLine(s->report, i), 2, 4);
}
#else
void warn_scene(const Scene* s, const Options* o) { (void)s, (void)o, (void)is_known; }
#endif

void warn_begun(void) {
  if (isatty(STDERR_FILENO)) warn_show();
}

void warn_show(void) {
  if (!kept.text) return;
  progress_end();
  fputs(kept.text, stderr);
  buf_free(&kept);
}
