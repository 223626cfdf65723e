// Side streams and CUDA graphs. A graph cannot be captured on a device's default stream, and whatever
// autograd made on another stream and still lives cannot take part in a capture. So each thread has one
// side stream for each device: work to be captured is warmed up on it, and a program that captures more
// than once moves to it altogether (useSideStream).
#include "cuda.h"

#ifdef CRAB_CUDA
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <map>

namespace crab {

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;
using c10::cuda::CUDAStream;

// This thread's side streams by device. Streams of the pool live as long as the process.
thread_local std::map<c10::DeviceIndex, CUDAStream> sideStreams;

CUDAStream sideStream(c10::DeviceIndex device) {
  auto known = sideStreams.find(device);
  if (known == sideStreams.end()) {
    known = sideStreams.emplace(device, c10::cuda::getStreamFromPool(false, device)).first;
  }
  return known->second;
}

// Makes a stream this thread's current one. It goes on only after what was queued before, so memory that
// one stream frees and the other takes is never in use by both.
void moveTo(const CUDAStream& stream) {
  const CUDAStream before = c10::cuda::getCurrentCUDAStream(stream.device_index());
  if (before == stream) return;
  at::cuda::CUDAEvent reached;
  reached.record(before);
  reached.block(stream);
  c10::cuda::setCurrentCUDAStream(stream);
}

bool isOnDefaultStream(c10::DeviceIndex device) {
  return c10::cuda::getCurrentCUDAStream(device) == c10::cuda::getDefaultCUDAStream(device);
}

// enterSideStream(device): returns whether the thread was on the default stream and has moved.
napi_value enterSideStream(const Napi::CallbackInfo& info) {
  const c10::DeviceIndex device = cudaDeviceIndex(info[0]);
  const bool moves = isOnDefaultStream(device);
  if (moves) moveTo(sideStream(device));
  return Napi::Boolean::New(info.Env(), moves);
}

napi_value leaveSideStream(const Napi::CallbackInfo& info) {
  moveTo(c10::cuda::getDefaultCUDAStream(cudaDeviceIndex(info[0])));
  return nullptr;
}

// isIdle(device): whether all work queued on the current stream is done; throws if the device failed.
napi_value isIdle(const Napi::CallbackInfo& info) {
  const CUDAStream stream = c10::cuda::getCurrentCUDAStream(cudaDeviceIndex(info[0]));
  return Napi::Boolean::New(info.Env(), stream.query());
}

struct GraphHandle {
  HandleKind kind = HandleKind::Graph;
  at::cuda::CUDAGraph graph;
  c10::DeviceIndex device = 0;
  decltype(at::cuda::graph_pool_handle()) pool{0, 0};
  bool capturing = false;
};

GraphHandle& graphOf(Napi::Value value) {
  return handleOf<GraphHandle>(value, HandleKind::Graph, "expected a CUDA graph");
}

// graphCreate(device)
napi_value graphCreate(const Napi::CallbackInfo& info) {
  auto handle = std::make_unique<GraphHandle>();
  handle->device = cudaDeviceIndex(info[0]);
  return wrapHandle(info.Env(), std::move(handle));
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

// After a failed capture: libtorch leaves its allocator in the state of a capture, and CUDA an error that
// the next call would report.
void forgetCapture(GraphHandle& handle) noexcept {
  handle.capturing = false;
#if TORCH_AT_LEAST(2, 3)
  try {
    allocator::endAllocateToPool(handle.device, handle.pool);
  } catch (...) {
    // It was ended before the failure.
  }
#endif
  [[maybe_unused]] const cudaError_t cleared = cudaGetLastError();
}

// graphBegin(graph, generators): from here on, work on the current stream is recorded instead of run.
napi_value graphBegin(const Napi::CallbackInfo& info) {
  GraphHandle& handle = graphOf(info[0]);
  if (handle.capturing) fail("this graph is being captured already", "CRAB_TORCH");
  if (!info[1].IsArray()) fail("expected an array of generators");
  if (isOnDefaultStream(handle.device)) fail("a capture needs a side stream", "CRAB_TORCH");
  c10::cuda::CUDAGuard guard(handle.device);
  c10::cuda::device_synchronize();
  allocator::emptyCache();
  followGenerators(handle, info[1]);
  handle.pool = at::cuda::graph_pool_handle();
  handle.capturing = true;
  try {
    handle.graph.capture_begin(handle.pool);
  } catch (...) {
    forgetCapture(handle);
    throw;
  }
  return nullptr;
}

napi_value graphEnd(const Napi::CallbackInfo& info) {
  GraphHandle& handle = graphOf(info[0]);
  if (!handle.capturing) fail("this graph is not being captured", "CRAB_TORCH");
  c10::cuda::CUDAGuard guard(handle.device);
  try {
    handle.graph.capture_end();
  } catch (...) {
    forgetCapture(handle);
    throw;
  }
  handle.capturing = false;
  return nullptr;
}

napi_value graphReplay(const Napi::CallbackInfo& info) {
  GraphHandle& handle = graphOf(info[0]);
  c10::cuda::CUDAGuard guard(handle.device);
  handle.graph.replay();
  return nullptr;
}

napi_value graphReset(const Napi::CallbackInfo& info) {
  graphOf(info[0]).graph.reset();
  return nullptr;
}

}  // namespace

void defineCudaStreams(Napi::Object exports) {
  define<enterSideStream>(exports, "enterSideStream");
  define<leaveSideStream>(exports, "leaveSideStream");
  define<isIdle>(exports, "cudaIsIdle");
  define<graphCreate>(exports, "graphCreate");
  define<graphBegin>(exports, "graphBegin");
  define<graphEnd>(exports, "graphEnd");
  define<graphReplay>(exports, "graphReplay");
  define<graphReset>(exports, "graphReset");
}

}  // namespace crab
#endif
