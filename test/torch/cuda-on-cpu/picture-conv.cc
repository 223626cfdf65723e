// The kernels of the first stage on pictures against the formulas in f64.
#include "checks.h"
#include "picture_conv.h"

using namespace checks;

namespace {

constexpr int kTaps = crab::kPictureTaps;

struct Case {
  int pictures, height, width, stride, padding, channels;
};

// The pixels under the window at each place: [places, taps].
Numbers windowsOf(const Case& of, int rows, int columns, const Numbers& pictures) {
  Numbers windows;
  for (int place = 0; place < of.pictures * rows * columns; place++) {
    const int picture = place / columns / rows, row = place / columns % rows, column = place % columns;
    for (int tap = 0; tap < kTaps; tap++) {
      const int y = row * of.stride - of.padding + tap / 3, x = column * of.stride - of.padding + tap % 3;
      const bool inside = y >= 0 && x >= 0 && y < of.height && x < of.width;
      windows.push_back(inside ? pictures[(size_t(picture) * of.height + y) * of.width + x] : 0);
    }
  }
  return windows;
}

Numbers momentsOf(const Numbers& windows) {
  const size_t places = windows.size() / kTaps;
  Numbers moments(kTaps + kTaps * kTaps, 0);
  for (size_t n = 0; n < windows.size(); n++) moments[n % kTaps] += (windows[n] - 1) / places;
  for (size_t place = 0; place < places; place++) {
    for (int pair = 0; pair < kTaps * kTaps; pair++) {
      const int a = pair / kTaps, b = pair % kTaps;
      const double one = windows[place * kTaps + a] - 1 - moments[a];
      moments[kTaps + pair] += one * (windows[place * kTaps + b] - 1 - moments[b]) / places;
    }
  }
  return moments;
}

template <typename T>
void check(const std::string& type, const Case& of) {
  const int rows = (of.height + 2 * of.padding - 3) / of.stride + 1;
  const int columns = (of.width + 2 * of.padding - 3) / of.stride + 1;
  const Numbers pictures = asHeld<float>(drawn(size_t(of.pictures) * of.height * of.width, 1, 0.6, 0.3));
  const Numbers windows = windowsOf(of, rows, columns, pictures);
  const size_t places = windows.size() / kTaps, channels = of.channels;
  const Numbers weights = asHeld<float>(drawn(channels * (kTaps + 1), 2)), gradients = asHeld<T>(drawn(places * channels, 3));
  Numbers maps(places * channels), expected(weights.size(), 0);
  for (size_t at = 0; at < maps.size(); at++) {
    const double *window = &windows[at / channels * kTaps], *kernel = &weights[at % channels * (kTaps + 1)];
    double sum = kernel[kTaps];
    for (int tap = 0; tap < kTaps; tap++) sum += kernel[tap] * window[tap];
    maps[at] = std::max(sum, 0.0);
    if (sum <= 0) continue;
    double* to = &expected[at % channels * (kTaps + 1)];
    for (int tap = 0; tap < kTaps; tap++) to[tap] += gradients[at] * window[tap];
    to[kTaps] += gradients[at];
  }
  const bool narrow = kindOf<T>() == crab::ElementKind::bf16;
  const crab::PictureShape shape{of.pictures, of.height, of.width,    rows,   columns,
                                 of.stride,   of.padding, of.channels, narrow, nullptr};
  if (!crab::cudaPicturesTake(shape)) emulated::give_up("the first stage does not take a case");
  const auto in = elements<float>(pictures), kernels = elements<float>(weights);
  const auto gradient = elements<T>(gradients);
  auto out = room<T>(maps.size());
  auto moments = room<float>(kTaps + kTaps * kTaps), result = room<float>(weights.size());
  auto scratch = room<float>(std::max(crab::cudaMomentScratch(), crab::cudaPictureScratch(shape)));
  if (!narrow) require(crab::cudaPictureMoments(shape, in.data(), scratch.data(), moments.data()));
  require(crab::cudaPictureMaps(shape, in.data(), kernels.data(), out.data()));
  require(crab::cudaPictureGradient(shape, in.data(), kernels.data(), gradient.data(), scratch.data(), result.data()));
  const std::string name = "first stage " + type + " " + std::to_string(of.height) + "x" + std::to_string(of.width) +
                           "/" + std::to_string(of.stride) + " to " + std::to_string(channels) + " ";
  // Moments are those of the pictures, whatever the maps are.
  if (!narrow) report(name + "moments", numbers(moments), momentsOf(windows));
  report(name + "maps", numbers(out), maps);
  report(name + "gradient", numbers(result), expected);
}

// Weights that are no numbers, as after a training that went wrong, give maps that are none.
void checkNoNumbers() {
  const crab::PictureShape shape{1, 6, 6, 6, 6, 1, 1, 4, false, nullptr};
  const auto pictures = elements<float>(drawn(36, 1)), kernels = room<float>(4 * (kTaps + 1));
  auto maps = elements<float>(Numbers(36 * 4, 0));
  require(crab::cudaPictureMaps(shape, pictures.data(), kernels.data(), maps.data()));
  Numbers areNone;
  for (float value : maps) areNone.push_back(std::isnan(value));
  report("first stage f32 of weights that are no numbers", areNone, Numbers(maps.size(), 1));
}

}  // namespace

void checkPictureConv() {
  const Case cases[] = {{5, 16, 20, 2, 1, 32}, {3, 9, 11, 1, 1, 4}, {2, 12, 12, 2, 0, 128}};
  for (const Case& each : cases) check<float>("f32", each);
  check<__nv_bfloat16>("bf16", cases[0]);
  checkNoNumbers();
}
