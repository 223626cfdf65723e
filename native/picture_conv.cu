// Pictures of one channel through a 3x3 convolution and a ReLU, on a GPU. A window has nine pixels, so that there
// is hardly any arithmetic: what counts is how often the maps, many times larger than the pictures, pass through
// memory. Forward writes them once, backward reads their gradient once and nothing else of that size: it finds
// out anew which outputs were above zero. All sums are in f32 and in a fixed order.
#include "picture_conv.h"

#include "elements.h"

namespace crab {

namespace {

constexpr int kTaps = kPictureTaps;
constexpr int kSide = kPictureSide;
constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;
constexpr int kBlocks = 4 * 132;
// Channels of one thread.
constexpr int kWidth = 4;
constexpr int kRow = kTaps + 1;
// Sums of the pixels of a window, and of the products of each pair.
constexpr int kMoments = kTaps + kTaps * (kTaps + 1) / 2;
constexpr unsigned kAllLanes = 0xffffffffu;

// The pixels under the window at a place, less `white`.
__device__ void readWindow(const PictureShape& shape, const float* pictures, unsigned place, float white,
                           float (&pixels)[kTaps]) {
  const unsigned line = place / shape.columns;
  const int x = static_cast<int>(place % shape.columns) * shape.stride - shape.padding;
  const int y = static_cast<int>(line % shape.rows) * shape.stride - shape.padding;
  const float* picture = pictures + static_cast<int64_t>(line / shape.rows) * shape.height * shape.width;
#pragma unroll
  for (int row = 0; row < kSide; row++) {
#pragma unroll
    for (int column = 0; column < kSide; column++) {
      const int atY = y + row, atX = x + column;
      const bool inside = atY >= 0 && atY < shape.height && atX >= 0 && atX < shape.width;
      pixels[row * kSide + column] = (inside ? picture[atY * shape.width + atX] : 0.f) - white;
    }
  }
}

// A thread's part of the work: always the same channels, every `step`-th place.
struct Part {
  unsigned place, step, places;
  int pack, packs;

  __device__ Part(const PictureShape& shape, int packsOfPlace) : packs(packsOfPlace) {
    const int lanes = kThreads / packs;
    pack = threadIdx.x % packs;
    place = blockIdx.x * lanes + threadIdx.x / packs;
    step = gridDim.x * lanes;
    places = static_cast<unsigned>(shape.pictures * shape.rows * shape.columns);
  }
};

// The weights of a thread's channels.
struct Kernels {
  float weight[kWidth][kRow];

  __device__ Kernels(const float* weights, int pack) {
#pragma unroll
    for (int i = 0; i < kWidth; i++) {
#pragma unroll
      for (int tap = 0; tap < kRow; tap++) weight[i][tap] = weights[(pack * kWidth + i) * kRow + tap];
    }
  }

