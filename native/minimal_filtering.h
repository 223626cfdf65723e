// The convolution with a 4x4 kernel, stride 2 and padding 1, and its transpose, by minimal filtering (Winograd,
// 1980; Lavin and Gray, 2016), on a CPU.
//
// By the parity of rows and columns the 4x4 kernel falls into four 2x2 ones with stride 1. Two outputs of a
// filter of two taps need three products instead of four,
//     y0 = (d0 - d1) g0 + d1 (g0 + g1),     y1 = d1 (g0 + g1) - (d1 - d2) g1,
// so a square of 2x2 outputs needs 9 instead of 16, each a matrix product over the channels of all four
// kernels. The factors are 0 and 1, so rounding is that of an ordinary sum.
#pragma once

#include <ATen/ATen.h>

namespace crab {

// Both sides of the convolution: the large one is [images, 2 height, 2 width, channels] in memory, the small
// one [images, height, width, outputs]; height and width are even.
struct FilterGeometry {
  int64_t images, height, width, channels, outputs;
};

// All tensors are channels-last, in f32 or f64, of one type.

// Weights [outputs, channels, 4, 4] in the form that the others take.
at::Tensor transformedWeights(const at::Tensor& weight);

// From the large side to the small one or, `doubling`, back.
at::Tensor filtered(const FilterGeometry& geometry, const at::Tensor& x, const at::Tensor& weights, bool doubling);

struct FilterNeeds {
  bool input, weight;
};

// Undefined where they are not needed; the weight's is that of the weights before they were transformed.
struct FilterGradients {
  at::Tensor input, weight;
};

FilterGradients filteredGradients(const FilterGeometry& geometry, const at::Tensor& x, const at::Tensor& gradient,
                                  const at::Tensor& weights, FilterNeeds needs, bool doubling);

}  // namespace crab
