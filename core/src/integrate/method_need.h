// What elements of a model need of a method, and not all methods have.

#ifndef DJ_INTEGRATE_METHOD_NEED_H_
#define DJ_INTEGRATE_METHOD_NEED_H_

#include "integrate/work.h"

// Whether it has all.
bool dj_hasNeeded(const djWork* work, const djModel* model, const djMethod* method);

// DJ_UNSUPPORTED where it has not: names the first element.
djStatus dj_checkMethod(djWork* work, const djModel* model, const djMethod* method);

#endif  // DJ_INTEGRATE_METHOD_NEED_H_
