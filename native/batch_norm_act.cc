// crab::batch_norm_act: batch normalisation by the batch's own statistics, then a leaky ReLU, as one
// operator with its gradient. Training a convolutional network is bound by passes over memory, and these
// two are most of them. Kernels of our own take data that lies channels-last ([rows, channels]) on a CPU,
// and on a GPU where nvcc was at hand (CRAB_CUDA_KERNELS); everything else goes through libtorch's operators.
#include "batch_norm_act.h"

#include "handles.h"
#include "vectorised.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#ifdef CRAB_CUDA_KERNELS
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#endif

#include <algorithm>
#include <cmath>

namespace crab {

namespace {

using at::Tensor;

// Rows whose sums are kept in the data's own precision before they join the total in f64.
constexpr int64_t kSumRows = 256;
constexpr int64_t kMostCpuChannels = 1024;

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

// Two sums for each channel over all rows: `add(row, rows, first, second)` adds those of some rows.
template <typename T, typename Add>
void sumsOverRows(int64_t rows, int64_t channels, const Add& add, std::vector<double>& totals) {
  totals.assign(2 * channels, 0.0);
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
  for (const auto& part : sums) {
    for (int64_t i = 0; i < 2 * channels; i++) totals[i] += part[i];
  }
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

// Rows of a [N, C, H, W] or [N, C] tensor.
int64_t rowsOf(const Tensor& x) { return x.size(1) == 0 ? 0 : x.numel() / x.size(1); }

struct Forward {
  Tensor y, mean, inverseDeviation;
};

struct Settings {
  double momentum, eps, slope;
};

int64_t rowGrain(int64_t channels) { return std::max<int64_t>(1, at::internal::GRAIN_SIZE / channels); }

template <typename T>
Forward cpuForward(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& runningMean,
                   const Tensor& runningVariance, const Settings& settings) {
  const int64_t rows = rowsOf(x), channels = x.size(1);
  Forward result{at::empty_like(x), at::empty_like(weight), at::empty_like(weight)};
  const T* input = x.data_ptr<T>();
  const bool tracked = runningMean.defined();
  std::vector<T> center(channels, T(0));
  if (tracked) std::copy_n(runningMean.data_ptr<T>(), channels, center.begin());
  std::vector<double> totals;
  sumsOverRows<T>(
      rows, channels,
      [&](int64_t row, int64_t count, T* first, T* second) {
        addStatistics<T>(input + row * channels, count, channels, center.data(), first, second);
      },
      totals);
  T* mean = result.mean.data_ptr<T>();
  T* inverse = result.inverseDeviation.data_ptr<T>();
  for (int64_t c = 0; c < channels; c++) {
    const double shifted = totals[c] / rows;
    const double variance = std::max(0.0, totals[channels + c] / rows - shifted * shifted);
    mean[c] = static_cast<T>(center[c] + shifted);
    inverse[c] = static_cast<T>(1 / std::sqrt(variance + settings.eps));
    if (!tracked) continue;
    T& average = runningMean.data_ptr<T>()[c];
    T& spread = runningVariance.data_ptr<T>()[c];
    const double unbiased = variance * rows / std::max<int64_t>(rows - 1, 1);
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

struct Gradients {
  Tensor input, weight, bias;
};

template <typename T>
Gradients cpuBackward(const Tensor& x, const Tensor& gradient, const Tensor& weight, const Tensor& bias,
                      const Tensor& mean, const Tensor& inverseDeviation, double slope) {
  const int64_t rows = rowsOf(x), channels = x.size(1);
  Gradients result{at::empty_like(x), at::empty_like(weight), at::empty_like(weight)};
  const T* input = x.data_ptr<T>();
  const T* from = gradient.data_ptr<T>();
  const T* means = mean.data_ptr<T>();
  const T* inverse = inverseDeviation.data_ptr<T>();
  const Affine<T> affine(channels, weight.data_ptr<T>(), bias.data_ptr<T>(), means, inverse);
  const T leak = static_cast<T>(slope);
  std::vector<double> totals;
  sumsOverRows<T>(
      rows, channels,
      [&](int64_t row, int64_t count, T* first, T* second) {
        addGradients<T>(input + row * channels, from + row * channels, count, channels, means, affine.scale.data(),
                        affine.shift.data(), leak, first, second);
      },
      totals);
  std::vector<T> offset(channels), factor(channels);
  for (int64_t c = 0; c < channels; c++) {
    const double product = totals[channels + c] * inverse[c];
    result.bias.data_ptr<T>()[c] = static_cast<T>(totals[c]);
    result.weight.data_ptr<T>()[c] = static_cast<T>(product);
    // scale (g - mean of g - x^ mean of g x^), x^ = (x - mean) / deviation, sorted by x.
    const double slopeOfX = affine.scale[c] * inverse[c] * product / rows;
    factor[c] = static_cast<T>(slopeOfX);
    offset[c] = static_cast<T>(affine.scale[c] * totals[c] / rows - slopeOfX * means[c]);
  }
  T* output = result.input.data_ptr<T>();
  at::parallel_for(0, rows, rowGrain(channels), [&](int64_t start, int64_t end) {
    const int64_t at = start * channels;
    inputGradientRows<T>(input + at, from + at, output + at, end - start, channels, affine.scale.data(),
                         affine.shift.data(), offset.data(), factor.data(), leak);
  });
  return result;
}

#ifdef CRAB_CUDA_KERNELS
NormElement elementOf(const Tensor& x) {
  if (x.scalar_type() == at::kHalf) return NormElement::f16;
  return x.scalar_type() == at::kBFloat16 ? NormElement::bf16 : NormElement::f32;
}

NormShape shapeOf(const Tensor& x, double slope) {
  return {rowsOf(x), static_cast<int>(x.size(1)), elementOf(x), static_cast<float>(slope),
          at::cuda::getCurrentCUDAStream().stream()};
}

void requireLaunched(const char* error) { TORCH_CHECK(error == nullptr, "batch_norm_act: ", error); }

float* floats(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr<float>() : nullptr; }

Forward cudaForward(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& runningMean,
                    const Tensor& runningVariance, const Settings& settings) {
  const c10::cuda::CUDAGuard guard(x.device());
  Forward result{at::empty_like(x), at::empty_like(weight), at::empty_like(weight)};
  const NormShape shape = shapeOf(x, settings.slope);
  const Tensor scratch = at::empty({cudaNormScratch(shape)}, weight.options());
  requireLaunched(cudaNormForward(
      shape, {x.data_ptr(), floats(weight), floats(bias), floats(runningMean), floats(runningVariance),
              static_cast<float>(settings.momentum), static_cast<float>(settings.eps), result.y.data_ptr(),
              floats(result.mean), floats(result.inverseDeviation), floats(scratch)}));
  return result;
}

Gradients cudaBackward(const Tensor& x, const Tensor& gradient, const Tensor& weight, const Tensor& bias,
                       const Tensor& mean, const Tensor& inverseDeviation, double slope) {
  const c10::cuda::CUDAGuard guard(x.device());
  Gradients result{at::empty_like(x), at::empty_like(weight), at::empty_like(weight)};
  const NormShape shape = shapeOf(x, slope);
  const Tensor scratch = at::empty({cudaNormScratch(shape)}, weight.options());
  requireLaunched(cudaNormBackward(shape, {x.data_ptr(), gradient.data_ptr(), floats(weight), floats(bias),
                                           floats(mean), floats(inverseDeviation), result.input.data_ptr(),
                                           floats(result.weight), floats(result.bias), floats(scratch)}));
  return result;
}
#endif

bool liesInRows(const Tensor& x) {
  if (x.dim() == 2) return x.is_contiguous();
  return x.dim() == 4 && x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

bool isPlain(const Tensor& values, const Tensor& x, at::ScalarType type) {
  return !values.defined() || (values.scalar_type() == type && values.device() == x.device() &&
                               values.is_contiguous() && values.numel() == x.size(1));
}

bool hasKernel(const Tensor& x) {
  const auto type = x.scalar_type();
  if (x.is_cpu()) return (type == at::kFloat || type == at::kDouble) && x.size(1) <= kMostCpuChannels;
#ifdef CRAB_CUDA_KERNELS
  const bool known = type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
  return x.is_cuda() && known && cudaNormTakes(static_cast<int>(x.size(1)), elementOf(x));
#else
  return false;
#endif
}

// As one argument without a gradient.
struct RunningStatistics {
  Tensor mean, variance;  // both undefined, or none
};

struct NormAct : torch::autograd::Function<NormAct> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, const RunningStatistics& running, const Settings& settings) {
    const Forward result = compute(x, weight, bias, running.mean, running.variance, settings);
    context->save_for_backward({x, weight, bias, result.mean, result.inverseDeviation});
    context->saved_data["slope"] = settings.slope;
    return result.y;
  }

  static Forward compute(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& runningMean,
                         const Tensor& runningVariance, const Settings& settings) {
#ifdef CRAB_CUDA_KERNELS
    if (x.is_cuda()) return cudaForward(x, weight, bias, runningMean, runningVariance, settings);
#endif
    if (x.scalar_type() == at::kDouble) {
      return cpuForward<double>(x, weight, bias, runningMean, runningVariance, settings);
    }
    return cpuForward<float>(x, weight, bias, runningMean, runningVariance, settings);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &bias = saved[2], &mean = saved[3], &inverse = saved[4];
    TORCH_CHECK(!at::GradMode::is_enabled(), "batch_norm_act has no second derivative");
    const double slope = context->saved_data["slope"].toDouble();
    const auto format = x.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    const Tensor gradient = gradients[0].contiguous(format);
    const Gradients result = compute(x, gradient, weight, bias, mean, inverse, slope);
    const Tensor none;
    return {result.input, result.weight, result.bias, none, none};
  }

  static Gradients compute(const Tensor& x, const Tensor& gradient, const Tensor& weight, const Tensor& bias,
                           const Tensor& mean, const Tensor& inverse, double slope) {
#ifdef CRAB_CUDA_KERNELS
    if (x.is_cuda()) return cudaBackward(x, gradient, weight, bias, mean, inverse, slope);
#endif
    if (x.scalar_type() == at::kDouble) {
      return cpuBackward<double>(x, gradient, weight, bias, mean, inverse, slope);
    }
    return cpuBackward<float>(x, gradient, weight, bias, mean, inverse, slope);
  }
};

Tensor batchNormAct(const Tensor& x, const Tensor& weight, const Tensor& bias, const Optional<Tensor>& runningMean,
                    const Optional<Tensor>& runningVariance, double momentum, double eps, double slope) {
  const Tensor mean = runningMean.value_or(Tensor()), variance = runningVariance.value_or(Tensor());
  const bool matches = x.dim() >= 2 && mean.defined() == variance.defined();
  const auto type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  if (matches && x.numel() > 0 && rowsOf(x) > 1 && liesInRows(x) && hasKernel(x) && isPlain(weight, x, type) &&
      isPlain(bias, x, type) && isPlain(mean, x, type) && isPlain(variance, x, type)) {
    return NormAct::apply(x, weight, bias, RunningStatistics{mean, variance}, Settings{momentum, eps, slope});
  }
  TORCH_CHECK(x.dim() < 2 || x.numel() == 0 || rowsOf(x) > 1,
              "expected more than 1 value per channel when training");
  const bool cudnn = at::globalContext().userEnabledCuDNN();
  const Tensor y = at::batch_norm(x, weight, bias, mean, variance, true, momentum, eps, cudnn);
  return slope == 0 ? at::relu(y) : at::leaky_relu(y, slope);
}

}  // namespace

TORCH_LIBRARY(crab, library) {
  library.def(
      "batch_norm_act(Tensor input, Tensor weight, Tensor bias, Tensor? running_mean, Tensor? running_var, "
      "float momentum, float eps, float slope) -> Tensor");
  library.impl("batch_norm_act", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(batchNormAct));
}

}  // namespace crab
