// One function per verb; each returns the exit status.

#ifndef DJ_TOOLS_VERBS_H_
#define DJ_TOOLS_VERBS_H_

#include "options.h"

int verb_inspect(const Options* options);
int verb_convert(const Options* options);
int verb_simulate(const Options* options);
int verb_compare(const Options* options);
int verb_decompose(const Options* options);
int verb_contact(const Options* options);
int verb_grad(const Options* options);
int verb_landscape(const Options* options);
int verb_optimize(const Options* options);
int verb_sweep(const Options* options);
int verb_replay(const Options* options);
int verb_bench(const Options* options);
int verb_help(const Options* options);

#endif  // DJ_TOOLS_VERBS_H_
