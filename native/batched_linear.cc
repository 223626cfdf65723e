// crab::batched_linear: M linear layers, inputs [M, N, in], weights [M, in, out], biases [M, 1, out], with their
// gradients. The result of few rows and many weights, which a BLAS is slow at, comes from a kernel of our own
// (thin_product.h); everything else goes through libtorch's operators.
#include "handles.h"
#include "modes.h"
#include "thin_product.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

namespace crab {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Weights of one product from which on it is slow to lay them out anew: they leave the second cache.
constexpr int64_t kManyWeights = 1 << 18;

struct OfFewRows : torch::autograd::Function<OfFewRows> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight, const Tensor& bias) {
    context->save_for_backward({x, weight});
    const int64_t count = x.size(0);
    const ThinShape shape{x.size(1), x.size(2), weight.size(2)};
    const Tensor result = at::empty({count, shape.rows, shape.columns}, x.options());
    result.copy_(bias.expand_as(result));
    const auto some = [&](int64_t from, int64_t to) {
      for (int64_t m = from; m < to; m++) {
        thinProduct(shape, {x.data_ptr<float>() + m * shape.rows * shape.depth, shape.depth},
                    {weight.data_ptr<float>() + m * shape.depth * shape.columns, shape.columns},
                    {result.data_ptr<float>() + m * shape.rows * shape.columns, shape.columns}, true);
      }
    };
    // Where there are fewer products than threads, these share the columns.
    if (count < at::get_num_threads()) {
      some(0, count);
    } else {
      at::parallel_for(0, count, 1, some);
    }
    return result;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &gradient = gradients[0];
    variable_list result(3);
    if (context->needs_input_grad(0)) result[0] = at::bmm(gradient, weight.transpose(1, 2));
    if (context->needs_input_grad(1)) result[1] = at::bmm(x.transpose(1, 2), gradient);
    if (context->needs_input_grad(2)) result[2] = gradient.sum(1, true);
    return result;
  }
};

bool isPlain(const Tensor& x) {
  return x.is_cpu() && x.layout() == at::kStrided && x.scalar_type() == at::kFloat && x.is_contiguous();
}

Tensor batchedLinear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool fits = bias.dim() == 3 && x.dim() == 3 && weight.dim() == 3 && x.size(0) == weight.size(0) &&
                    x.size(2) == weight.size(1) && bias.size(0) == x.size(0) && bias.size(1) == 1 &&
                    bias.size(2) == weight.size(2);
  if (fits && isPlain(x) && isPlain(weight) && isPlain(bias) && weight.size(1) * weight.size(2) >= kManyWeights &&
      hasThinProduct({x.size(1), x.size(2), weight.size(2)}) && !autocastsOnCpu()) {
    return OfFewRows::apply(x, weight, bias);
  }
  return at::baddbmm(bias, x, weight);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(crab, library) {
  library.def("batched_linear(Tensor input, Tensor weight, Tensor bias) -> Tensor");
  library.impl("batched_linear", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(batchedLinear));
}

}  // namespace crab
