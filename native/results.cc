// Results of operators as JavaScript values; see convert.h. Integers are numbers where these are exact, and
// bigints elsewhere.
#include "convert.h"

#include <cmath>

namespace crab {

namespace {

napi_value intToJs(napi_env env, int64_t number) {
  napi_value result = nullptr;
  if (std::abs(static_cast<double>(number)) <= kMaxSafeInteger) {
    napi_create_double(env, static_cast<double>(number), &result);
  } else {
    napi_create_bigint_int64(env, number, &result);
  }
  return result;
}

napi_value scalarToJs(napi_env env, const at::Scalar& scalar) {
  if (scalar.isBoolean()) return Napi::Boolean::New(env, scalar.toBool());
  if (scalar.isIntegral(false)) return intToJs(env, scalar.toLong());
  return Napi::Number::New(env, scalar.toDouble());
}

napi_value toJs(napi_env env, c10::IValue&& value);

template <typename List>
napi_value listToJs(napi_env env, List&& list) {
  napi_value array = nullptr;
  napi_create_array_with_length(env, list.size(), &array);
  uint32_t i = 0;
  for (auto& item : list) napi_set_element(env, array, i++, toJs(env, c10::IValue(std::move(item))));
  return array;
}

napi_value toJs(napi_env env, c10::IValue&& value) {
  if (value.isTensor()) return wrapTensor(env, std::move(value).toTensor());
  if (value.isNone()) return Napi::Env(env).Null();
  if (value.isBool()) return Napi::Boolean::New(env, value.toBool());
  if (value.isInt()) return intToJs(env, value.toInt());
  if (value.isDouble()) return Napi::Number::New(env, value.toDouble());
  if (value.isScalar()) return scalarToJs(env, value.toScalar());
  if (value.isString()) return Napi::String::New(env, value.toStringRef());
  if (value.isTensorList()) return wrapTensors(env, value.toTensorVector());
  if (value.isTuple()) return listToJs(env, value.toTupleRef().elements());
  if (value.isList()) return listToJs(env, value.toListRef());
  fail("the operator returns a kind of value that JavaScript cannot hold: " + value.tagKind(), "CRAB_TORCH");
}

}  // namespace

napi_value resultsToJs(napi_env env, torch::jit::Stack& stack) {
  if (stack.empty()) return nullptr;
  if (stack.size() == 1) return toJs(env, std::move(stack[0]));
  return listToJs(env, stack);
}

}  // namespace crab
