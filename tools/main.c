// The command `dijoco`: verbs, help, version.

#include "interrupt.h"
#include "options.h"
#include "scene.h"
#include "verbs.h"
#include "warn.h"

#include <dijoco/dijoco.h>
#ifdef DJ_HAVE_MUJOCO
#include <dijoco/mujoco.h>
#endif

#include <stdio.h>
#include <string.h>

static const Verb verbs[] = {
    {"inspect", "SCENE", 1, GROUP_JSON | GROUP_SETTINGS | GROUP_ALL,
     "what a scene contains, and what of it is simulated how",
     "Begins with every feature that is not simulated exactly as MuJoCo does, a line each, and how\n"
     "many features are exact. Then come sizes, settings, and these features in full: approximated\n"
     "(how, and how large the error is) or ignored (it would change the motion and is left out).\n"
     "Exit status 1 when something is ignored. SCENE is a MuJoCo model (.xml, .mjb) or our own\n"
     "(.json).",
     verb_inspect},
    {"convert", "SCENE --out FILE.json", 1,
     GROUP_JSON | GROUP_SETTINGS | GROUP_FILE | GROUP_SURFACE | GROUP_EXPORT | GROUP_QUIET,
     "write a scene as our own JSON model, which needs no MuJoCo",
     "Writes the scene as a JSON model. Both give bitwise the same simulation. Settings on the\n"
     "command line are written into it. With --surface it writes MJCF instead, --out FILE.xml:\n"
     "geoms that touch as implicit surfaces other than themselves are meshes of these, so that\n"
     "stock MuJoCo draws and collides with what is simulated; bodies weigh what they did. With\n"
     "--export it writes files of the links for building instead, --out DIR: closed outward\n"
     "shells, one for each geom, in the link's frame, in metres, all of them in NAME.stl, or an\n"
     "OBJ each; beside an STL of several NAME.scad, which unites them by OpenSCAD, and where that\n"
     "is installed NAME_union.stl.",
     verb_convert},
    {"simulate", "SCENE --time T", 1,
     GROUP_JSON | GROUP_SETTINGS | GROUP_START | GROUP_RUN | GROUP_ENGINE | GROUP_FILE |
         GROUP_STATE | GROUP_QUIET,
     "simulate a scene, with this engine or with stock MuJoCo",
     "Simulates round(T/timestep) steps and summarises them. --out writes time, qpos, qvel and\n"
     "act as CSV, --stats what each step took. A state is {\"qpos\",\"qvel\",\"act\",\n"
     "\"history\":{\"qpos\",\"qvel\"}|null}: under bdf2 its history is the state one timestep\n"
     "before. --engine mujoco runs stock MuJoCo with the scene's own options. Exit status 1 when\n"
     "a step did not converge (the run goes on from its best feasible iterate). Ctrl-C ends it\n"
     "without output; earlier files stay.",
     verb_simulate},
    {"compare", "SCENE --time T --out DIR", 1,
     GROUP_JSON | GROUP_SETTINGS | GROUP_START | GROUP_RUN | GROUP_FOLDER | GROUP_LIMITS |
         GROUP_QUIET,
     "simulate a scene with both engines and report the differences",
     "Runs this engine and stock MuJoCo from the same start with the same controls. Writes\n"
     "DIR/report.html (pictures and charts), summary.json, dijoco.csv, mujoco.csv and\n"
     "contacts.csv (force on body2; bodies by number). Positions are those of body frames. In\n"
     "the summary, contact_force.max is the largest difference of one body pair's force over\n"
     "all steps, and mean_last_half the mean, over the second half of the run, of each step's\n"
     "largest. Differences do not change the exit status, unless --max-position or\n"
     "--max-rotation is given; steps that did not converge make it 1. Ctrl-C ends it without\n"
     "output; earlier files stay.",
     verb_compare},
    {"decompose", "MESH.obj|.stl --out DIR", 1, GROUP_JSON | GROUP_FOLDER | GROUP_DECOMPOSE,
     "a closed mesh, or several in one file, as a union of convex hulls",
     "Splits what a closed mesh bounds into convex hulls and writes DIR/MESH_00.obj, ... one for\n"
     "each, fragment.xml (MJCF with their assets and a body of them, to be included by scenes in\n"
     "DIR; lists of names to paste) and decompose.json (the JSON output). blocks: cells of a grid\n"
     "over the mesh's box, each the hull of what is in it; a cell's concave parts are filled.\n"
     "coacd: by CoACD, which scripts/fetch.py coacd fetches, or whose library $DIJOCO_COACD names.\n"
     "shells: the hull of each closed surface that edges connect, of a mesh of several solids that\n"
     "may be apart, touch or overlap; where N are fewer, pairs are joined. Of more than M vertices\n"
     "of a hull those go that stand out least. volume_ratio: volume of the union over the mesh's\n"
     "(of shells: over that of their union; null, as volume is, where shells meet and a concave\n"
     "one's hull overlaps another); overlap: share of the sum of the hulls' volumes that counts\n"
     "again; hausdorff: between the surfaces, up to hausdorff_error (m).",
     verb_decompose},
    {"contact", "FILE|-", 1, GROUP_JSON,
     "evaluate the contact model for pairs of shapes given as JSON",
     "Reads one query, or a list of them, and prints energy, gap, separating plane and\n"
     "derivatives as JSON. Example:\n"
     "  {\"model\":\"separating_plane\",\"params\":{\"s\":0.1,\"length_scale\":1},\n"
     "   \"hessian\":true,\n"
     "   \"a\":{\"vertices\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]],\"radius\":0},\n"
     "   \"b\":{\"geom\":\"box\",\"size\":[1,1,1],\"pose\":[0,0,-1.05,1,0,0,0]},\n"
     "   \"friction\":{\"coefficient\":0.5,\"dt\":0.01,\"motion_a\":[0,0,0,0.001,0,0]}}\n"
     "Lengths in metres, world coordinates; no skin. A bad entry of a list does not spoil the\n"
     "others. Faces of a cylinder are domes, lower at the edge by 0.02 r h/(r + h), its half\n"
     "height being h: gap and value are those of this shape. With \"model\":\"gap\" and\n"
     "\"params\":{\"smoothing\":0.001}: the smoothed gap, normal and nearest points, derivatives.",
     verb_contact},
    {"grad", "TASK", 1, GROUP_JSON | GROUP_SETTINGS | GROUP_CHECK | GROUP_FILE | GROUP_QUIET,
     "gradient of a task's loss by its variables",
     "Simulates the task (a JSON file: scene, horizon, loss, variables) and differentiates its\n"
     "loss. --check compares each block of variables with Richardson-extrapolated differences of\n"
     "the same loss along one random direction, and checks that the linear prediction's error\n"
     "falls with the square of the step (slope 2). Exit status 1 when a check fails or a step did\n"
     "not converge. --out writes the JSON output to a file.",
     verb_grad},
    {"landscape", "[TASK ...]", MAX_ARGUMENTS,
     GROUP_JSON | GROUP_SETTINGS | GROUP_LINE | GROUP_FOLDER | GROUP_QUIET,
     "a task's loss and gradient along one of its numbers, and how rough they are",
     "Evaluates the loss and its gradient at N values of one entry of a variable, all else as in the\n"
     "task. range: largest less smallest loss; sign_changes: of differences above 1e-9 of it;\n"
     "total_variation: sum of |differences|, of the loss, and of the gradient; reconstructed: the\n"
     "first loss plus the gradient's integral by the trapezoid rule; reconstruction_error: the\n"
     "largest |reconstructed - loss|, in units of the loss. Several tasks are drawn together. With\n"
     "--out it writes DIR/landscape.json (the JSON output: of several tasks a list) and\n"
     "DIR/landscape.svg. Exit status 1 when a sample has no loss, or a step that did not converge.",
     verb_landscape},
    {"optimize", "TASK --out DIR", 1,
     GROUP_JSON | GROUP_SETTINGS | GROUP_OPTIMIZE | GROUP_FOLDER | GROUP_EXPORT | GROUP_QUIET,
     "improve a task's variables by its gradient",
     "Minimises the task's loss within the bounds of its variables, by the optimizer that the\n"
     "task names. Writes DIR/history.csv, final.json (the variables), task.json (a task that\n"
     "starts from the result), ctrl.csv, scene.xml (the optimised design, for stock MuJoCo; its\n"
     "start is keyframe \"optimized\"), replay.json (a task of scene.xml alone, whose loss the\n"
     "summary tells) and report.html, which plays start, result and what MuJoCo\n"
     "makes of it, with contact points and forces, in any browser, offline; with --export the\n"
     "result's links, too (see `dijoco convert`). Where there can be no scene.xml the design is in\n"
     "scene.json, and what a check refused in scene.refused.xml. The best iterate\n"
     "counts, also after Ctrl-C or SIGTERM, which end it after the running iteration; a\n"
     "second one ends it at once, and earlier results stay. Exit status 1 when a step of the\n"
     "result did not converge, when nothing was improved, or after one of these signals.",
     verb_optimize},
    {"sweep", "TASK --samples FILE|--random N --out DIR", 1,
     GROUP_JSON | GROUP_SETTINGS | GROUP_SWEEP | GROUP_CHECK | GROUP_FOLDER | GROUP_QUIET,
     "loss and gradient of a task at many samples, as a table",
     "Evaluates a task at samples of its variables: rows of a CSV file under the names of their\n"
     "entries, as qvel0[2], objects of a JSON list, each of which is merged into the task\n"
     "(RFC 7396: other starts, parameters, optimizers, scenes), or random ones. DIR/samples.csv\n"
     "has a line for each, in their order: status, loss, steps that did not converge, the point x,\n"
     "\"d NAME\" the gradient; with --check \"error NAME\" and \"passed NAME\" of certificates;\n"
     "with --optimize the best loss and point. A sample that fails says why, and the others go\n"
     "on. Any number of processes may work on one folder, also of several machines that share\n"
     "it: under mpirun ranks do. What was finished when one ended, however that was, stays, and\n"
     "the same command goes on; the table has the same bits whoever did what. Exit status 1\n"
     "where not all samples are ok.",
     verb_sweep},
    {"replay", "FILE", 1, GROUP_JSON | GROUP_REPLAY,
     "repeat a record of a run to the bit, and tell the first difference",
     "Where DIJOCO_RECORD=FILE is set, the command (simulate, compare), contexts of the MuJoCo\n"
     "plugin and Python write their runs to FILE: the model, then of each call what it began with\n"
     "and what came of it. This repeats the calls and compares: status, state, results. The first\n"
     "difference is told by call, step, time, array and entry, with the number recorded and that\n"
     "found; then the exit status is 1. Other versions of the library, compilers or processors\n"
     "may well differ in a last bit; the record says which it was. A record that is bad, or cut\n"
     "off within a line, is exit status 2 and the line is named. What a process left that was\n"
     "killed is whole up to its last call.",
     verb_replay},
    {"bench", "[TASK ...]", MAX_ARGUMENTS, GROUP_JSON | GROUP_FILTER,
     "our timings beside MuJoCo's, or of tasks",
     "Times steps and derivatives of gymnasium's robots at the states of a stock MuJoCo run,\n"
     "contact of a pair of boxes, and the book stack, beside MuJoCo's, alternately in one run\n"
     "on one thread. Medians in microseconds; ratio is ours over the peer's. Robots are skipped\n"
     "where their models are not found (scripts/fetch_models.sh fetches them). Ctrl-C ends it\n"
     "after the timing at hand, with status 1; a second one at once.\n\n"
     "Of tasks a step of the run, recorded, and of the gradients by all variables and by controls\n"
     "and start alone; the peer is the run without a record, or the recorded one. Once with the\n"
     "task's own controls, once with others, drawn from the middle half of their bounds. A note\n"
     "tells the memory, of all scenes, of what is recorded (tape), of simulations (data), and of\n"
     "designs: their models, variables and connections.",
     verb_bench},
    {"help", "[TOPIC|VERB]", 1, GROUP_JSON | GROUP_MARKDOWN,
     "tables of names: settings, presets, losses, parameters, maps, optimizers",
     "Prints one of the tables by which everything is read that users name: settings (what a\n"
     "scene, a task, the command, MJCF and Python may set about the simulation), presets of\n"
     "contact, and what a task may hold: losses, parameters, maps, optimizers. Of a verb what its\n"
     "--help prints, of nothing the verbs.",
     verb_help},
};
enum { NVERBS = sizeof verbs / sizeof verbs[0] };

