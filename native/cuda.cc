// CUDA: devices, memory and synchronisation; cuda_streams.cc has streams and graphs. CRAB_CUDA is defined
// where libtorch has CUDA.
#include "cuda.h"

#ifdef CRAB_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

namespace crab {

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

// The first tensor on a device sets CUDA up, in every version; the allocator must not be asked before.
void initialize() {
  [[maybe_unused]] static const bool done = at::empty({0}, at::TensorOptions().device(at::kCUDA)).defined();
}

napi_value cudaDeviceCount(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), c10::cuda::device_count());
}

napi_value cudaDeviceInfo(const Napi::CallbackInfo& info) {
  const cudaDeviceProp* properties = at::cuda::getDeviceProperties(cudaDeviceIndex(info[0]));
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("name", std::string(properties->name));
  result.Set("memory", static_cast<double>(properties->totalGlobalMem));
  result.Set("capability", std::to_string(properties->major) + "." + std::to_string(properties->minor));
  return result;
}

napi_value cudaSynchronize(const Napi::CallbackInfo& info) {
  c10::cuda::CUDAGuard guard(cudaDeviceIndex(info[0]));
  c10::cuda::device_synchronize();
  return nullptr;
}

napi_value cudaMemory(const Napi::CallbackInfo& info) {
  const auto stats = allocator::getDeviceStats(cudaDeviceIndex(info[0]));
  // Index 0 is the aggregate over all pools.
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("allocated", static_cast<double>(stats.allocated_bytes[0].current));
  result.Set("peakAllocated", static_cast<double>(stats.allocated_bytes[0].peak));
  result.Set("reserved", static_cast<double>(stats.reserved_bytes[0].current));
  result.Set("peakReserved", static_cast<double>(stats.reserved_bytes[0].peak));
  return result;
}

napi_value cudaResetPeak(const Napi::CallbackInfo& info) {
  allocator::resetPeakStats(cudaDeviceIndex(info[0]));
  return nullptr;
}

napi_value cudaEmptyCache(const Napi::CallbackInfo&) {
  initialize();
  allocator::emptyCache();
  return nullptr;
}

}  // namespace

c10::DeviceIndex cudaDeviceIndex(Napi::Value value) {
  initialize();
  if (!value.IsString()) return c10::cuda::current_device();
  const at::Device device = parseDevice(value.As<Napi::String>());
  if (!device.is_cuda()) fail("expected a CUDA device");
  return device.has_index() ? device.index() : c10::cuda::current_device();
}

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
  defineCudaStreams(exports);
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
                           "enterSideStream", "leaveSideStream", "cudaIsIdle", "graphCreate", "graphBegin",
                           "graphEnd", "graphReplay", "graphReset"}) {
    define<noCuda>(exports, name);
  }
}

}  // namespace crab
#endif
