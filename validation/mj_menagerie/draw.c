#include "mj_menagerie/robots.h"

#include "picture.h"

#include <stdio.h>
#include <string.h>

static void fileName(char out[200], const char* dir, const char* name) {
  snprintf(out, 200, "%.120s/%s.svg", dir, name);
  for (char* c = out + strlen(dir) + 1; *c; c++) {
    if (*c == '/') *c = '_';
  }
}

bool robot_picture(const Robot* r, const char* dir) {
  enum { WIDE = 420, HIGH = 420 };
  char path[200];
  double* quat = djv_take(4 * (size_t)r->m->nbody, sizeof *quat);
  dj_forward(r->model, r->data);
  mj_kinematics(r->m, r->stock);
  // bodies are MuJoCo's, in its order
  const Poses poses[2] = {{r->data->xpos, r->data->xquat}, {r->stock->xpos, r->stock->xquat}};
  Camera camera = camera_look(r->model, 2, poses, WIDE, HIGH);
  Buffer out = {0};
  buf_addf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n",
           2 * WIDE, HIGH + 24);
  picture_defs(&out);
  for (int k = 0; k < 2; k++) {
    buf_addf(&out, "<g transform=\"translate(%d 24)\">\n", k * WIDE);
    picture_draw(&out, r->model, &poses[k], &camera, k ? "MuJoCo" : "DiJoCo");
    buf_addf(&out, "</g>\n<text x=\"%d\" y=\"17\" font-family=\"sans-serif\" font-size=\"14\">%s: "
             "%s</text>\n", k * WIDE + 8, k ? "MuJoCo" : "DiJoCo", r->name);
  }
  buf_add(&out, "</svg>\n");
  fileName(path, dir, r->name);
  FILE* f = fopen(path, "w");
  bool written = f && fwrite(out.text, 1, out.size, f) == out.size;
  written = f && fclose(f) == 0 && written;
  buf_free(&out);
  free(quat);
  return written;
}
