// Batch normalisation and leaky ReLU in one, on a GPU: forward reads its input twice and writes once,
// backward reads input and gradient twice and writes once, where separate operators take eleven passes
// over memory and more. With other maps added before a ReLU, as residual networks do, it is eleven in place of
// sixteen: backward then finds from the output what the ReLU let through, and writes that gradient, which is
// the added maps' own. Statistics and sums are in f32, shifted by the running mean against cancellation.
#include "batch_norm_act.h"

#include "elements.h"

#include <algorithm>

namespace crab {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerProcessor = 8;
constexpr int kProcessors = 132;
constexpr int kMostBlocks = kBlocksPerProcessor * kProcessors;
// Rows that a thread should at least see, or the sums over blocks cost more than they save.
constexpr int kRowsPerThread = 8;

// The place of a thread: always the same columns, every `step`-th row.
template <typename T>
struct Place {
  int column;
  int64_t row;
  int64_t step;
  int packs;

  __device__ explicit Place(int channels) : packs(channels / WidePack<T>::kWidth) {
    const int lanes = kThreads / packs;
    column = threadIdx.x % packs;
    row = static_cast<int64_t>(blockIdx.x) * lanes + threadIdx.x / packs;
    step = static_cast<int64_t>(gridDim.x) * lanes;
  }
};

// Adds the two sums of all lanes of a block and stores them in partial[block][2][channels].
template <int kWidth>
__device__ void storeSums(const float (&first)[kWidth], const float (&second)[kWidth], int channels,
                          float* partial) {
  __shared__ float buffer[2 * kThreads * kWidth];
  const int packs = channels / kWidth;
#pragma unroll
  for (int i = 0; i < kWidth; i++) {
    buffer[threadIdx.x * kWidth + i] = first[i];
    buffer[(kThreads + threadIdx.x) * kWidth + i] = second[i];
  }
  __syncthreads();
  for (int lanes = kThreads / packs / 2; lanes > 0; lanes /= 2) {
    if (threadIdx.x < lanes * packs) {
      const int other = (threadIdx.x + lanes * packs) * kWidth;
#pragma unroll
      for (int i = 0; i < kWidth; i++) {
        buffer[threadIdx.x * kWidth + i] += buffer[other + i];
        buffer[kThreads * kWidth + threadIdx.x * kWidth + i] += buffer[kThreads * kWidth + other + i];
      }
    }
    __syncthreads();
  }
  if (threadIdx.x < packs) {
    float* out = partial + static_cast<int64_t>(blockIdx.x) * 2 * channels + threadIdx.x * kWidth;
#pragma unroll
    for (int i = 0; i < kWidth; i++) {
      out[i] = buffer[threadIdx.x * kWidth + i];
      out[channels + i] = buffer[(kThreads + threadIdx.x) * kWidth + i];
    }
  }
}

// The sums of one channel over all blocks, in every thread of the block.
__device__ float2 totalOf(const float* partial, int blocks, int channels, int channel) {
  __shared__ float2 lanes[kThreads];
  float2 sum = {0, 0};
  for (int block = threadIdx.x; block < blocks; block += kThreads) {
    const float* row = partial + static_cast<int64_t>(block) * 2 * channels + channel;
    sum.x += row[0];
    sum.y += row[channels];
  }
  lanes[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      lanes[threadIdx.x].x += lanes[threadIdx.x + half].x;
      lanes[threadIdx.x].y += lanes[threadIdx.x + half].y;
    }
    __syncthreads();
  }
  return lanes[0];
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    statistics(const T* x, int64_t rows, int channels, const float* center, float* partial) {
  constexpr int kWidth = WidePack<T>::kWidth;
  const Place<T> place(channels);
  const auto* packs = reinterpret_cast<const WidePack<T>*>(x);
  float first[kWidth] = {}, second[kWidth] = {}, shift[kWidth] = {};
  if (center != nullptr) {
#pragma unroll
    for (int i = 0; i < kWidth; i++) shift[i] = center[place.column * kWidth + i];
  }
#pragma unroll 4
  for (int64_t row = place.row; row < rows; row += place.step) {
    const WidePack<T> pack = packs[row * place.packs + place.column];
#pragma unroll
    for (int i = 0; i < kWidth; i++) {
      const float value = single(pack.value[i]) - shift[i];
      first[i] += value;
      second[i] += value * value;
    }
  }
  storeSums<kWidth>(first, second, channels, partial);
}

// One block for each channel.
__global__ void finishStatistics(const float* partial, int blocks, int64_t rows, int channels, NormForward pass) {
  const int channel = blockIdx.x;
  const float2 total = totalOf(partial, blocks, channels, channel);
  if (threadIdx.x != 0) return;
  const float count = static_cast<float>(rows);
  const float center = pass.runningMean == nullptr ? 0.f : pass.runningMean[channel];
  const float shifted = total.x / count;
  const float variance = fmaxf(total.y / count - shifted * shifted, 0.f);
  const float mean = center + shifted;
  pass.mean[channel] = mean;
  pass.inverseDeviation[channel] = rsqrtf(variance + pass.eps);
  if (pass.runningMean == nullptr) return;
  const float unbiased = variance * (count / fmaxf(count - 1.f, 1.f));
  pass.runningMean[channel] += pass.momentum * (mean - center);
  pass.runningVariance[channel] += pass.momentum * (unbiased - pass.runningVariance[channel]);
}

// What a thread knows of its channels.
template <int kWidth>
struct Channels {
  float mean[kWidth], deviation[kWidth], scale[kWidth], shift[kWidth];

