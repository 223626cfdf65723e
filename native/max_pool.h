// The kernels of crab::max_pool on a GPU, by plain pointers, so that nvcc reads none of libtorch's headers.
// Maps are channels-last: [maps, height, width, channels].
#pragma once

#include "element_kinds.h"

#include <cstdint>

namespace crab {

struct PoolShape {
  int64_t maps;
  int height, width, channels;
  // Places of the window on each map.
  int rows, columns;
  // A window is kernel x kernel; beyond a map's border it sees nothing.
  int kernel, stride, padding;
  ElementKind element;
  // A cudaStream_t.
  void* stream;
};

// Which place of a window won is kept in one byte.
constexpr int kMostPoolKernel = 15;

// Whether the kernels take maps of this shape, under a window that sees something at each of its places.
bool cudaPoolTakes(const PoolShape& shape);

// Both return nullptr, or what CUDA says is wrong.

// result [maps, rows, columns, channels]: the largest under each window; taps, of the same shape: which of the
// window's places it is, counted row by row, the first of equals.
const char* cudaPoolForward(const PoolShape& shape, const void* x, void* result, uint8_t* taps);
// The gradient of the maps from that of the result.
const char* cudaPoolBackward(const PoolShape& shape, const void* gradient, const uint8_t* taps, void* result);

}  // namespace crab
