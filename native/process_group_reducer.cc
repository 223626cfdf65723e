// The gradients of parameters, averaged over the ranks while the backward pass still runs.
#include "process_group.h"

#ifdef CRAB_C10D

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <optional>
#include <set>

namespace crab {

namespace {

using torch::autograd::variable_list;
// A shared pointer, of which kind depends on the version.
using Accumulator = decltype(torch::autograd::impl::grad_accumulator(std::declval<at::Tensor>()));

// Which tensor it was, without keeping it alive. Addresses would not do: memory is used again.
class Identity {
 public:
  Identity() = default;
  explicit Identity(const at::Tensor& tensor) : weak_(Weak(tensor.getIntrusivePtr())) {}

  bool isStill(const at::Tensor& tensor) const {
    return weak_ && !weak_->expired() && weak_->lock().get() == tensor.unsafeGetTensorImpl();
  }

 private:
  using Weak = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  std::optional<Weak> weak_;
};

// Averages gradients over the ranks, bucket by bucket, as they become ready. The first pass only takes
// note of the order in which they do and reduces at its end; from then on buckets follow that order, which
// rank 0 decides. Small gradients travel together: after a pass their `grad` is a view into the memory of
// their bucket. A large one is a bucket of its own, in memory of its own.
class Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  Reducer(c10::intrusive_ptr<Engine> engine, std::vector<at::Tensor> parameters, int64_t bucketBytes)
      : engine_(std::move(engine)), parameters_(std::move(parameters)), bucketBytes_(bucketBytes) {
    std::set<const c10::TensorImpl*> distinct;
    for (const at::Tensor& parameter : parameters_) {
      if (!distinct.insert(parameter.unsafeGetTensorImpl()).second) fail("a parameter is given twice");
      if (!parameter.is_leaf() || !parameter.requires_grad()) fail("expected parameters that record gradients");
      if (!parameter.is_non_overlapping_and_dense()) fail("a parameter is not dense in memory");
    }
    seen_.assign(parameters_.size(), false);
    reduced_.resize(parameters_.size());
  }

  // Hooks refer to this object weakly: it may go while a graph is alive.
  void install() {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      Accumulator accumulator = torch::autograd::impl::grad_accumulator(parameters_[i]);
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
    abandon();
  }

  // Before each backward pass whose gradients are to be reduced.
  void begin() {
    active_ = true;
    callbackQueued_ = false;
    order_.clear();
    seen_.assign(parameters_.size(), false);
    next_ = 0;
    abandon();
    for (Bucket& bucket : buckets_) bucket.missing = bucket.members.size();
  }

  int64_t buckets() const { return static_cast<int64_t>(buckets_.size()); }

 private:
  // Inside a backward pass only standard exceptions reach its caller.
  [[noreturn]] void refuse(const char* why) {
    active_ = false;
    throw std::runtime_error(why);
  }

  // Waits for what a failed pass left under way: it still writes to the memory of its bucket. How it ends
  // does not matter any more; a lost rank is noticed by the next collective.
  void abandon() noexcept {
    for (Bucket& bucket : buckets_) {
      try {
        if (bucket.work) bucket.work->wait();
      } catch (...) {
      }
      bucket.work.reset();
    }
  }

  struct Bucket {
    std::vector<size_t> members;
    at::Tensor memory;   // one dimension; undefined where the only member is large
    at::Tensor padding;  // zeros for the gaps between members
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
    if (!parameters_[index].grad().defined()) refuse("a parameter received no gradient in a backward pass");
    if (seen_[index]) refuse("a parameter received its gradient twice in one backward pass");
    seen_[index] = true;
    if (buckets_.empty()) {
      order_.push_back(static_cast<int64_t>(index));
    } else {
      fill(index);
    }
  }

  void fill(size_t index) {
    if (reduced_[index].isStill(parameters_[index].grad())) {
      refuse("gradients must be cleared before each backward pass");
    }
    buckets_[bucketOf_[index]].missing -= 1;
    while (next_ < buckets_.size() && buckets_[next_].missing == 0) launch(buckets_[next_++]);
  }

  void launch(Bucket& bucket) {
    at::NoGradGuard guard;
    std::vector<at::Tensor> tensors{bucket.memory.defined() ? collected(bucket) : whole(bucket.members[0])};
    for (size_t index : bucket.members) reduced_[index] = Identity(parameters_[index].grad());
    if (tensors[0].numel() > 0) bucket.work = started([&] { return engine_->allreduce(tensors); });
  }

  // The gradient of a parameter as one dimension, in the parameter's own order of elements.
  at::Tensor flat(size_t index) const {
    const at::Tensor& parameter = parameters_[index];
    at::Tensor gradient = parameter.grad();
    if (gradient.strides() != parameter.strides()) {  // of another layout, or spread from fewer values
      gradient = at::empty_strided(parameter.sizes(), parameter.strides(), gradient.options()).copy_(gradient);
    }
    return gradient.as_strided({gradient.numel()}, {1});
  }

  // A large gradient, its share of the mean. Never in place: a gradient may lie in memory that others still
  // read, because the derivative of a reshape hands it on as it is. One rank has nothing to change.
  at::Tensor whole(size_t index) {
    const at::Tensor& parameter = parameters_[index];
    at::Tensor gradient = flat(index);
    if (engine_->getSize() > 1) gradient = gradient.mul(1.0 / engine_->getSize());
    if (gradient.data_ptr() != parameter.grad().data_ptr()) {
      parameter.mutable_grad() = gradient.as_strided(parameter.sizes(), parameter.strides());
    }
    return gradient;
  }

