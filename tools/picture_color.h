// Colours of bodies in pictures and charts.

#ifndef DJ_TOOLS_PICTURE_COLOR_H_
#define DJ_TOOLS_PICTURE_COLOR_H_

#include <dijoco/model.h>

enum { NCOLORS = 10, STATIC_COLOR = NCOLORS };  // colours; the last one is for what cannot move
const char* palette(int color);

// Whether a body can move.
bool picture_moves(const djModel* model, int body);

// Its colour, "#rrggbb".
const char* picture_color(const djModel* model, int body);

#endif  // DJ_TOOLS_PICTURE_COLOR_H_
