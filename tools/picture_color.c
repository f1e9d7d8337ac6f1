#include "picture_color.h"

static const char* const colors[NCOLORS + 1] = {"#5b8db8", "#e0a458", "#7fa66b", "#c4677a",
                                                "#8c7bb5", "#5aa9a3", "#b98a66", "#9aa54a",
                                                "#d28bb4", "#6f87a0", "#bdb8ae"};

const char* palette(int color) { return colors[color < 0 || color > NCOLORS ? NCOLORS : color]; }

bool picture_moves(const djModel* m, int body) {
  return m->body_lastdof[body] >= 0 || m->body_mocap[body] >= 0;
}

const char* picture_color(const djModel* m, int body) {
  if (!picture_moves(m, body)) return palette(STATIC_COLOR);
  int place = 0;
  for (int b = 1; b < body; b++) place += picture_moves(m, b);
  return palette(place % NCOLORS);
}
