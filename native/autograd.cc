// Gradients: flags and values of a tensor, and backward passes.
#include "handles.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

namespace crab {

namespace {

bool flag(Napi::Value value) { return value.IsBoolean() && value.As<Napi::Boolean>().Value(); }

napi_value requiresGrad(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), tensorOf(info[0]).requires_grad());
}

napi_value setRequiresGrad(const Napi::CallbackInfo& info) {
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

Optional<bool> optionalFlag(Napi::Value value) {
  if (!value.IsBoolean()) return {};
  return value.As<Napi::Boolean>().Value();
}

std::vector<at::Tensor> optionalTensors(Napi::Value value) {
  return value.IsNull() ? std::vector<at::Tensor>() : tensorsOf(value);
}

// backward(outputs, gradients | null, retainGraph | null, createGraph, inputs)
napi_value backward(const Napi::CallbackInfo& info) {
  torch::autograd::backward(tensorsOf(info[0]), optionalTensors(info[1]), optionalFlag(info[2]), flag(info[3]),
                            tensorsOf(info[4]));
  return nullptr;
}

// grad(outputs, inputs, gradOutputs | null, retainGraph | null, createGraph, allowUnused)
napi_value grad(const Napi::CallbackInfo& info) {
  return wrapTensors(info.Env(), torch::autograd::grad(tensorsOf(info[0]), tensorsOf(info[1]),
                                                       optionalTensors(info[2]), optionalFlag(info[3]),
                                                       flag(info[4]), flag(info[5])));
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
  define<setGradEnabled>(exports, "setGradEnabled");
  define<isGradEnabled>(exports, "isGradEnabled");
}

}  // namespace crab