  __device__ Channels(int column, const float* means, const float* deviations, const float* weight,
                      const float* bias) {
#pragma unroll
    for (int i = 0; i < kWidth; i++) {
      const int channel = column * kWidth + i;
      mean[i] = means[channel];
      deviation[i] = deviations[channel];
      scale[i] = weight[channel] * deviation[i];
      shift[i] = bias[channel] - mean[i] * scale[i];
    }
  }
};

// `adds`: with what `pass.residual` points to.
template <typename T, bool adds>
__global__ void __launch_bounds__(kThreads)
    normalize(const T* x, T* y, int64_t rows, int channels, float slope, NormForward pass) {
  constexpr int kWidth = WidePack<T>::kWidth;
  const Place<T> place(channels);
  const auto* in = reinterpret_cast<const WidePack<T>*>(x);
  const auto* added = static_cast<const WidePack<T>*>(pass.residual);
  auto* out = reinterpret_cast<WidePack<T>*>(y);
  const Channels<kWidth> own(place.column, pass.mean, pass.inverseDeviation, pass.weight, pass.bias);
#pragma unroll 4
  for (int64_t row = place.row; row < rows; row += place.step) {
    WidePack<T> pack = in[row * place.packs + place.column], other;
    if (adds) other = added[row * place.packs + place.column];
#pragma unroll
    for (int i = 0; i < kWidth; i++) {
      const float normalized = single(pack.value[i]) * own.scale[i] + own.shift[i];
      const float value = adds ? normalized + single(other.value[i]) : normalized;
      pack.value[i] = rounded<T>(value > 0 ? value : value * slope);
    }
    out[row * place.packs + place.column] = pack;
  }
}

// Sums over rows of g and of g times the normalised input, g the gradient before the activation. `adds`: g is
// found from the output, and written.
template <typename T, bool adds>
__global__ void __launch_bounds__(kThreads)
    gradientSums(const T* x, const T* gradient, int64_t rows, int channels, float slope, NormBackward pass) {
  constexpr int kWidth = WidePack<T>::kWidth;
  const Place<T> place(channels);
  const auto* in = reinterpret_cast<const WidePack<T>*>(x);
  const auto* back = reinterpret_cast<const WidePack<T>*>(gradient);
  const auto* output = static_cast<const WidePack<T>*>(pass.y);
  auto* active = static_cast<WidePack<T>*>(pass.residualGradient);
  const Channels<kWidth> own(place.column, pass.mean, pass.inverseDeviation, pass.weight, pass.bias);
  float first[kWidth] = {}, second[kWidth] = {};
#pragma unroll 2
  for (int64_t row = place.row; row < rows; row += place.step) {
    const WidePack<T> pack = in[row * place.packs + place.column];
    WidePack<T> from = back[row * place.packs + place.column], reached;
    if (adds) reached = output[row * place.packs + place.column];
#pragma unroll
    for (int i = 0; i < kWidth; i++) {
      const float value = single(pack.value[i]);
      const float before = adds ? single(reached.value[i]) : value * own.scale[i] + own.shift[i];
      const float g = single(from.value[i]) * (before > 0 ? 1.f : slope);
      first[i] += g;
      second[i] += g * ((value - own.mean[i]) * own.deviation[i]);
      from.value[i] = rounded<T>(g);
    }
    if (adds) active[row * place.packs + place.column] = from;
  }
  storeSums<kWidth>(first, second, channels, pass.scratch);
}

__global__ void finishGradientSums(const float* partial, int blocks, int channels, NormBackward pass) {
  const int channel = blockIdx.x;
  const float2 total = totalOf(partial, blocks, channels, channel);
  if (threadIdx.x != 0) return;
  pass.biasGradient[channel] = total.x;
  pass.weightGradient[channel] = total.y;
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    inputGradients(const T* x, const T* gradient, T* result, int64_t rows, int channels, float slope,
                   NormBackward pass) {
  constexpr int kWidth = WidePack<T>::kWidth;
  const Place<T> place(channels);
  const auto* in = reinterpret_cast<const WidePack<T>*>(x);
  const auto* back = reinterpret_cast<const WidePack<T>*>(gradient);
  auto* out = reinterpret_cast<WidePack<T>*>(result);
  const Channels<kWidth> own(place.column, pass.mean, pass.inverseDeviation, pass.weight, pass.bias);
  // What all rows have in common, and what grows with the distance from the mean.
  float common[kWidth], growth[kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; i++) {
    common[i] = pass.biasGradient[place.column * kWidth + i] / static_cast<float>(rows);
    growth[i] = own.deviation[i] * (pass.weightGradient[place.column * kWidth + i] / static_cast<float>(rows));
  }
#pragma unroll 2
  for (int64_t row = place.row; row < rows; row += place.step) {
    const WidePack<T> pack = in[row * place.packs + place.column];
    WidePack<T> from = back[row * place.packs + place.column];
#pragma unroll
    for (int i = 0; i < kWidth; i++) {
      const float value = single(pack.value[i]);
      const float active = value * own.scale[i] + own.shift[i] > 0 ? 1.f : slope;
      const float g = single(from.value[i]) * active;
      from.value[i] = rounded<T>(own.scale[i] * (g - common[i] - (value - own.mean[i]) * growth[i]));
    }
    out[row * place.packs + place.column] = from;
  }
}

int blocksOf(const NormShape& shape) {
  const int lanes = kThreads / (shape.channels / packWidth(shape.element));
  const int64_t wanted = (shape.rows + lanes * kRowsPerThread - 1) / (lanes * kRowsPerThread);
  return static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(wanted, kMostBlocks)));
}

