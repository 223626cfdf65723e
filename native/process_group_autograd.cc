// Collectives inside a graph: a gather and a batch normalisation with gradients, and the reduction of
// parameters' gradients while the backward pass still runs. Every rank must run the same graph, so that
// collectives meet in the same order.
#include "process_group.h"

#ifdef CRAB_C10D

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

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

// A libtorch without CUDA kernels for these never meets a CUDA tensor.
Statistics localStatistics(const at::Tensor& x, double eps) {
  const auto [mean, inverse] = [&]() -> std::tuple<at::Tensor, at::Tensor> {
    if (x.is_cuda()) return at::batch_norm_stats(x, eps);
    // The fast kernel for statistics comes only together with the normalised result, which is dropped.
    const at::Tensor none;
    auto [dropped, m, i] = at::native_batch_norm(x, none, none, none, none, true, 0.0, eps);
    return {m, i};
  }();
  return {mean, inverse.pow(-2)};
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
    context->save_for_backward({x, weight, found.mean, found.variance, inverse, found.counts});
    if (x.is_cuda()) return at::batch_norm_elemt(x, weight, bias, found.mean, inverse, eps);
    return std::get<0>(
        at::native_batch_norm(x, weight, bias, found.mean, found.variance, false, 0.0, 0.0));
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
  // With the statistics held fixed libtorch gives dy w / s, sum(dy x^) and sum(dy); their own dependence
  // on the input, a[c] + b[c] x, is added once the sums of all ranks are known.
  static variable_list onCpu(Engine& engine, const at::Tensor& gradient, const variable_list& saved) {
    const at::Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &variance = saved[3];
    const at::Tensor &inverse = saved[4], &counts = saved[5];
    auto [gradX, gradWeight, gradBias] = at::native_batch_norm_backward(
        gradient, x, weight, mean, variance, at::Tensor(), at::Tensor(), false, 0.0, {true, true, true});
    const at::Tensor sums = at::stack({gradWeight, gradBias});  // [2, C]
    allReduceSum(engine, sums);
    const at::Tensor shares = sums / counts.sum();
    const at::Tensor scale = weight.defined() ? weight * inverse : inverse;
    const at::Tensor slope = scale * inverse * shares[0];
    const at::Tensor offset = scale * shares[1] - slope * mean;
    std::vector<int64_t> perChannel(x.dim(), 1);
    perChannel[1] = x.size(1);
    gradX.addcmul_(x, slope.view(perChannel), -1).sub_(offset.view(perChannel));
    return {gradX, gradWeight, gradBias};
  }

  static variable_list onCuda(Engine& engine, const at::Tensor& gradient, const variable_list& saved) {
    const at::Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &inverse = saved[4];
    auto [sum, sumTimes, gradWeight, gradBias] =
        at::batch_norm_backward_reduce(gradient, x, mean, inverse, weight, true, true, true);
    const at::Tensor sums = at::stack({sum, sumTimes});  // [2, C]
    allReduceSum(engine, sums);
    const at::Tensor gradX = at::batch_norm_backward_elemt(gradient, x, mean, inverse, weight, sums[0],
                                                           sums[1], saved[5].to(at::kInt));
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

// ---- gradients of parameters ---------------------------------------------------------------------------

// Averages gradients over the ranks, bucket by bucket, as they become ready. The first pass only takes
// note of the order in which they do and reduces at its end; from then on buckets follow that order, which
// rank 0 decides. After a pass `grad` of every parameter is a view into a bucket.
class Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  Reducer(c10::intrusive_ptr<Engine> engine, std::vector<at::Tensor> parameters, int64_t bucketBytes)
      : engine_(std::move(engine)), parameters_(std::move(parameters)), bucketBytes_(bucketBytes) {
    for (const at::Tensor& parameter : parameters_) {
      if (!parameter.is_leaf() || !parameter.requires_grad()) fail("expected parameters that record gradients");
      if (!parameter.is_non_overlapping_and_dense()) fail("a parameter is not dense in memory");
    }
    seen_.assign(parameters_.size(), false);
  }

  // Hooks refer to this object weakly: it may go while a graph is alive.
  void install() {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      auto accumulator = torch::autograd::impl::grad_accumulator(parameters_[i]);
      std::weak_ptr<Reducer> self = weak_from_this();
      auto hook = std::make_unique<torch::autograd::utils::LambdaPostHook>(
          [self, i](const variable_list& outputs, const variable_list&) {
            if (auto reducer = self.lock()) reducer->ready(i);
            return outputs;
          });
      hooks_.emplace_back(accumulator->add_post_hook(std::move(hook)), accumulator);
    }
  }

  ~Reducer() {
    for (auto& [key, accumulator] : hooks_) accumulator->del_post_hook(key);
  }

  // Before each backward pass whose gradients are to be reduced.
  void begin() {
    active_ = true;
    callbackQueued_ = false;
    order_.clear();
    seen_.assign(parameters_.size(), false);
    next_ = 0;
    for (Bucket& bucket : buckets_) {
      bucket.missing = bucket.members.size();
      bucket.work.reset();
    }
  }

  int64_t buckets() const { return static_cast<int64_t>(buckets_.size()); }

 private:
  // Inside a backward pass only standard exceptions reach its caller.
  [[noreturn]] static void refuse(const char* why) { throw std::runtime_error(why); }

  struct Bucket {
    std::vector<size_t> members;
    at::Tensor memory;  // one dimension
    size_t missing = 0;
    WorkPointer work;
  };

  void ready(size_t index) {
    if (!active_) return;
    if (!callbackQueued_) {
      callbackQueued_ = true;
      std::weak_ptr<Reducer> self = weak_from_this();
      torch::autograd::Engine::get_default_engine().queue_callback([self] {
        if (auto reducer = self.lock()) reducer->finish();
      });
    }
    if (seen_[index]) refuse("a parameter received its gradient twice in one backward pass");
    seen_[index] = true;
    if (buckets_.empty()) {
      order_.push_back(static_cast<int64_t>(index));
    } else {
      fill(index);
    }
  }

  void fill(size_t index) {
    const at::Tensor gradient = parameters_[index].grad();
    if (gradient.data_ptr() == views_[index].data_ptr()) {
      refuse("gradients must be cleared before each backward pass");
    }
    {
      at::NoGradGuard guard;
      at::mul_out(views_[index], gradient, at::scalar_to_tensor(1.0 / engine_->getSize()));
    }
    parameters_[index].mutable_grad() = views_[index];
    Bucket& bucket = buckets_[bucketOf_[index]];
    bucket.missing -= 1;
    while (next_ < buckets_.size() && buckets_[next_].missing == 0) launch(buckets_[next_++]);
  }

  void launch(Bucket& bucket) {
    std::vector<at::Tensor> tensors{bucket.memory};
    bucket.work = started([&] { return engine_->allreduce(tensors); });
  }

  void finish() {
    active_ = false;
    if (buckets_.empty()) reduceFirst();
    if (next_ < buckets_.size()) refuse("a parameter received no gradient in a backward pass");
    for (Bucket& bucket : buckets_) {
      finishWork(bucket.work);
      bucket.work.reset();
    }
  }

  void reduceFirst() {
    if (order_.size() != parameters_.size()) refuse("a parameter received no gradient in a backward pass");
    makeBuckets(agreedOrder());
    for (const Bucket& bucket : buckets_) {
      for (size_t index : bucket.members) fill(index);
    }
  }

  std::vector<int64_t> agreedOrder() {
    const auto count = static_cast<int64_t>(order_.size());
    std::vector<at::Tensor> tensors{
        at::tensor(order_, at::TensorOptions(at::kLong)).to(parameters_[0].device())};
    finishWork(started([&] { return engine_->broadcast(tensors); }));
    const at::Tensor agreed = tensors[0].to(at::kCPU);
    return {agreed.data_ptr<int64_t>(), agreed.data_ptr<int64_t>() + count};
  }

  // The first bucket is small, so that the network has work early.
  void makeBuckets(const std::vector<int64_t>& order) {
    int64_t room = bucketBytes_ / 16;
    int64_t bytes = 0;
    for (int64_t index : order) {
      const at::Tensor& parameter = parameters_[static_cast<size_t>(index)];
      const bool fits = !buckets_.empty() && bytes < room &&
                        parameters_[buckets_.back().members[0]].scalar_type() == parameter.scalar_type();
      if (!fits) {
        if (!buckets_.empty()) room = bucketBytes_;
        buckets_.emplace_back();
        bytes = 0;
      }
      buckets_.back().members.push_back(static_cast<size_t>(index));
      bytes += static_cast<int64_t>(parameter.nbytes());
    }
    views_.resize(parameters_.size());
    bucketOf_.resize(parameters_.size());
    for (size_t b = 0; b < buckets_.size(); ++b) allocate(b);
  }

  void allocate(size_t at) {
    Bucket& bucket = buckets_[at];
    int64_t count = 0;
    for (size_t index : bucket.members) count += parameters_[index].numel();
    bucket.memory = at::zeros({count}, parameters_[bucket.members[0]].options());
    bucket.missing = bucket.members.size();
    int64_t offset = 0;
    for (size_t index : bucket.members) {
      const at::Tensor& parameter = parameters_[index];
      views_[index] = bucket.memory.as_strided(parameter.sizes(), parameter.strides(), offset);
      bucketOf_[index] = at;
      offset += parameter.numel();
    }
  }

  const c10::intrusive_ptr<Engine> engine_;
  const std::vector<at::Tensor> parameters_;
  const int64_t bucketBytes_;
  std::vector<std::pair<uintptr_t, std::shared_ptr<torch::autograd::Node>>> hooks_;
  std::vector<Bucket> buckets_;
  std::vector<at::Tensor> views_;
  std::vector<size_t> bucketOf_;
  std::vector<int64_t> order_;
  std::vector<bool> seen_;
  size_t next_ = 0;
  bool active_ = false;
  bool callbackQueued_ = false;
};

