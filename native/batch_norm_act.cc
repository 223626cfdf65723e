// crab::batch_norm_act: batch normalisation by the batch's own statistics, then a leaky ReLU, as one
// operator with its gradient; crab::batch_norm_add_relu: the same with maps added before a ReLU, as in residual
// networks. Training a convolutional network is bound by passes over memory, and these
// two are most of them. Kernels of our own take data that lies channels-last ([rows, channels]) on a CPU
// (batch_norm_cpu.h), and on a GPU where nvcc was at hand (CRAB_CUDA_KERNELS); everything else goes through
// libtorch's operators.
#include "batch_norm_act.h"

#include "batch_norm_cpu.h"
#include "handles.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#ifdef CRAB_CUDA_KERNELS
#include "cuda_elements.h"
#endif

namespace crab {

namespace {

using at::Tensor;

constexpr int64_t kMostCpuChannels = 1024;

#ifdef CRAB_CUDA_KERNELS
NormShape shapeOf(const Tensor& x, double slope) {
  return {rowsOf(x), static_cast<int>(x.size(1)), elementKind(x.scalar_type()), static_cast<float>(slope),
          currentStream()};
}

float* floats(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr<float>() : nullptr; }
void* dataOf(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

// `residual` is undefined if nothing is added.
NormResult cudaForward(const Tensor& x, const Tensor& residual, const Tensor& weight, const Tensor& bias,
                       const RunningStatistics& running, const NormSettings& settings) {
  const c10::cuda::CUDAGuard guard(x.device());
  NormResult result{at::empty_like(x), at::empty_like(weight), at::empty_like(weight)};
  const NormShape shape = shapeOf(x, settings.slope);
  const Tensor scratch = at::empty({cudaNormScratch(shape)}, weight.options());
  requireLaunched(cudaNormForward(
      shape, {x.data_ptr(), dataOf(residual), floats(weight), floats(bias), floats(running.mean),
              floats(running.variance), static_cast<float>(settings.momentum), static_cast<float>(settings.eps),
              result.y.data_ptr(), floats(result.mean), floats(result.inverseDeviation), floats(scratch)}));
  return result;
}

// `residualGradient` is undefined if nothing was added; else it is filled, and found.y is needed.
NormGradients cudaBackward(const Tensor& x, const Tensor& given, const Tensor& weight, const Tensor& bias,
                           const NormResult& found, double slope, const Tensor& residualGradient) {
  const c10::cuda::CUDAGuard guard(x.device());
  const Tensor gradient = aligned(given);
  NormGradients result{at::empty_like(x), at::empty_like(weight), at::empty_like(weight)};
  const NormShape shape = shapeOf(x, slope);
  const Tensor scratch = at::empty({cudaNormScratch(shape)}, weight.options());
  const void* y = residualGradient.defined() ? found.y.data_ptr() : nullptr;
  requireLaunched(cudaNormBackward(
      shape, {x.data_ptr(), y, dataOf(residualGradient), gradient.data_ptr(), floats(weight), floats(bias),
              floats(found.mean), floats(found.inverseDeviation), result.input.data_ptr(), floats(result.weight),
              floats(result.bias), floats(scratch)}));
  return result;
}
#endif

bool isPlain(const Tensor& values, const Tensor& x, at::ScalarType type) {
  return !values.defined() || (values.scalar_type() == type && values.device() == x.device() &&
                               values.is_contiguous() && values.numel() == x.size(1));
}

bool hasKernel(const Tensor& x) {
  const auto type = x.scalar_type();
  if (x.is_cpu()) return (type == at::kFloat || type == at::kDouble) && x.size(1) <= kMostCpuChannels;
#ifdef CRAB_CUDA_KERNELS
  return x.is_cuda() && isElement(type) && cudaNormTakes(x.size(1), elementKind(type)) && isAligned(x);
#else
  return false;
#endif
}

// Saved data takes libtorch's own kinds of values alone; a capsule holds anything.
struct JoinHolder : torch::CustomClassHolder {
  explicit JoinHolder(JoinTotals held) : join(std::move(held)) {}
  JoinTotals join;
};

struct NormAct : torch::autograd::Function<NormAct> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, const RunningStatistics& running, const NormSettings& settings,
                        const JoinTotals& join) {
    const NormResult result = compute(x, weight, bias, running, settings, join);
    context->saved_data["join"] = c10::IValue::make_capsule(c10::make_intrusive<JoinHolder>(join));
    context->save_for_backward({x, weight, bias, result.mean, result.inverseDeviation});
    context->saved_data["slope"] = settings.slope;
    return result.y;
  }

  static NormResult compute(const Tensor& x, const Tensor& weight, const Tensor& bias,
                            const RunningStatistics& running, const NormSettings& settings, const JoinTotals& join) {
#ifdef CRAB_CUDA_KERNELS
    if (x.is_cuda()) return cudaForward(x, Tensor(), weight, bias, running, settings);
#endif
    return cpuNormForward(x, weight, bias, running, settings, join);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &bias = saved[2];
    TORCH_CHECK(!at::GradMode::is_enabled(), "batch_norm_act has no second derivative");
    const double slope = context->saved_data["slope"].toDouble();
    const auto format = x.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    const Tensor gradient = gradients[0].contiguous(format);
    const auto holder = context->saved_data["join"].toCapsule();
    const JoinTotals& join = static_cast<JoinHolder*>(holder.get())->join;
    const NormGradients result = compute(x, gradient, weight, bias, {Tensor(), saved[3], saved[4]}, slope, join);
    const Tensor none;
    return {result.input, result.weight, result.bias, none, none, none};
  }

