// Collectives inside a graph: a gather and a batch normalisation, with their gradients. Every rank must run
// the same graph, so that collectives meet in the same order.
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

int64_t integer(Napi::Value value) {
  if (!value.IsNumber()) fail("expected a number");
  return value.As<Napi::Number>().Int64Value();
}

double number(Napi::Value value) {
  if (!value.IsNumber()) fail("expected a number");
  return value.As<Napi::Number>().DoubleValue();
}

at::Tensor optionalTensor(Napi::Value value) {
  return value.IsNull() || value.IsUndefined() ? at::Tensor() : tensorOf(value);
}

// groupGather(group, tensor, dim)
napi_value groupGather(const Napi::CallbackInfo& info) {
  const auto engine = engineOf(info[0]);
  const at::Tensor& tensor = tensorOf(info[1]);
  const int64_t dim = at::maybe_wrap_dim(integer(info[2]), tensor.dim());
  return wrapTensor(info.Env(), Gather::apply(tensor, dim, engine));
}

// ---- batch normalisation over all ranks ----------------------------------------------------------------

struct Statistics {
  at::Tensor mean;      // [C]
  at::Tensor variance;  // [C], eps included
};

// All dimensions but that of the channels.
std::vector<int64_t> reducedDims(const at::Tensor& x) {
  std::vector<int64_t> dims;
  for (int64_t dim = 0; dim < x.dim(); ++dim) {
    if (dim != 1) dims.push_back(dim);
  }
  return dims;
}

// A value for each channel [C], in the shape that goes with x.
at::Tensor perChannel(const at::Tensor& values, const at::Tensor& x) {
  std::vector<int64_t> shape(x.dim(), 1);
  shape[1] = x.size(1);
  return values.view(shape);
}

// On a CPU in two passes: libtorch's own kernel loses digits where the mean is large beside the deviation.
Statistics localStatistics(const at::Tensor& x, double eps) {
  if (x.is_cuda()) {
    const auto [mean, inverse] = at::batch_norm_stats(x, eps);
    return {mean, inverse.pow(-2)};
  }
  const std::vector<int64_t> dims = reducedDims(x);
  const at::Tensor mean = x.mean(dims);
  return {mean, (x - perChannel(mean, x)).square_().mean(dims) + eps};
}

// Statistics and number of values of a channel over all ranks; gathered as [ranks, 2 C + 1].
struct GlobalStatistics : Statistics {
  at::Tensor counts;  // [ranks], of the statistics' type
  at::Tensor total;   // one value
};

GlobalStatistics globalStatistics(Engine& engine, const at::Tensor& x, double eps) {
  const int64_t channels = x.size(1);
  const Statistics own = localStatistics(x, eps);
  const double count = static_cast<double>(x.numel() / channels);
  const at::Tensor row = at::cat({own.mean, own.variance, at::full({1}, count, own.mean.options())});
  const at::Tensor all = at::stack(allGather(engine, row));
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

class SyncBatchNorm : public torch::autograd::Function<SyncBatchNorm> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given, const at::Tensor& weight,
                            const at::Tensor& bias, const at::Tensor& runningMean,
                            const at::Tensor& runningVariance, double momentum, double eps,
                            const c10::intrusive_ptr<Engine>& engine) {
    const at::Tensor x = given.contiguous(given.suggest_memory_format());
    const GlobalStatistics found = globalStatistics(*engine, x, eps);
    const at::Tensor inverse = found.variance.rsqrt();
    updateRunning(runningMean, found.mean, momentum);
    const at::Tensor unbiased = (found.variance - eps).clamp_min_(0) * (found.total / (found.total - 1));
    updateRunning(runningVariance, unbiased, momentum);
    saveEngine(context, engine);
    context->save_for_backward({x, weight, found.mean, inverse, found.counts});
    if (x.is_cuda()) return at::batch_norm_elemt(x, weight, bias, found.mean, inverse, eps);
    const at::Tensor scale = weight.defined() ? weight * inverse : inverse;
    const at::Tensor shift = bias.defined() ? bias - found.mean * scale : -found.mean * scale;
    return at::addcmul(perChannel(shift, x), x, perChannel(scale, x));
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor gradient = gradients[0].contiguous(saved[0].suggest_memory_format());
    variable_list result = saved[0].is_cuda() ? onCuda(savedEngine(context), gradient, saved)
                                              : onCpu(savedEngine(context), gradient, saved);
    if (!saved[1].defined()) result[1] = result[2] = at::Tensor();
    result.resize(8);
    return result;
  }

 private:
  static variable_list onCpu(Engine& engine, const at::Tensor& gradient, const variable_list& saved) {
    const at::Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &inverse = saved[3];
    const std::vector<int64_t> dims = reducedDims(x);
    const at::Tensor centred = x - perChannel(mean, x);
    const at::Tensor gradWeight = (gradient * centred).sum(dims) * inverse;
    const at::Tensor gradBias = gradient.sum(dims);
    const at::Tensor sums = at::stack({gradWeight, gradBias});  // [2, C]
    allReduceSum(engine, sums);
    const at::Tensor shares = sums / saved[4].sum();
    const at::Tensor scale = weight.defined() ? weight * inverse : inverse;
    const at::Tensor gradX = (gradient * perChannel(scale, x))
                                 .addcmul_(centred, perChannel(scale * inverse * shares[0], x), -1)
                                 .sub_(perChannel(scale * shares[1], x));
    return {gradX, gradWeight, gradBias};
  }

  static variable_list onCuda(Engine& engine, const at::Tensor& gradient, const variable_list& saved) {
    const at::Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &inverse = saved[3];
    auto [sum, sumTimes, gradWeight, gradBias] =
        at::batch_norm_backward_reduce(gradient, x, mean, inverse, weight, true, true, true);
    const at::Tensor sums = at::stack({sum, sumTimes});  // [2, C]
    allReduceSum(engine, sums);
    const at::Tensor gradX = at::batch_norm_backward_elemt(gradient, x, mean, inverse, weight, sums[0],
                                                           sums[1], saved[4].to(at::kInt));
    return {gradX, gradWeight, gradBias};
  }
};

// syncBatchNorm(group, x, weight | null, bias | null, runningMean | null, runningVariance | null,
// momentum, eps): in training
napi_value syncBatchNorm(const Napi::CallbackInfo& info) {
  requireNoAsyncBackward(info.Env(), "a batch normalisation cannot run");
  const auto engine = engineOf(info[0]);
  const at::Tensor& x = tensorOf(info[1]);
  if (x.dim() < 2) fail("expected an input [N, C, ...]");
  return wrapTensor(info.Env(), SyncBatchNorm::apply(x, optionalTensor(info[2]), optionalTensor(info[3]),
                                                     optionalTensor(info[4]), optionalTensor(info[5]),
                                                     number(info[6]), number(info[7]), engine));
}

}  // namespace

void defineProcessGroupAutograd(Napi::Object exports) {
  define<groupGather>(exports, "groupGather");
  define<syncBatchNorm>(exports, "syncBatchNorm");
}

}  // namespace crab

#endif  // CRAB_C10D
