// The player of a report: runs that move, beside or over each other, with contact points and
// forces. One element of HTML that needs nothing else: controls, the runs as JSON, and the script
// of tools/player that shows them.

#ifndef DJ_TOOLS_PLAYER_H_
#define DJ_TOOLS_PLAYER_H_

#include "film.h"
#include "json_out.h"

enum { PLAYER_RUNS = 3 };

typedef struct PlayerRun {
  const char* name;
  const char* color; // "#rrggbb", of its path
  const Film* film;
  const char* note; // why it ended early, or ""
  double point[3];  // m; whose path is drawn, in the body's frame
} PlayerRun;

typedef struct Player {
  int nrun;
  PlayerRun run[PLAYER_RUNS];
  const Camera* camera; // how it looks at first
  int ntarget;
  const double* target; // (ntarget x 3) m; marks
  int traced;           // body of the point whose path is drawn
  const char* still;    // a picture as HTML, for readers without scripts
} Player;

// Files of tools/player, as text.
extern const char player_css[], player_html[], solids_js[], pictures_js[], player_js[];

// What is left out for room.
typedef struct Detail {
  int frames, touches; // at most; of a frame
} Detail;

// At most so many bytes: where there is no room for everything frames are left out first, then
// weak contact points and details of meshes; where there is none at all a sentence takes its place.
void player_write(Buffer* out, const Player* player, size_t most);

// Its parts, as keys of the object that the script reads: geoms and their shapes, whose meshes have
// so many faces together at most; poses and contact points. Return false where meshes are coarser,
// frames or points fewer than there are.
bool player_shapes(Json* out, const Player* player, int faces);
bool player_frames(Json* out, const Player* player, const Detail* detail);

// Flexes, as a key of it: vertices with the place of their body among player_bodies, triangles or
// edges.
void player_flexes(Json* out, const Player* player);

// Geoms that are shown: their ids (ngeom) into geom; returns how many. And the place of an id among
// them, or -1.
int player_geoms(int* geom, const Player* player);
int player_find(const int* id, int n, int wanted);
// Likewise bodies: those of these geoms, and the traced one.
int player_bodies(int* body, const Player* player);

#endif // DJ_TOOLS_PLAYER_H_
