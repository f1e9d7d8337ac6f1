// The command line: one table of options for all verbs, beside which stand those settings of the
// table of settings that the command takes. Options may stand anywhere, as `--name value` or
// `--name=value`, each once but for --set; `--` ends them.

#ifndef DJ_TOOLS_OPTIONS_H_
#define DJ_TOOLS_OPTIONS_H_

#include "text.h"

#include <dijoco/optimize.h>
#include <dijoco/setting.h>

// Which options a verb has, as a sum.
enum {
  GROUP_JSON = 1,
  GROUP_SETTINGS = 2,  // how a scene is simulated
  GROUP_START = 4,     // initial state
  GROUP_RUN = 8,       // time and controls
  GROUP_ENGINE = 16,
  GROUP_FILE = 32,     // --out FILE
  GROUP_FOLDER = 64,   // --out DIR
  GROUP_LIMITS = 128,  // compare's checks
  GROUP_CHECK = 256,   // grad's certificate
  GROUP_FILTER = 512,  // bench
  GROUP_OPTIMIZE = 1024,
  GROUP_MARKDOWN = 2048,
  GROUP_SURFACE = 4096, // convert's meshes
  GROUP_STATE = 8192,   // states as files
  GROUP_DECOMPOSE = 16384,
  GROUP_EXPORT = 32768, // links for building
  GROUP_QUIET = 65536,  // verbs that warn
  GROUP_ALL = 131072,   // inspect's whole list
  GROUP_SWEEP = 262144, // samples
  GROUP_LINE = 524288,  // landscape's
  GROUP_REPLAY = 1048576   // records
};

enum { MAX_ARGUMENTS = 16, MAX_SETS = 256 };

// Numbers that were not given are NaN, integers are negative, texts are NULL.
typedef struct Options {
  const char* verb;
  int nargument;
  const char* argument[MAX_ARGUMENTS];
  bool help, json, markdown, allow_ignored, check, quiet, all;
  djSettings settings;        // those of the table of settings (dijoco/setting.h)
  const char* keyframe;
  int nset;
  const char* set[MAX_SETS];  // NAME=V[,V...]
  long threads;
  const char* guide_bodies;
  double time;
  const char *qpos, *qvel, *state, *save_state, *player, *ctrl, *engine, *out, *filter, *models, *pairs;
  long ctrl_seed, every, check_seed, check_runs;
  const char* optimizer;      // type; NULL: the task's
  djOptimizer how;            // those of its keys (dj_optimizerKey) that are given
  unsigned long long how_given;   // bit i: key i
  double max_position, max_rotation;
  bool surface;
  double surface_error;
  const char* export;         // format of links
  const char* samples;        // of sweep
  bool optimize;
  long random;
  double spread;
  const char *method, *grid;  // of decompose
  long hulls, vertices, seed;
  const char *variable, *range;   // of landscape
  long index, count;
  long step;                  // of replay
} Options;

typedef struct Verb {
  const char* name;
  const char* arguments;      // as shown in its help
  int nargument;              // how many it takes; where `arguments` is in brackets: at most
  int groups;
  const char* summary;        // one line
  const char* help;           // paragraphs
  int (*run)(const Options* options);
} Verb;

// The verb's name among the arguments: the first that is neither an option nor an option's value.
// Returns its place, or 0.
int opt_findVerb(int argc, char* const* argv);

// Parse everything but argv[verb_place]. Returns 0, or EXIT_BAD_INPUT after its line on stderr.
int opt_parse(Options* options, const Verb* verb, int argc, char* const* argv, int verb_place);

// Help of one verb, on stdout.
void opt_printHelp(const Verb* verb);

// "--friction-eps" of a setting.
typedef struct OptionName {
  char text[64];
} OptionName;
OptionName opt_nameOf(const djSetting* setting);

// Print JSON output (and free it).
void opt_print(Buffer* text);

#endif  // DJ_TOOLS_OPTIONS_H_
