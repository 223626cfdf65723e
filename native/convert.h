// Conversion between JavaScript values and ATen's, directed by an operator's schema.
#pragma once

#include "handles.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace crab {

// What one parameter of an operator takes.
enum class Kind {
  Tensor,
  TensorList,
  OptionalTensorList,  // Tensor?[]: null stands for an absent one
  Scalar,
  ScalarList,
  Int,
  IntList,
  Float,
  FloatList,
  Bool,
  BoolList,
  String,
  Dtype,
  Layout,
  MemoryFormat,
  Device,
  Generator,
  Unsupported,
};

struct Parameter {
  std::string name;
  Kind kind;
  bool optional;        // null is allowed
  int64_t repeat;       // for int[2] and the like: one number stands for that many; else 0
  Optional<c10::IValue> defaultValue;
};

struct Operator {
  c10::OperatorHandle handle;
  std::vector<Parameter> parameters;
  bool returnsSelf;   // in-place: its one result is its first argument, which JavaScript already has
};

Operator compileOperator(const c10::OperatorHandle& handle);

// Converts the arguments and pushes them; absent ones (or undefined) take their default. Throws
// ArgumentError naming the parameter.
void pushArguments(napi_env env, const Operator& op, const napi_value* arguments, size_t count,
                   torch::jit::Stack& stack);

// No result: undefined; one: itself; several: an array.
napi_value resultsToJs(napi_env env, torch::jit::Stack& stack);

}  // namespace crab
