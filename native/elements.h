// What kernels on a GPU share: kinds of elements, how they are read and rounded, and the last error.
// For .cu files alone; all arithmetic is in f32.
#pragma once

#include "element_kinds.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

namespace crab {

inline __device__ float single(float value) { return value; }
inline __device__ float single(__half value) { return __half2float(value); }
inline __device__ float single(__nv_bfloat16 value) { return __bfloat162float(value); }

template <typename T>
__device__ T rounded(float value);
template <>
inline __device__ float rounded<float>(float value) {
  return value;
}
template <>
inline __device__ __half rounded<__half>(float value) {
  return __float2half_rn(value);
}
template <>
inline __device__ __nv_bfloat16 rounded<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

// Channels that one thread reads at once.
template <typename T, int width>
struct alignas(width * sizeof(T)) Pack {
  static constexpr int kWidth = width;
  T value[width];
};

// 16 bytes: the most that one load takes.
template <typename T>
using WidePack = Pack<T, 16 / sizeof(T)>;

// `work` with a value of the kind's type, which says to a generic function which it is.
template <typename Work>
auto byElement(ElementKind kind, const Work& work) {
  if (kind == ElementKind::f16) return work(__half());
  return kind == ElementKind::bf16 ? work(__nv_bfloat16()) : work(float());
}

// nullptr, or what CUDA says is wrong with the last launch.
inline const char* lastError() {
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace crab
