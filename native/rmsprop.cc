// crab::rmsprop_: one step of RMSprop for one parameter in one pass over memory. By libtorch's operators it
// takes six, and the square roots and quotients, which are slow, wait for memory instead of hiding behind it.
//
//     a = alpha a + (1 - alpha) g^2,     p = p - rate g / (sqrt(a) + eps)
//
// The kernel takes f32 and f64 on a CPU where parameter, gradient and average lie alike and without gaps;
// everything else goes through libtorch's operators.
#include "handles.h"
#include "vectorised.h"

#include <ATen/Parallel.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>

#ifdef CRAB_VECTORISES
#include <immintrin.h>
#endif

namespace crab {

namespace {

using at::Tensor;

struct Numbers {
  double rate, alpha, eps;
};

// Values that go through the steps below together: they stay in the first cache.
constexpr int64_t kBlock = 1024;

template <typename T>
void squareRootsPlain(const T* x, T* roots, int64_t count) {
  for (int64_t i = 0; i < count; i++) roots[i] = std::sqrt(x[i]);
}

// A compiler that must keep errno, as ours must, calls sqrt for one value at a time.
#ifdef CRAB_VECTORISES
__attribute__((target("avx"))) void squareRootsWide(const float* x, float* roots, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) _mm256_storeu_ps(roots + i, _mm256_sqrt_ps(_mm256_loadu_ps(x + i)));
  squareRootsPlain(x + i, roots + i, count - i);
}

__attribute__((target("avx"))) void squareRootsWide(const double* x, double* roots, int64_t count) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) _mm256_storeu_pd(roots + i, _mm256_sqrt_pd(_mm256_loadu_pd(x + i)));
  squareRootsPlain(x + i, roots + i, count - i);
}
#endif

template <typename T>
void squareRoots(const T* x, T* roots, int64_t count) {
#ifdef CRAB_VECTORISES
  static const bool wide = __builtin_cpu_supports("avx");
  if (wide) return squareRootsWide(x, roots, count);
#endif
  squareRootsPlain(x, roots, count);
}

template <typename T>
CRAB_VECTORISED void averageSquares(const T* __restrict gradient, T* __restrict average, int64_t count, T alpha,
                                    T rest) {
  for (int64_t i = 0; i < count; i++) average[i] = average[i] * alpha + rest * gradient[i] * gradient[i];
}

template <typename T>
CRAB_VECTORISED void descend(T* __restrict parameter, const T* __restrict gradient, const T* __restrict roots,
                             int64_t count, T rate, T eps) {
  for (int64_t i = 0; i < count; i++) parameter[i] -= rate * gradient[i] / (roots[i] + eps);
}

template <typename T>
void stepAll(const Tensor& parameter, const Tensor& gradient, const Tensor& average, const Numbers& numbers) {
  T* p = parameter.data_ptr<T>();
  const T* g = gradient.data_ptr<T>();
  T* a = average.data_ptr<T>();
  at::parallel_for(0, parameter.numel(), at::internal::GRAIN_SIZE, [&](int64_t from, int64_t to) {
    T roots[kBlock];
    for (int64_t at = from; at < to; at += kBlock) {
      const int64_t count = std::min(kBlock, to - at);
      averageSquares<T>(g + at, a + at, count, static_cast<T>(numbers.alpha), static_cast<T>(1 - numbers.alpha));
      squareRoots<T>(a + at, roots, count);
      descend<T>(p + at, g + at, roots, count, static_cast<T>(numbers.rate), static_cast<T>(numbers.eps));
    }
  });
  // Autograd must notice that these tensors changed.
  parameter.unsafeGetTensorImpl()->bump_version();
  average.unsafeGetTensorImpl()->bump_version();
}

bool liesAs(const Tensor& x, const Tensor& parameter) {
  return x.layout() == at::kStrided && x.device() == parameter.device() &&
         x.scalar_type() == parameter.scalar_type() && x.sizes() == parameter.sizes() &&
         x.strides() == parameter.strides();
}

bool hasKernel(const Tensor& parameter, const Tensor& gradient, const Tensor& average) {
  const auto type = parameter.scalar_type();
  return parameter.is_cpu() && parameter.layout() == at::kStrided && (type == at::kFloat || type == at::kDouble) &&
         parameter.is_non_overlapping_and_dense() && liesAs(gradient, parameter) && liesAs(average, parameter);
}

void rmsprop(const Tensor& parameter, const Tensor& gradient, const Tensor& average, double rate, double alpha,
             double eps) {
  const at::NoGradGuard guard;
  const Numbers numbers{rate, alpha, eps};
  if (!hasKernel(parameter, gradient, average)) {
    average.mul_(alpha).addcmul_(gradient, gradient, 1 - alpha);
    parameter.addcdiv_(gradient, average.sqrt().add_(eps), -rate);
  } else {
    byType(parameter, [&](auto type) { stepAll<decltype(type)>(parameter, gradient, average, numbers); });
  }
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(crab, library) {
  library.def(
      "rmsprop_(Tensor(a!) parameter, Tensor gradient, Tensor(b!) average, float rate, float alpha, float eps) -> ()");
  library.impl("rmsprop_", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(rmsprop));
}

}  // namespace crab
