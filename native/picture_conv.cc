// crab::picture_maps and crab::picture_moments: what the first stage of a network on pictures needs
// (src/torch/nn/picture-stage.ts), by kernels of our own on a GPU (picture_conv.h). crab::has_picture_kernels
// tells whether they take such pictures; everything else goes through libtorch's operators.
#include "picture_conv.h"

#include "handles.h"
#include "window.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <cmath>

#ifdef CRAB_CUDA_KERNELS
#include "cuda_elements.h"
#endif

namespace crab {

namespace {

using at::Tensor;

#ifdef CRAB_CUDA_KERNELS
PictureShape shapeOf(const Tensor& pictures, const Window& window, int64_t channels, bool narrow) {
  const int64_t height = pictures.size(2), width = pictures.size(3);
  return {pictures.size(0),
          static_cast<int>(height),
          static_cast<int>(width),
          static_cast<int>(window.places(height)),
          static_cast<int>(window.places(width)),
          static_cast<int>(window.stride),
          static_cast<int>(window.padding),
          static_cast<int>(channels),
          narrow,
          currentStream()};
}

struct PictureMaps : torch::autograd::Function<PictureMaps> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& given, const Tensor& weights,
                        const Window& window, bool narrow) {
    const c10::cuda::CUDAGuard guard(given.device());
    const Tensor pictures = given.contiguous(), kernels = weights.contiguous();
    const PictureShape shape = shapeOf(pictures, window, weights.size(0), narrow);
    const Tensor maps = at::empty({shape.pictures, shape.channels, shape.rows, shape.columns},
                                  pictures.options().dtype(narrow ? at::kBFloat16 : at::kFloat),
                                  at::MemoryFormat::ChannelsLast);
    requireLaunched(cudaPictureMaps(shape, pictures.data_ptr<float>(), kernels.data_ptr<float>(), maps.data_ptr()));
    context->save_for_backward({pictures, kernels});
    context->saved_data["window"] = window.saved();
    return maps;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    TORCH_CHECK(!at::GradMode::is_enabled(), "picture_maps has no second derivative");
    const auto saved = context->get_saved_variables();
    const Tensor &pictures = saved[0], &kernels = saved[1];
    const c10::cuda::CUDAGuard guard(pictures.device());
    const Window window = Window::from(context->saved_data["window"].toIntVector());
    const Tensor gradient = aligned(gradients[0].contiguous(at::MemoryFormat::ChannelsLast));
    const bool narrow = gradient.scalar_type() == at::kBFloat16;
    const PictureShape shape = shapeOf(pictures, window, kernels.size(0), narrow);
    const Tensor scratch = at::empty({cudaPictureScratch(shape)}, kernels.options());
    const Tensor result = at::empty_like(kernels);
    requireLaunched(cudaPictureGradient(shape, pictures.data_ptr<float>(), kernels.data_ptr<float>(),
                                        gradient.data_ptr(), scratch.data_ptr<float>(), result.data_ptr<float>()));
    return {Tensor(), result, Tensor(), Tensor()};
  }
};
#endif

bool hasPictureKernels(const Tensor& pictures, int64_t channels, int64_t kernel, int64_t stride, int64_t padding) {
#ifdef CRAB_CUDA_KERNELS
  const bool isPlain = kernel == kPictureSide && stride > 0 && padding >= 0 && padding < kernel;
  if (!isPlain || !pictures.is_cuda() || pictures.scalar_type() != at::kFloat || pictures.requires_grad() ||
      channels > INT32_MAX || !hasIntSizes(pictures)) {
    return false;
  }
  return cudaPicturesTake(shapeOf(pictures, {kernel, stride, padding}, channels, false));
#else
  (void)pictures, (void)channels, (void)kernel, (void)stride, (void)padding;
  return false;
#endif
}

// Pictures [B, 1, H, W] and weights [C, taps + 1], the last of which is for a one, to maps [B, C, H', W'] after a
// ReLU. `narrow`: maps are bf16, whatever autocast says. Only the weights have a gradient.
Tensor pictureMaps(const Tensor& pictures, const Tensor& weights, int64_t stride, int64_t padding, bool narrow) {
  TORCH_CHECK(pictures.dim() == 4 && pictures.size(1) == 1, "expected pictures [B, 1, H, W]");
  TORCH_CHECK(weights.dim() == 2, "expected weights [C, taps + 1]");
  TORCH_CHECK(weights.device() == pictures.device(), "expected weights on the pictures' device, ", pictures.device());
  const int64_t taps = weights.size(1) - 1, channels = weights.size(0);
  const auto kernel = static_cast<int64_t>(std::sqrt(static_cast<double>(taps)));
  TORCH_CHECK(taps > 0 && kernel * kernel == taps, "expected weights of a square window");
#ifdef CRAB_CUDA_KERNELS
  if (weights.scalar_type() == at::kFloat && hasPictureKernels(pictures, channels, kernel, stride, padding)) {
    return PictureMaps::apply(pictures, weights, Window{kernel, stride, padding}, narrow);
  }
#endif
  const c10::impl::ExcludeDispatchKeyGuard withoutAutocast(c10::autocast_dispatch_keyset);
  const Tensor kernels = weights.narrow(1, 0, taps).reshape({channels, 1, kernel, kernel});
  const Tensor maps = at::relu(at::conv2d(pictures, kernels, weights.select(1, taps), stride, padding));
  return narrow ? maps.to(at::kBFloat16) : maps;
}

// Means and covariances of the pixels under a window, counted from white (1): [1 + taps, taps], the means first.
Tensor pictureMoments(const Tensor& pictures, int64_t kernel, int64_t stride, int64_t padding) {
  TORCH_CHECK(pictures.dim() == 4 && pictures.size(1) == 1, "expected pictures [B, 1, H, W]");
  const at::NoGradGuard noGrad;
  const int64_t taps = kernel * kernel;
#ifdef CRAB_CUDA_KERNELS
  // Any number of channels will do: moments have none.
  if (hasPictureKernels(pictures, 4, kernel, stride, padding)) {
    const c10::cuda::CUDAGuard guard(pictures.device());
    const Tensor own = pictures.contiguous();
    const Tensor scratch = at::empty({cudaMomentScratch()}, own.options());
    const Tensor moments = at::empty({1 + taps, taps}, own.options());
    requireLaunched(cudaPictureMoments(shapeOf(own, {kernel, stride, padding}, 4, false), own.data_ptr<float>(),
                                       scratch.data_ptr<float>(), moments.data_ptr<float>()));
    return moments;
  }
#endif
  const c10::impl::ExcludeDispatchKeyGuard withoutAutocast(c10::autocast_dispatch_keyset);
  const Tensor padded = at::constant_pad_nd(pictures.sub(1), {padding, padding, padding, padding}, -1);
  const Tensor windows = padded.unfold(2, kernel, stride).unfold(3, kernel, stride).reshape({-1, taps});
  const Tensor means = windows.mean(0, true);
  const Tensor centred = windows.sub(means);
  return at::cat({means, centred.t().matmul(centred).div(windows.size(0))});
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(crab, library) {
  library.def("has_picture_kernels(Tensor pictures, int channels, int kernel, int stride, int padding) -> bool");
  library.impl("has_picture_kernels", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(hasPictureKernels));
  library.def("picture_maps(Tensor pictures, Tensor weights, int stride, int padding, bool narrow) -> Tensor");
  library.impl("picture_maps", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(pictureMaps));
  library.def("picture_moments(Tensor pictures, int kernel, int stride, int padding) -> Tensor");
  library.impl("picture_moments", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(pictureMoments));
}

}  // namespace crab
