// Passes over memory bound it: rows are read once for their totals and once to be normalised, and the same for
// gradients, whole registers of channels at a time.
#include "batch_norm_cpu.h"

#include "handles.h"
#include "vectorised.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace crab {

namespace {

using at::Tensor;

// Rows whose sums are kept in the data's own precision before they join the total in f64.
constexpr int64_t kSumRows = 256;

template <typename T>
CRAB_VECTORISED void addStatistics(const T* x, int64_t rows, int64_t channels, const T* center,
                                   T* __restrict first, T* __restrict second) {
  for (int64_t row = 0; row < rows; row++, x += channels) {
    for (int64_t c = 0; c < channels; c++) {
      const T value = x[c] - center[c];
      first[c] += value;
      second[c] += value * value;
    }
  }
}

template <typename T>
CRAB_VECTORISED void normalizeRows(const T* x, T* __restrict y, int64_t rows, int64_t channels, const T* scale,
                                   const T* shift, T slope) {
  for (int64_t row = 0; row < rows; row++, x += channels, y += channels) {
    for (int64_t c = 0; c < channels; c++) {
      const T value = x[c] * scale[c] + shift[c];
      y[c] = value > T(0) ? value : value * slope;
    }
  }
}

// Sums of g and of g times the centred input; g is the gradient before the activation.
template <typename T>
CRAB_VECTORISED void addGradients(const T* x, const T* gradient, int64_t rows, int64_t channels, const T* mean,
                                  const T* scale, const T* shift, T slope, T* __restrict first,
                                  T* __restrict second) {
  for (int64_t row = 0; row < rows; row++, x += channels, gradient += channels) {
    for (int64_t c = 0; c < channels; c++) {
      const T g = x[c] * scale[c] + shift[c] > T(0) ? gradient[c] : gradient[c] * slope;
      first[c] += g;
      second[c] += g * (x[c] - mean[c]);
    }
  }
}

// result = scale g - offset - factor x, the coefficients of each channel worked out before.
template <typename T>
CRAB_VECTORISED void inputGradientRows(const T* x, const T* gradient, T* __restrict result, int64_t rows,
                                       int64_t channels, const T* scale, const T* shift, const T* offset,
                                       const T* factor, T slope) {
  for (int64_t row = 0; row < rows; row++, x += channels, gradient += channels, result += channels) {
    for (int64_t c = 0; c < channels; c++) {
      const T g = x[c] * scale[c] + shift[c] > T(0) ? gradient[c] : gradient[c] * slope;
      result[c] = scale[c] * g - offset[c] - factor[c] * x[c];
    }
  }
}

// Two sums for each channel over all rows, then the number of rows: [2 channels + 1]. `add(row, rows, first,
// second)` adds the sums of some rows.
template <typename T, typename Add>
std::vector<double> totalsOf(int64_t rows, int64_t channels, const Add& add) {
  // A part for each thread, joined in the order of rows: the result does not depend on who was first.
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(at::get_num_threads(), rows / kSumRows));
  std::vector<std::vector<double>> sums(parts, std::vector<double>(2 * channels, 0.0));
  at::parallel_for(0, parts, 1, [&](int64_t from, int64_t to) {
    std::vector<T> block(2 * channels);
    for (int64_t part = from; part < to; part++) {
      const int64_t end = rows * (part + 1) / parts;
      for (int64_t row = rows * part / parts; row < end; row += kSumRows) {
        std::fill(block.begin(), block.end(), T(0));
        add(row, std::min(kSumRows, end - row), block.data(), block.data() + channels);
        for (int64_t i = 0; i < 2 * channels; i++) sums[part][i] += block[i];
      }
    }
  });
  std::vector<double> totals(2 * channels + 1, 0.0);
  for (const auto& part : sums) {
    for (int64_t i = 0; i < 2 * channels; i++) totals[i] += part[i];
  }
  totals[2 * channels] = static_cast<double>(rows);
  return totals;
}

template <typename T>
struct Affine {
  std::vector<T> scale, shift;

  Affine(int64_t channels, const T* weight, const T* bias, const T* mean, const T* inverseDeviation)
      : scale(channels), shift(channels) {
    for (int64_t c = 0; c < channels; c++) {
      scale[c] = weight[c] * inverseDeviation[c];
      shift[c] = bias[c] - mean[c] * scale[c];
    }
  }
};

// Totals about a centre as those about zero, which processes have in common even where their running statistics
// differ. In f64 the variance can still be told from the mean.
template <typename T>
void moveToZero(std::vector<double>& totals, std::vector<T>& center) {
  const size_t channels = center.size();
  const double rows = totals[2 * channels];
  for (size_t c = 0; c < channels; c++) {
    const double by = center[c];
    totals[channels + c] += by * (2 * totals[c] + rows * by);
    totals[c] += rows * by;
    center[c] = T(0);
  }
}

int64_t rowGrain(int64_t channels) { return std::max<int64_t>(1, at::internal::GRAIN_SIZE / channels); }

