// Some images at a time, so that what lies between the steps stays in the cache.
#include "minimal_filtering.h"

#include "handles.h"
#include "minimal_filtering_transforms.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

namespace crab {

namespace {

using at::Tensor;

// Products of a square, and the parities of rows and columns.
constexpr int kProducts = 9;
constexpr int kParities = 4;
// Squares that are worked on together.
constexpr int64_t kSquares = 256;

struct Geometry : FilterGeometry {
  int64_t columns() const { return width / 2; }
  int64_t squares() const { return height / 2 * columns(); }
  int64_t depth() const { return kParities * channels; }
  int64_t imagesTogether() const { return std::max<int64_t>(1, std::min(images, kSquares / squares())); }
  int64_t chunks() const { return (images + imagesTogether() - 1) / imagesTogether(); }
  int64_t largeSize() const { return 4 * height * width * channels; }
  int64_t smallSize() const { return height * width * outputs; }
};

// The 3x3 values of one parity in the square at (row, column) of the large side; `outside` stands for what
// is beyond the border.
template <typename T>
void parityPointers(const Geometry& g, T* image, int64_t row, int64_t column, int parity, T* outside, T** result) {
  const int64_t top = 4 * row + parity / 2 - 1, left = 4 * column + parity % 2 - 1;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const int64_t y = top + 2 * i, x = left + 2 * j;
      const bool inside = y >= 0 && y < 2 * g.height && x >= 0 && x < 2 * g.width;
      result[3 * i + j] = inside ? image + (y * 2 * g.width + x) * g.channels : outside;
    }
  }
}

// Calls `each(output, parity, weights, transformed)` with offsets into [outputs, 4, 4, channels] and into one
// product of [9, outputs, 4 channels].
template <typename Each>
void eachKernel(int64_t outputs, int64_t channels, const Each& each) {
  at::parallel_for(0, outputs, 16, [&](int64_t from, int64_t to) {
    for (int64_t o = from; o < to; o++) {
      for (int parity = 0; parity < kParities; parity++) {
        const int64_t corner = 4 * (parity / 2) + parity % 2;
        each((16 * o + corner) * channels, (kParities * o + parity) * channels);
      }
    }
  });
}

// Weights [outputs, channels, 4, 4], channels-last, as [9, outputs, 4 channels].
template <typename T>
Tensor transformedWeightsOf(const Tensor& weight) {
  const int64_t outputs = weight.size(0), channels = weight.size(1), size = kParities * outputs * channels;
  const Tensor result = at::empty({kProducts, outputs, kParities * channels}, weight.options());
  const T* from = weight.data_ptr<T>();
  T* to = result.data_ptr<T>();
  eachKernel(outputs, channels, [&](int64_t w, int64_t u) { transformWeights(from + w, to + u, size, channels); });
  return result;
}

// The gradient of the weights by that of the transformed ones.
template <typename T>
Tensor adjointOfWeights(const Tensor& transformed, const Geometry& g) {
  const auto format = at::MemoryFormat::ChannelsLast;
  const Tensor result = at::empty({g.outputs, g.channels, 4, 4}, transformed.options().memory_format(format));
  const T* from = transformed.data_ptr<T>();
  T* to = result.data_ptr<T>();
  const int64_t size = g.outputs * g.depth();
  eachKernel(g.outputs, g.channels, [&](int64_t w, int64_t u) { adjointWeights(from + u, size, to + w, g.channels); });
  return result;
}

// Some images, from the large side to the small one or back, in memory of its own.
template <typename T>
class Chunk {
 public:
  Chunk(const Geometry& g, const at::TensorOptions& options)
      : g_(g),
        values_(at::empty({kProducts * g.imagesTogether() * g.squares() * g.depth()}, options)),
        products_(at::empty({kProducts * g.imagesTogether() * g.squares() * g.outputs}, options)),
        zeros_(g.channels, T(0)),
        lost_(g.channels) {}

