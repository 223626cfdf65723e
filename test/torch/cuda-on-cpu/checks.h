// What the checks of kernels share: drawn numbers, arrays of elements, and how far results are from what they
// should be. Each check prints one line: its name, the largest difference as a share of the largest number, and a
// sum that tells whether results are the same bit for bit.
#pragma once

#include "elements.h"
#include "element_kinds.h"

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace checks {

using Numbers = std::vector<double>;

inline Numbers drawn(size_t count, unsigned seed, double offset = 0, double spread = 1) {
  std::mt19937 generator(seed);
  Numbers result(count);
  // Sums of three uniform numbers: near enough to a bell, and the same with each standard library.
  for (double& value : result) {
    double sum = 0;
    for (int n = 0; n < 3; n++) sum += generator() / 4294967296.0 - 0.5;
    value = offset + 2 * spread * sum;
  }
  return result;
}

template <typename T>
std::vector<T> elements(const Numbers& numbers) {
  std::vector<T> result;
  for (double value : numbers) result.push_back(crab::rounded<T>(static_cast<float>(value)));
  return result;
}

template <typename T>
Numbers numbers(const std::vector<T>& values) {
  Numbers result;
  for (const T& value : values) result.push_back(crab::single(value));
  return result;
}

// Room for results: no numbers, so that what no thread writes shows.
template <typename T>
std::vector<T> room(size_t count) {
  return std::vector<T>(count, crab::rounded<T>(NAN));
}

// The numbers as elements hold them.
template <typename T>
Numbers asHeld(const Numbers& values) {
  return numbers(elements<T>(values));
}

template <typename T>
constexpr crab::ElementKind kindOf();
template <>
constexpr crab::ElementKind kindOf<float>() {
  return crab::ElementKind::f32;
}
template <>
constexpr crab::ElementKind kindOf<__half>() {
  return crab::ElementKind::f16;
}
template <>
constexpr crab::ElementKind kindOf<__nv_bfloat16>() {
  return crab::ElementKind::bf16;
}

inline void report(const std::string& name, const Numbers& found, const Numbers& expected) {
  double largest = 0, difference = found.size() == expected.size() ? 0 : INFINITY;
  uint64_t sum = 0;
  for (size_t n = 0; n < expected.size() && n < found.size(); n++) {
    largest = std::max(largest, std::abs(expected[n]));
    const double here = std::abs(found[n] - expected[n]);
    if (!(here <= difference)) difference = here;
    uint64_t bits;
    std::memcpy(&bits, &found[n], sizeof bits);
    sum = (sum ^ bits) * 0x100000001b3;
  }
  std::printf("%s\t%.3e\t%016llx\n", name.c_str(), difference / std::max(largest, 1e-12),
              static_cast<unsigned long long>(sum));
}

inline void require(const char* error) {
  if (error != nullptr) emulated::give_up(error);
}

}  // namespace checks
