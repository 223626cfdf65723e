// The kernels of picture_conv.cc on a GPU, by plain pointers, so that nvcc reads none of libtorch's headers.
// Pictures are f32 [pictures, height, width]; windows are 3x3, and beyond a picture's border pixels are 0.
#pragma once

#include <cstdint>

namespace crab {

constexpr int kPictureSide = 3;
constexpr int kPictureTaps = kPictureSide * kPictureSide;

struct PictureShape {
  int64_t pictures;
  int height, width;
  // Places of the window on each picture.
  int rows, columns;
  int stride, padding;
  int channels;
  // Maps are bf16; else f32.
  bool narrow;
  // A cudaStream_t.
  void* stream;
};

// Whether the kernels take this many channels and places.
bool cudaPicturesTake(const PictureShape& shape);
// Floats of scratch memory: for the moments, and for the gradient.
int64_t cudaMomentScratch();
int64_t cudaPictureScratch(const PictureShape& shape);

// All three return nullptr, or what CUDA says is wrong.

// moments [1 + 9, 9]: means of the pixels under the window, less 1 (white), then their covariances.
const char* cudaPictureMoments(const PictureShape& shape, const float* pictures, float* scratch, float* moments);
// maps [pictures, rows, columns, channels] = relu(weights [channels, 9 + 1] times the window and a one).
const char* cudaPictureMaps(const PictureShape& shape, const float* pictures, const float* weights, void* maps);
// The gradient of the weights, [channels, 9 + 1], from that of the maps.
const char* cudaPictureGradient(const PictureShape& shape, const float* pictures, const float* weights,
                                const void* gradient, float* scratch, float* result);

}  // namespace crab
