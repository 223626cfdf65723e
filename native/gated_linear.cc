// crab::gated_linear: a linear layer of the same inputs under several sets of gates, with its gradient,
//
//     y[m, g, n] = bias[m] + sum over blocks p of gates[g, n, p] x[m, n, p] weight[m, p]
//
// input [M, N, P, F], gates [G, N, P], weight [M, P F, out], bias [M, 1, out]; result [M, G N, out]. Taken as
// it stands it is G products over all blocks. But blocks whose gates agree (a class) have one product
// x[m, n, p] weight[m, p] for all sets of gates, which scale its rows; and in the gradient, rows that the
// gates have summed over the sets meet the weights once. So the arithmetic is that of one set.
//
// The kernel takes f32 and f64 on a CPU where classes are deep enough to pay; everything else goes through
// libtorch's operators, gates that need a gradient too.
//
// crab::batched_linear: the same without gates, of inputs [M, N, in], weights [M, in, out] and biases [M, 1, out].
// The result of few rows and many weights, which a BLAS is slow at, comes from a kernel of our own
// (thin_product.h); everything else goes through libtorch's operators.
#include "handles.h"
#include "modes.h"
#include "thin_product.h"
#include "vectorised.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace crab {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Inputs that one product must take on average, times the sets it spares: below, adding up the products costs
// what they save.
constexpr int64_t kFewestSpared = 32;

// Blocks side by side of one class.
struct Run {
  int64_t first, count;
};

template <typename T>
struct GateClass {
  std::vector<T> gates;  // [G, N]
  std::vector<Run> runs;
};

template <typename T>
std::vector<GateClass<T>> classesOf(const Tensor& gates) {
  const int64_t blocks = gates.size(2), rows = gates.numel() / blocks;
  const Tensor turned = gates.reshape({rows, blocks}).t().contiguous();  // [P, G N]
  const T* values = turned.data_ptr<T>();
  std::vector<GateClass<T>> classes;
  // By their bytes: values that are not numbers have no order.
  std::map<std::string, size_t> known;
  for (int64_t p = 0; p < blocks; p++) {
    const T* own = values + p * rows;
    const std::string bytes(reinterpret_cast<const char*>(own), rows * sizeof(T));
    const auto [found, isNew] = known.try_emplace(bytes, classes.size());
    if (isNew) classes.push_back({std::vector<T>(own, own + rows), {}});
    auto& runs = classes[found->second].runs;
    if (!runs.empty() && runs.back().first + runs.back().count == p) {
      runs.back().count++;
    } else {
      runs.push_back({p, 1});
    }
  }
  return classes;
}

template <typename T>
int64_t runsOf(const std::vector<GateClass<T>>& classes) {
  int64_t count = 0;
  for (const auto& each : classes) count += each.runs.size();
  return count;
}

struct Shape {
  int64_t concepts, problems, blocks, features, sets, outputs;

  Shape(const Tensor& x, const Tensor& gates, const Tensor& weight)
      : concepts(x.size(0)),
        problems(x.size(1)),
        blocks(x.size(2)),
        features(x.size(3)),
        sets(gates.size(0)),
        outputs(weight.size(2)) {}
};

// to += factor from
template <typename T>
CRAB_VECTORISED void addScaled(const T* __restrict from, T factor, T* __restrict to, int64_t count) {
  for (int64_t i = 0; i < count; i++) to[i] += factor * from[i];
}

// The inputs of a run in a matrix [N, P F], or its rows in the weights [P F, out].
Tensor inputsOf(const Tensor& matrix, const Run& run, const Shape& s, int64_t dim) {
  return matrix.narrow(dim, run.first * s.features, run.count * s.features);
}

// y (+)= x w, of strided matrices whose rows have no gaps.
template <typename T>
void multiply(const Tensor& x, const Tensor& w, Tensor& y, bool add) {
  if constexpr (std::is_same_v<T, float>) {
    const ThinShape shape{x.size(0), x.size(1), w.size(1)};
    if (hasThinProduct(shape)) {
      return thinProduct(shape, {x.data_ptr<float>(), x.stride(0)}, {w.data_ptr<float>(), w.stride(0)},
                         {y.data_ptr<float>(), y.stride(0)}, add);
    }
  }
  at::addmm_out(y, y, x, w, add ? 1 : 0);
}

// `work(concept)` for every concept; products use all threads where there are fewer concepts than threads.
template <typename Work>
void eachConcept(int64_t concepts, const Work& work) {
  const auto some = [&](int64_t from, int64_t to) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    for (int64_t m = from; m < to; m++) work(m);
  };
  if (concepts < at::get_num_threads()) return some(0, concepts);
  at::parallel_for(0, concepts, 1, some);
}

