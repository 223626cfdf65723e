// crab::batch_norm_act: batch normalisation by the batch's own statistics, then a leaky ReLU, as one
// operator with its gradient. Training a convolutional network is bound by passes over memory, and these
// two are most of them. Kernels of our own take data that lies channels-last ([rows, channels]) on a CPU
// (batch_norm_cpu.h), and on a GPU where nvcc was at hand (CRAB_CUDA_KERNELS); everything else goes through
// libtorch's operators.
#include "batch_norm_act.h"

#include "batch_norm_cpu.h"
#include "handles.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#ifdef CRAB_CUDA_KERNELS
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#endif

namespace crab {

namespace {

using at::Tensor;

constexpr int64_t kMostCpuChannels = 1024;

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

NormResult cudaForward(const Tensor& x, const Tensor& weight, const Tensor& bias, const RunningStatistics& running,
                       const NormSettings& settings) {
  const c10::cuda::CUDAGuard guard(x.device());
  NormResult result{at::empty_like(x), at::empty_like(weight), at::empty_like(weight)};
  const NormShape shape = shapeOf(x, settings.slope);
  const Tensor scratch = at::empty({cudaNormScratch(shape)}, weight.options());
  requireLaunched(cudaNormForward(
      shape, {x.data_ptr(), floats(weight), floats(bias), floats(running.mean), floats(running.variance),
              static_cast<float>(settings.momentum), static_cast<float>(settings.eps), result.y.data_ptr(),
              floats(result.mean), floats(result.inverseDeviation), floats(scratch)}));
  return result;
}

NormGradients cudaBackward(const Tensor& x, const Tensor& gradient, const Tensor& weight, const Tensor& bias,
                           const NormResult& found, double slope) {
  const c10::cuda::CUDAGuard guard(x.device());
  NormGradients result{at::empty_like(x), at::empty_like(weight), at::empty_like(weight)};
  const NormShape shape = shapeOf(x, slope);
  const Tensor scratch = at::empty({cudaNormScratch(shape)}, weight.options());
  requireLaunched(cudaNormBackward(shape, {x.data_ptr(), gradient.data_ptr(), floats(weight), floats(bias),
                                           floats(found.mean), floats(found.inverseDeviation), result.input.data_ptr(),
                                           floats(result.weight), floats(result.bias), floats(scratch)}));
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
  const bool known = type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
  return x.is_cuda() && known && cudaNormTakes(static_cast<int>(x.size(1)), elementOf(x));
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
    if (x.is_cuda()) return cudaForward(x, weight, bias, running, settings);
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
    if (x.is_cuda()) return cudaBackward(x, gradient, weight, bias, found, slope);
#endif
    return cpuNormBackward(x, gradient, weight, bias, found, slope, join);
  }
};

Tensor batchNormAct(const Tensor& x, const Tensor& weight, const Tensor& bias, const Optional<Tensor>& runningMean,
                    const Optional<Tensor>& runningVariance, double momentum, double eps, double slope) {
  const Tensor mean = runningMean.value_or(Tensor()), variance = runningVariance.value_or(Tensor());
  const bool matches = x.dim() >= 2 && mean.defined() == variance.defined();
  const auto type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  if (matches && x.numel() > 0 && rowsOf(x) > 1 && liesInRows(x) && hasKernel(x) && isPlain(weight, x, type) &&
      isPlain(bias, x, type) && isPlain(mean, x, type) && isPlain(variance, x, type)) {
    return normAct(x, weight, bias, {mean, variance}, {momentum, eps, slope}, JoinTotals());
  }
  TORCH_CHECK(x.dim() < 2 || x.numel() == 0 || rowsOf(x) > 1,
              "expected more than 1 value per channel when training");
  const bool cudnn = at::globalContext().userEnabledCuDNN();
  const Tensor y = at::batch_norm(x, weight, bias, mean, variance, true, momentum, eps, cudnn);
  return slope == 0 ? at::relu(y) : at::leaky_relu(y, slope);
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
}

}  // namespace crab
