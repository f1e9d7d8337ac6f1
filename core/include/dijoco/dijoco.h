// DiJoCo: differentiable joint dynamics with contact. Umbrella header.

#ifndef DIJOCO_DIJOCO_H_
#define DIJOCO_DIJOCO_H_

#include <dijoco/array.h>
#include <dijoco/batch.h>
#include <dijoco/check.h>
#include <dijoco/contact.h>
#include <dijoco/crew.h>
#include <dijoco/csv.h>
#include <dijoco/damped.h>
#include <dijoco/data.h>
#include <dijoco/decompose.h>
#include <dijoco/design.h>
#include <dijoco/entry.h>
#include <dijoco/file.h>
#include <dijoco/gap.h>
#include <dijoco/gradient.h>
#include <dijoco/hessian.h>
#include <dijoco/implicit.h>
#include <dijoco/io.h>
#include <dijoco/model.h>
#include <dijoco/optimize.h>
#include <dijoco/overlap.h>
#include <dijoco/penalty.h>
#include <dijoco/physics.h>
#include <dijoco/problem.h>
#include <dijoco/receding.h>
#include <dijoco/record.h>
#include <dijoco/setting.h>
#include <dijoco/surface.h>
#include <dijoco/topology.h>
#include <dijoco/task.h>
#include <dijoco/types.h>

#endif  // DIJOCO_DIJOCO_H_
