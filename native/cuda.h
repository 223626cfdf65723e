// What other files need of CUDA. Builds against a libtorch without CUDA define newCudaGenerator too: it fails.
#pragma once

#include "handles.h"

namespace crab {

at::Generator newCudaGenerator(c10::DeviceIndex device);

#ifdef CRAB_CUDA
// The index of the CUDA device that a value names; the current one where it names none.
c10::DeviceIndex cudaDeviceIndex(Napi::Value value);
void defineCudaStreams(Napi::Object exports);
#endif

}  // namespace crab
