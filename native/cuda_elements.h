// What the callers of our kernels on a GPU share: which tensors these take, and the stream they run on.
#pragma once

#include "element_kinds.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <cstdint>

namespace crab {

inline bool isElement(at::ScalarType type) {
  return type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
}

// Of a type for which isElement says yes.
inline ElementKind elementKind(at::ScalarType type) {
  if (type == at::kHalf) return ElementKind::f16;
  return type == at::kBFloat16 ? ElementKind::bf16 : ElementKind::f32;
}

// Whether kernels can read it in packs, which must not cross a multiple of 16 bytes: a view may begin anywhere.
inline bool isAligned(const at::Tensor& x) { return reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0; }

// The tensor itself, or a copy that is aligned.
inline at::Tensor aligned(const at::Tensor& x) { return isAligned(x) ? x : x.clone(); }

// Whether kernels can hold each of its sizes in an int.
inline bool hasIntSizes(const at::Tensor& x) {
  return std::all_of(x.sizes().begin(), x.sizes().end(), [](int64_t size) { return size <= INT32_MAX; });
}

// A cudaStream_t, as headers without CUDA's pass it on.
inline void* currentStream() { return at::cuda::getCurrentCUDAStream().stream(); }

// `error`: what a launch returned.
inline void requireLaunched(const char* error) { TORCH_CHECK(error == nullptr, "a kernel did not start: ", error); }

}  // namespace crab
