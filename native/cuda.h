// What other files need of CUDA. Builds against a libtorch without CUDA define these too: they fail with
// a message.
#pragma once

#include "handles.h"

namespace crab {

at::Generator newCudaGenerator(c10::DeviceIndex device);

}  // namespace crab
