// What tests of the command's parts share: a folder with a small scene, options as the command line
// gives them, and what stdout and stderr were told.

#ifndef DJ_TESTS_TOOL_CASE_H_
#define DJ_TESTS_TOOL_CASE_H_

#include "common/file.h"
#include "common/near.h"
#include "options.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A ball of 1 kg over a floor, an arm with two motors (the second without limits), two keyframes.
static const char djt_sceneText[] =
    "{\"dijoco_model\":1,\"option\":{\"timestep\":0.005},\"bodies\":[{\"name\":\"world\"},"
    "{\"name\":\"ball\",\"pos\":[0,0,0.5],\"mass\":1,\"inertia\":[0.004,0.004,0.004]},"
    "{\"pos\":[0,2,2],\"ipos\":[0,0,-0.5],\"mass\":0.5,\"inertia\":[0.02,0.02,0.001]}],"
    "\"joints\":[{\"type\":\"free\",\"body\":\"ball\"},"
    "{\"name\":\"hinge\",\"type\":\"hinge\",\"body\":2,\"axis\":[1,0,0]}],"
    "\"geoms\":[{\"name\":\"floor\",\"type\":\"plane\",\"body\":\"world\",\"size\":[0,0,1]},"
    "{\"name\":\"skin\",\"type\":\"sphere\",\"body\":\"ball\",\"size\":[0.1,0,0]}],"
    "\"actuators\":[{\"name\":\"motor\",\"joint\":\"hinge\",\"ctrllimited\":true,"
    "\"ctrlrange\":[2,6]},{\"joint\":\"hinge\"}],"
    "\"keys\":[{\"name\":\"rest\"},{\"name\":\"up\",\"time\":1.5,"
    "\"qpos\":[0,0,2,1,0,0,0,0.3],\"qvel\":[0,0,-3,0,0,0,0.1],\"ctrl\":[0.5,-0.25]}]}";

static char djt_home[4096], djt_place[64];

// Its content, in memory that the next call overwrites; NULL where there is none.
static inline char* djt_readText(const char* name) {
  static char text[1 << 20];
  FILE* file = fopen(name, "r");
  if (!file) return NULL;
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}

// Files and folders in a folder, hidden ones too; -1: there is no such folder.
static inline int djt_countFiles(const char* path) {
  DIR* folder = opendir(path);
  int n = -2;   // itself and its parent
  if (!folder) return -1;
  while (readdir(folder)) n++;
  closedir(folder);
  return n;
}

// Group setup and teardown: work in a new folder that has the scene as scene.json.
static inline int djt_enterFolder(void** state) {
  (void)state;
  snprintf(djt_place, sizeof djt_place, "tool-XXXXXX");
  if (!getcwd(djt_home, sizeof djt_home) || !mkdtemp(djt_place) || chdir(djt_place)) return -1;
  djt_writeText("scene.json", djt_sceneText);
  return 0;
}
static inline int djt_leaveFolder(void** state) {
  (void)state;
  char command[128];
  if (chdir(djt_home)) return -1;
  snprintf(command, sizeof command, "rm -rf '%s'", djt_place);
  return system(command);
}

// Send stdout (1) or stderr (2) into a file, until djt_heard, which gives what came.
static int djt_kept[3];
static inline void djt_listen(int descriptor) {
  fflush(NULL);
  djt_kept[descriptor] = dup(descriptor);
  int file = open(descriptor == 1 ? "heard.out" : "heard.err", O_CREAT | O_TRUNC | O_WRONLY, 0600);
  assert_true(file >= 0 && dup2(file, descriptor) == descriptor);
  close(file);
}
static inline const char* djt_heard(int descriptor) {
  fflush(NULL);
  dup2(djt_kept[descriptor], descriptor);
  close(djt_kept[descriptor]);
  const char* name = descriptor == 1 ? "heard.out" : "heard.err";
  const char* text = djt_readText(name);
  remove(name);
  return text;
}

// The call must give this status, and exactly these words on stderr ("": none).
#define djt_says(call, status, words)                                                              \
  do {                                                                                             \
    djt_listen(2);                                                                                 \
    int djt_status = (call);                                                                       \
    assert_string_equal(djt_heard(2), words);                                                      \
    assert_int_equal(djt_status, status);                                                          \
  } while (0)

// Options of words as on the command line, after the verb `test`, which takes all but --out DIR.
#define djt_options(...) djt_parse((char*[]){(char*)"dijoco", (char*)"test", __VA_ARGS__, NULL})
static inline Options djt_parse(char* const* words) {
  static const Verb verb = {
      .name = "test", .arguments = "FILE", .nargument = 1, .groups = 4095 & ~GROUP_FOLDER};
  Options o;
  int n = 0;
  while (words[n]) n++;
  assert_int_equal(opt_parse(&o, &verb, n, words, 1), 0);
  return o;
}

// HTML in which every element is closed where it was opened, and "&" begins an entity.
static inline void djt_wellFormed(const char* page) {
  char open[40][16];
  int depth = 0;
  for (const char* c = page; *c; c++) {
    static const char letters[] = "#abcdefghijklmnopqrstuvwxyz0123456789";
    if (*c == '&') assert_true(c[1 + strspn(c + 1, letters)] == ';');
    if (*c != '<' || c[1] == '!') continue;
    bool end = c[1] == '/';
    const char* name = c + 1 + end;
    size_t n = strcspn(name, " >/");
    assert_true(n > 0 && n < sizeof open[0]);
    for (c = name + n; *c != '>'; c++) {
      assert_true(*c && *c != '<');
      if (*c == '"') c = strchr(c + 1, '"');
      assert_non_null(c);
    }
    if (!end && n == 6 && strncmp(name, "script", 6) == 0) {   // whose text is no HTML
      c = strstr(c, "</script>");
      assert_non_null(c);
      c += strlen("</script>") - 1;
      continue;
    }
    if (end) {
      assert_true(depth-- > 0);
      djt_failIf(strncmp(open[depth], name, n) != 0 || open[depth][n], "</%.*s> closes <%s>",
                 (int)n, name, open[depth]);
    } else if (c[-1] != '/' && strncmp(name, "meta", 4) != 0) {
      assert_true(depth < 40);
      snprintf(open[depth++], sizeof open[0], "%.*s", (int)n, name);
    }
  }
  assert_int_equal(depth, 0);
}

#endif  // DJ_TESTS_TOOL_CASE_H_
