// Random generators as values: made with a device and a seed, saved and restored as bytes.
#include "cuda.h"
#include "handles.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <mutex>

namespace crab {

namespace {

uint64_t seedArgument(Napi::Value value) {
  if (value.IsBigInt()) {
    bool lossless = false;
    const uint64_t seed = value.As<Napi::BigInt>().Uint64Value(&lossless);
    if (lossless) return seed;
  } else if (value.IsNumber()) {
    const double number = value.As<Napi::Number>().DoubleValue();
    if (number >= 0 && number <= 9007199254740991.0 && number == std::floor(number)) {
      return static_cast<uint64_t>(number);
    }
  }
  fail("expected a seed: a whole number from 0, or a bigint below 2^64");
}

void finalizeGenerator(FinalizerEnv, void* data, void*) { delete static_cast<GeneratorHandle*>(data); }

// createGenerator(device, seed)
napi_value createGenerator(const Napi::CallbackInfo& info) {
  if (!info[0].IsString()) fail("expected a device name");
  const at::Device device = parseDevice(info[0].As<Napi::String>());
  const uint64_t seed = seedArgument(info[1]);
  auto handle = std::make_unique<GeneratorHandle>();
  handle->generator = device.is_cuda() ? newCudaGenerator(device.index()) : at::detail::createCPUGenerator();
  handle->generator.set_current_seed(seed);
  napi_value result = nullptr;
  napi_create_external(info.Env(), handle.release(), finalizeGenerator, nullptr, &result);
  return result;
}

napi_value generatorSetSeed(const Napi::CallbackInfo& info) {
  at::Generator generator = generatorOf(info[0]);
  const uint64_t seed = seedArgument(info[1]);
  std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
  return nullptr;
}

napi_value generatorState(const Napi::CallbackInfo& info) {
  at::Generator generator = generatorOf(info[0]);
  std::lock_guard<std::mutex> lock(generator.mutex());
  return wrapTensor(info.Env(), generator.get_state());
}

napi_value generatorSetState(const Napi::CallbackInfo& info) {
  at::Generator generator = generatorOf(info[0]);
  const at::Tensor& state = tensorOf(info[1]);
  if (state.scalar_type() != at::kByte || !state.device().is_cpu()) fail("expected a state: u8, on the CPU");
  std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state);
  return nullptr;
}

napi_value generatorDevice(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), deviceName(generatorOf(info[0]).device()));
}

// manualSeed(seed): the process's default generators, of every device.
napi_value manualSeed(const Napi::CallbackInfo& info) {
  at::manual_seed(seedArgument(info[0]));
  return nullptr;
}

}  // namespace

void defineRandom(Napi::Object exports) {
  define<createGenerator>(exports, "createGenerator");
  define<generatorSetSeed>(exports, "generatorSetSeed");
  define<generatorState>(exports, "generatorState");
  define<generatorSetState>(exports, "generatorSetState");
  define<generatorDevice>(exports, "generatorDevice");
  define<manualSeed>(exports, "manualSeed");
}

}  // namespace crab