  void select(int64_t chunk) {
    first_ = chunk * g_.imagesTogether();
    count_ = std::min(g_.imagesTogether(), g_.images - first_);
    rows_ = count_ * g_.squares();
  }

  void readLarge(const T* large) {
    T* values = values_.template data_ptr<T>();
    eachSquare([&](int64_t image, int64_t row, int64_t column, int64_t square) {
      for (int parity = 0; parity < kParities; parity++) {
        const T* pointers[9];
        parityPointers<const T>(g_, large + image * g_.largeSize(), row, column, parity, zeros_.data(), pointers);
        transformValues<T>(pointers, values + square * g_.depth() + parity * g_.channels, rows_ * g_.depth(),
                           g_.channels);
      }
    });
  }

  void writeLarge(T* large) {
    const T* values = values_.template data_ptr<T>();
    std::fill_n(large + first_ * g_.largeSize(), count_ * g_.largeSize(), T(0));
    eachSquare([&](int64_t image, int64_t row, int64_t column, int64_t square) {
      for (int parity = 0; parity < kParities; parity++) {
        T* pointers[9];
        parityPointers<T>(g_, large + image * g_.largeSize(), row, column, parity, lost_.data(), pointers);
        addAdjointValues<T>(values + square * g_.depth() + parity * g_.channels, rows_ * g_.depth(), pointers,
                            g_.channels);
      }
    });
  }

  void readSmall(const T* small) {
    T* products = products_.template data_ptr<T>();
    eachSquare([&](int64_t image, int64_t row, int64_t column, int64_t square) {
      adjointOutputs<T>(small + placeOf(image, row, column), g_.width * g_.outputs, products + square * g_.outputs,
                        rows_ * g_.outputs, g_.outputs);
    });
  }

  void writeSmall(T* small) {
    const T* products = products_.template data_ptr<T>();
    eachSquare([&](int64_t image, int64_t row, int64_t column, int64_t square) {
      transformOutputs<T>(products + square * g_.outputs, rows_ * g_.outputs, small + placeOf(image, row, column),
                          g_.width * g_.outputs, g_.outputs);
    });
  }

  // From one side to the other; `weights`: [9, outputs, 4 channels].
  void multiply(const Tensor& weights, bool toLarge) {
    Tensor values = this->values(), products = this->products();
    if (toLarge) {
      at::bmm_out(values, products, weights);
    } else {
      at::bmm_out(products, values, weights.transpose(1, 2));
    }
  }

  void read(const Tensor& x, bool large) { large ? readLarge(x.data_ptr<T>()) : readSmall(x.data_ptr<T>()); }
  void write(const Tensor& x, bool large) { large ? writeLarge(x.data_ptr<T>()) : writeSmall(x.data_ptr<T>()); }

  void addWeightGradient(Tensor& gradient) { gradient.baddbmm_(products().transpose(1, 2), values()); }

 private:
  // [9, squares, 4 channels] and [9, squares, outputs].
  Tensor values() const { return values_.narrow(0, 0, kProducts * rows_ * g_.depth()).view({kProducts, rows_, -1}); }
  Tensor products() const {
    return products_.narrow(0, 0, kProducts * rows_ * g_.outputs).view({kProducts, rows_, -1});
  }

  int64_t placeOf(int64_t image, int64_t row, int64_t column) const {
    return image * g_.smallSize() + (2 * row * g_.width + 2 * column) * g_.outputs;
  }

  template <typename Each>
  void eachSquare(const Each& each) const {
    int64_t square = 0;
    for (int64_t image = first_; image < first_ + count_; image++) {
      for (int64_t row = 0; row < g_.height / 2; row++) {
        for (int64_t column = 0; column < g_.columns(); column++) each(image, row, column, square++);
      }
    }
  }

  const Geometry g_;
  const Tensor values_, products_;
  // What is beyond the border: read, and written.
  const std::vector<T> zeros_;
  std::vector<T> lost_;
  int64_t first_ = 0, count_ = 0, rows_ = 0;
};