template <typename T>
Tensor forwardOf(const Tensor& x, const std::vector<GateClass<T>>& classes, const Tensor& weight, const Tensor& bias,
                 const Shape& s) {
  const int64_t rows = s.sets * s.problems;
  const Tensor result = at::empty({s.concepts, rows, s.outputs}, x.options());
  eachConcept(s.concepts, [&](int64_t m) {
    const Tensor own = result.select(0, m);
    own.copy_(bias.select(0, m).expand({rows, s.outputs}));
    T* y = own.template data_ptr<T>();
    const Tensor inputs = x.select(0, m).view({s.problems, -1}), weights = weight.select(0, m);
    Tensor product = at::empty({s.problems, s.outputs}, x.options());
    for (const auto& each : classes) {
      for (size_t i = 0; i < each.runs.size(); i++) {
        multiply<T>(inputsOf(inputs, each.runs[i], s, 1), inputsOf(weights, each.runs[i], s, 0), product, i > 0);
      }
      const T* z = product.data_ptr<T>();
      for (int64_t row = 0; row < rows; row++) {
        const T gate = each.gates[row];
        if (gate != T(0)) addScaled<T>(z + row % s.problems * s.outputs, gate, y + row * s.outputs, s.outputs);
      }
    }
  });
  return result;
}

struct Needs {
  bool input, weight;
};

template <typename T>
variable_list gradientsOf(const Tensor& x, const std::vector<GateClass<T>>& classes, const Tensor& weight,
                          const Tensor& gradient, const Shape& s, Needs needs) {
  const int64_t rows = s.sets * s.problems;
  Tensor inputGradient, weightGradient;
  if (needs.input) inputGradient = at::empty_like(x);
  if (needs.weight) weightGradient = at::empty_like(weight);
  eachConcept(s.concepts, [&](int64_t m) {
    const T* from = gradient.data_ptr<T>() + m * rows * s.outputs;
    const Tensor inputs = x.select(0, m).view({s.problems, -1}), weights = weight.select(0, m);
    const Tensor summed = at::empty({s.problems, s.outputs}, x.options());
    T* sums = summed.data_ptr<T>();
    for (const auto& each : classes) {
      std::fill_n(sums, s.problems * s.outputs, T(0));
      for (int64_t row = 0; row < rows; row++) {
        const T gate = each.gates[row];
        if (gate != T(0)) addScaled<T>(from + row * s.outputs, gate, sums + row % s.problems * s.outputs, s.outputs);
      }
      for (const Run& run : each.runs) {
        if (needs.input) {
          Tensor to = inputsOf(inputGradient.select(0, m).view({s.problems, -1}), run, s, 1);
          at::mm_out(to, summed, inputsOf(weights, run, s, 0).t());
        }
        if (needs.weight) {
          Tensor to = inputsOf(weightGradient.select(0, m), run, s, 0);
          at::mm_out(to, inputsOf(inputs, run, s, 1).t(), summed);
        }
      }
    }
  });
  return {inputGradient, Tensor(), weightGradient, gradient.sum(1, true)};
}

// Gates beside inputs [M, G, N, P, F].
Tensor factorsOf(const Tensor& x, const Tensor& gates, const Shape& s) {
  return gates.to(x.scalar_type()).reshape({1, s.sets, s.problems, s.blocks, 1});
}

// Inputs under every set of gates: [M, G N, P F].
Tensor gatedInputs(const Tensor& x, const Tensor& factors, const Shape& s) {
  return x.unsqueeze(1).mul(factors).reshape({s.concepts, s.sets * s.problems, s.blocks * s.features});
}

// By libtorch's operators.
Tensor gateByGate(const Tensor& x, const Tensor& gates, const Tensor& weight, const Tensor& bias) {
  const Shape s(x, gates, weight);
  return at::baddbmm(bias, gatedInputs(x, factorsOf(x, gates, s), s), weight);
}

// The gradients by libtorch's operators, which have gradients of their own.
variable_list gradientsGateByGate(const Tensor& x, const Tensor& gates, const Tensor& weight, const Tensor& gradient) {
  const Shape s(x, gates, weight);
  const Tensor factors = factorsOf(x, gates, s);
  const Tensor ofGated = at::bmm(gradient, weight.transpose(1, 2))
                             .reshape({s.concepts, s.sets, s.problems, s.blocks, s.features});
  return {ofGated.mul(factors).sum(1, false), Tensor(),
          at::bmm(gatedInputs(x, factors, s).transpose(1, 2), gradient), gradient.sum(1, true)};
}

