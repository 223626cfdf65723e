// Lets the callers of our kernels for a GPU (native/*.cc) run without one: it stands in for libtorch's header, and
// what follows takes tensors on the processor for tensors on a GPU. It must be the last header of a file.
#pragma once

#include <ATen/ATen.h>

namespace c10::cuda {

struct CUDAGuard {
  explicit CUDAGuard(at::Device) {}
};

}  // namespace c10::cuda

#define is_cuda() has_storage()
#define is_cpu() is_meta()