  __device__ float output(int channel, const float (&pixels)[kTaps]) const {
    float sum = weight[channel][kTaps];
#pragma unroll
    for (int tap = 0; tap < kTaps; tap++) sum += weight[channel][tap] * pixels[tap];
    return sum;
  }
};

// Adds up values over all blocks: partial [blocks, count] to result [count], one block for each value.
__global__ void addBlocks(const float* partial, int blocks, int count, float* result) {
  __shared__ float lanes[kThreads];
  float sum = 0;
  for (int block = threadIdx.x; block < blocks; block += kThreads) {
    sum += partial[static_cast<int64_t>(block) * count + blockIdx.x];
  }
  lanes[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) lanes[threadIdx.x] += lanes[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) result[blockIdx.x] = lanes[0];
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    pictureMaps(PictureShape shape, const float* pictures, const float* weights, T* maps) {
  Part part(shape, shape.channels / kWidth);
  const Kernels kernels(weights, part.pack);
  auto* out = reinterpret_cast<Pack<T, kWidth>*>(maps);
  for (; part.place < part.places; part.place += part.step) {
    float pixels[kTaps];
    readWindow(shape, pictures, part.place, 0.f, pixels);
    Pack<T, kWidth> values;
#pragma unroll
    for (int i = 0; i < kWidth; i++) {
      const float output = kernels.output(i, pixels);
      // What is no number stays none, so that it is not lost from sight.
      values.value[i] = rounded<T>(output <= 0 ? 0.f : output);
    }
    out[static_cast<int64_t>(part.place) * part.packs + part.pack] = values;
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 2)
    pictureGradient(PictureShape shape, const float* pictures, const float* weights, const T* gradient,
                    float* partial) {
  extern __shared__ float shared[];  // [warps, channels, taps + 1]
  Part part(shape, shape.channels / kWidth);
  const Kernels kernels(weights, part.pack);
  const auto* in = reinterpret_cast<const Pack<T, kWidth>*>(gradient);
  float sums[kWidth][kRow] = {};
  for (; part.place < part.places; part.place += part.step) {
    float pixels[kTaps];
    readWindow(shape, pictures, part.place, 0.f, pixels);
    const Pack<T, kWidth> from = in[static_cast<int64_t>(part.place) * part.packs + part.pack];
#pragma unroll
    for (int i = 0; i < kWidth; i++) {
      const float g = kernels.output(i, pixels) <= 0 ? 0.f : single(from.value[i]);
#pragma unroll
      for (int tap = 0; tap < kTaps; tap++) sums[i][tap] += g * pixels[tap];
      sums[i][kTaps] += g;
    }
  }
  // Lanes of a warp with the same channels, then warps, then blocks.
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int values = shape.channels * kRow;
#pragma unroll
  for (int i = 0; i < kWidth; i++) {
#pragma unroll
    for (int tap = 0; tap < kRow; tap++) {
      for (int other = kWarp / 2; other >= part.packs; other /= 2) {
        sums[i][tap] += __shfl_xor_sync(kAllLanes, sums[i][tap], other);
      }
      if (lane < part.packs) shared[warp * values + (lane * kWidth + i) * kRow + tap] = sums[i][tap];
    }
  }
  __syncthreads();
  for (int value = threadIdx.x; value < values; value += kThreads) {
    float sum = 0;
    for (int each = 0; each < kWarps; each++) sum += shared[each * values + value];
    partial[static_cast<int64_t>(blockIdx.x) * values + value] = sum;
  }
}

__global__ void __launch_bounds__(kThreads) pictureMoments(PictureShape shape, const float* pictures, float* partial) {
  __shared__ float shared[kWarps][kMoments];
  Part part(shape, 1);
  float sums[kMoments] = {};
  for (; part.place < part.places; part.place += part.step) {
    float pixels[kTaps];
    readWindow(shape, pictures, part.place, 1.f, pixels);
    int at = kTaps;
#pragma unroll
    for (int a = 0; a < kTaps; a++) {
      sums[a] += pixels[a];
#pragma unroll
      for (int b = a; b < kTaps; b++) sums[at++] += pixels[a] * pixels[b];
    }
  }
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
#pragma unroll
  for (int n = 0; n < kMoments; n++) {
#pragma unroll
    for (int other = kWarp / 2; other > 0; other /= 2) sums[n] += __shfl_xor_sync(kAllLanes, sums[n], other);
    if (lane == 0) shared[warp][n] = sums[n];
  }
  __syncthreads();
  for (int n = threadIdx.x; n < kMoments; n += kThreads) {
    float sum = 0;
    for (int each = 0; each < kWarps; each++) sum += shared[each][n];
    partial[blockIdx.x * kMoments + n] = sum;
  }
}

// From the sums of all blocks to means and covariances, in f64. One block.
__global__ void finishMoments(const float* partial, int blocks, double count, float* moments) {
  __shared__ double means[kMoments];
  if (threadIdx.x < kMoments) {
    double sum = 0;
#pragma unroll 16
    for (int block = 0; block < blocks; block++) sum += partial[block * kMoments + threadIdx.x];
    means[threadIdx.x] = sum / count;
  }
  __syncthreads();
  if (threadIdx.x < kTaps) moments[threadIdx.x] = static_cast<float>(means[threadIdx.x]);
  for (int pair = threadIdx.x; pair < kTaps * kTaps; pair += blockDim.x) {
    const int one = pair / kTaps, two = pair % kTaps;
    const int a = one < two ? one : two, b = one < two ? two : one;
    // Pairs stand in rows that get shorter by one.
    const int at = kTaps + a * kTaps - a * (a - 1) / 2 + (b - a);
    moments[kTaps + pair] = static_cast<float>(means[at] - means[a] * means[b]);
  }
}

template <typename T>
void launchGradient(const PictureShape& shape, const float* pictures, const float* weights, const void* gradient,
                    float* scratch, float* result) {
  const auto stream = static_cast<cudaStream_t>(shape.stream);
  const int values = shape.channels * kRow;
  const size_t bytes = sizeof(float) * kWarps * values;
  pictureGradient<T><<<kBlocks, kThreads, bytes, stream>>>(shape, pictures, weights, static_cast<const T*>(gradient),
                                                           scratch);
  addBlocks<<<values, kThreads, 0, stream>>>(scratch, kBlocks, values, result);
}

}  // namespace

bool cudaPicturesTake(const PictureShape& shape) {
  const int packs = shape.channels / kWidth;
  const bool isPower = packs > 0 && (packs & (packs - 1)) == 0;
  const int64_t places = shape.pictures * shape.rows * shape.columns;
  // Places are counted in 32 bits, one step beyond the last included; pixels of a picture in as many.
  constexpr int64_t kMost = int64_t{1} << 31;
  const bool counts = shape.rows > 0 && shape.columns > 0 && places > 0 && places < kMost &&
                      int64_t{shape.height} * shape.width < kMost;
  return shape.channels % kWidth == 0 && isPower && packs <= kWarp && counts;
}

int64_t cudaMomentScratch() { return int64_t{kBlocks} * kMoments; }

int64_t cudaPictureScratch(const PictureShape& shape) { return int64_t{kBlocks} * shape.channels * kRow; }

const char* cudaPictureMoments(const PictureShape& shape, const float* pictures, float* scratch, float* moments) {
  const auto stream = static_cast<cudaStream_t>(shape.stream);
  const double count = static_cast<double>(shape.pictures) * shape.rows * shape.columns;
  pictureMoments<<<kBlocks, kThreads, 0, stream>>>(shape, pictures, scratch);
  finishMoments<<<1, kThreads, 0, stream>>>(scratch, kBlocks, count, moments);
  return lastError();
}

const char* cudaPictureMaps(const PictureShape& shape, const float* pictures, const float* weights, void* maps) {
  const auto stream = static_cast<cudaStream_t>(shape.stream);
  if (shape.narrow) {
    auto* out = static_cast<__nv_bfloat16*>(maps);
    pictureMaps<__nv_bfloat16><<<kBlocks, kThreads, 0, stream>>>(shape, pictures, weights, out);
  } else {
    pictureMaps<float><<<kBlocks, kThreads, 0, stream>>>(shape, pictures, weights, static_cast<float*>(maps));
  }
  return lastError();
}

const char* cudaPictureGradient(const PictureShape& shape, const float* pictures, const float* weights,
                                const void* gradient, float* scratch, float* result) {
  if (shape.narrow) {
    launchGradient<__nv_bfloat16>(shape, pictures, weights, gradient, scratch, result);
  } else {
    launchGradient<float>(shape, pictures, weights, gradient, scratch, result);
  }
  return lastError();
}

}  // namespace crab
