// What other files need of CUDA. Builds against a libtorch without CUDA define newCudaGenerator and
// CarriedStreams too: the first fails with a message, the second does nothing.
#pragma once

#include "handles.h"

namespace crab {

at::Generator newCudaGenerator(c10::DeviceIndex device);

// The side streams that a thread uses, for another thread that does part of its work: constructed on the
// first, used on the second, where they hold until the end of the block.
class CarriedStreams {
 public:
  CarriedStreams();
  class Use {
   public:
    explicit Use(const CarriedStreams& carried);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    std::vector<c10::Stream> before_;
  };

 private:
  std::vector<c10::Stream> streams_;
};

#ifdef CRAB_CUDA
// The index of the CUDA device that a value names; the current one where it names none.
c10::DeviceIndex cudaDeviceIndex(Napi::Value value);
void defineCudaStreams(Napi::Object exports);
#endif

}  // namespace crab
