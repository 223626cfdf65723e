// The kernels of batch normalisation against the formulas in f64.
#include "batch_norm_act.h"
#include "checks.h"

using namespace checks;

namespace {

struct Case {
  int64_t rows;
  int channels;
  float slope;
  bool adds;
};

struct Expected {
  Numbers y, mean, inverse, runningMean, runningVariance, input, weight, bias, residual;
};

constexpr double kMomentum = 0.3, kEps = 1e-5;

struct Inputs {
  Numbers x, residual, gradient, weight, bias, runningMean, runningVariance;
};

Expected byFormula(const Case& given, const Inputs& in) {
  const int64_t rows = given.rows, channels = given.channels;
  Expected out{in.x, in.weight, in.weight, in.runningMean, in.runningVariance, in.x, in.weight, in.weight, in.x};
  for (int64_t c = 0; c < channels; c++) {
    double sum = 0, squares = 0;
    for (int64_t r = 0; r < rows; r++) sum += in.x[r * channels + c];
    const double mean = sum / rows;
    for (int64_t r = 0; r < rows; r++) squares += std::pow(in.x[r * channels + c] - mean, 2);
    const double variance = squares / rows, inverse = 1 / std::sqrt(variance + kEps);
    out.mean[c] = mean;
    out.inverse[c] = inverse;
    out.runningMean[c] += kMomentum * (mean - in.runningMean[c]);
    out.runningVariance[c] += kMomentum * (squares / (rows - 1) - in.runningVariance[c]);
    double gradients = 0, products = 0;
    for (int64_t r = 0; r < rows; r++) {
      const int64_t at = r * channels + c;
      const double before =
          (in.x[at] - mean) * inverse * in.weight[c] + in.bias[c] + (given.adds ? in.residual[at] : 0);
      out.y[at] = before > 0 ? before : before * given.slope;
      out.residual[at] = in.gradient[at] * (before > 0 ? 1 : given.slope);
      gradients += out.residual[at];
      products += out.residual[at] * (in.x[at] - mean) * inverse;
    }
    out.bias[c] = gradients;
    out.weight[c] = products;
    for (int64_t r = 0; r < rows; r++) {
      const int64_t at = r * channels + c;
      const double normalized = (in.x[at] - mean) * inverse;
      out.input[at] =
          in.weight[c] * inverse * (out.residual[at] - gradients / rows - normalized * products / rows);
    }
  }
  return out;
}

template <typename T>
void check(const std::string& type, const Case& given) {
  const size_t all = given.rows * given.channels, channels = given.channels;
  const Inputs in{asHeld<T>(drawn(all, 1, 2, 3)),     asHeld<T>(drawn(all, 2, 0.5)), asHeld<T>(drawn(all, 3)),
                  asHeld<float>(drawn(channels, 4, 1)), asHeld<float>(drawn(channels, 5)),
                  asHeld<float>(drawn(channels, 6, 1)), asHeld<float>(drawn(channels, 7, 5, 0.5))};
  const Expected expected = byFormula(given, in);
  const auto x = elements<T>(in.x), residual = elements<T>(in.residual), gradient = elements<T>(in.gradient);
  const auto weight = elements<float>(in.weight), bias = elements<float>(in.bias);
  auto runningMean = elements<float>(in.runningMean), runningVariance = elements<float>(in.runningVariance);
  auto y = room<T>(all), inputGradient = room<T>(all), residualGradient = room<T>(all);
  auto mean = room<float>(channels), inverse = room<float>(channels);
  auto weightGradient = room<float>(channels), biasGradient = room<float>(channels);
  const crab::NormShape shape{given.rows, given.channels, kindOf<T>(), given.slope, nullptr};
  auto scratch = room<float>(crab::cudaNormScratch(shape));
  require(crab::cudaNormForward(
      shape, {x.data(), given.adds ? residual.data() : nullptr, weight.data(), bias.data(), runningMean.data(),
              runningVariance.data(), static_cast<float>(kMomentum), static_cast<float>(kEps), y.data(), mean.data(),
              inverse.data(), scratch.data()}));
  require(crab::cudaNormBackward(
      shape, {x.data(), given.adds ? y.data() : nullptr, given.adds ? residualGradient.data() : nullptr,
              gradient.data(), weight.data(), bias.data(), mean.data(), inverse.data(), inputGradient.data(),
              weightGradient.data(), biasGradient.data(), scratch.data()}));
  const std::string name = "batch norm " + type + " " + std::to_string(given.rows) + "x" +
                           std::to_string(channels) + (given.adds ? " added" : "") +
                           (given.slope == 0 ? " relu " : " leaky ");
  report(name + "output", numbers(y), expected.y);
  report(name + "mean", numbers(mean), expected.mean);
  report(name + "deviation", numbers(inverse), expected.inverse);
  report(name + "running mean", numbers(runningMean), expected.runningMean);
  report(name + "running variance", numbers(runningVariance), expected.runningVariance);
  report(name + "input gradient", numbers(inputGradient), expected.input);
  report(name + "weight gradient", numbers(weightGradient), expected.weight);
  report(name + "bias gradient", numbers(biasGradient), expected.bias);
  if (given.adds) report(name + "gradient of what was added", numbers(residualGradient), expected.residual);
}

}  // namespace

void checkBatchNorm() {
  const Case cases[] = {{300, 8, 0.02f, false}, {5000, 64, 0, false}, {5000, 64, 0, true}, {77, 512, 0, true}};
  for (const Case& each : cases) {
    check<float>("f32", each);
    check<__half>("f16", each);
    check<__nv_bfloat16>("bf16", each);
  }
}
