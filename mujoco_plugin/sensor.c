// Which sensors have derivatives by formula, and those of joints and tendons.

#include "sensor.h"

static bool hasFrame(int type) {
  return type == mjOBJ_BODY || type == mjOBJ_XBODY || type == mjOBJ_GEOM || type == mjOBJ_SITE;
}

bool djm_isDelayed(const mjModel* m, int i) {
  return m->sensor_history[2 * i] > 0 &&
         (m->sensor_delay[i] > 0 || m->sensor_interval[2 * i] > 0);
}

bool djm_sensorIsAnalytic(const mjModel* m, int i) {
  if (!m || i < 0 || i >= m->nsensor || djm_isDelayed(m, i)) return false;
  int id = m->sensor_objid[i];
  switch (m->sensor_type[i]) {
    case mjSENS_TOUCH:
    case mjSENS_VELOCIMETER:
    case mjSENS_GYRO:
    case mjSENS_MAGNETOMETER:
    case mjSENS_JOINTPOS:
    case mjSENS_JOINTVEL:
    case mjSENS_BALLQUAT:
    case mjSENS_BALLANGVEL:
    case mjSENS_CLOCK: return true;
    case mjSENS_TENDONPOS:
    case mjSENS_TENDONVEL: return m->wrap_type[m->tendon_adr[id]] == mjWRAP_JOINT;
    case mjSENS_ACTUATORPOS:
    case mjSENS_ACTUATORVEL: return djm_simpleLength(m, id);
    case mjSENS_ACTUATORFRC:
      return djm_simpleLength(m, id) && djm_actuatorSupported(m, id) && !djm_isMuscle(m, id) &&
             !djm_isServo(m, id);
    case mjSENS_FRAMEPOS:
    case mjSENS_FRAMEQUAT:
    case mjSENS_FRAMEXAXIS:
    case mjSENS_FRAMEYAXIS:
    case mjSENS_FRAMEZAXIS:
    case mjSENS_FRAMELINVEL:
    case mjSENS_FRAMEANGVEL:
      return hasFrame(m->sensor_objtype[i]) &&
             (m->sensor_refid[i] < 0 || hasFrame(m->sensor_reftype[i]));
    case mjSENS_ACCELEROMETER:
    case mjSENS_FORCE:
    case mjSENS_TORQUE: return true;
    case mjSENS_FRAMELINACC:
    case mjSENS_FRAMEANGACC: return hasFrame(m->sensor_objtype[i]);
    case mjSENS_SUBTREECOM:
    case mjSENS_SUBTREELINVEL: return m->body_subtreemass[id] > mjMINVAL;
    case mjSENS_PLUGIN: return djm_isGapSensor(m, i);
    default: return false;
  }
}

bool djm_isAcceleration(const mjModel* m, int i) {
  int type = m->sensor_type[i];
  return djm_sensorIsAnalytic(m, i) && m->sensor_needstage[i] == mjSTAGE_ACC &&
         type != mjSENS_TOUCH && type != mjSENS_ACTUATORFRC;
}

bool djm_isCut(const mjModel* m, int i, mjtNum value) {
  mjtNum cutoff = m->sensor_cutoff[i];
  if (!(cutoff > 0)) return false;
  if (m->sensor_datatype[i] == mjDATATYPE_REAL) return mju_abs(value) >= cutoff;
  return m->sensor_datatype[i] == mjDATATYPE_POSITIVE && value >= cutoff;
}

size_t djm_sensorWorkSize(const mjModel* m) { return 27 * (size_t)m->nv; }

static mjtNum* initFrame(djmFrame* f, mjtNum* memory, int n) {
  f->jacp = memory;
  f->jacr = f->jacp + n;
  f->dlin = f->jacr + n;
  f->dang = f->dlin + n;
  return f->dang + n;
}

void djm_initSensorWork(djmSensorWork* w, mjtNum* memory, const mjModel* m) {
  memory = initFrame(&w->object, memory, 3 * (int)m->nv);
  w->jac = initFrame(&w->ref, memory, 3 * (int)m->nv);
}

// sum coef q, or its velocity
static void tendonRow(djmRows* rows, const mjModel* m, const mjData* d, int tendon,
                      bool velocity) {
  for (int k = m->tendon_adr[tendon]; k < m->tendon_adr[tendon] + m->tendon_num[tendon]; k++) {
    int joint = m->wrap_objid[k], dof = m->jnt_dofadr[joint];
    double x = velocity ? d->qvel[dof] : d->qpos[m->jnt_qposadr[joint]];
    rows->x[dof + (velocity ? m->nv : 0)] += m->wrap_prm[k];
    rows->value[0] += m->wrap_prm[k] * x;
  }
}

// A rotation by the body-frame vector dq changes q by q (0, dq)/2.
static void ballRows(djmRows* rows, const mjModel* m, const mjData* d, int joint) {
  mju_copy4(rows->value, d->qpos + m->jnt_qposadr[joint]);
  mju_normalize4(rows->value);
  for (int k = 0; k < 3; k++) {
    mjtNum turn[4] = {0}, dq[4];
    turn[1 + k] = 0.5;
    mju_mulQuat(dq, rows->value, turn);
    for (int r = 0; r < 4; r++) rows->x[r * rows->nx + m->jnt_dofadr[joint] + k] = dq[r];
  }
}

void djm_sensorRows(djmRows* rows, djmSensorWork* w, const mjModel* m, const mjData* d,
                    mjData* pose, int i) {
  int id = m->sensor_objid[i], nv = (int)m->nv;
  switch (m->sensor_type[i]) {
    case mjSENS_JOINTPOS:
      rows->value[0] = d->qpos[m->jnt_qposadr[id]];
      rows->x[m->jnt_dofadr[id]] = 1;
      break;
    case mjSENS_JOINTVEL:
    case mjSENS_BALLANGVEL:
      for (int r = 0; r < rows->dim; r++) {
        rows->value[r] = d->qvel[m->jnt_dofadr[id] + r];
        rows->x[r * rows->nx + nv + m->jnt_dofadr[id] + r] = 1;
      }
      break;
    case mjSENS_BALLQUAT: ballRows(rows, m, d, id); break;
    case mjSENS_TENDONPOS: tendonRow(rows, m, d, id, false); break;
    case mjSENS_TENDONVEL: tendonRow(rows, m, d, id, true); break;
    case mjSENS_ACTUATORPOS:
    case mjSENS_ACTUATORVEL:
    case mjSENS_ACTUATORFRC: djm_actuatorRows(rows, m, d, i); break;
    case mjSENS_CLOCK: rows->value[0] = d->time; break;
    case mjSENS_PLUGIN: djm_gapRows(rows, w, m, d, pose, i); break;
    default: djm_frameRows(rows, w, m, pose, i); break;
  }
}