struct ReducerHandle {
  HandleKind kind = HandleKind::Reducer;
  std::shared_ptr<Reducer> reducer;
};

ReducerHandle& reducerOf(Napi::Value value) {
  auto* handle = static_cast<ReducerHandle*>(unwrapHandle(value.Env(), value, HandleKind::Reducer));
  if (handle == nullptr) fail("expected a reducer of gradients");
  return *handle;
}

Reducer& liveReducerOf(Napi::Value value) {
  ReducerHandle& handle = reducerOf(value);
  if (!handle.reducer) fail("the reducer has been freed", "CRAB_FREED");
  return *handle.reducer;
}

void finalizeReducer(FinalizerEnv, void* data, void*) { delete static_cast<ReducerHandle*>(data); }

// reducerCreate(group, parameters, bucketBytes)
napi_value reducerCreate(const Napi::CallbackInfo& info) {
  auto handle = std::make_unique<ReducerHandle>();
  handle->reducer = std::make_shared<Reducer>(engineOf(info[0]), tensorsOf(info[1]), integer(info[2]));
  handle->reducer->install();
  napi_value result = nullptr;
  napi_create_external(info.Env(), handle.release(), finalizeReducer, nullptr, &result);
  return result;
}

napi_value reducerBegin(const Napi::CallbackInfo& info) {
  requireNoAsyncBackward(info.Env(), "a reduction cannot begin");
  liveReducerOf(info[0]).begin();
  return nullptr;
}

napi_value reducerBuckets(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(liveReducerOf(info[0]).buckets()));
}

napi_value reducerClose(const Napi::CallbackInfo& info) {
  reducerOf(info[0]).reducer.reset();
  return nullptr;
}

}  // namespace

void defineProcessGroupAutograd(Napi::Object exports) {
  define<groupGather>(exports, "groupGather");
  define<syncBatchNorm>(exports, "syncBatchNorm");
  define<reducerCreate>(exports, "reducerCreate");
  define<reducerBegin>(exports, "reducerBegin");
  define<reducerBuckets>(exports, "reducerBuckets");
  define<reducerClose>(exports, "reducerClose");
}

}  // namespace crab

#endif  // CRAB_C10D
