// Kinds of elements that kernels on a GPU take, for both sides: host code names one, .cu files choose by it.
#pragma once

namespace crab {

enum class ElementKind { f32, f16, bf16 };

// Elements of 16 bytes, which one thread takes at once.
constexpr int packWidth(ElementKind kind) { return kind == ElementKind::f32 ? 4 : 8; }

}  // namespace crab
