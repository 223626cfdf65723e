// The kernels of max pooling against plain loops.
#include "checks.h"
#include "max_pool.h"

using namespace checks;

namespace {

struct Case {
  int maps, height, width, channels, kernel, stride, padding;
};

template <typename T>
void check(const std::string& type, const Case& of) {
  const int rows = (of.height + 2 * of.padding - of.kernel) / of.stride + 1;
  const int columns = (of.width + 2 * of.padding - of.kernel) / of.stride + 1;
  const size_t inputs = size_t(of.maps) * of.height * of.width * of.channels;
  const size_t outputs = size_t(of.maps) * rows * columns * of.channels;
  // Whole numbers, so that many are equal, and sums are exact.
  Numbers maps = drawn(inputs, 1, 0, 4), gradients = drawn(outputs, 2, 0, 9);
  for (Numbers* each : {&maps, &gradients}) {
    for (double& value : *each) value = std::round(value);
  }
  Numbers largest(outputs, -INFINITY), expected(inputs, 0);
  for (size_t out = 0; out < outputs; out++) {
    const int channel = out % of.channels, column = out / of.channels % columns;
    const int row = out / of.channels / columns % rows, map = out / of.channels / columns / rows;
    size_t winner = inputs;
    for (int tap = 0; tap < of.kernel * of.kernel; tap++) {
      const int y = row * of.stride - of.padding + tap / of.kernel;
      const int x = column * of.stride - of.padding + tap % of.kernel;
      if (y < 0 || x < 0 || y >= of.height || x >= of.width) continue;
      const size_t at = ((size_t(map) * of.height + y) * of.width + x) * of.channels + channel;
      if (winner == inputs || maps[at] > largest[out]) {
        largest[out] = maps[at];
        winner = at;
      }
    }
    expected[winner] += gradients[out];
  }
  const crab::PoolShape shape{of.maps,   of.height, of.width,   of.channels,  rows,   columns,
                              of.kernel, of.stride, of.padding, kindOf<T>(), nullptr};
  if (!crab::cudaPoolTakes(shape)) emulated::give_up("max pooling does not take a case");
  const auto x = elements<T>(maps), gradient = elements<T>(gradients);
  auto result = room<T>(outputs), back = room<T>(inputs);
  std::vector<uint8_t> taps(outputs);
  require(crab::cudaPoolForward(shape, x.data(), result.data(), taps.data()));
  require(crab::cudaPoolBackward(shape, gradient.data(), taps.data(), back.data()));
  const std::string name = "max pool " + type + " " + std::to_string(of.height) + "x" + std::to_string(of.width) +
                           " by " + std::to_string(of.kernel) + "/" + std::to_string(of.stride) + " ";
  report(name + "output", numbers(result), largest);
  report(name + "gradient", numbers(back), expected);
}

}  // namespace

void checkMaxPool() {
  const Case cases[] = {{3, 40, 40, 64, 3, 2, 1}, {2, 7, 10, 8, 3, 2, 1}, {2, 9, 8, 16, 2, 2, 0},
                        {1, 6, 5, 8, 3, 1, 1},    {1, 5, 5, 24, 2, 3, 1}, {2, 9, 9, 8, 5, 2, 2}};
  for (const Case& each : cases) {
    check<float>("f32", each);
    check<__half>("f16", each);
    check<__nv_bfloat16>("bf16", each);
  }
}