template <typename T>
const char* forward(const NormShape& shape, const NormForward& pass) {
  const auto stream = static_cast<cudaStream_t>(shape.stream);
  const int blocks = blocksOf(shape);
  const auto* x = static_cast<const T*>(pass.x);
  statistics<T><<<blocks, kThreads, 0, stream>>>(x, shape.rows, shape.channels, pass.runningMean, pass.scratch);
  finishStatistics<<<shape.channels, kThreads, 0, stream>>>(pass.scratch, blocks, shape.rows, shape.channels, pass);
  const auto normalizes = pass.residual == nullptr ? normalize<T, false> : normalize<T, true>;
  normalizes<<<blocks, kThreads, 0, stream>>>(x, static_cast<T*>(pass.y), shape.rows, shape.channels, shape.slope,
                                              pass);
  return lastError();
}

template <typename T>
const char* backward(const NormShape& shape, const NormBackward& pass) {
  const auto stream = static_cast<cudaStream_t>(shape.stream);
  const int blocks = blocksOf(shape);
  const auto* x = static_cast<const T*>(pass.x);
  const auto* gradient = static_cast<const T*>(pass.gradient);
  const bool adds = pass.y != nullptr;
  const auto sums = adds ? gradientSums<T, true> : gradientSums<T, false>;
  sums<<<blocks, kThreads, 0, stream>>>(x, gradient, shape.rows, shape.channels, shape.slope, pass);
  finishGradientSums<<<shape.channels, kThreads, 0, stream>>>(pass.scratch, blocks, shape.channels, pass);
  // The gradient that was written has the activation in it already.
  const auto* active = adds ? static_cast<const T*>(pass.residualGradient) : gradient;
  inputGradients<T><<<blocks, kThreads, 0, stream>>>(x, active, static_cast<T*>(pass.inputGradient), shape.rows,
                                                     shape.channels, adds ? 1.f : shape.slope, pass);
  return lastError();
}

}  // namespace

bool cudaNormTakes(int64_t channels, ElementKind element) {
  const int width = packWidth(element);
  const int64_t packs = channels / width;
  return channels % width == 0 && packs > 0 && packs <= kThreads && kThreads % packs == 0;
}

int64_t cudaNormScratch(const NormShape& shape) { return static_cast<int64_t>(blocksOf(shape)) * 2 * shape.channels; }

const char* cudaNormForward(const NormShape& shape, const NormForward& pass) {
  return byElement(shape.element, [&](auto type) { return forward<decltype(type)>(shape, pass); });
}

const char* cudaNormBackward(const NormShape& shape, const NormBackward& pass) {
  return byElement(shape.element, [&](auto type) { return backward<decltype(type)>(shape, pass); });
}

}  // namespace crab