// `work(chunk, part)` for all images, a part of them for each thread.
template <typename T, typename Work>
void eachChunk(const Geometry& g, const at::TensorOptions& options, int64_t parts, const Work& work) {
  at::parallel_for(0, parts, 1, [&](int64_t from, int64_t to) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    Chunk<T> chunk(g, options);
    for (int64_t part = from; part < to; part++) {
      const int64_t end = g.chunks() * (part + 1) / parts;
      for (int64_t index = g.chunks() * part / parts; index < end; index++) {
        chunk.select(index);
        work(chunk, part);
      }
    }
  });
}

int64_t partsOf(const Geometry& g) { return std::min<int64_t>(at::get_num_threads(), g.chunks()); }

// The sum of the gradients that the parts made, in their order.
template <typename T>
Tensor summedGradient(const std::vector<Tensor>& parts, const Geometry& g) {
  for (size_t i = 1; i < parts.size(); i++) parts[0].add_(parts[i]);
  return adjointOfWeights<T>(parts[0], g);
}

std::vector<Tensor> gradientsOfParts(const Geometry& g, const at::TensorOptions& options, int64_t parts) {
  std::vector<Tensor> result;
  for (int64_t i = 0; i < parts; i++) result.push_back(at::zeros({kProducts, g.outputs, g.depth()}, options));
  return result;
}

Tensor emptySide(const Geometry& g, const at::TensorOptions& options, bool large) {
  const auto last = options.memory_format(at::MemoryFormat::ChannelsLast);
  return large ? at::empty({g.images, g.channels, 2 * g.height, 2 * g.width}, last)
               : at::empty({g.images, g.outputs, g.height, g.width}, last);
}

template <typename T>
Tensor filteredOf(const Geometry& g, const Tensor& x, const Tensor& weights, bool doubling) {
  const Tensor result = emptySide(g, x.options(), doubling);
  eachChunk<T>(g, x.options(), partsOf(g), [&](Chunk<T>& chunk, int64_t) {
    chunk.read(x, !doubling);
    chunk.multiply(weights, doubling);
    chunk.write(result, doubling);
  });
  return result;
}

// The gradient goes the other way.
template <typename T>
FilterGradients gradientsOf(const Geometry& g, const Tensor& x, const Tensor& gradient, const Tensor& weights,
                            FilterNeeds needs, bool doubling) {
  FilterGradients result;
  if (needs.input) result.input = emptySide(g, x.options(), !doubling);
  const int64_t parts = partsOf(g);
  auto sums = gradientsOfParts(g, x.options(), needs.weight ? parts : 0);
  eachChunk<T>(g, x.options(), parts, [&](Chunk<T>& chunk, int64_t part) {
    chunk.read(gradient, doubling);
    if (needs.input) {
      chunk.multiply(weights, !doubling);
      chunk.write(result.input, !doubling);
    }
    if (needs.weight) {
      chunk.read(x, !doubling);
      chunk.addWeightGradient(sums[part]);
    }
  });
  if (needs.weight) result.weight = summedGradient<T>(sums, g);
  return result;
}

}  // namespace

Tensor transformedWeights(const Tensor& weight) {
  return byType(weight, [&](auto type) { return transformedWeightsOf<decltype(type)>(weight); });
}

Tensor filtered(const FilterGeometry& geometry, const Tensor& x, const Tensor& weights, bool doubling) {
  return byType(x, [&](auto type) { return filteredOf<decltype(type)>(Geometry{geometry}, x, weights, doubling); });
}

FilterGradients filteredGradients(const FilterGeometry& geometry, const Tensor& x, const Tensor& gradient,
                                  const Tensor& weights, FilterNeeds needs, bool doubling) {
  return byType(x, [&](auto type) {
    return gradientsOf<decltype(type)>(Geometry{geometry}, x, gradient, weights, needs, doubling);
  });
}

}  // namespace crab
