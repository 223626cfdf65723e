// Max pooling of channels-last maps on a GPU. Which place of a window won is kept in one byte, where libtorch
// takes eight; the gradient is gathered, each element of the maps from the windows that see it, so that it needs
// no zeros before and no atomic additions, and is the same each time.
#include "max_pool.h"

#include "elements.h"

#include <algorithm>

namespace crab {

namespace {

constexpr int kThreads = 256;
constexpr int kMostBlocks = 16 * 132;

template <int width>
using Taps = Pack<uint8_t, width>;

// One map's row, column and channels of an item of work; the channels change fastest.
struct Item {
  unsigned pack, column, row, map;

  __device__ Item(unsigned item, int packs, int columns, int rows) {
    pack = item % packs;
    const unsigned place = item / packs;
    column = place % columns;
    const unsigned line = place / columns;
    row = line % rows;
    map = line / rows;
  }
};

template <typename T>
__global__ void __launch_bounds__(kThreads)
    poolForward(PoolShape shape, unsigned items, const WidePack<T>* x, WidePack<T>* result,
                Taps<WidePack<T>::kWidth>* taps) {
  constexpr int kWidth = WidePack<T>::kWidth;
  const int packs = shape.channels / kWidth;
  for (unsigned n = blockIdx.x * kThreads + threadIdx.x; n < items; n += gridDim.x * kThreads) {
    const Item item(n, packs, shape.columns, shape.rows);
    const int top = static_cast<int>(item.row) * shape.stride - shape.padding;
    const int left = static_cast<int>(item.column) * shape.stride - shape.padding;
    const int bottom = min(top + shape.kernel, shape.height), right = min(left + shape.kernel, shape.width);
    WidePack<T> largest;
    Taps<kWidth> winners;
    bool isFirst = true;
    for (int y = max(top, 0); y < bottom; y++) {
      for (int column = max(left, 0); column < right; column++) {
        const int64_t place = (static_cast<int64_t>(item.map) * shape.height + y) * shape.width + column;
        const WidePack<T> values = x[place * packs + item.pack];
        const auto tap = static_cast<uint8_t>((y - top) * shape.kernel + (column - left));
#pragma unroll
        for (int i = 0; i < kWidth; i++) {
          const float value = single(values.value[i]);
          // What is no number wins, so that it is not lost from sight.
          if (isFirst || value > single(largest.value[i]) || value != value) {
            largest.value[i] = values.value[i];
            winners.value[i] = tap;
          }
        }
        isFirst = false;
      }
    }
    result[n] = largest;
    taps[n] = winners;
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    poolBackward(PoolShape shape, unsigned items, const WidePack<T>* gradient, const Taps<WidePack<T>::kWidth>* taps,
                 WidePack<T>* result) {
  constexpr int kWidth = WidePack<T>::kWidth;
  const int packs = shape.channels / kWidth;
  for (unsigned n = blockIdx.x * kThreads + threadIdx.x; n < items; n += gridDim.x * kThreads) {
    const Item item(n, packs, shape.width, shape.height);
    const int y = static_cast<int>(item.row) + shape.padding, x = static_cast<int>(item.column) + shape.padding;
    // The windows that see this place: those that begin at most kernel - 1 before it.
    const int firstRow = max(y - shape.kernel + shape.stride, 0) / shape.stride;
    const int firstColumn = max(x - shape.kernel + shape.stride, 0) / shape.stride;
    const int lastRow = min(y / shape.stride, shape.rows - 1);
    const int lastColumn = min(x / shape.stride, shape.columns - 1);
    float sums[kWidth] = {};
    for (int row = firstRow; row <= lastRow; row++) {
      // More at once do not fit into registers.
#pragma unroll 2
      for (int column = firstColumn; column <= lastColumn; column++) {
        const int tap = (y - row * shape.stride) * shape.kernel + (x - column * shape.stride);
        const int64_t place = (static_cast<int64_t>(item.map) * shape.rows + row) * shape.columns + column;
        const WidePack<T> from = gradient[place * packs + item.pack];
        const Taps<kWidth> winners = taps[place * packs + item.pack];
#pragma unroll
        for (int i = 0; i < kWidth; i++) sums[i] += winners.value[i] == tap ? single(from.value[i]) : 0.f;
      }
    }
    WidePack<T> sum;
#pragma unroll
    for (int i = 0; i < kWidth; i++) sum.value[i] = rounded<T>(sums[i]);
    result[n] = sum;
  }
}

// Packs of maps with `places` each.
int64_t itemsOf(const PoolShape& shape, int64_t places) {
  return shape.maps * places * (shape.channels / packWidth(shape.element));
}

int blocksOf(int64_t items) {
  return static_cast<int>(std::min<int64_t>((items + kThreads - 1) / kThreads, kMostBlocks));
}

template <typename T>
const char* forward(const PoolShape& shape, const void* x, void* result, uint8_t* taps) {
  const int64_t items = itemsOf(shape, int64_t{shape.rows} * shape.columns);
  poolForward<T><<<blocksOf(items), kThreads, 0, static_cast<cudaStream_t>(shape.stream)>>>(
      shape, static_cast<unsigned>(items), static_cast<const WidePack<T>*>(x), static_cast<WidePack<T>*>(result),
      reinterpret_cast<Taps<WidePack<T>::kWidth>*>(taps));
  return lastError();
}

template <typename T>
const char* backward(const PoolShape& shape, const void* gradient, const uint8_t* taps, void* result) {
  const int64_t items = itemsOf(shape, int64_t{shape.height} * shape.width);
  poolBackward<T><<<blocksOf(items), kThreads, 0, static_cast<cudaStream_t>(shape.stream)>>>(
      shape, static_cast<unsigned>(items), static_cast<const WidePack<T>*>(gradient),
      reinterpret_cast<const Taps<WidePack<T>::kWidth>*>(taps), static_cast<WidePack<T>*>(result));
  return lastError();
}

}  // namespace

bool cudaPoolTakes(const PoolShape& shape) {
  const int64_t places = std::max(int64_t{shape.height} * shape.width, int64_t{shape.rows} * shape.columns);
  const int64_t items = itemsOf(shape, places);
  // Items are counted in 32 bits, one step beyond the last included.
  const bool counts = items > 0 && items < (int64_t{1} << 31);
  return shape.channels % packWidth(shape.element) == 0 && shape.kernel <= kMostPoolKernel && counts;
}

const char* cudaPoolForward(const PoolShape& shape, const void* x, void* result, uint8_t* taps) {
  return byElement(shape.element, [&](auto type) { return forward<decltype(type)>(shape, x, result, taps); });
}

const char* cudaPoolBackward(const PoolShape& shape, const void* gradient, const uint8_t* taps, void* result) {
  return byElement(shape.element, [&](auto type) { return backward<decltype(type)>(shape, gradient, taps, result); });
}

}  // namespace crab
