// Random generators as values: made with a device and a seed, saved and restored as bytes.
#include "cuda.h"
#include "handles.h"

#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

namespace crab {

namespace {

uint64_t seedArgument(Napi::Value value) {
  const char* expected = "expected a seed: a whole number from 0, or a bigint below 2^64";
  if (!value.IsBigInt()) return static_cast<uint64_t>(wholeOf(value, 0, kMaxSafeInteger, expected));
  bool lossless = false;
  const uint64_t seed = value.As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless) fail(expected);
  return seed;
}

// createGenerator(device, seed)
napi_value createGenerator(const Napi::CallbackInfo& info) {
  const at::Device device = parseDevice(textOf(info[0], "expected a device name"));
  const uint64_t seed = seedArgument(info[1]);
  auto handle = std::make_unique<GeneratorHandle>();
  handle->generator = device.is_cuda() ? newCudaGenerator(device.index()) : at::detail::createCPUGenerator();
  handle->generator.set_current_seed(seed);
  return wrapHandle(info.Env(), std::move(handle));
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
