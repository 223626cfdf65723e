// crab::halving_conv and crab::doubling_conv: the convolution with a 4x4 kernel, stride 2 and padding 1, and
// its transpose, with their gradients, by minimal filtering (Winograd, 1980; Lavin and Gray, 2016). They are
// nearly all of the arithmetic of a convolutional network that halves or doubles its maps.
//
// By the parity of rows and columns the 4x4 kernel falls into four 2x2 ones with stride 1. Two outputs of a
// filter of two taps need three products instead of four,
//     y0 = (d0 - d1) g0 + d1 (g0 + g1),     y1 = d1 (g0 + g1) - (d1 - d2) g1,
// so a square of 2x2 outputs needs 9 instead of 16, each a matrix product over the channels of all four
// kernels. The factors are 0 and 1, so rounding is that of an ordinary sum. Some images at a time, so that
// what lies between the steps stays in the cache.
//
// Kernels take channels-last f32 and f64 on a CPU; everything else goes through libtorch's operators.
#include "handles.h"
#include "modes.h"
#include "vectorised.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>

namespace crab {

namespace {

using at::Tensor;

// Products of a square, and the parities of rows and columns.
constexpr int kProducts = 9;
constexpr int kParities = 4;
// Squares that are worked on together.
constexpr int64_t kSquares = 256;
// Channels on either side below which libtorch's convolutions are no slower.
constexpr int64_t kFewestChannels = 8;

// Both sides of the convolution: the large one is [images, 2 height, 2 width, channels] in memory, the small
// one [images, height, width, outputs].
struct Geometry {
  int64_t images, height, width, channels, outputs;

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

// d to (d0 - d1, d1, d1 - d2), along rows and columns; the nine results lie `stride` apart.
template <typename T>
CRAB_VECTORISED void transformValues(const T* const* d, T* v, int64_t stride, int64_t channels) {
  const T *d0 = d[0], *d1 = d[1], *d2 = d[2], *d3 = d[3], *d4 = d[4], *d5 = d[5], *d6 = d[6], *d7 = d[7], *d8 = d[8];
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T a0 = d0[c] - d3[c], a1 = d1[c] - d4[c], a2 = d2[c] - d5[c];
    const T b0 = d3[c], b1 = d4[c], b2 = d5[c];
    const T c0 = b0 - d6[c], c1 = b1 - d7[c], c2 = b2 - d8[c];
    v[c] = a0 - a1, v[stride + c] = a1, v[2 * stride + c] = a1 - a2;
    v[3 * stride + c] = b0 - b1, v[4 * stride + c] = b1, v[5 * stride + c] = b1 - b2;
    v[6 * stride + c] = c0 - c1, v[7 * stride + c] = c1, v[8 * stride + c] = c1 - c2;
  }
}

// The adjoint of the above: (v0, v1 + v2 - v0, -v2), added to d.
template <typename T>
CRAB_VECTORISED void addAdjointValues(const T* v, int64_t stride, T* const* d, int64_t channels) {
  T *d0 = d[0], *d1 = d[1], *d2 = d[2], *d3 = d[3], *d4 = d[4], *d5 = d[5], *d6 = d[6], *d7 = d[7], *d8 = d[8];
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T a0 = v[c], a1 = v[stride + c], a2 = v[2 * stride + c];
    const T c0 = v[6 * stride + c], c1 = v[7 * stride + c], c2 = v[8 * stride + c];
    const T b0 = v[3 * stride + c] + c0 - a0, b1 = v[4 * stride + c] + c1 - a1, b2 = v[5 * stride + c] + c2 - a2;
    d0[c] += a0, d1[c] += a1 + a2 - a0, d2[c] -= a2;
    d3[c] += b0, d4[c] += b1 + b2 - b0, d5[c] -= b2;
    d6[c] -= c0, d7[c] -= c1 + c2 - c0, d8[c] += c2;
  }
}

// m to (m0 + m1, m1 - m2), along rows and columns: the outputs of a square.
template <typename T>
CRAB_VECTORISED void transformOutputs(const T* m, int64_t stride, T* y, int64_t rowStride, int64_t channels) {
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T b0 = m[3 * stride + c], b1 = m[4 * stride + c], b2 = m[5 * stride + c];
    const T a0 = m[c] + b0, a1 = m[stride + c] + b1, a2 = m[2 * stride + c] + b2;
    const T c0 = b0 - m[6 * stride + c], c1 = b1 - m[7 * stride + c], c2 = b2 - m[8 * stride + c];
    y[c] = a0 + a1, y[channels + c] = a1 - a2;
    y[rowStride + c] = c0 + c1, y[rowStride + channels + c] = c1 - c2;
  }
}