  // Moves the gradients of a bucket into it, all at once: on a GPU a kernel for each of them would take
  // longer than their sum.
  at::Tensor collected(Bucket& bucket) {
    std::vector<at::Tensor> parts;
    parts.reserve(bucket.members.size());
    for (size_t index : bucket.members) {
      const at::Tensor& view = views_[index];
      parts.push_back(flat(index));
      const int64_t gap = aligned(view.numel(), view.element_size()) - view.numel();
      if (gap > 0) parts.push_back(bucket.padding.narrow(0, 0, gap));
      parameters_[index].mutable_grad() = view;
    }
    at::cat_out(bucket.memory, parts);
    if (engine_->getSize() > 1) bucket.memory.mul_(1.0 / engine_->getSize());
    return bucket.memory;
  }

  void finish() {
    active_ = false;
    if (buckets_.empty()) reduceFirst();
    if (next_ < buckets_.size()) refuse("a parameter received no gradient in a backward pass");
    for (Bucket& bucket : buckets_) {
      if (bucket.work) finishWork(bucket.work);
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

  // Buckets in the order in which their last members become ready. The first is small, so that the network
  // has work early; a gradient as large as that gains nothing by company, and its copy would cost time.
  void makeBuckets(const std::vector<int64_t>& order) {
    const int64_t large = std::max<int64_t>(bucketBytes_ / 16, 1);
    views_.resize(parameters_.size());
    bucketOf_.resize(parameters_.size());
    Gathering gathering{large};
    for (int64_t at : order) {
      const auto index = static_cast<size_t>(at);
      const at::Tensor& parameter = parameters_[index];
      const auto bytes = static_cast<int64_t>(parameter.nbytes());
      if (bytes >= large) {
        append({index});
        continue;
      }
      const auto& members = gathering.members;
      const bool fits = members.empty() || parameters_[members[0]].scalar_type() == parameter.scalar_type();
      if (!fits) close(gathering);
      gathering.members.push_back(index);
      gathering.bytes += bytes;
      if (gathering.bytes >= gathering.room) close(gathering);
    }
    close(gathering);
  }

  // Members of the bucket that is being filled.
  struct Gathering {
    int64_t room;
    int64_t bytes = 0;
    std::vector<size_t> members = {};
  };

  void close(Gathering& gathering) {
    if (gathering.members.empty()) return;
    append(std::move(gathering.members));
    allocate(buckets_.back());
    gathering = Gathering{bucketBytes_};
  }

  void append(std::vector<size_t> members) {
    for (size_t index : members) bucketOf_[index] = buckets_.size();
    buckets_.emplace_back();
    buckets_.back().missing = members.size();
    buckets_.back().members = std::move(members);
  }

  // Every gradient of a bucket begins at a multiple of so many bytes: optimisers read several values at
  // once only where all tensors allow it, and one bias of a single value would move all that follow it.
  static constexpr int64_t kAlignment = 64;

  static int64_t aligned(int64_t elements, int64_t elementSize) {
    const int64_t step = kAlignment / elementSize;
    return (elements + step - 1) / step * step;
  }

  void allocate(Bucket& bucket) {
    const at::Tensor& first = parameters_[bucket.members[0]];
    const auto room = [&](size_t index) { return aligned(parameters_[index].numel(), first.element_size()); };
    int64_t count = 0;
    for (size_t index : bucket.members) count += room(index);
    bucket.memory = at::zeros({count}, first.options());
    bucket.padding = at::zeros({kAlignment / first.element_size()}, first.options());
    int64_t offset = 0;
    for (size_t index : bucket.members) {
      const at::Tensor& parameter = parameters_[index];
      views_[index] = bucket.memory.as_strided(parameter.sizes(), parameter.strides(), offset);
      offset += room(index);
    }
  }

  const c10::intrusive_ptr<Engine> engine_;
  const std::vector<at::Tensor> parameters_;
  const int64_t bucketBytes_;
  std::vector<std::pair<uintptr_t, Accumulator>> hooks_;
  std::vector<Bucket> buckets_;
  std::vector<at::Tensor> views_;
  std::vector<Identity> reduced_;  // gradients that the last pass reduced
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
  return handleOf<ReducerHandle>(value, HandleKind::Reducer, "expected a reducer of gradients");
}

Reducer& liveReducerOf(Napi::Value value) {
  ReducerHandle& handle = reducerOf(value);
  if (!handle.reducer) fail("the reducer has been freed", "CRAB_FREED");
  return *handle.reducer;
}

// reducerCreate(group, parameters, bucketBytes)
napi_value reducerCreate(const Napi::CallbackInfo& info) {
  const char* expected = "expected the bytes of a bucket: a whole number from 1";
  const int64_t bucketBytes = wholeOf(info[2], 1, kMaxSafeInteger, expected);
  auto handle = std::make_unique<ReducerHandle>();
  handle->reducer = std::make_shared<Reducer>(engineOf(info[0]), tensorsOf(info[1]), bucketBytes);
  handle->reducer->install();
  return wrapHandle(info.Env(), std::move(handle));
}

napi_value reducerBegin(const Napi::CallbackInfo& info) {
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

void defineReducer(Napi::Object exports) {
  define<reducerCreate>(exports, "reducerCreate");
  define<reducerBegin>(exports, "reducerBegin");
  define<reducerBuckets>(exports, "reducerBuckets");
  define<reducerClose>(exports, "reducerClose");
}

}  // namespace crab

#endif  // CRAB_C10D