struct ByClasses : torch::autograd::Function<ByClasses> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& gates, const Tensor& weight,
                        const Tensor& bias) {
    context->save_for_backward({x, gates, weight, bias});
    const Shape s(x, gates, weight);
    return byType(x, [&](auto type) { return forwardOf(x, classesOf<decltype(type)>(gates), weight, bias, s); });
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &gates = saved[1], &weight = saved[2], &bias = saved[3];
    // Someone wants the gradient's own gradient.
    if (at::GradMode::is_enabled()) return gradientsGateByGate(x, gates, weight, gradients[0]);
    const Needs needs{context->needs_input_grad(0), context->needs_input_grad(2)};
    const Shape s(x, gates, weight);
    const Tensor gradient = gradients[0].contiguous();
    auto result = byType(x, [&](auto type) {
      return gradientsOf(x, classesOf<decltype(type)>(gates), weight, gradient, s, needs);
    });
    if (!bias.requires_grad()) result[3] = Tensor();
    return result;
  }
};

bool isPlain(const Tensor& x, at::ScalarType type) {
  return x.is_cpu() && x.layout() == at::kStrided && x.scalar_type() == type && x.is_contiguous();
}

// ---- without gates -------------------------------------------------------------------------------------

// Weights of one product from which on it is slow to lay them out anew: they leave the second cache.
constexpr int64_t kManyWeights = 1 << 18;

struct OfFewRows : torch::autograd::Function<OfFewRows> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight, const Tensor& bias) {
    context->save_for_backward({x, weight});
    const int64_t count = x.size(0);
    const ThinShape shape{x.size(1), x.size(2), weight.size(2)};
    const Tensor result = at::empty({count, shape.rows, shape.columns}, x.options());
    result.copy_(bias.expand_as(result));
    eachConcept(count, [&](int64_t m) {
      thinProduct(shape, {x.data_ptr<float>() + m * shape.rows * shape.depth, shape.depth},
                  {weight.data_ptr<float>() + m * shape.depth * shape.columns, shape.columns},
                  {result.data_ptr<float>() + m * shape.rows * shape.columns, shape.columns}, true);
    });
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

Tensor batchedLinear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool fits = bias.dim() == 3 && x.dim() == 3 && weight.dim() == 3 && x.size(0) == weight.size(0) &&
                    x.size(2) == weight.size(1) && bias.size(0) == x.size(0) && bias.size(1) == 1 &&
                    bias.size(2) == weight.size(2);
  if (fits && isPlain(x, at::kFloat) && isPlain(weight, at::kFloat) && isPlain(bias, at::kFloat) && weight.size(1) * weight.size(2) >= kManyWeights &&
      hasThinProduct({x.size(1), x.size(2), weight.size(2)}) && !autocastsOnCpu()) {
    return OfFewRows::apply(x, weight, bias);
  }
  return at::baddbmm(bias, x, weight);
}

// ---- with gates ----------------------------------------------------------------------------------------

bool pays(const Tensor& x, const Tensor& gates) {
  if (x.numel() == 0) return false;
  const int64_t runs = byType(gates, [&](auto type) { return runsOf(classesOf<decltype(type)>(gates)); });
  return (gates.size(0) - 1) * x.size(2) * x.size(3) >= runs * kFewestSpared;
}

Tensor gatedLinear(const Tensor& x, const Tensor& gates, const Tensor& weight, const Tensor& bias) {
  TORCH_CHECK(x.dim() == 4 && gates.dim() == 3 && weight.dim() == 3 && bias.dim() == 3,
              "expected input [M, N, P, F], gates [G, N, P], weight [M, P F, out] and bias [M, 1, out]");
  const Shape s(x, gates, weight);
  TORCH_CHECK(gates.size(1) == s.problems && gates.size(2) == s.blocks, "gates ", gates.sizes(), " beside input ",
              x.sizes());
  TORCH_CHECK(weight.size(0) == s.concepts && weight.size(1) == s.blocks * s.features, "weight ", weight.sizes(),
              " beside input ", x.sizes());
  TORCH_CHECK(bias.size(0) == s.concepts && bias.size(1) == 1 && bias.size(2) == s.outputs, "bias ", bias.sizes(),
              " beside weight ", weight.sizes());
  const auto type = x.scalar_type();
  const bool known = (type == at::kFloat || type == at::kDouble) && !autocastsOnCpu() && !gates.requires_grad();
  if (known && isPlain(x, type) && isPlain(gates, type) && isPlain(weight, type) && isPlain(bias, type) &&
      pays(x, gates)) {
    return ByClasses::apply(x, gates, weight, bias);
  }
  return gateByGate(x, gates, weight, bias);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(crab, library) {
  library.def("batched_linear(Tensor input, Tensor weight, Tensor bias) -> Tensor");
  library.impl("batched_linear", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(batchedLinear));
  library.def("gated_linear(Tensor input, Tensor gates, Tensor weight, Tensor bias) -> Tensor");
  library.impl("gated_linear", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(gatedLinear));
}

}  // namespace crab
