// The linear maps of minimal filtering (see minimal_filtering.h) and their adjoints, each for all channels of
// one square or of one kernel.
#pragma once

#include "vectorised.h"

#include <cstdint>

namespace crab {

// d to (d0 - d1, d1, d1 - d2), along rows and columns; the nine results lie `stride` apart.
template <typename T>
CRAB_VECTORISED void transformValues(const T* const* d, T* v, int64_t stride, int64_t channels) {
  const T *d0 = d[0], *d1 = d[1], *d2 = d[2], *d3 = d[3], *d4 = d[4], *d5 = d[5], *d6 = d[6], *d7 = d[7], *d8 = d[8];
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T a0 = d0[c] - d3[c], a1 = d1[c] - d4[c], a2 = d2[c] - d5[c];
    const T b0 = d3[c], b1 = d4[c], b2 = d5[c];
    const T c0 = b0 - d6[c], c1 = b1 - d7[c], c2 = b2 - d8[c];
    v[c] = a0 - a1, v[stride + c] = a1, v[2 * stride + c] = a1 - a2;
    v[3 * stride + c] = b0 - b1, v[4 * stride + c] = b1, v[5 * stride + c] = b1 - b2;
    v[6 * stride + c] = c0 - c1, v[7 * stride + c] = c1, v[8 * stride + c] = c1 - c2;
  }
}

// The adjoint of the above: (v0, v1 + v2 - v0, -v2), added to d.
template <typename T>
CRAB_VECTORISED void addAdjointValues(const T* v, int64_t stride, T* const* d, int64_t channels) {
  T *d0 = d[0], *d1 = d[1], *d2 = d[2], *d3 = d[3], *d4 = d[4], *d5 = d[5], *d6 = d[6], *d7 = d[7], *d8 = d[8];
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T a0 = v[c], a1 = v[stride + c], a2 = v[2 * stride + c];
    const T c0 = v[6 * stride + c], c1 = v[7 * stride + c], c2 = v[8 * stride + c];
    const T b0 = v[3 * stride + c] + c0 - a0, b1 = v[4 * stride + c] + c1 - a1, b2 = v[5 * stride + c] + c2 - a2;
    d0[c] += a0, d1[c] += a1 + a2 - a0, d2[c] -= a2;
    d3[c] += b0, d4[c] += b1 + b2 - b0, d5[c] -= b2;
    d6[c] -= c0, d7[c] -= c1 + c2 - c0, d8[c] += c2;
  }
}

// m to (m0 + m1, m1 - m2), along rows and columns: the outputs of a square.
template <typename T>
CRAB_VECTORISED void transformOutputs(const T* m, int64_t stride, T* y, int64_t rowStride, int64_t channels) {
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T b0 = m[3 * stride + c], b1 = m[4 * stride + c], b2 = m[5 * stride + c];
    const T a0 = m[c] + b0, a1 = m[stride + c] + b1, a2 = m[2 * stride + c] + b2;
    const T c0 = b0 - m[6 * stride + c], c1 = b1 - m[7 * stride + c], c2 = b2 - m[8 * stride + c];
    y[c] = a0 + a1, y[channels + c] = a1 - a2;
    y[rowStride + c] = c0 + c1, y[rowStride + channels + c] = c1 - c2;
  }
}

// The adjoint of the above: (y0, y0 + y1, -y1).
template <typename T>
CRAB_VECTORISED void adjointOutputs(const T* y, int64_t rowStride, T* m, int64_t stride, int64_t channels) {
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T a0 = y[c], a1 = y[channels + c];
    const T b0 = y[rowStride + c], b1 = y[rowStride + channels + c];
    const T s0 = a0 + b0, s1 = a1 + b1;
    m[c] = a0, m[stride + c] = a0 + a1, m[2 * stride + c] = -a1;
    m[3 * stride + c] = s0, m[4 * stride + c] = s0 + s1, m[5 * stride + c] = -s1;
    m[6 * stride + c] = -b0, m[7 * stride + c] = -b0 - b1, m[8 * stride + c] = b1;
  }
}

// The 2x2 kernel of one parity to (g0, g0 + g1, g1), along rows and columns. Weights of one output are
// [4, 4, channels] in memory.
template <typename T>
CRAB_VECTORISED void transformWeights(const T* w, T* u, int64_t stride, int64_t channels) {
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T a0 = w[c], a1 = w[2 * channels + c], c0 = w[8 * channels + c], c1 = w[10 * channels + c];
    const T b0 = a0 + c0, b1 = a1 + c1;
    u[c] = a0, u[stride + c] = a0 + a1, u[2 * stride + c] = a1;
    u[3 * stride + c] = b0, u[4 * stride + c] = b0 + b1, u[5 * stride + c] = b1;
    u[6 * stride + c] = c0, u[7 * stride + c] = c0 + c1, u[8 * stride + c] = c1;
  }
}

// The adjoint of the above: (u0 + u1, u1 + u2).
template <typename T>
CRAB_VECTORISED void adjointWeights(const T* u, int64_t stride, T* w, int64_t channels) {
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T a0 = u[c] + u[3 * stride + c], a1 = u[stride + c] + u[4 * stride + c];
    const T a2 = u[2 * stride + c] + u[5 * stride + c];
    const T c0 = u[6 * stride + c] + u[3 * stride + c], c1 = u[7 * stride + c] + u[4 * stride + c];
    const T c2 = u[8 * stride + c] + u[5 * stride + c];
    w[c] = a0 + a1, w[2 * channels + c] = a1 + a2;
    w[8 * channels + c] = c0 + c1, w[10 * channels + c] = c1 + c2;
  }
}

}  // namespace crab
