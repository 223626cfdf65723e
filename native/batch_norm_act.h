// The kernels of crab::batch_norm_act on a GPU, by plain pointers, so that nvcc reads none of libtorch's
// headers. Data is [rows, channels] in memory: what a channels-last image is.
#pragma once

#include "element_kinds.h"

#include <cstdint>

namespace crab {

struct NormShape {
  int64_t rows;
  int channels;
  ElementKind element;
  // Slope of the leaky ReLU that follows; 0 is a ReLU.
  float slope;
  // A cudaStream_t.
  void* stream;
};

// Whether the kernels take this many channels.
bool cudaNormTakes(int64_t channels, ElementKind element);
// Floats of scratch memory that both passes need.
int64_t cudaNormScratch(const NormShape& shape);

struct NormForward {
  const void* x;
  // Added before the activation, of the shape of x; null: nothing is.
  const void* residual;
  const float* weight;
  const float* bias;
  // May be null, both or none.
  float* runningMean;
  float* runningVariance;
  float momentum;
  float eps;
  void* y;
  float* mean;
  float* inverseDeviation;
  float* scratch;
};

struct NormBackward {
  const void* x;
  // If something was added: the output, and where the gradient of what was added goes. The slope must be 0.
  const void* y;
  void* residualGradient;
  const void* gradient;
  const float* weight;
  const float* bias;
  const float* mean;
  const float* inverseDeviation;
  void* inputGradient;
  float* weightGradient;
  float* biasGradient;
  float* scratch;
};

// Both return nullptr, or what CUDA says is wrong.
const char* cudaNormForward(const NormShape& shape, const NormForward& pass);
const char* cudaNormBackward(const NormShape& shape, const NormBackward& pass);

}  // namespace crab