// The adjoint of the above: (y0, y0 + y1, -y1).
template <typename T>
CRAB_VECTORISED void adjointOutputs(const T* y, int64_t rowStride, T* m, int64_t stride, int64_t channels) {
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T a0 = y[c], a1 = y[channels + c];
    const T b0 = y[rowStride + c], b1 = y[rowStride + channels + c];
    const T s0 = a0 + b0, s1 = a1 + b1;
    m[c] = a0, m[stride + c] = a0 + a1, m[2 * stride + c] = -a1;
    m[3 * stride + c] = s0, m[4 * stride + c] = s0 + s1, m[5 * stride + c] = -s1;
    m[6 * stride + c] = -b0, m[7 * stride + c] = -b0 - b1, m[8 * stride + c] = b1;
  }
}

// The 2x2 kernel of one parity to (g0, g0 + g1, g1), along rows and columns. Weights of one output are
// [4, 4, channels] in memory.
template <typename T>
CRAB_VECTORISED void transformWeights(const T* w, T* u, int64_t stride, int64_t channels) {
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T a0 = w[c], a1 = w[2 * channels + c], c0 = w[8 * channels + c], c1 = w[10 * channels + c];
    const T b0 = a0 + c0, b1 = a1 + c1;
    u[c] = a0, u[stride + c] = a0 + a1, u[2 * stride + c] = a1;
    u[3 * stride + c] = b0, u[4 * stride + c] = b0 + b1, u[5 * stride + c] = b1;
    u[6 * stride + c] = c0, u[7 * stride + c] = c0 + c1, u[8 * stride + c] = c1;
  }
}

// The adjoint of the above: (u0 + u1, u1 + u2).
template <typename T>
CRAB_VECTORISED void adjointWeights(const T* u, int64_t stride, T* w, int64_t channels) {
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; c++) {
    const T a0 = u[c] + u[3 * stride + c], a1 = u[stride + c] + u[4 * stride + c];
    const T a2 = u[2 * stride + c] + u[5 * stride + c];
    const T c0 = u[6 * stride + c] + u[3 * stride + c], c1 = u[7 * stride + c] + u[4 * stride + c];
    const T c2 = u[8 * stride + c] + u[5 * stride + c];
    w[c] = a0 + a1, w[2 * channels + c] = a1 + a2;
    w[8 * channels + c] = c0 + c1, w[10 * channels + c] = c1 + c2;
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
Tensor transformedWeights(const Tensor& weight) {
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

  // `weights`: [9, outputs, 4 channels].
  void shrink(const Tensor& weights) {
    Tensor products = this->products();
    at::bmm_out(products, values(), weights.transpose(1, 2));
  }

  void expand(const Tensor& weights) {
    Tensor values = this->values();
    at::bmm_out(values, products(), weights);
  }

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

Tensor emptyLarge(const Geometry& g, const at::TensorOptions& options) {
  const auto format = at::MemoryFormat::ChannelsLast;
  return at::empty({g.images, g.channels, 2 * g.height, 2 * g.width}, options.memory_format(format));
}

Tensor emptySmall(const Geometry& g, const at::TensorOptions& options) {
  const auto format = at::MemoryFormat::ChannelsLast;
  return at::empty({g.images, g.outputs, g.height, g.width}, options.memory_format(format));
}

struct Gradients {
  Tensor input, weight;
};

template <typename T>
Tensor shrunk(const Geometry& g, const Tensor& large, const Tensor& weights) {
  const Tensor small = emptySmall(g, large.options());
  eachChunk<T>(g, large.options(), partsOf(g), [&](Chunk<T>& chunk, int64_t) {
    chunk.readLarge(large.data_ptr<T>());
    chunk.shrink(weights);
    chunk.writeSmall(small.data_ptr<T>());
  });
  return small;
}

template <typename T>
Tensor expanded(const Geometry& g, const Tensor& small, const Tensor& weights) {
  const Tensor large = emptyLarge(g, small.options());
  eachChunk<T>(g, small.options(), partsOf(g), [&](Chunk<T>& chunk, int64_t) {
    chunk.readSmall(small.data_ptr<T>());
    chunk.expand(weights);
    chunk.writeLarge(large.data_ptr<T>());
  });
  return large;
}

struct Needs {
  bool input, weight;
};

// Gradients of halving_conv, whose input was `large`.
template <typename T>
Gradients halvingGradients(const Geometry& g, const Tensor& large, const Tensor& gradient, const Tensor& weights,
                           Needs needs) {
  Gradients result;
  if (needs.input) result.input = emptyLarge(g, large.options());
  const int64_t parts = partsOf(g);
  auto sums = gradientsOfParts(g, large.options(), needs.weight ? parts : 0);
  eachChunk<T>(g, large.options(), parts, [&](Chunk<T>& chunk, int64_t part) {
    chunk.readSmall(gradient.data_ptr<T>());
    if (needs.input) {
      chunk.expand(weights);
      chunk.writeLarge(result.input.data_ptr<T>());
    }
    if (needs.weight) {
      chunk.readLarge(large.data_ptr<T>());
      chunk.addWeightGradient(sums[part]);
    }
  });
  if (needs.weight) result.weight = summedGradient<T>(sums, g);
  return result;
}

// Gradients of doubling_conv, whose input was `small`.
template <typename T>
Gradients doublingGradients(const Geometry& g, const Tensor& small, const Tensor& gradient, const Tensor& weights,
                            Needs needs) {
  Gradients result;
  if (needs.input) result.input = emptySmall(g, small.options());
  const int64_t parts = partsOf(g);
  auto sums = gradientsOfParts(g, small.options(), needs.weight ? parts : 0);
  eachChunk<T>(g, small.options(), parts, [&](Chunk<T>& chunk, int64_t part) {
    chunk.readLarge(gradient.data_ptr<T>());
    if (needs.input) {
      chunk.shrink(weights);
      chunk.writeSmall(result.input.data_ptr<T>());
    }
    if (needs.weight) {
      chunk.readSmall(small.data_ptr<T>());
      chunk.addWeightGradient(sums[part]);
    }
  });
  if (needs.weight) result.weight = summedGradient<T>(sums, g);
  return result;
}

Geometry geometryOf(const Tensor& x, const Tensor& weight, bool doubling) {
  const int64_t factor = doubling ? 1 : 2;
  return {x.size(0), x.size(2) / factor, x.size(3) / factor, weight.size(1), weight.size(0)};
}

Tensor channelsLast(const Tensor& x) { return x.contiguous(at::MemoryFormat::ChannelsLast); }

template <bool doubling>
struct ByMinimalFiltering : torch::autograd::Function<ByMinimalFiltering<doubling>> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& weight) {
    const bool isDouble = x.scalar_type() == at::kDouble;
    const Tensor ordered = channelsLast(weight);
    const Tensor weights = isDouble ? transformedWeights<double>(ordered) : transformedWeights<float>(ordered);
    context->save_for_backward({x, weight, weights});
    const Geometry g = geometryOf(x, weight, doubling);
    if (doubling) return isDouble ? expanded<double>(g, x, weights) : expanded<float>(g, x, weights);
    return isDouble ? shrunk<double>(g, x, weights) : shrunk<float>(g, x, weights);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &weights = saved[2];
    const Needs needs{context->needs_input_grad(0), context->needs_input_grad(1)};
    if (at::GradMode::is_enabled()) {
      // Someone wants the gradient's own gradient: libtorch's operator has one.
      const auto all = at::convolution_backward(gradients[0], x, weight, c10::nullopt, {2, 2}, {1, 1}, {1, 1}, doubling,
                                                {0, 0}, 1, {needs.input, needs.weight, false});
      return {std::get<0>(all), std::get<1>(all)};
    }
    const Tensor gradient = channelsLast(gradients[0]);
    const Gradients result = x.scalar_type() == at::kDouble ? compute<double>(x, gradient, weight, weights, needs)
                                                            : compute<float>(x, gradient, weight, weights, needs);
    return {result.input, result.weight};
  }

  template <typename T>
  static Gradients compute(const Tensor& x, const Tensor& gradient, const Tensor& weight, const Tensor& weights,
                           Needs needs) {
    const Geometry g = geometryOf(x, weight, doubling);
    if (doubling) return doublingGradients<T>(g, x, gradient, weights, needs);
    return halvingGradients<T>(g, x, gradient, weights, needs);
  }
};

