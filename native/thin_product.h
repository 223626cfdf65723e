// A product of a matrix of few rows with one of many, y (+)= x w, in f32 on a CPU with AVX-512. A BLAS lays
// the large matrix out anew before it multiplies; with few rows that takes as long as the product itself.
// This one reads it as it lies, once.
#pragma once

#include <cstdint>

namespace crab {

// Row-major [rows, columns]; `stride` from row to row.
template <typename T>
struct Matrix {
  T* data;
  int64_t stride;
};

struct ThinShape {
  int64_t rows, depth, columns;
};

// Whether there is a kernel for it here.
bool hasThinProduct(const ThinShape& shape);

// x [rows, depth], w [depth, columns], y [rows, columns], to which the product is added if `add`, or by which
// it is replaced. Columns are shared out to threads; the result does not depend on how many there are.
void thinProduct(const ThinShape& shape, Matrix<const float> x, Matrix<const float> w, Matrix<float> y, bool add);

}  // namespace crab
