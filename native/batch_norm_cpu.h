// Batch normalisation by the batch's own statistics with a leaky ReLU behind it, on a CPU, for data that lies
// in rows of channels: [rows, channels], or a channels-last image. A batch may be spread over processes: each
// joins the totals over its own rows with those of the others before they are used.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <vector>

namespace crab {

struct NormSettings {
  double momentum, eps;
  // Of the leaky ReLU: 0 is a ReLU, 1 leaves values as they are.
  double slope;
};

// Undefined, both or none: statistics are then not kept.
struct RunningStatistics {
  at::Tensor mean, variance;
};

// Adds the totals of other processes to these; empty for a batch of one process.
using JoinTotals = std::function<void(std::vector<double>&)>;

struct NormResult {
  at::Tensor y, mean, inverseDeviation;
};

struct NormGradients {
  at::Tensor input;
  // Of this process's rows alone.
  at::Tensor weight, bias;
};

// Rows of a [N, C, ...] tensor.
int64_t rowsOf(const at::Tensor& x);

// Whether data lies in rows.
bool liesInRows(const at::Tensor& x);

// x lies in rows, in f32 or f64; weight, bias and running statistics are [channels], contiguous, of its type.
// A process may have no rows, but all of them together need more than one.
NormResult cpuNormForward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          const RunningStatistics& running, const NormSettings& settings, const JoinTotals& join);

// `gradient` lies as x does.
NormGradients cpuNormBackward(const at::Tensor& x, const at::Tensor& gradient, const at::Tensor& weight,
                              const at::Tensor& bias, const NormResult& result, double slope, const JoinTotals& join);

// Both with autograd, for data that has a kernel; see batch_norm_act.cc.
at::Tensor normAct(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                   const RunningStatistics& running, const NormSettings& settings, const JoinTotals& join);

}  // namespace crab
