// What the command tells of a scene that is not as in MuJoCo: once, on stderr.

#include "common/test.h"
#include "warn.h"

#include <fcntl.h>
#include <unistd.h>

static const char kScene[] =
    "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 1'><freejoint/><geom "
    "size='.1'/></body></worldbody></mujoco>";

static char said[4000];

static void hear(void (*act)(const Scene* s, const Options* o), const Scene* s, const Options* o) {
  char path[] = "/tmp/dijoco_warnXXXXXX";
  int file = mkstemp(path), old = dup(STDERR_FILENO);
  assert_true(file >= 0 && old >= 0);
  fflush(stderr);
  dup2(file, STDERR_FILENO);
  act(s, o);
  fflush(stderr);
  dup2(old, STDERR_FILENO);
  close(old);
  ssize_t n = pread(file, said, sizeof said - 1, 0);
  said[n > 0 ? n : 0] = '\0';
  close(file);
  unlink(path);
}

static void begin(const Scene* s, const Options* o) {
  warn_scene(s, o);
  warn_begun();   // no terminal
}

static void end(const Scene* s, const Options* o) {
  (void)s, (void)o;
  warn_show();
}

static void testOnce(void) {
  char path[] = "/tmp/dijoco_sceneXXXXXX.xml";
  int file = mkstemps(path, 4);
  assert_true(file >= 0 && write(file, kScene, sizeof kScene - 1) == (ssize_t)sizeof kScene - 1);
  close(file);
  Options o = {.verb = "simulate"}, quiet = {.verb = "simulate", .quiet = true};
  Scene s;
  assert_int_equal(scene_open(&s, &o, path), 0);
  hear(begin, &s, &quiet);
  hear(end, &s, &quiet);
  assert_string_equal(said, "");
  hear(begin, &s, &o);
  assert_string_equal(said, "");
  hear(end, &s, &o);
  assert_ptr_equal(strstr(said, "dijoco simulate: /tmp/dijoco_scene"), said);
  assert_non_null(strstr(said, ".xml: not as in MuJoCo"));
  assert_non_null(strstr(said, "\n  solref of 2 geoms, most at geom/#0: MuJoCo's bodies sink in by"));
  hear(begin, &s, &o);
  hear(end, &s, &o);
  assert_string_equal(said, "");
  scene_close(&s);
  unlink(path);
}

DJT_MAIN(testOnce)
