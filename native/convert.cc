// Arguments of operators; see convert.h. A JavaScript number stands for both integers and floats: where a schema says Scalar, a
// whole number becomes an integer (so that `intTensor.add(1)` stays integer) and any other a float.
#include "convert.h"

#include <cmath>

namespace crab {

namespace {

// ---- schema -> kinds -------------------------------------------------------------------------------

bool endsWith(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

// Dtype, layout and memory format are plain ints to a schema; only the parameter's name tells.
Kind kindOfInt(const std::string& name) {
  if (endsWith(name, "dtype")) return Kind::Dtype;
  if (name == "layout") return Kind::Layout;
  if (name == "memory_format") return Kind::MemoryFormat;
  return Kind::Int;
}

Kind kindOfList(const c10::Type& element) {
  switch (element.kind()) {
    case c10::TypeKind::TensorType: return Kind::TensorList;
    case c10::TypeKind::OptionalType: return Kind::OptionalTensorList;
    case c10::TypeKind::NumberType: return Kind::ScalarList;
    case c10::TypeKind::SymIntType:
    case c10::TypeKind::IntType: return Kind::IntList;
    case c10::TypeKind::FloatType: return Kind::FloatList;
    case c10::TypeKind::BoolType: return Kind::BoolList;
    default: return Kind::Unsupported;
  }
}

Kind kindOf(const c10::Type& type, const std::string& name) {
  switch (type.kind()) {
    case c10::TypeKind::TensorType: return Kind::Tensor;
    case c10::TypeKind::ListType: return kindOfList(*type.containedType(0));
    case c10::TypeKind::NumberType: return Kind::Scalar;
    case c10::TypeKind::SymIntType:
    case c10::TypeKind::IntType: return kindOfInt(name);
    case c10::TypeKind::FloatType: return Kind::Float;
    case c10::TypeKind::BoolType: return Kind::Bool;
    case c10::TypeKind::StringType: return Kind::String;
    case c10::TypeKind::DeviceObjType: return Kind::Device;
    case c10::TypeKind::GeneratorType: return Kind::Generator;
    default: return Kind::Unsupported;
  }
}

Parameter compileParameter(const c10::Argument& argument) {
  const c10::Type* type = argument.type().get();
  const bool optional = type->kind() == c10::TypeKind::OptionalType;
  if (optional) type = type->containedType(0).get();
  Parameter parameter;
  parameter.name = argument.name();
  parameter.kind = kindOf(*type, parameter.name);
  parameter.optional = optional;
  parameter.repeat = argument.N().value_or(0);
  if (argument.default_value()) {
    parameter.defaultValue = *argument.default_value();
  } else if (optional) {
    parameter.defaultValue = c10::IValue();
  }
  return parameter;
}

const char* expectation(Kind kind) {
  switch (kind) {
    case Kind::Tensor: return "a tensor";
    case Kind::TensorList: return "an array of tensors";
    case Kind::OptionalTensorList: return "an array of tensors or nulls";
    case Kind::Scalar: return "a number";
    case Kind::ScalarList: return "an array of numbers";
    case Kind::Int: return "a whole number";
    case Kind::IntList: return "an array of whole numbers";
    case Kind::Float: return "a number";
    case Kind::FloatList: return "an array of numbers";
    case Kind::Bool: return "true or false";
    case Kind::BoolList: return "an array of true and false";
    case Kind::String: return "a string";
    case Kind::Dtype: return "a dtype (f32, f64, f16, bf16, i64, i32, u8 or bool)";
    case Kind::Layout: return "a layout ('strided')";
    case Kind::MemoryFormat: return "a memory format (contiguous, channelsLast or preserve)";
    case Kind::Device: return "a device ('cpu', 'cuda' or 'cuda:<index>')";
    case Kind::Generator: return "a generator";
    case Kind::Unsupported: return "a kind of value that JavaScript cannot pass";
  }
  return "";
}

// ---- JavaScript values -----------------------------------------------------------------------------

std::string describe(napi_env env, napi_value value) {
  Napi::Value js(env, value);
  if (js.IsNumber()) return js.ToString().Utf8Value();
  if (js.IsString()) return "'" + js.As<Napi::String>().Utf8Value().substr(0, 40) + "'";
  if (js.IsArray()) return "an array";
  if (js.IsNull()) return "null";
  if (js.IsUndefined()) return "nothing";
  if (js.IsBoolean()) return js.As<Napi::Boolean>().Value() ? "true" : "false";
  if (js.IsBigInt()) return "a bigint";
  if (js.IsFunction()) return "a function";
  if (js.IsExternal()) return unwrapHandle(env, value, HandleKind::Tensor) != nullptr ? "a tensor" : "a generator";
  return "an object";
}

[[noreturn]] void wrongArgument(napi_env env, const Parameter& parameter, napi_value value) {
  fail("argument '" + parameter.name + "': expected " + expectation(parameter.kind) +
       (parameter.optional ? " or null" : "") + ", got " + describe(env, value));
}

bool readBigint(napi_env env, napi_value value, int64_t& result) {
  bool lossless = false;
  return napi_get_value_bigint_int64(env, value, &result, &lossless) == napi_ok && lossless;
}

bool readInt(napi_env env, napi_value value, int64_t& result) {
  double number = 0;
  if (napi_get_value_double(env, value, &number) != napi_ok) return readBigint(env, value, result);
  if (!(std::fabs(number) <= kMaxSafeInteger) || number != std::floor(number)) return false;
  result = static_cast<int64_t>(number);
  return true;
}

bool readFloat(napi_env env, napi_value value, double& result) {
  return napi_get_value_double(env, value, &result) == napi_ok;
}

bool readBool(napi_env env, napi_value value, bool& result) {
  return napi_get_value_bool(env, value, &result) == napi_ok;
}

// -0 stays a float, except beside an integer tensor, whose type it must not change.
bool readScalar(napi_env env, napi_value value, const torch::jit::Stack& stack, at::Scalar& result) {
  double number = 0;
  if (readFloat(env, value, number)) {
    const bool whole = std::fabs(number) <= kMaxSafeInteger && number == std::floor(number);
    const bool besideIntegers = !stack.empty() && stack[0].isTensor() && stack[0].toTensor().defined() &&
                                c10::isIntegralType(stack[0].toTensor().scalar_type(), true);
    const bool negativeZero = number == 0 && std::signbit(number);
    const bool asInteger = whole && (!negativeZero || besideIntegers);
    result = asInteger ? at::Scalar(static_cast<int64_t>(number)) : at::Scalar(number);
    return true;
  }
  bool flag = false;
  if (readBool(env, value, flag)) {
    result = at::Scalar(flag);
    return true;
  }
  int64_t integer = 0;
  if (!readBigint(env, value, integer)) return false;
  result = at::Scalar(integer);
  return true;
}

bool readTensor(napi_env env, const Parameter& parameter, napi_value value, at::Tensor& result) {
  auto* handle = static_cast<TensorHandle*>(unwrapHandle(env, value, HandleKind::Tensor));
  if (handle == nullptr) return false;
  if (!handle->tensor.defined()) fail("argument '" + parameter.name + "': the tensor has been freed", "CRAB_FREED");
  result = handle->tensor;
  return true;
}

bool readGenerator(napi_env env, napi_value value, at::Generator& result) {
  auto* handle = static_cast<GeneratorHandle*>(unwrapHandle(env, value, HandleKind::Generator));
  if (handle != nullptr) result = handle->generator;
  return handle != nullptr;
}

napi_valuetype typeOf(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  if (value != nullptr) napi_typeof(env, value, &type);
  return type;
}

bool readString(napi_env env, napi_value value, std::string& result) {
  if (typeOf(env, value) != napi_string) return false;
  result = Napi::String(env, value).Utf8Value();
  return true;
}

// Dtype, layout or memory format, as ATen's number for it.
bool readNamed(napi_env env, Kind kind, napi_value value, int64_t& result) {
  std::string name;
  if (!readString(env, value, name)) return false;
  const auto type = kind == Kind::Dtype ? parseDtype(name) : Optional<at::ScalarType>();
  const auto format = kind == Kind::MemoryFormat ? parseMemoryFormat(name) : Optional<at::MemoryFormat>();
  if (type) result = static_cast<int64_t>(*type);
  if (format) result = static_cast<int64_t>(*format);
  const bool isStrided = kind == Kind::Layout && name == "strided";
  if (isStrided) result = static_cast<int64_t>(at::kStrided);
  return type || format || isStrided;
}

// ---- one argument ----------------------------------------------------------------------------------

// One value that `read(value, item)` takes; false if it does not.
template <typename T, typename Read>
bool pushOne(napi_value value, torch::jit::Stack& stack, const Read& read) {
  T item{};
  if (!read(value, item)) return false;
  stack.emplace_back(std::move(item));
  return true;
}

// An array of such values.
template <typename T, typename Read>
bool pushList(napi_env env, napi_value value, torch::jit::Stack& stack, const Read& read) {
  bool isArray = false;
  napi_is_array(env, value, &isArray);
  if (!isArray) return false;
  uint32_t length = 0;
  napi_get_array_length(env, value, &length);
  c10::List<T> list;
  for (uint32_t i = 0; i < length; ++i) {
    napi_value element = nullptr;
    T item{};
    if (napi_get_element(env, value, i, &element) != napi_ok || !read(element, item)) return false;
    list.push_back(std::move(item));
  }
  stack.emplace_back(std::move(list));
  return true;
}

bool push(napi_env env, const Parameter& parameter, napi_value value, torch::jit::Stack& stack) {
  const Kind kind = parameter.kind;
  const auto tensor = [&](napi_value from, at::Tensor& to) { return readTensor(env, parameter, from, to); };
  const auto optionalTensor = [&](napi_value from, Optional<at::Tensor>& to) {
    if (typeOf(env, from) == napi_null) return true;
    to = at::Tensor();
    return readTensor(env, parameter, from, *to);
  };
  const auto scalar = [&](napi_value from, at::Scalar& to) { return readScalar(env, from, stack, to); };
  const auto integer = [&](napi_value from, int64_t& to) { return readInt(env, from, to); };
  const auto number = [&](napi_value from, double& to) { return readFloat(env, from, to); };
  const auto flag = [&](napi_value from, bool& to) { return readBool(env, from, to); };
  const auto text = [&](napi_value from, std::string& to) { return readString(env, from, to); };
  const auto named = [&](napi_value from, int64_t& to) { return readNamed(env, kind, from, to); };
  const auto generator = [&](napi_value from, at::Generator& to) { return readGenerator(env, from, to); };
  // One number stands for as many as int[2] and the like take.
  const auto repeated = [&](napi_value from, std::vector<int64_t>& to) {
    int64_t each = 0;
    if (parameter.repeat > 0 && readInt(env, from, each)) to.assign(parameter.repeat, each);
    return !to.empty();
  };
  switch (kind) {
    case Kind::Tensor: return pushOne<at::Tensor>(value, stack, tensor);
    case Kind::TensorList: return pushList<at::Tensor>(env, value, stack, tensor);
    case Kind::OptionalTensorList: return pushList<Optional<at::Tensor>>(env, value, stack, optionalTensor);
    case Kind::Scalar: return pushOne<at::Scalar>(value, stack, scalar);
    case Kind::ScalarList: return pushList<at::Scalar>(env, value, stack, scalar);
    case Kind::Int: return pushOne<int64_t>(value, stack, integer);
    case Kind::IntList:
      return pushOne<std::vector<int64_t>>(value, stack, repeated) || pushList<int64_t>(env, value, stack, integer);
    case Kind::Float: return pushOne<double>(value, stack, number);
    case Kind::FloatList: return pushList<double>(env, value, stack, number);
    case Kind::Bool: return pushOne<bool>(value, stack, flag);
    case Kind::BoolList: return pushList<bool>(env, value, stack, flag);
    case Kind::String: return pushOne<std::string>(value, stack, text);
    case Kind::Dtype:
    case Kind::Layout:
    case Kind::MemoryFormat: return pushOne<int64_t>(value, stack, named);
    case Kind::Device: {
      std::string name;
      if (!readString(env, value, name)) return false;
      stack.emplace_back(parseDevice(name));
      return true;
    }
    case Kind::Generator: return pushOne<at::Generator>(value, stack, generator);
    case Kind::Unsupported: return false;
  }
  return false;
}

void pushArgument(napi_env env, const Parameter& parameter, napi_value value, torch::jit::Stack& stack) {
  const napi_valuetype type = typeOf(env, value);
  if (type == napi_undefined && parameter.defaultValue) {
    stack.push_back(*parameter.defaultValue);
  } else if (type == napi_undefined) {
    fail("argument '" + parameter.name + "' is missing: expected " + expectation(parameter.kind));
  } else if (type == napi_null && parameter.optional) {
    stack.emplace_back();
  } else if (!push(env, parameter, value, stack)) {
    wrongArgument(env, parameter, value);
  }
}

}  // namespace

Operator compileOperator(const c10::OperatorHandle& handle) {
  const c10::FunctionSchema& schema = handle.schema();
  Operator op{handle, {}, false};
  for (const auto& argument : schema.arguments()) op.parameters.push_back(compileParameter(argument));
  const auto& returns = schema.returns();
  const bool aliasesFirst = returns.size() == 1 && returns[0].alias_info() != nullptr &&
                            returns[0].alias_info()->isWrite() && !schema.arguments().empty() &&
                            schema.arguments()[0].alias_info() != nullptr &&
                            schema.arguments()[0].alias_info()->isWrite();
  op.returnsSelf = aliasesFirst;
  return op;
}

void pushArguments(napi_env env, const Operator& op, const napi_value* arguments, size_t count,
                   torch::jit::Stack& stack) {
  const size_t expected = op.parameters.size();
  if (count > expected) {
    fail("takes at most " + std::to_string(expected) + " arguments, got " + std::to_string(count));
  }
  for (size_t i = 0; i < expected; ++i) {
    pushArgument(env, op.parameters[i], i < count ? arguments[i] : nullptr, stack);
  }
}

}  // namespace crab
