// CUDA: memory, synchronisation and graphs. CRAB_CUDA is defined where libtorch has CUDA.
#include "cuda.h"

#ifdef CRAB_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

namespace crab {

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

struct GraphHandle {
  HandleKind kind = HandleKind::Graph;
  at::cuda::CUDAGraph graph;
  Optional<c10::cuda::CUDAStream> outside;  // the stream to return to, while capturing
};

// The first tensor on a device sets CUDA up, in every version; the allocator must not be asked before.
void initialize() {
  [[maybe_unused]] static const bool done = at::empty({0}, at::TensorOptions().device(at::kCUDA)).defined();
}

c10::DeviceIndex deviceIndex(Napi::Value value) {
  initialize();
  if (!value.IsString()) return c10::cuda::current_device();
  const at::Device device = parseDevice(value.As<Napi::String>());
  if (!device.is_cuda()) fail("expected a CUDA device");
  return device.has_index() ? device.index() : c10::cuda::current_device();
}

napi_value cudaDeviceCount(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), c10::cuda::device_count());
}

napi_value cudaDeviceInfo(const Napi::CallbackInfo& info) {
  const cudaDeviceProp* properties = at::cuda::getDeviceProperties(deviceIndex(info[0]));
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("name", std::string(properties->name));
  result.Set("memory", static_cast<double>(properties->totalGlobalMem));
  result.Set("capability", std::to_string(properties->major) + "." + std::to_string(properties->minor));
  return result;
}

napi_value cudaSynchronize(const Napi::CallbackInfo& info) {
  c10::cuda::CUDAGuard guard(deviceIndex(info[0]));
  c10::cuda::device_synchronize();
  return nullptr;
}

napi_value cudaMemory(const Napi::CallbackInfo& info) {
  const auto stats = allocator::getDeviceStats(deviceIndex(info[0]));
  // Index 0 is the aggregate over all pools.
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("allocated", static_cast<double>(stats.allocated_bytes[0].current));
  result.Set("peakAllocated", static_cast<double>(stats.allocated_bytes[0].peak));
  result.Set("reserved", static_cast<double>(stats.reserved_bytes[0].current));
  result.Set("peakReserved", static_cast<double>(stats.reserved_bytes[0].peak));
  return result;
}

napi_value cudaResetPeak(const Napi::CallbackInfo& info) {
  allocator::resetPeakStats(deviceIndex(info[0]));
  return nullptr;
}

napi_value cudaEmptyCache(const Napi::CallbackInfo&) {
  initialize();
  allocator::emptyCache();
  return nullptr;
}

GraphHandle& graphOf(Napi::Value value) {
  auto* handle = static_cast<GraphHandle*>(unwrapHandle(value.Env(), value, HandleKind::Graph));
  if (handle == nullptr) fail("expected a CUDA graph");
  return *handle;
}

void finalizeGraph(FinalizerEnv, void* data, void*) { delete static_cast<GraphHandle*>(data); }

napi_value graphCreate(const Napi::CallbackInfo& info) {
  initialize();
  napi_value result = nullptr;
  napi_create_external(info.Env(), new GraphHandle(), finalizeGraph, nullptr, &result);
  return result;
}

// Makes replays draw new numbers from a generator. Versions from about 2.4 on must be told of it; later
// ones (2.14) notice it themselves and have no such function; the first ones know the default one only.
template <typename Graph>
auto followGenerator(Graph& graph, const at::Generator& generator, int)
    -> decltype(graph.register_generator_state(generator)) {
  graph.register_generator_state(generator);
}
template <typename Graph>
void followGenerator(Graph&, const at::Generator&, long) {
  if (TORCH_AT_LEAST(2, 14)) return;
  fail("this libtorch captures only the default CUDA generator", "CRAB_TORCH");
}

void followGenerators(GraphHandle& handle, Napi::Value generators) {
  Napi::Array array = generators.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const at::Generator& generator = generatorOf(array.Get(i));
    if (generator.device().type() != at::kCUDA) fail("a captured generator must be on a CUDA device");
    followGenerator(handle.graph, generator, 0);
  }
}

// graphBegin(graph, generators): from here on, work is recorded on a side stream instead of run.
napi_value graphBegin(const Napi::CallbackInfo& info) {
  GraphHandle& handle = graphOf(info[0]);
  if (handle.outside) fail("this graph is being captured already", "CRAB_TORCH");
  if (!info[1].IsArray()) fail("expected an array of generators");
  c10::cuda::device_synchronize();
  allocator::emptyCache();
  const auto outside = c10::cuda::getCurrentCUDAStream();
  c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool());
  handle.outside = outside;
  try {
    followGenerators(handle, info[1]);
    handle.graph.capture_begin();
  } catch (...) {
    c10::cuda::setCurrentCUDAStream(outside);
    handle.outside = {};
    throw;
  }
  return nullptr;
}

napi_value graphEnd(const Napi::CallbackInfo& info) {
  GraphHandle& handle = graphOf(info[0]);
  if (!handle.outside) fail("this graph is not being captured", "CRAB_TORCH");
  const c10::cuda::CUDAStream outside = *handle.outside;
  handle.outside = {};
  try {
    handle.graph.capture_end();
  } catch (...) {
    c10::cuda::setCurrentCUDAStream(outside);
    throw;
  }
  c10::cuda::setCurrentCUDAStream(outside);
  return nullptr;
}

napi_value graphReplay(const Napi::CallbackInfo& info) {
  graphOf(info[0]).graph.replay();
  return nullptr;
}

napi_value graphReset(const Napi::CallbackInfo& info) {
  graphOf(info[0]).graph.reset();
  return nullptr;
}

}  // namespace

at::Generator newCudaGenerator(c10::DeviceIndex device) {
  initialize();
  return at::cuda::detail::createCUDAGenerator(device);
}

void defineCuda(Napi::Object exports) {
  exports.Set("hasCuda", true);
  define<cudaDeviceCount>(exports, "cudaDeviceCount");
  define<cudaDeviceInfo>(exports, "cudaDeviceInfo");
  define<cudaSynchronize>(exports, "cudaSynchronize");
  define<cudaMemory>(exports, "cudaMemory");
  define<cudaResetPeak>(exports, "cudaResetPeak");
  define<cudaEmptyCache>(exports, "cudaEmptyCache");
  define<graphCreate>(exports, "graphCreate");
  define<graphBegin>(exports, "graphBegin");
  define<graphEnd>(exports, "graphEnd");
  define<graphReplay>(exports, "graphReplay");
  define<graphReset>(exports, "graphReset");
}

}  // namespace crab

#else

namespace crab {

namespace {

constexpr const char* kNoCuda = "this libtorch was built without CUDA";

napi_value noDevices(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), 0); }
napi_value noCuda(const Napi::CallbackInfo&) { fail(kNoCuda, "CRAB_TORCH"); }

}  // namespace

at::Generator newCudaGenerator(c10::DeviceIndex) { fail(kNoCuda, "CRAB_TORCH"); }

void defineCuda(Napi::Object exports) {
  exports.Set("hasCuda", false);
  define<noDevices>(exports, "cudaDeviceCount");
  for (const char* name : {"cudaDeviceInfo", "cudaSynchronize", "cudaMemory", "cudaResetPeak", "cudaEmptyCache",
                           "graphCreate", "graphBegin", "graphEnd", "graphReplay", "graphReset"}) {
    define<noCuda>(exports, name);
  }
}

}  // namespace crab
#endif
