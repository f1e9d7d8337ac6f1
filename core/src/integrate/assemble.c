#include "integrate/assemble.h"

#include <string.h>

// Block of bodies r, s in a 12 x 12 matrix.
static void copyBlock(double K[36], const double* from, int r, int s) {
  from += 72 * r + 6 * s;
  for (int i = 0; i < 6; i++) memcpy(K + 6 * i, from + 12 * i, 6 * sizeof(double));
}

void dj_addContactForces(djWork* w, const djModel* m, const djKin* kin) {
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, w->contacts);
  for (int k = 0; k < n; k++) {
    const djContactBlock* c = block[k];
    int body[2] = {c->body_a, c->body_b};
    double K[36];
    for (int s = 0; s < 2; s++) {
      if (m->body_lastdof[body[s]] < 0) continue;
      const double* g = c->out.gradient + 6 * s;
      for (int r = 0; r < 6; r++) w->wrench[6 * body[s] + r] += g[r];
      copyBlock(K, c->out.hessian, s, s);
      dj_addNested(w->N + 36 * body[s], K, g);
    }
    if (m->body_lastdof[body[0]] < 0 || m->body_lastdof[body[1]] < 0) continue;
    copyBlock(K, c->out.hessian, 0, 1);
    dj_projectCross(w->H, m, kin, body[0], body[1], K);
  }
}

void dj_addJointTerms(double* value, double* gradient, djWork* w, const djModel* m,
                      const double* q) {
  for (int j = 0; j < m->njnt; j++) {
    djBlock block[2];
    int n = dj_jointTerm(block, &w->joint, m, &w->start, j, q, false);
    for (int k = 0; k < n; k++) {
      const djBlock* b = &block[k];
      *value += b->value;
      if (!gradient) continue;
      for (int r = 0; r < b->n; r++) {
        gradient[b->dof + r] += b->g[r];
        for (int c = 0; c <= r; c++) {
          w->H[(size_t)(b->dof + r) * m->nv + b->dof + c] += b->K[3 * r + c];
        }
      }
    }
  }
}

void dj_addContactStart(djWork* w, const djModel* m) {
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, w->contacts);
  for (int k = 0; k < n; k++) {
    const djContactBlock* c = block[k];
    int body[2] = {c->body_a, c->body_b};
    for (int r = 0; r < 2; r++) {
      for (int s = 0; s < 2; s++) {
        if (m->body_lastdof[body[r]] < 0 || m->body_lastdof[body[s]] < 0) continue;
        double K[36];
        copyBlock(K, c->start_jac, r, s);
        if (r == s) {
          for (int i = 0; i < 36; i++) w->N[36 * body[r] + i] += K[i];
        } else {
          dj_projectCrossMixed(w->Rq, m, &w->now, &w->kin0, body[r], body[s], K);
        }
      }
    }
  }
}

void dj_addJointStart(djWork* w, const djModel* m) {
  int nv = m->nv;
  for (int j = 0; j < m->njnt; j++) {
    djBlock block[2];
    int n = dj_jointTerm(block, &w->joint, m, &w->start, j, w->q, true);
    for (int k = 0; k < n; k++) {
      const djBlock* b = &block[k];
      for (int r = 0; r < b->n; r++) {
        for (int c = 0; c < b->n; c++) {
          w->Rq[(size_t)(b->dof + r) * nv + b->dof + c] += b->Kstart[3 * r + c];
          w->Rv[(size_t)(b->dof + r) * nv + b->dof + c] += b->Kvel[3 * r + c];
        }
      }
    }
  }
}

void dj_addInputs(djWork* w, const djModel* m) {
  memset(w->Ru, 0, (size_t)m->nv * m->nu * sizeof(double));
  memset(w->Ra, 0, (size_t)m->nv * m->na * sizeof(double));
  for (int i = 0; i < m->nu; i++) {
    for (int part = 0; part < 2; part++) {
      double g[3];
      int dof, n, adr = m->actuator_actadr[i];
      if (!dj_actuatorColumn(g, &dof, &n, &w->joint, m, &w->start, i, part, w->q)) continue;
      for (int r = 0; r < n; r++) {
        w->Ru[(size_t)(dof + r) * m->nu + i] += g[r] * w->joint.act[i].dinput;
        if (adr >= 0) w->Ra[(size_t)(dof + r) * m->na + adr] += g[r] * w->joint.act[i].dact;
      }
    }
  }
}
