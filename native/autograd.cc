// Gradients: flags and values of a tensor, backward passes on this thread or off the event loop.
//
// While a backward pass runs elsewhere, JavaScript may read tensors and run pure operations, but
// whatever writes gradients or changes tensors in place is refused (requireNoAsyncBackward): a race
// becomes an error instead of a crash.
#include "cuda.h"
#include "handles.h"

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

namespace crab {

namespace {

bool flag(Napi::Value value) { return value.IsBoolean() && value.As<Napi::Boolean>().Value(); }

napi_value requiresGrad(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), tensorOf(info[0]).requires_grad());
}

napi_value setRequiresGrad(const Napi::CallbackInfo& info) {
  requireNoAsyncBackward(info.Env(), "requiresGrad_() cannot be called");
  tensorOf(info[0]).set_requires_grad(flag(info[1]));
  return nullptr;
}

napi_value isLeaf(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), tensorOf(info[0]).is_leaf());
}

napi_value retainGrad(const Napi::CallbackInfo& info) {
  tensorOf(info[0]).retain_grad();
  return nullptr;
}

napi_value gradient(const Napi::CallbackInfo& info) {
  requireNoAsyncBackward(info.Env(), "grad cannot be read");
  const at::Tensor& tensor = tensorOf(info[0]);
  // A tensor inside the graph has no gradient unless it retains it; asking libtorch would print a warning.
  if (!tensor.is_leaf() && !tensor.retains_grad()) return info.Env().Null();
  return wrapTensor(info.Env(), tensor.grad());
}

void requireGradientLike(const at::Tensor& tensor, const at::Tensor& gradient) {
  if (gradient.sizes() != tensor.sizes()) fail("grad: its shape differs from the tensor's");
  if (gradient.scalar_type() != tensor.scalar_type()) fail("grad: its dtype differs from the tensor's");
  if (gradient.device() != tensor.device()) fail("grad: its device differs from the tensor's");
}

napi_value setGradient(const Napi::CallbackInfo& info) {
  requireNoAsyncBackward(info.Env(), "grad cannot be set");
  at::Tensor tensor = tensorOf(info[0]);
  if (info[1].IsNull()) {
    tensor.mutable_grad() = at::Tensor();
    return nullptr;
  }
  const at::Tensor& value = tensorOf(info[1]);
  requireGradientLike(tensor, value);
  tensor.mutable_grad() = value;
  return nullptr;
}

struct BackwardArguments {
  std::vector<at::Tensor> outputs;
  std::vector<at::Tensor> gradients;
  Optional<bool> retainGraph;
  bool createGraph;
  std::vector<at::Tensor> inputs;
};

Optional<bool> optionalFlag(Napi::Value value) {
  if (!value.IsBoolean()) return {};
  return value.As<Napi::Boolean>().Value();
}

// (outputs, gradients | null, retainGraph | null, createGraph, inputs)
BackwardArguments backwardArguments(const Napi::CallbackInfo& info) {
  BackwardArguments arguments;
  arguments.outputs = tensorsOf(info[0]);
  if (!info[1].IsNull()) arguments.gradients = tensorsOf(info[1]);
  arguments.retainGraph = optionalFlag(info[2]);
  arguments.createGraph = flag(info[3]);
  arguments.inputs = tensorsOf(info[4]);
  return arguments;
}

void runBackward(const BackwardArguments& arguments) {
  torch::autograd::backward(arguments.outputs, arguments.gradients, arguments.retainGraph,
                            arguments.createGraph, arguments.inputs);
}

napi_value backward(const Napi::CallbackInfo& info) {
  requireNoAsyncBackward(info.Env(), "backward() cannot run");
  runBackward(backwardArguments(info));
  return nullptr;
}

// grad(outputs, inputs, gradOutputs | null, retainGraph | null, createGraph, allowUnused)
napi_value grad(const Napi::CallbackInfo& info) {
  requireNoAsyncBackward(info.Env(), "grad() cannot run");
  const auto outputs = tensorsOf(info[0]);
  const auto inputs = tensorsOf(info[1]);
  std::vector<at::Tensor> gradients;
  if (!info[2].IsNull()) gradients = tensorsOf(info[2]);
  return wrapTensors(info.Env(), torch::autograd::grad(outputs, inputs, gradients, optionalFlag(info[3]),
                                                       flag(info[4]), flag(info[5])));
}

// One backward pass on a thread of Node's pool, with the modes of the thread that asked for it.
class BackwardWorker : public Napi::AsyncWorker {
 public:
  BackwardWorker(Napi::Env env, BackwardArguments arguments)
      : Napi::AsyncWorker(env, "crab:backward"),
        deferred_(Napi::Promise::Deferred::New(env)),
        arguments_(std::move(arguments)),
        state_(sharedStateOf(env)) {
    state_->asyncBackwards += 1;
  }
  ~BackwardWorker() override { finish(); }

  Napi::Promise promise() const { return deferred_.Promise(); }

  void Execute() override {
    try {
      at::ThreadLocalStateGuard guard(modes_);
      CarriedStreams::Use streams(streams_);
      at::init_num_threads();
      dropWarnings();
      runBackward(arguments_);
    } catch (...) {
      failure_ = currentFailure();
    }
  }

  void OnOK() override {
    finish();
    if (failure_) {
      deferred_.Reject(Napi::Value(Env(), failureToJs(Env(), *failure_)));
    } else {
      deferred_.Resolve(Env().Undefined());
    }
  }

 private:
  void finish() {
    if (finished_) return;
    finished_ = true;
    state_->asyncBackwards -= 1;
    arguments_ = {};
  }

  Napi::Promise::Deferred deferred_;
  BackwardArguments arguments_;
  std::shared_ptr<EnvState> state_;
  at::ThreadLocalState modes_;
  CarriedStreams streams_;
  std::optional<Failure> failure_;
  bool finished_ = false;
};

napi_value backwardAsync(const Napi::CallbackInfo& info) {
  requireNoAsyncBackward(info.Env(), "backwardAsync() cannot run");
  auto* worker = new BackwardWorker(info.Env(), backwardArguments(info));
  Napi::Promise promise = worker->promise();
  worker->Queue();
  return promise;
}

// setGradEnabled(flag): whether operations record a graph, on this thread; returns what it was.
napi_value setGradEnabled(const Napi::CallbackInfo& info) {
  const bool before = c10::GradMode::is_enabled();
  c10::GradMode::set_enabled(flag(info[0]));
  return Napi::Boolean::New(info.Env(), before);
}

napi_value isGradEnabled(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), c10::GradMode::is_enabled());
}

}  // namespace

void defineAutograd(Napi::Object exports) {
  define<requiresGrad>(exports, "requiresGrad");
  define<setRequiresGrad>(exports, "setRequiresGrad");
  define<isLeaf>(exports, "isLeaf");
  define<retainGrad>(exports, "retainGrad");
  define<gradient>(exports, "gradient");
  define<setGradient>(exports, "setGradient");
  define<backward>(exports, "backward");
  define<grad>(exports, "grad");
  define<backwardAsync>(exports, "backwardAsync");
  define<setGradEnabled>(exports, "setGradEnabled");
  define<isGradEnabled>(exports, "isGradEnabled");
}

}  // namespace crab
