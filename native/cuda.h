// What other files need of CUDA. Builds against a libtorch without CUDA define newCudaGenerator and
// CarriedStream too: the first fails with a message, the second does nothing.
#pragma once

#include "handles.h"

namespace crab {

at::Generator newCudaGenerator(c10::DeviceIndex device);

// The stream that a thread uses, for another thread that does part of its work: constructed on the first,
// entered on the second, where it holds until the end of the block.
class CarriedStream {
 public:
  CarriedStream();
  class Use {
   public:
    explicit Use(const CarriedStream& carried);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Optional<c10::Stream> before_;
  };

 private:
  Optional<c10::Stream> stream_;
};

#ifdef CRAB_CUDA
// The index of the CUDA device that a value names; the current one where it names none.
c10::DeviceIndex cudaDeviceIndex(Napi::Value value);
void defineCudaStreams(Napi::Object exports);
#endif

}  // namespace crab
