// Switches that change how operations run: autocast (for this thread), determinism, TF32 and cuDNN (for
// the process).
#include "handles.h"
#include "modes.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>

namespace crab {

namespace {

struct AutocastState {
  bool enabled;
  at::ScalarType dtype;
};

#if TORCH_AT_LEAST(2, 4)
AutocastState autocastState(at::DeviceType device) {
  return {at::autocast::is_autocast_enabled(device), at::autocast::get_autocast_dtype(device)};
}
void setAutocastState(at::DeviceType device, AutocastState state) {
  at::autocast::set_autocast_enabled(device, state.enabled);
  at::autocast::set_autocast_dtype(device, state.dtype);
}
#else
AutocastState autocastState(at::DeviceType device) {
  if (device == at::kCUDA) return {at::autocast::is_enabled(), at::autocast::get_autocast_gpu_dtype()};
  return {at::autocast::is_cpu_enabled(), at::autocast::get_autocast_cpu_dtype()};
}
void setAutocastState(at::DeviceType device, AutocastState state) {
  if (device == at::kCUDA) {
    at::autocast::set_enabled(state.enabled);
    at::autocast::set_autocast_gpu_dtype(state.dtype);
  } else {
    at::autocast::set_cpu_enabled(state.enabled);
    at::autocast::set_autocast_cpu_dtype(state.dtype);
  }
}
#endif

at::DeviceType deviceType(Napi::Value value) {
  const std::string name = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  if (name == "cpu") return at::kCPU;
  if (name == "cuda") return at::kCUDA;
  fail("autocast: expected 'cpu' or 'cuda'");
}

// enterAutocast(deviceType, enabled, dtype): returns the state before, for leaveAutocast.
napi_value enterAutocast(const Napi::CallbackInfo& info) {
  const at::DeviceType device = deviceType(info[0]);
  const bool enabled = flagOf(info[1]);
  auto dtype = info[2].IsString() ? parseDtype(info[2].As<Napi::String>()) : Optional<at::ScalarType>();
  if (!dtype || (*dtype != at::kBFloat16 && *dtype != at::kHalf)) fail("autocast: expected 'bf16' or 'f16'");
  if (device == at::kCPU && *dtype == at::kHalf && !TORCH_AT_LEAST(2, 4)) {
    fail("autocast: this libtorch has only 'bf16' on the CPU");
  }
  const AutocastState before = autocastState(device);
  setAutocastState(device, {enabled, *dtype});
  at::autocast::increment_nesting();
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("enabled", before.enabled);
  result.Set("dtype", dtypeName(before.dtype));
  return result;
}

// leaveAutocast(deviceType, enabled, dtype): restores; leaving the outermost drops the cached casts.
napi_value leaveAutocast(const Napi::CallbackInfo& info) {
  const at::DeviceType device = deviceType(info[0]);
  auto dtype = parseDtype(info[2].As<Napi::String>());
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  setAutocastState(device, {flagOf(info[1]), dtype.value_or(at::kBFloat16)});
  return nullptr;
}

napi_value setDeterministic(const Napi::CallbackInfo& info) {
  const bool on = flagOf(info[0]);
  at::globalContext().setDeterministicAlgorithms(on, false);
  at::globalContext().setDeterministicCuDNN(on);
  if (on) at::globalContext().setBenchmarkCuDNN(false);
  return nullptr;
}

napi_value setCudnnBenchmark(const Napi::CallbackInfo& info) {
  at::globalContext().setBenchmarkCuDNN(flagOf(info[0]));
  return nullptr;
}

// Off means off: versions that keep a precision for each kind of operation would else inherit one that the
// environment or another library has set for all of them.
void refuseTf32([[maybe_unused]] at::Context& context) {
#if TORCH_AT_LEAST(2, 10)
  for (const auto op : {at::Float32Op::CONV, at::Float32Op::RNN, at::Float32Op::MATMUL}) {
    context.setFloat32Precision(at::Float32Backend::CUDA, op, at::Float32Precision::IEEE);
  }
#endif
}

napi_value setAllowTf32(const Napi::CallbackInfo& info) {
  const bool on = flagOf(info[0]);
  at::Context& context = at::globalContext();
  context.setAllowTF32CuBLAS(on);
  context.setAllowTF32CuDNN(on);
  if (!on) refuseTf32(context);
  return nullptr;
}

napi_value setCudnnEnabled(const Napi::CallbackInfo& info) {
  at::globalContext().setUserEnabledCuDNN(flagOf(info[0]));
  return nullptr;
}

}  // namespace

bool autocastsOnCpu() { return autocastState(at::kCPU).enabled; }

void defineModes(Napi::Object exports) {
  define<enterAutocast>(exports, "enterAutocast");
  define<leaveAutocast>(exports, "leaveAutocast");
  define<setDeterministic>(exports, "setDeterministic");
  define<setCudnnBenchmark>(exports, "setCudnnBenchmark");
  define<setAllowTf32>(exports, "setAllowTf32");
  define<setCudnnEnabled>(exports, "setCudnnEnabled");
}

}  // namespace crab
