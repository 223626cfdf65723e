// What JavaScript holds of libtorch: a small heap object behind an N-API External. This header declares
// those objects, the state of one JavaScript environment (main thread or worker), and how C++ errors
// become JavaScript ones. Nothing here is shared between environments, so no locks are needed.
#pragma once

#include <ATen/ATen.h>
#include <c10/util/flat_hash_map.h>
#include <napi.h>
#include <torch/version.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// TORCH_AT_LEAST(2, 4): libtorch is 2.4 or newer.
#define TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace crab {

// libtorch 1.x has an optional of its own.
#if TORCH_AT_LEAST(2, 2)
template <typename T>
using Optional = std::optional<T>;
#else
template <typename T>
using Optional = c10::optional<T>;
#endif

// What a finaliser gets: it runs inside the collector and may not touch JavaScript.
using FinalizerEnv = Napi::node_addon_api_basic_env;

// State of one JavaScript environment. Handles share ownership of it, because at shutdown N-API
// finalises them in no fixed order.
struct EnvState {
  // How many live handles look at a storage, its bytes, and what these weigh with the collector. Views
  // share a storage, so bytes are counted once.
  struct StorageUse {
    int64_t handles;
    int64_t bytes;
    int64_t weight;
  };
  ska::flat_hash_map<const void*, StorageUse> storages;
  int64_t tensors = 0;        // live tensor handles
  int64_t bytes = 0;          // bytes of the storages they hold
  int64_t weight = 0;         // what these bytes weigh with the collector
  int64_t newWeight = 0;      // weight added since the last collection
  int64_t weightAfterFull = 0;  // weight that a full collection left
  napi_ref collector = nullptr;  // V8's gc(); lives as long as the environment
  bool collecting = false;
};

EnvState& stateOf(napi_env env);
std::shared_ptr<EnvState> sharedStateOf(napi_env env);
void installState(Napi::Env env);

// A tag in front of every object behind an External: an External of the wrong kind is told apart.
enum class HandleKind : uint64_t {
  Tensor = 0x6372616254656e73,
  Generator = 0x6372616247656e65,
  Graph = 0x6372616247726170,
  Store = 0x6372616253746f72,
  ProcessGroup = 0x6372616250726f63,
  Reducer = 0x6372616252656475,
};

struct TensorHandle {
  HandleKind kind = HandleKind::Tensor;
  std::shared_ptr<EnvState> state;
  at::Tensor tensor;  // undefined once freed
  const void* storage = nullptr;
};

struct GeneratorHandle {
  HandleKind kind = HandleKind::Generator;
  at::Generator generator;
};

// JavaScript value for a tensor; null for an undefined one.
napi_value wrapTensor(napi_env env, at::Tensor tensor);
napi_value wrapTensors(napi_env env, const std::vector<at::Tensor>& tensors);

// The largest whole number up to which all of them are exact in JavaScript.
constexpr double kMaxSafeInteger = 9007199254740991.0;

// The object behind an External of that kind, or nullptr.
void* unwrapHandle(napi_env env, napi_value value, HandleKind kind);

// The tensor behind a value; throws Napi::Error if it is not one, or was freed.
const at::Tensor& tensorOf(Napi::Value value);
std::vector<at::Tensor> tensorsOf(Napi::Value array);
const at::Generator& generatorOf(Napi::Value value);

// Plain arguments; each throws where something else was given. `expected` says what.
bool flagOf(Napi::Value value);
double numberOf(Napi::Value value, const char* expected = "expected a number");
// A whole number in a range.
int64_t wholeOf(Napi::Value value, double least, double most, const char* expected);
std::string textOf(Napi::Value value, const char* expected = "expected a text");

// Why something failed. `code` says its kind to TypeScript: CRAB_TYPE (a wrong argument), CRAB_FREED (a
// freed tensor), CRAB_OOM (no memory), CRAB_PEER (another process of the group did not answer), CRAB_TORCH
// (libtorch refused).
struct Failure {
  std::string message;
  const char* code;
};
[[noreturn]] void fail(const std::string& message, const char* code = "CRAB_TYPE");

// Another process of a group did not answer. Unlike a Failure it may pass through autograd's engine, which
// carries standard exceptions from one thread to another and no others.
struct PeerError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The exception now handled, and the JavaScript error that stands for it.
Failure currentFailure();
napi_value failureToJs(napi_env env, const Failure& failure);

// libtorch's warnings are not printed, on the thread that calls this.
void dropWarnings();

// Names as TypeScript spells them.
Optional<at::ScalarType> parseDtype(const std::string& name);
const char* dtypeName(at::ScalarType type);
at::Device parseDevice(const std::string& name);
std::string deviceName(const at::Device& device);
Optional<at::MemoryFormat> parseMemoryFormat(const std::string& name);

// Throws the exception now handled into JavaScript. Never throws itself: while a worker is being stopped,
// JavaScript takes no exceptions.
void throwCurrentToJs(napi_env env) noexcept;

// A function of the addon: exceptions of any kind become JavaScript errors.
using Body = napi_value (*)(const Napi::CallbackInfo&);
template <Body body>
napi_value guarded(napi_env env, napi_callback_info raw) {
  try {
    return body(Napi::CallbackInfo(env, raw));
  } catch (...) {
    throwCurrentToJs(env);
    return nullptr;
  }
}

template <Body body>
void define(Napi::Object exports, const char* name) {
  napi_value function = nullptr;
  napi_create_function(exports.Env(), name, NAPI_AUTO_LENGTH, guarded<body>, nullptr, &function);
  exports.Set(name, Napi::Value(exports.Env(), function));
}

// A JavaScript value that owns an object, whose first member is its kind.
template <typename Handle>
napi_value wrapHandle(napi_env env, std::unique_ptr<Handle> handle) {
  const auto finalize = [](FinalizerEnv, void* data, void*) { delete static_cast<Handle*>(data); };
  napi_value result = nullptr;
  if (napi_create_external(env, handle.get(), finalize, nullptr, &result) != napi_ok) {
    fail("the JavaScript engine could not hold an object", "CRAB_TORCH");
  }
  handle.release();
  return result;
}

// The object behind a value of that kind; throws where there is none.
template <typename Handle>
Handle& handleOf(Napi::Value value, HandleKind kind, const char* expected) {
  void* handle = unwrapHandle(value.Env(), value, kind);
  if (handle == nullptr) fail(expected);
  return *static_cast<Handle*>(handle);
}

// `work` with a value of the tensor's type, f64 or else f32, which says to a generic function which it is.
template <typename Work>
auto byType(const at::Tensor& x, const Work& work) {
  return x.scalar_type() == at::kDouble ? work(double()) : work(float());
}

// Each file adds its functions to the addon.
void defineHandles(Napi::Object exports);
void defineTensor(Napi::Object exports);
void defineData(Napi::Object exports);
void defineOperators(Napi::Object exports);
void defineAutograd(Napi::Object exports);
void defineModes(Napi::Object exports);
void defineRandom(Napi::Object exports);
void defineRuntime(Napi::Object exports);
void defineCuda(Napi::Object exports);
void defineProcessGroup(Napi::Object exports);

}  // namespace crab