template <typename T>
NormResult forwardOf(const Tensor& x, const Tensor& weight, const Tensor& bias, const RunningStatistics& running,
                     const NormSettings& settings, const JoinTotals& join) {
  const int64_t rows = rowsOf(x), channels = x.size(1);
  NormResult result{at::empty_like(x), at::empty_like(weight), at::empty_like(weight)};
  const T* input = x.data_ptr<T>();
  const bool tracked = running.mean.defined();
  std::vector<T> center(channels, T(0));
  if (tracked) std::copy_n(running.mean.data_ptr<T>(), channels, center.begin());
  auto totals = totalsOf<T>(rows, channels, [&](int64_t row, int64_t count, T* first, T* second) {
    addStatistics<T>(input + row * channels, count, channels, center.data(), first, second);
  });
  if (join) {
    moveToZero(totals, center);
    join(totals);
  }
  const double all = totals[2 * channels];
  TORCH_CHECK(all > 1, "expected more than 1 value per channel when training");
  T* mean = result.mean.data_ptr<T>();
  T* inverse = result.inverseDeviation.data_ptr<T>();
  for (int64_t c = 0; c < channels; c++) {
    const double shifted = totals[c] / all;
    const double variance = std::max(0.0, totals[channels + c] / all - shifted * shifted);
    mean[c] = static_cast<T>(center[c] + shifted);
    inverse[c] = static_cast<T>(1 / std::sqrt(variance + settings.eps));
    if (!tracked) continue;
    T& average = running.mean.data_ptr<T>()[c];
    T& spread = running.variance.data_ptr<T>()[c];
    const double unbiased = variance * all / (all - 1);
    average = static_cast<T>(average + settings.momentum * (mean[c] - average));
    spread = static_cast<T>(spread + settings.momentum * (unbiased - spread));
  }
  const Affine<T> affine(channels, weight.data_ptr<T>(), bias.data_ptr<T>(), mean, inverse);
  T* output = result.y.data_ptr<T>();
  at::parallel_for(0, rows, rowGrain(channels), [&](int64_t from, int64_t to) {
    normalizeRows<T>(input + from * channels, output + from * channels, to - from, channels, affine.scale.data(),
                     affine.shift.data(), static_cast<T>(settings.slope));
  });
  return result;
}

template <typename T>
NormGradients backwardOf(const Tensor& x, const Tensor& gradient, const Tensor& weight, const Tensor& bias,
                         const NormResult& found, double slope, const JoinTotals& join) {
  const int64_t rows = rowsOf(x), channels = x.size(1);
  NormGradients result{at::empty_like(x), at::empty_like(weight), at::empty_like(weight)};
  const T* input = x.data_ptr<T>();
  const T* from = gradient.data_ptr<T>();
  const T* means = found.mean.data_ptr<T>();
  const T* inverse = found.inverseDeviation.data_ptr<T>();
  const Affine<T> affine(channels, weight.data_ptr<T>(), bias.data_ptr<T>(), means, inverse);
  const T leak = static_cast<T>(slope);
  auto totals = totalsOf<T>(rows, channels, [&](int64_t row, int64_t count, T* first, T* second) {
    addGradients<T>(input + row * channels, from + row * channels, count, channels, means, affine.scale.data(),
                    affine.shift.data(), leak, first, second);
  });
  for (int64_t c = 0; c < channels; c++) {
    result.bias.data_ptr<T>()[c] = static_cast<T>(totals[c]);
    result.weight.data_ptr<T>()[c] = static_cast<T>(totals[channels + c] * inverse[c]);
  }
  if (join) join(totals);
  const double all = totals[2 * channels];
  std::vector<T> offset(channels), factor(channels);
  for (int64_t c = 0; c < channels; c++) {
    // scale (g - mean of g - x^ mean of g x^), x^ = (x - mean) / deviation, sorted by x.
    const double slopeOfX = affine.scale[c] * inverse[c] * inverse[c] * totals[channels + c] / all;
    factor[c] = static_cast<T>(slopeOfX);
    offset[c] = static_cast<T>(affine.scale[c] * totals[c] / all - slopeOfX * means[c]);
  }
  T* output = result.input.data_ptr<T>();
  at::parallel_for(0, rows, rowGrain(channels), [&](int64_t start, int64_t end) {
    const int64_t at = start * channels;
    inputGradientRows<T>(input + at, from + at, output + at, end - start, channels, affine.scale.data(),
                         affine.shift.data(), offset.data(), factor.data(), leak);
  });
  return result;
}

}  // namespace

int64_t rowsOf(const Tensor& x) { return x.size(1) == 0 ? 0 : x.numel() / x.size(1); }

bool liesInRows(const Tensor& x) {
  if (x.dim() == 2) return x.is_contiguous();
  return x.dim() == 4 && x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

NormResult cpuNormForward(const Tensor& x, const Tensor& weight, const Tensor& bias, const RunningStatistics& running,
                          const NormSettings& settings, const JoinTotals& join) {
  return byType(x, [&](auto type) { return forwardOf<decltype(type)>(x, weight, bias, running, settings, join); });
}

NormGradients cpuNormBackward(const Tensor& x, const Tensor& gradient, const Tensor& weight, const Tensor& bias,
                              const NormResult& result, double slope, const JoinTotals& join) {
  return byType(x, [&](auto type) {
    return backwardOf<decltype(type)>(x, gradient, weight, bias, result, slope, join);
  });
}

}  // namespace crab
