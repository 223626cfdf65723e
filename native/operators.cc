// ATen's dispatcher for JavaScript: an operator is found once by name, its schema is compiled to a list
// of parameter kinds, and a call converts its arguments by that list. So every operator of the installed
// libtorch is reachable, with autograd and autocast, and each argument is checked before libtorch runs.
#include "convert.h"
#include "handles.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <deque>
#include <map>
#include <mutex>

namespace crab {

namespace {

// Operators found so far, in this process. A deque: an entry never moves, so calls need no lock once
// they have its address; the index given to JavaScript stays valid for ever.
struct Registry {
  std::mutex mutex;
  std::deque<Operator> operators;
  std::map<std::pair<std::string, std::string>, uint32_t> byName;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

constexpr size_t kMaxArguments = 64;

const Operator* operatorAt(uint32_t index) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto& operators = registry().operators;
  return index < operators.size() ? &operators[index] : nullptr;
}

// Without the lock from the second time on, since the address of an entry never changes.
const Operator& cachedOperator(uint32_t index) {
  thread_local std::vector<const Operator*> seen;
  if (index < seen.size() && seen[index] != nullptr) return *seen[index];
  const Operator* op = operatorAt(index);
  if (op == nullptr) fail("expected an operator's index");
  if (index >= seen.size()) seen.resize(index + 1, nullptr);
  seen[index] = op;
  return *op;
}

// findOperator(name, overload): its index, for call(); throws if libtorch has no such operator.
napi_value findOperator(const Napi::CallbackInfo& info) {
  if (!info[0].IsString() || !info[1].IsString()) fail("expected an operator's name and overload");
  const std::string name = info[0].As<Napi::String>();
  const std::string overload = info[1].As<Napi::String>();
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto& all = registry();
  auto known = all.byName.find({name, overload});
  if (known != all.byName.end()) return Napi::Number::New(info.Env(), known->second);
  auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  if (!handle) fail("this libtorch has no operator " + name + (overload.empty() ? "" : "." + overload), "CRAB_TORCH");
  const auto index = static_cast<uint32_t>(all.operators.size());
  all.operators.push_back(compileOperator(*handle));
  all.byName[{name, overload}] = index;
  return Napi::Number::New(info.Env(), index);
}

// schema(index): the operator's declaration as text.
napi_value schema(const Napi::CallbackInfo& info) {
  const Operator* op = info[0].IsNumber() ? operatorAt(info[0].As<Napi::Number>().Uint32Value()) : nullptr;
  if (op == nullptr) fail("expected an operator's index");
  return Napi::String::New(info.Env(), c10::toString(op->handle.schema()));
}

// call(index, ...arguments), written on N-API itself because every operation of a program passes here.
napi_value runCall(napi_env env, napi_callback_info info) {
  napi_value arguments[kMaxArguments + 1];
  size_t count = kMaxArguments + 1;
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
  if (count > kMaxArguments + 1) fail("too many arguments");
  uint32_t index = 0;
  if (count == 0 || napi_get_value_uint32(env, arguments[0], &index) != napi_ok) {
    fail("expected an operator's index");
  }
  const Operator& op = cachedOperator(index);
  torch::jit::Stack stack;
  stack.reserve(op.parameters.size());
  pushArguments(env, op, arguments + 1, count - 1, stack);
  op.handle.callBoxed(stack);
  return op.returnsSelf ? nullptr : resultsToJs(env, stack);
}

napi_value call(napi_env env, napi_callback_info info) {
  try {
    return runCall(env, info);
  } catch (...) {
    throwCurrentToJs(env);
    return nullptr;
  }
}

}  // namespace

void defineOperators(Napi::Object exports) {
  define<findOperator>(exports, "findOperator");
  define<schema>(exports, "schema");
  napi_value function = nullptr;
  napi_create_function(exports.Env(), "call", NAPI_AUTO_LENGTH, call, nullptr, &function);
  exports.Set("call", Napi::Value(exports.Env(), function));
}

}  // namespace crab