bool isChannelsLast(const Tensor& x) { return x.suggest_memory_format() == at::MemoryFormat::ChannelsLast; }

// The output is channels-last where libtorch's would be: if the input or the weight is.
bool hasKernel(const Tensor& x, const Tensor& weight, bool doubling) {
  const auto type = x.scalar_type();
  if (!x.is_cpu() || !weight.is_cpu() || autocastsOnCpu()) return false;
  if ((type != at::kFloat && type != at::kDouble) || weight.scalar_type() != type) return false;
  if (x.dim() != 4 || weight.dim() != 4 || weight.size(2) != 4 || weight.size(3) != 4) return false;
  if (x.numel() == 0 || !(isChannelsLast(x) || isChannelsLast(weight))) return false;
  if (std::min(weight.size(0), weight.size(1)) < kFewestChannels) return false;
  const int64_t multiple = doubling ? 2 : 4;
  return x.size(1) == weight.size(doubling ? 0 : 1) && x.size(2) % multiple == 0 && x.size(3) % multiple == 0;
}

Tensor halvingConv(const Tensor& x, const Tensor& weight) {
  if (hasKernel(x, weight, false)) return ByMinimalFiltering<false>::apply(channelsLast(x), weight);
  return at::conv2d(x, weight, {}, 2, 1);
}

Tensor doublingConv(const Tensor& x, const Tensor& weight) {
  if (hasKernel(x, weight, true)) return ByMinimalFiltering<true>::apply(channelsLast(x), weight);
  return at::conv_transpose2d(x, weight, {}, 2, 1);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(crab, library) {
  library.def("halving_conv(Tensor input, Tensor weight) -> Tensor");
  library.def("doubling_conv(Tensor input, Tensor weight) -> Tensor");
  library.impl("halving_conv", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(halvingConv));
  library.impl("doubling_conv", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(doublingConv));
}

}  // namespace crab
