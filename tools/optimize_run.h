// An optimisation: its task, its course, and the design that came out.

#ifndef DJ_TOOLS_OPTIMIZE_RUN_H_
#define DJ_TOOLS_OPTIMIZE_RUN_H_

#include "film.h"
#include "grad_run.h"
#include "picture.h"
#include "record.h"

#include <dijoco/receding.h>

#ifdef DJ_HAVE_MUJOCO
#include "write_files.h"
#else
typedef struct djmSceneFiles {
  char *text, *refused, *scene;
  int nfile;
  char **name, **obj;
} djmSceneFiles;
#endif

typedef struct HistoryRow {
  int frame;                // of a receding horizon
  int stage;                // of a run in stages
  int iteration;
  double loss, step_norm, wall;
  int flattened, pieces;    // djOptimizeStep
  int genus;                // see tunnels.h
  double overlap, jump;     // where inertia follows geoms; see djOptimizeStep
} HistoryRow;

// A trajectory: poses at the start and after each step that was possible, and the controls.
typedef struct Course {
  int nsample;              // at most horizon + 1
  double* time;             // (nsample)
  double* xpos;             // (nsample x nbody x 3)
  double* xquat;            // (nsample x nbody x 4)
  double* qpos;             // (nsample x nq)
  double* ctrl;             // (horizon x nu)
  Film film;                // of the start and the result
} Course;

// Bodies that a guide acts between, in the run of the result.
typedef struct Reach {
  int scene;
  int body[2];
  double first, least;      // m, between their colliding geoms: at the start, and ever
  bool touched;
} Reach;

// The start, the result, and the result without the tail of a guide.
enum { AT_START, AT_END, PLAIN, OPTIMIZE_POINTS };

typedef struct OptimizeRun {
  const Options* options;
  GradRun grad;             // task, scene, problem, design
  djOptimizer how;
  djStage* stage;           // (how.nstage) with the command line's iterations
  int nbegun;               // numbers of begun; 0: none
  double* begun;            // (n) x with which the stage at hand began
  djPhases* phases;         // of all scenes, how.phases each
  djRecedingRun* receding;  // where the horizon recedes, else NULL
  int nrow, capacity;
  HistoryRow* row;
  double* row_loss;         // (nrow x nscene) of each scene
  double* x;                // (n) the best iterate, or what was executed
  djOptimizeResult result;  // receding: sums over frames
  bool interrupted;
  bool moves_meshes;        // vertices vary
  double started, wall;
  double bias;              // largest difference of a body's position without the tail, m
  // at all points, the first three of all phases (means, and the sum):
  double loss[OPTIMIZE_POINTS];
  double* scene_loss[OPTIMIZE_POINTS];   // (nscene)
  double overlap[OPTIMIZE_POINTS];    // share of bodies' volumes that counts twice
  double* term[OPTIMIZE_POINTS];      // (nterm)
  int unconverged[OPTIMIZE_POINTS];
  long fallback[OPTIMIZE_POINTS], recovering[OPTIMIZE_POINTS];   // djStats
  double** value[OPTIMIZE_POINTS];    // (nvariable) nvalue numbers each
  Course course[OPTIMIZE_POINTS];     // of the first scene
  int nreach;
  Reach* reach;             // (nreach) scene after scene
} OptimizeRun;

// What came out of replaying a scene after the first.
typedef struct OtherReplay {
  bool done;
  char note[512];           // why not, or ""
  Differences difference;
} OtherReplay;

// The written scene with its keyframe and controls in both engines.
typedef struct Replay {
  bool done;
  char note[512];           // why not, or ""
  Scene scene;
  Inputs inputs;
  Engine engine[ENGINES];
  Record record;
  Film film;                // of MuJoCo
  int nother;
  OtherReplay* other;       // (nother) of the other scenes
} Replay;

// The following return 0, or an exit status after their line on stderr.
int optimize_load(OptimizeRun* r, const Options* o);
// Leaves the design at the best iterate. The first signal ends it there (interrupt.h).
int optimize_run(OptimizeRun* r);
void optimize_free(OptimizeRun* r);

// "ok", "interrupted", "stuck", "no_convergence".
const char* optimize_status(const OptimizeRun* r);
// Why a run ended, as the summary has it.
const char* optimize_stopName(djStop stop);

