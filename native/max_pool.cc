// crab::max_pool2d: max pooling of square windows, with its gradient. Channels-last maps on a GPU go through
// kernels of our own where nvcc was at hand (max_pool.h), everything else through libtorch's operator.
#include "max_pool.h"

#include "handles.h"
#include "window.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#ifdef CRAB_CUDA_KERNELS
#include "cuda_elements.h"
#endif

namespace crab {

namespace {

using at::Tensor;

#ifdef CRAB_CUDA_KERNELS
PoolShape shapeOf(at::IntArrayRef sizes, at::ScalarType type, const Window& window) {
  return {sizes[0],
          static_cast<int>(sizes[2]),
          static_cast<int>(sizes[3]),
          static_cast<int>(sizes[1]),
          static_cast<int>(window.places(sizes[2])),
          static_cast<int>(window.places(sizes[3])),
          static_cast<int>(window.kernel),
          static_cast<int>(window.stride),
          static_cast<int>(window.padding),
          elementKind(type),
          currentStream()};
}

struct MaxPool : torch::autograd::Function<MaxPool> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Window& window) {
    const c10::cuda::CUDAGuard guard(x.device());
    const PoolShape shape = shapeOf(x.sizes(), x.scalar_type(), window);
    const auto empty = [&](at::ScalarType type) {
      return at::empty({shape.maps, shape.channels, shape.rows, shape.columns}, x.options().dtype(type),
                       at::MemoryFormat::ChannelsLast);
    };
    const Tensor result = empty(x.scalar_type()), taps = empty(at::kByte);
    requireLaunched(cudaPoolForward(shape, x.data_ptr(), result.data_ptr(), taps.data_ptr<uint8_t>()));
    context->save_for_backward({taps});
    context->saved_data["sizes"] = x.sizes().vec();
    context->saved_data["window"] = window.saved();
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    TORCH_CHECK(!at::GradMode::is_enabled(), "max_pool2d has no second derivative");
    const Tensor taps = context->get_saved_variables()[0];
    const c10::cuda::CUDAGuard guard(taps.device());
    const auto sizes = context->saved_data["sizes"].toIntVector();
    const Window window = Window::from(context->saved_data["window"].toIntVector());
    const Tensor gradient = aligned(gradients[0].contiguous(at::MemoryFormat::ChannelsLast));
    const PoolShape shape = shapeOf(sizes, gradient.scalar_type(), window);
    const Tensor result = at::empty(sizes, gradient.options(), at::MemoryFormat::ChannelsLast);
    requireLaunched(cudaPoolBackward(shape, gradient.data_ptr(), taps.data_ptr<uint8_t>(), result.data_ptr()));
    return {result, Tensor()};
  }
};

bool hasKernel(const Tensor& x, const Window& window) {
  const auto [kernel, stride, padding] = window;
  // As libtorch asks: each window sees something.
  const bool isPlain = kernel > 0 && kernel <= kMostPoolKernel && stride > 0 && padding >= 0 && 2 * padding <= kernel;
  return isPlain && x.is_cuda() && x.dim() == 4 && isElement(x.scalar_type()) && x.numel() > 0 && hasIntSizes(x) &&
         window.places(x.size(2)) > 0 && window.places(x.size(3)) > 0 &&
         x.is_contiguous(at::MemoryFormat::ChannelsLast) && isAligned(x) &&
         cudaPoolTakes(shapeOf(x.sizes(), x.scalar_type(), window));
}
#endif

Tensor maxPool(const Tensor& x, at::IntArrayRef kernel, at::IntArrayRef stride, at::IntArrayRef padding,
               at::IntArrayRef dilation, bool ceilMode) {
#ifdef CRAB_CUDA_KERNELS
  const at::IntArrayRef step = stride.empty() ? kernel : stride;
  const auto isSquare = [](at::IntArrayRef pair) { return pair.size() == 2 && pair[0] == pair[1]; };
  const bool isPlain = isSquare(kernel) && isSquare(step) && isSquare(padding) && isSquare(dilation);
  if (isPlain && dilation[0] == 1 && !ceilMode) {
    const Window window{kernel[0], step[0], padding[0]};
    if (hasKernel(x, window)) return MaxPool::apply(x, window);
  }
#endif
  return at::max_pool2d(x, kernel, stride, padding, dilation, ceilMode);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(crab, library) {
  // As aten::max_pool2d has it.
  library.def(
      "max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, "
      "bool ceil_mode=False) -> Tensor");
  library.impl("max_pool2d", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(maxPool));
}

}  // namespace crab