static void print_help(void) {
  puts("DiJoCo: differentiable rigid-body simulation with contact, beside MuJoCo.\n\n"
       "usage: dijoco VERB [options] ARGUMENTS\n");
  for (int i = 0; i < NVERBS; i++) printf("  %-10s %s\n", verbs[i].name, verbs[i].summary);
  puts("\n`dijoco VERB --help` explains a verb, `dijoco --version` prints the version.\n"
       "Exit status: 0 done; 1 it ran, but something did not hold; 2 bad input or usage.");
}

// `dijoco help` without a topic; false: it has one.
static bool explain(const Options* o) {
  if (o->nargument == 0) {
    print_help();
    return true;
  }
  for (int i = 0; i < NVERBS; i++) {
    if (strcmp(o->argument[0], verbs[i].name) != 0) continue;
    opt_printHelp(&verbs[i]);
    return true;
  }
  return false;
}

static void print_version(void) {
  const char* mujoco = scene_mujocoVersion();
  printf("dijoco %s (%s%s)\n", dj_version(), mujoco ? "MuJoCo " : "without MuJoCo",
         mujoco ? mujoco : "");
}

static bool given(int argc, char* const* argv, const char* option) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], option) == 0) return true;
  }
  return false;
}

// Scenes may name our plugins of MuJoCo.
static int register_plugins(void) {
#ifdef DJ_HAVE_MUJOCO
  djError error;
  if (djm_registerPlugins(&error) != DJ_OK) {
    return tool_fail(NULL, NULL, NULL, "%s", error.text);
  }
#endif
  return EXIT_DONE;
}

