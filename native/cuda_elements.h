// What the callers of our kernels on a GPU share: kinds of elements, and the stream they run on.
#pragma once

#include "element_kinds.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>

namespace crab {

inline bool isElement(at::ScalarType type) {
  return type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
}

// Of a type for which isElement says yes.
inline ElementKind elementKind(at::ScalarType type) {
  if (type == at::kHalf) return ElementKind::f16;
  return type == at::kBFloat16 ? ElementKind::bf16 : ElementKind::f32;
}

// A cudaStream_t, as headers without CUDA's pass it on.
inline void* currentStream() { return at::cuda::getCurrentCUDAStream().stream(); }

}  // namespace crab
