// Collectives inside a graph: a gather and a batch normalisation, with their gradients. Every rank must run
// the same graph, so that collectives meet in the same order.
#include "batch_norm_cpu.h"
#include "process_group.h"

#ifdef CRAB_C10D

#include <torch/csrc/autograd/custom_function.h>

namespace crab {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A process group as an argument of an autograd function.
struct EngineHolder : torch::CustomClassHolder {
  explicit EngineHolder(c10::intrusive_ptr<Engine> held) : engine(std::move(held)) {}
  c10::intrusive_ptr<Engine> engine;
};

// Saved data takes libtorch's own kinds of values alone; a capsule holds anything.
void saveEngine(AutogradContext* context, const c10::intrusive_ptr<Engine>& engine) {
  context->saved_data["engine"] = c10::IValue::make_capsule(c10::make_intrusive<EngineHolder>(engine));
}

Engine& savedEngine(AutogradContext* context) {
  auto capsule = context->saved_data["engine"].toCapsule();
  return *static_cast<EngineHolder*>(capsule.get())->engine;
}

// The tensors of all ranks side by side along one dimension. The gradient of this rank's part is the sum
// of what all ranks found for it.
class Gather : public torch::autograd::Function<Gather> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& tensor, int64_t dim,
                            const c10::intrusive_ptr<Engine>& engine) {
    saveEngine(context, engine);
    context->saved_data["dim"] = dim;
    context->saved_data["length"] = tensor.size(dim);
    return at::cat(allGather(*engine, tensor), dim);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    Engine& engine = savedEngine(context);
    const at::Tensor sum = gradients[0].contiguous().clone();
    allReduceSum(engine, sum);
    const int64_t length = context->saved_data["length"].toInt();
    const int64_t dim = context->saved_data["dim"].toInt();
    return {sum.narrow(dim, engine.getRank() * length, length), at::Tensor(), at::Tensor()};
  }
};

at::Tensor optionalTensor(Napi::Value value) {
  return value.IsNull() || value.IsUndefined() ? at::Tensor() : tensorOf(value);
}

// groupGather(group, tensor, dim)
napi_value groupGather(const Napi::CallbackInfo& info) {
  const auto engine = engineOf(info[0]);
  const at::Tensor& tensor = tensorOf(info[1]);
  const int64_t dim = at::maybe_wrap_dim(static_cast<int64_t>(numberOf(info[2])), tensor.dim());
  return wrapTensor(info.Env(), Gather::apply(tensor, dim, engine));
}

// ---- batch normalisation over all ranks ----------------------------------------------------------------

// Adds up totals over all ranks: one exchange of few values; every rank gets the same sums, bit for bit.
JoinTotals joinedBy(const c10::intrusive_ptr<Engine>& engine) {
  return [engine](std::vector<double>& totals) {
    const at::Tensor view =
        at::from_blob(totals.data(), {static_cast<int64_t>(totals.size())}, at::TensorOptions(at::kDouble));
    allReduceSum(*engine, view);
  };
}

// On a CPU by the kernels that one process uses, with a leaky ReLU.
at::Tensor normOnCpu(const c10::intrusive_ptr<Engine>& engine, const at::Tensor& x, const at::Tensor& weight,
                     const at::Tensor& bias, const RunningStatistics& running, const NormSettings& settings) {
  const auto type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::TensorOptions options = x.options().dtype(type);
  const at::Tensor scale = weight.defined() ? weight : at::ones({x.size(1)}, options);
  const at::Tensor shift = bias.defined() ? bias : at::zeros({x.size(1)}, options);
  if (x.scalar_type() == type && liesInRows(x)) return normAct(x, scale, shift, running, settings, joinedBy(engine));
  const at::Tensor last = x.to(type).movedim(1, -1);  // [N, ..., C]
  const at::Tensor rows = last.reshape({-1, x.size(1)}).contiguous();
  const at::Tensor y = normAct(rows, scale, shift, running, settings, joinedBy(engine));
  return y.view(last.sizes()).movedim(-1, 1).to(x.scalar_type());
}

// Statistics and number of values of a channel over all ranks; gathered as [ranks, 2 C + 1].
struct GlobalStatistics {
  at::Tensor mean;      // [C]
  at::Tensor variance;  // [C], eps included
  at::Tensor counts;    // [ranks], of the statistics' type
  at::Tensor total;     // one value
};

// Mean, variance and number of values of this rank's channels: [2 C + 1], all zero where it has none.
at::Tensor ownStatistics(const at::Tensor& x, double eps) {
  const int64_t channels = x.size(1);
  if (x.numel() == 0) {
    const auto type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    return at::zeros({2 * channels + 1}, x.options().dtype(type));
  }
  const auto [mean, inverse] = at::batch_norm_stats(x, eps);
  const double count = static_cast<double>(x.numel() / channels);
  return at::cat({mean, inverse.pow(-2), at::full({1}, count, mean.options())});
}