  static NormGradients compute(const Tensor& x, const Tensor& gradient, const Tensor& weight, const Tensor& bias,
                               const NormResult& found, double slope, const JoinTotals& join) {
#ifdef CRAB_CUDA_KERNELS
    if (x.is_cuda()) return cudaBackward(x, gradient, weight, bias, found, slope, Tensor());
#endif
    return cpuNormBackward(x, gradient, weight, bias, found, slope, join);
  }
};

#ifdef CRAB_CUDA_KERNELS
// With maps added before a ReLU, on a GPU.
struct NormAddRelu : torch::autograd::Function<NormAddRelu> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& residual,
                        const Tensor& weight, const Tensor& bias, const RunningStatistics& running,
                        const NormSettings& settings) {
    const NormResult result = cudaForward(x, residual, weight, bias, running, settings);
    context->save_for_backward({x, weight, bias, result.mean, result.inverseDeviation, result.y});
    return result.y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    TORCH_CHECK(!at::GradMode::is_enabled(), "batch_norm_add_relu has no second derivative");
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &bias = saved[2];
    const auto format = x.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    const Tensor gradient = gradients[0].contiguous(format), residualGradient = at::empty_like(x);
    const NormGradients result =
        cudaBackward(x, gradient, weight, bias, {saved[5], saved[3], saved[4]}, 0, residualGradient);
    return {result.input, residualGradient, result.weight, result.bias, Tensor(), Tensor()};
  }
};
#endif

// Whether the kernels take this.
bool isTaken(const Tensor& x, const Tensor& weight, const Tensor& bias, const RunningStatistics& running) {
  const bool matches = x.dim() >= 2 && running.mean.defined() == running.variance.defined();
  const auto type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return matches && x.numel() > 0 && rowsOf(x) > 1 && liesInRows(x) && hasKernel(x) && isPlain(weight, x, type) &&
         isPlain(bias, x, type) && isPlain(running.mean, x, type) && isPlain(running.variance, x, type);
}

// By libtorch's operator.
Tensor plainNorm(const Tensor& x, const Tensor& weight, const Tensor& bias, const RunningStatistics& running,
                 double momentum, double eps) {
  TORCH_CHECK(x.dim() < 2 || x.numel() == 0 || rowsOf(x) > 1,
              "expected more than 1 value per channel when training");
  const bool cudnn = at::globalContext().userEnabledCuDNN();
  return at::batch_norm(x, weight, bias, running.mean, running.variance, true, momentum, eps, cudnn);
}

Tensor batchNormAct(const Tensor& x, const Tensor& weight, const Tensor& bias, const Optional<Tensor>& runningMean,
                    const Optional<Tensor>& runningVariance, double momentum, double eps, double slope) {
  const RunningStatistics running{runningMean.value_or(Tensor()), runningVariance.value_or(Tensor())};
  if (isTaken(x, weight, bias, running)) {
    return normAct(x, weight, bias, running, {momentum, eps, slope}, JoinTotals());
  }
  const Tensor y = plainNorm(x, weight, bias, running, momentum, eps);
  return slope == 0 ? at::relu(y) : at::leaky_relu(y, slope);
}

Tensor batchNormAddRelu(const Tensor& x, const Tensor& residual, const Tensor& weight, const Tensor& bias,
                        const Optional<Tensor>& runningMean, const Optional<Tensor>& runningVariance, double momentum,
                        double eps) {
  const RunningStatistics running{runningMean.value_or(Tensor()), runningVariance.value_or(Tensor())};
#ifdef CRAB_CUDA_KERNELS
  const bool alike = residual.sizes() == x.sizes() && residual.scalar_type() == x.scalar_type() &&
                     residual.device() == x.device();
  if (x.is_cuda() && alike && liesInRows(residual) && isAligned(residual) && isTaken(x, weight, bias, running)) {
    return NormAddRelu::apply(x, residual, weight, bias, running, NormSettings{momentum, eps, 0});
  }
#endif
  return at::relu(plainNorm(x, weight, bias, running, momentum, eps).add(residual));
}

}  // namespace

Tensor normAct(const Tensor& x, const Tensor& weight, const Tensor& bias, const RunningStatistics& running,
               const NormSettings& settings, const JoinTotals& join) {
  return NormAct::apply(x, weight, bias, running, settings, join);
}

TORCH_LIBRARY(crab, library) {
  library.def(
      "batch_norm_act(Tensor input, Tensor weight, Tensor bias, Tensor? running_mean, Tensor? running_var, "
      "float momentum, float eps, float slope) -> Tensor");
  library.impl("batch_norm_act", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(batchNormAct));
  library.def(
      "batch_norm_add_relu(Tensor input, Tensor residual, Tensor weight, Tensor bias, Tensor? running_mean, "
      "Tensor? running_var, float momentum, float eps) -> Tensor");
  library.impl("batch_norm_add_relu", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(batchNormAddRelu));
}

}  // namespace crab