// What was printed must have arrived, or a script would read half of it as all.
static int run(const Verb* verb, const Options* options) {
  int status = verb->run(options);
  if (status != EXIT_BAD_INPUT) warn_show();
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  tool_fail(verb->name, "standard output", NULL, "cannot be written");
  return status > EXIT_NOT_HELD ? status : EXIT_NOT_HELD;
}

int main(int argc, char** argv) {
  int place = opt_findVerb(argc, argv);
  if (place == 0) {
    if (given(argc, argv, "--version")) {
      print_version();
      return EXIT_DONE;
    }
    if (given(argc, argv, "--help") || given(argc, argv, "-h")) {
      print_help();
      return EXIT_DONE;
    }
    return tool_fail(NULL, NULL, NULL, "no verb given (see dijoco --help)");
  }
  for (int i = 0; i < NVERBS; i++) {
    if (strcmp(argv[place], verbs[i].name) != 0) continue;
    Options options;
    int status = opt_parse(&options, &verbs[i], argc, argv, place);
    if (status) return status;
    if (options.help) {
      opt_printHelp(&verbs[i]);
      return EXIT_DONE;
    }
    if (verbs[i].run == verb_help && explain(&options)) return EXIT_DONE;
    interrupt_install();
    status = register_plugins();
    return status ? status : run(&verbs[i], &options);
  }
  return tool_fail(NULL, NULL, argv[place], "unknown verb (see dijoco --help)");
}