GlobalStatistics globalStatistics(Engine& engine, const at::Tensor& x, double eps) {
  const int64_t channels = x.size(1);
  const at::Tensor all = at::stack(allGather(engine, ownStatistics(x, eps)));
  const at::Tensor means = all.narrow(1, 0, channels);
  const at::Tensor variances = all.narrow(1, channels, channels);
  GlobalStatistics result;
  result.counts = all.select(1, 2 * channels);
  result.total = result.counts.sum();
  const at::Tensor shares = (result.counts / result.total).unsqueeze(1);  // [ranks, 1]
  result.mean = (means * shares).sum(0);
  result.variance = ((variances + (means - result.mean).square()) * shares).sum(0);
  return result;
}

void updateRunning(const at::Tensor& running, const at::Tensor& value, double momentum) {
  if (running.defined()) running.lerp_(value.to(running.scalar_type()), momentum);
}

// On a GPU by libtorch's own kernels, without the leaky ReLU.
class NormOnCuda : public torch::autograd::Function<NormOnCuda> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given, const at::Tensor& weight,
                            const at::Tensor& bias, const RunningStatistics& running, const NormSettings& settings,
                            const c10::intrusive_ptr<Engine>& engine) {
    const at::Tensor x = given.contiguous(given.suggest_memory_format());
    const GlobalStatistics found = globalStatistics(*engine, x, settings.eps);
    const at::Tensor inverse = found.variance.rsqrt();
    updateRunning(running.mean, found.mean, settings.momentum);
    const at::Tensor unbiased = (found.variance - settings.eps).clamp_min_(0) * (found.total / (found.total - 1));
    updateRunning(running.variance, unbiased, settings.momentum);
    saveEngine(context, engine);
    context->save_for_backward({x, weight, found.mean, inverse, found.counts});
    if (x.numel() == 0) return at::empty_like(x);
    return at::batch_norm_elemt(x, weight, bias, found.mean, inverse, settings.eps);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &inverse = saved[3];
    const at::Tensor gradient = gradients[0].contiguous(x.suggest_memory_format());
    const at::Tensor none;
    if (x.numel() == 0) {
      allReduceSum(savedEngine(context), at::zeros({2, x.size(1)}, mean.options()));
      if (!weight.defined()) return {at::zeros_like(x), none, none, none, none, none};
      return {at::zeros_like(x), at::zeros_like(weight), at::zeros_like(weight), none, none, none};
    }
    auto [sum, sumTimes, gradWeight, gradBias] =
        at::batch_norm_backward_reduce(gradient, x, mean, inverse, weight, true, true, true);
    const at::Tensor sums = at::stack({sum, sumTimes});  // [2, C]
    allReduceSum(savedEngine(context), sums);
    const at::Tensor gradX = at::batch_norm_backward_elemt(gradient, x, mean, inverse, weight, sums[0],
                                                           sums[1], saved[4].to(at::kInt));
    if (!weight.defined()) gradWeight = gradBias = at::Tensor();
    return {gradX, gradWeight, gradBias, none, none, none};
  }
};

at::Tensor normOnCuda(const c10::intrusive_ptr<Engine>& engine, const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& bias, const RunningStatistics& running, const NormSettings& settings) {
  const at::Tensor y = NormOnCuda::apply(x, weight, bias, running, settings, engine);
  if (settings.slope == 1) return y;
  return settings.slope == 0 ? at::relu(y) : at::leaky_relu(y, settings.slope);
}

// Kernels of our own trust these.
void requireChannels(const at::Tensor& x, const std::vector<at::Tensor>& values) {
  const auto type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  for (const at::Tensor& each : values) {
    if (!each.defined()) continue;
    if (each.dim() != 1 || each.size(0) != x.size(1)) fail("expected weight, bias and statistics [C]");
    if (each.scalar_type() != type || each.device() != x.device() || !each.is_contiguous()) {
      fail("weight, bias and statistics must be contiguous, on the input's device, and in f64 if it is, else f32");
    }
  }
  if (values[2].defined() != values[3].defined()) fail("expected both running statistics or none");
}

// syncBatchNorm(group, x, weight | null, bias | null, runningMean | null, runningVariance | null,
// momentum, eps, slope): in training; `slope` of a leaky ReLU behind it, 1 for none
napi_value syncBatchNorm(const Napi::CallbackInfo& info) {
  const auto engine = engineOf(info[0]);
  const at::Tensor& x = tensorOf(info[1]);
  if (x.dim() < 2) fail("expected an input [N, C, ...]");
  const at::Tensor weight = optionalTensor(info[2]), bias = optionalTensor(info[3]);
  const RunningStatistics running{optionalTensor(info[4]), optionalTensor(info[5])};
  const NormSettings settings{numberOf(info[6]), numberOf(info[7]), numberOf(info[8])};
  requireChannels(x, {weight, bias, running.mean, running.variance});
  return wrapTensor(info.Env(), x.is_cuda() ? normOnCuda(engine, x, weight, bias, running, settings)
                                            : normOnCpu(engine, x, weight, bias, running, settings));
}

}  // namespace

void defineProcessGroupAutograd(Napi::Object exports) {
  define<groupGather>(exports, "groupGather");
  define<syncBatchNorm>(exports, "syncBatchNorm");
}

}  // namespace crab

#endif  // CRAB_C10D
