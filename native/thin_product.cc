// Columns go in panels as wide as four registers; some rows of a panel's results stay in registers while the
// panel's weights, a piece of the depth at a time, stay in the first cache. Nothing tells the processor which
// weights come next, a panel being narrower than their rows, so they are fetched ahead by hand.
#include "thin_product.h"

#include "vectorised.h"

#include <ATen/Parallel.h>

#include <algorithm>

#ifdef CRAB_VECTORISES
#include <immintrin.h>
#endif

namespace crab {

#ifdef CRAB_VECTORISES

namespace {

constexpr int64_t kLane = 16;
// Rows above which a BLAS is no slower.
constexpr int64_t kMostRows = 96;
constexpr int64_t kPanel = 4 * kLane;
constexpr int64_t kPieceDepth = 128;
// Rows whose results fit the registers beside the weights.
constexpr int64_t kRowsTogether = 6;

struct Piece {
  Matrix<const float> x, w;
  Matrix<float> y;
  int64_t depth;
  bool add;
  // The first rows to use the weights copy them here, without the gaps between their rows.
  float* copy;
  // Weights that will be used next.
  const float* next;
};

template <int rows, int lanes, bool first>
__attribute__((target("avx512f"), optimize("O3"))) void multiplyRows(const Piece& p) {
  __m512 sums[rows][lanes];
  for (int r = 0; r < rows; r++) {
    for (int v = 0; v < lanes; v++) {
      sums[r][v] = p.add ? _mm512_loadu_ps(p.y.data + r * p.y.stride + v * kLane) : _mm512_setzero_ps();
    }
  }
  const int64_t stride = first ? p.w.stride : lanes * kLane;
  const float* w = first ? p.w.data : p.copy;
  for (int64_t k = 0; k < p.depth; k++, w += stride) {
    __m512 weights[lanes];
    for (int v = 0; v < lanes; v++) {
      weights[v] = _mm512_loadu_ps(w + v * kLane);
      if (!first) continue;
      _mm512_storeu_ps(p.copy + (k * lanes + v) * kLane, weights[v]);
      // Into the second cache: in the first, rows that lie a power of two apart would drive each other out.
      _mm_prefetch(p.next + k * stride + v * kLane, _MM_HINT_T1);
    }
    for (int r = 0; r < rows; r++) {
      const __m512 value = _mm512_set1_ps(p.x.data[r * p.x.stride + k]);
      for (int v = 0; v < lanes; v++) sums[r][v] = _mm512_fmadd_ps(value, weights[v], sums[r][v]);
    }
  }
  for (int r = 0; r < rows; r++) {
    for (int v = 0; v < lanes; v++) _mm512_storeu_ps(p.y.data + r * p.y.stride + v * kLane, sums[r][v]);
  }
}

using Kernel = void (*)(const Piece&);

template <int lanes, bool first>
constexpr Kernel kKernels[kRowsTogether] = {multiplyRows<1, lanes, first>, multiplyRows<2, lanes, first>,
                                            multiplyRows<3, lanes, first>, multiplyRows<4, lanes, first>,
                                            multiplyRows<5, lanes, first>, multiplyRows<6, lanes, first>};

template <bool first>
Kernel kernelOf(int64_t rows, int64_t lanes) {
  switch (lanes) {
    case 1: return kKernels<1, first>[rows - 1];
    case 2: return kKernels<2, first>[rows - 1];
    case 3: return kKernels<3, first>[rows - 1];
    default: return kKernels<4, first>[rows - 1];
  }
}

// All rows of one piece: of x from its first value, of w and y from the first column. `next` as in Piece.
void multiplyPiece(const ThinShape& shape, Matrix<const float> x, Matrix<const float> w, Matrix<float> y, int64_t lanes,
                   bool add, const float* next) {
  alignas(64) float copy[kPieceDepth * kPanel];
  // Rows in groups of nearly equal size.
  const int64_t groups = (shape.rows + kRowsTogether - 1) / kRowsTogether;
  for (int64_t group = 0; group < groups; group++) {
    const int64_t row = shape.rows * group / groups, end = shape.rows * (group + 1) / groups;
    const Piece piece{{x.data + row * x.stride, x.stride}, w, {y.data + row * y.stride, y.stride}, shape.depth, add,
                      copy, next};
    (group == 0 ? kernelOf<true>(end - row, lanes) : kernelOf<false>(end - row, lanes))(piece);
  }
}

// Some panels. Pieces side by side follow each other: they share pages, of which the processor remembers few.
void multiplyPanels(const ThinShape& shape, Matrix<const float> x, Matrix<const float> w, Matrix<float> y, bool add,
                    int64_t from, int64_t to) {
  for (int64_t k = 0; k < shape.depth; k += kPieceDepth) {
    const ThinShape piece{shape.rows, std::min(kPieceDepth, shape.depth - k), shape.columns};
    for (int64_t panel = from; panel < to; panel++) {
      const int64_t column = panel * kPanel;
      const int64_t lanes = std::min(kPanel, shape.columns - column) / kLane;
      const float* weights = w.data + k * w.stride;
      const float* next = panel + 1 < to ? weights + column + kPanel : weights + piece.depth * w.stride + from * kPanel;
      multiplyPiece(piece, {x.data + k, x.stride}, {weights + column, w.stride}, {y.data + column, y.stride}, lanes,
                    add || k > 0, next);
    }
  }
}

}  // namespace

bool hasThinProduct(const ThinShape& shape) {
  static const bool supported = __builtin_cpu_supports("avx512f");
  return supported && shape.rows > 0 && shape.rows <= kMostRows && shape.depth > 0 && shape.columns % kLane == 0;
}

void thinProduct(const ThinShape& shape, Matrix<const float> x, Matrix<const float> w, Matrix<float> y, bool add) {
  const int64_t panels = (shape.columns + kPanel - 1) / kPanel;
  const int64_t work = shape.rows * shape.depth * kPanel;
  const int64_t grain = std::max<int64_t>(1, at::internal::GRAIN_SIZE * kLane / work);
  at::parallel_for(0, panels, grain,
                   [&](int64_t from, int64_t to) { multiplyPanels(shape, x, w, y, add, from, to); });
}

#else

bool hasThinProduct(const ThinShape&) { return false; }

void thinProduct(const ThinShape&, Matrix<const float>, Matrix<const float>, Matrix<float>, bool) {}

#endif

}  // namespace crab
