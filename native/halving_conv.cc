// crab::halving_conv and crab::doubling_conv: the convolution with a 4x4 kernel, stride 2 and padding 1, and
// its transpose, with their gradients. They are nearly all of the arithmetic of a convolutional network that
// halves or doubles its maps. Channels-last f32 and f64 on a CPU goes by minimal filtering
// (minimal_filtering.h), everything else through libtorch's operators.
#include "handles.h"
#include "minimal_filtering.h"
#include "modes.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>

namespace crab {

namespace {

using at::Tensor;

// Channels on either side below which libtorch's convolutions are no slower.
constexpr int64_t kFewestChannels = 8;

FilterGeometry geometryOf(const Tensor& x, const Tensor& weight, bool doubling) {
  const int64_t factor = doubling ? 1 : 2;
  return {x.size(0), x.size(2) / factor, x.size(3) / factor, weight.size(1), weight.size(0)};
}

Tensor channelsLast(const Tensor& x) { return x.contiguous(at::MemoryFormat::ChannelsLast); }

template <bool doubling>
struct ByMinimalFiltering : torch::autograd::Function<ByMinimalFiltering<doubling>> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& weight) {
    const Tensor weights = transformedWeights(channelsLast(weight));
    context->save_for_backward({x, weight, weights});
    return filtered(geometryOf(x, weight, doubling), x, weights, doubling);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &weights = saved[2];
    const FilterNeeds needs{context->needs_input_grad(0), context->needs_input_grad(1)};
    if (at::GradMode::is_enabled()) {
      // Someone wants the gradient's own gradient: libtorch's operator has one.
      const auto all = at::convolution_backward(gradients[0], x, weight, c10::nullopt, {2, 2}, {1, 1}, {1, 1}, doubling,
                                                {0, 0}, 1, {needs.input, needs.weight, false});
      return {std::get<0>(all), std::get<1>(all)};
    }
    const Tensor gradient = channelsLast(gradients[0]);
    const FilterGradients result =
        filteredGradients(geometryOf(x, weight, doubling), x, gradient, weights, needs, doubling);
    return {result.input, result.weight};
  }
};

bool isChannelsLast(const Tensor& x) { return x.suggest_memory_format() == at::MemoryFormat::ChannelsLast; }

// The output is channels-last where libtorch's would be: if the input or the weight is.
bool hasKernel(const Tensor& x, const Tensor& weight, bool doubling) {
  const auto type = x.scalar_type();
  if (!x.is_cpu() || !weight.is_cpu() || autocastsOnCpu()) return false;
  if ((type != at::kFloat && type != at::kDouble) || weight.scalar_type() != type) return false;
  if (x.dim() != 4 || weight.dim() != 4 || weight.size(2) != 4 || weight.size(3) != 4) return false;
  if (x.numel() == 0 || !(isChannelsLast(x) || isChannelsLast(weight))) return false;
  if (std::min(weight.size(0), weight.size(1)) < kFewestChannels) return false;
  const int64_t multiple = doubling ? 2 : 4;
  return x.size(1) == weight.size(doubling ? 0 : 1) && x.size(2) % multiple == 0 && x.size(3) % multiple == 0;
}

Tensor halvingConv(const Tensor& x, const Tensor& weight) {
  if (hasKernel(x, weight, false)) return ByMinimalFiltering<false>::apply(channelsLast(x), weight);
  return at::conv2d(x, weight, {}, 2, 1);
}

Tensor doublingConv(const Tensor& x, const Tensor& weight) {
  if (hasKernel(x, weight, true)) return ByMinimalFiltering<true>::apply(channelsLast(x), weight);
  return at::conv_transpose2d(x, weight, {}, 2, 1);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(crab, library) {
  library.def("halving_conv(Tensor input, Tensor weight) -> Tensor");
  library.def("doubling_conv(Tensor input, Tensor weight) -> Tensor");
  library.impl("halving_conv", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(halvingConv));
  library.impl("doubling_conv", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(doublingConv));
}

}  // namespace crab
