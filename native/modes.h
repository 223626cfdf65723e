// What operators of our own must know of the modes that libtorch is in.
#pragma once

namespace crab {

// Whether autocast is on for the CPU, on this thread: libtorch's operators then choose the type.
bool autocastsOnCpu();

}  // namespace crab