// What guides reached: found by a run of all scenes at the present point.
void reach_find(OptimizeRun* r);
void reach_write(Json* out, const OptimizeRun* r);
// A line for each pair that never touched, or where these are many one of all.
void reach_print(const OptimizeRun* r);

Poses course_poses(const OptimizeRun* r, const Course* c, int sample);

// "stem.ending", where a task lists its scenes "stem_NAME.ending".
void optimize_fileName(char* name, size_t size, const GradRun* g, int scene, const char* stem,
                       const char* ending);

// The task, started from the result. folder: where it is going to be.
int optimize_task(Buffer* out, const OptimizeRun* r, const char* folder);

// A task of the written scenes alone, by the names of their files (nscene): the result's start and
// controls, and the loss. EXIT_NOT_HELD: the task cannot be read again.
int optimize_replayTask(Buffer* out, const OptimizeRun* r, const char* folder,
                        const char* const* scene);

// Run `path`, the written scene of a design, from its last keyframe. What fails is told by
// replay->note.
void replay_run(Replay* replay, const djDesign* d, const char* path);
// The same of one of the others, of which little is kept.
void replay_other(OtherReplay* other, const djDesign* d, const char* path);
void replay_close(Replay* replay);

// The written scenes run again, as replay.json does it: the loss, and where that is another one why.
typedef struct Again {
  bool done;
  double loss;
  double difference;        // from the result's loss, as a part of it
  char why[400];            // it differs; or why it was not done; or ""
  djModel** model;          // (nscene) as they are read; NULL: that one cannot be
} Again;

void again_open(Again* a, const OptimizeRun* r);
// Scene k, from its file. What fails is told by `why`.
void again_load(Again* a, int k, const char* path, bool json);
void again_run(Again* a, const OptimizeRun* r);
// The loss is the result's, to 1e-9 of it.
bool again_same(const Again* a);
void again_close(Again* a, const OptimizeRun* r);

// scene.xml of each scene of a task, with an OBJ file of each mesh that the design changes beside
// it; or instead the design as our own model, scene.json, and what came out of the attempt.
typedef struct OutScene {
  djmSceneFiles files;      // text NULL: there is no scene
  char note[600];           // why there is none
  bool failed;              // it should have been written
  djFile* json;             // instead of it, or NULL
  char json_name[64], refused_name[64];   // "": there is none
} OutScene;

// Fill list[k], those before it are filled. Meshes that are the same there share their files, others
// have the scene's name in theirs.
void scene_make(OutScene* list, int k, const OptimizeRun* r);
void scene_freeFiles(OutScene* scene);

// What is written, or NULL.
const char* scene_text(const OutScene* scene);

// Where there is nothing: what is written instead.
int scene_writeInstead(OutScene* list, int k, const OptimizeRun* r);

// Files of meshes that no scene before list[k] has. Returns 0, or an exit status after its line on
// stderr.
int scene_writeMeshes(const OutScene* list, int k, const Options* o);
// Their names, as entries of a list that is open.
void scene_listMeshes(Json* out, const OutScene* list, int n);

// Forces of a guide's tail, whether or not it acts in the run; NULL: there are none.
typedef struct Tail Tail;
Tail* tail_open(const OptimizeRun* r);
void tail_close(Tail* tail);
// Arrows from the bodies at these coordinates, at rest: the longest has this length, in metres, and
// the others have it by the root of their part. Marks refer to the tail. Returns how many.
int tail_arrows(Mark* mark, int most, Tail* tail, const double* qpos, double length,
                const char* color);

void optimize_report(Buffer* out, const OptimizeRun* r, const Replay* replay, const Again* again);
// A part of it, of at most so many bytes: the runs, to be played, and stills of them.
void optimize_pictures(Buffer* out, const OptimizeRun* r, const Replay* replay, size_t most);
// Another: shapes of bodies that were changed, before and after; less where there is no room.
void optimize_shapes(Buffer* out, const OptimizeRun* r, size_t most);

// Colours of start, result, and of the result in MuJoCo.
extern const char before_color[], after_color[], mujoco_color[];

#endif  // DJ_TOOLS_OPTIMIZE_RUN_H_
