// How a window of kernel x kernel places goes over maps or pictures.
#pragma once

#include <cstdint>
#include <vector>

namespace crab {

struct Window {
  int64_t kernel, stride, padding;

  // Places along a side. Only a window that goes forward has any.
  int64_t places(int64_t side) const { return (side + 2 * padding - kernel) / stride + 1; }

  // As data that autograd saves, and back.
  std::vector<int64_t> saved() const { return {kernel, stride, padding}; }
  static Window from(const std::vector<int64_t>& saved) { return {saved[0], saved[1], saved[2]}; }
};

}  // namespace crab
