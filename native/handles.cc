// Lifetime of tensors held by JavaScript, and the translation of C++ exceptions.
//
// A handle is freed by dispose() or by the collector, whichever comes first. V8 sees only a few words
// per tensor and would let gigabytes pile up, so the bytes behind them are counted here, per storage and
// not per view, and the collector is asked to run when enough new ones have come. We ask it ourselves
// rather than through napi_adjust_external_memory: V8 of Node 20 can abort the process there ("Check
// failed: marking_done_"), when the report meets a marking that other threads have just completed.
#include "handles.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace crab {

namespace {

// Bytes of new tensors after which the collector runs; more where more is in use.
constexpr int64_t kCollectStep = 256 << 20;
// Memory of a CUDA device is larger and its allocator keeps what is freed: it weighs less.
constexpr int64_t kCudaShare = 16;

using SharedState = std::shared_ptr<EnvState>;

// gc({ type: 'minor' }) or gc()
void runCollector(napi_env env, EnvState& state, bool full) {
  napi_value global = nullptr;
  napi_value collector = nullptr;
  napi_value options = nullptr;
  napi_get_global(env, &global);
  napi_get_reference_value(env, state.collector, &collector);
  napi_create_object(env, &options);
  if (!full) {
    napi_value type = nullptr;
    napi_create_string_utf8(env, "minor", NAPI_AUTO_LENGTH, &type);
    napi_set_named_property(env, options, "type", type);
  }
  napi_call_function(env, global, collector, full ? 0 : 1, &options, nullptr);
}

// Most tensors die young, and a minor collection frees those in less than a millisecond; a full one
// follows only where that did not help.
void collectIfDue(napi_env env, EnvState& state) {
  const int64_t step = std::max(kCollectStep, state.weightAfterFull / 2);
  if (state.newWeight < step || state.collector == nullptr || state.collecting) return;
  state.collecting = true;
  runCollector(env, state, false);
  if (state.weight > state.weightAfterFull + step) {
    runCollector(env, state, true);
    state.weightAfterFull = state.weight;
  }
  state.newWeight = 0;
  state.collecting = false;
}

void holdStorage(napi_env env, TensorHandle& handle) {
  EnvState& state = *handle.state;
  handle.storage = nullptr;
  if (!handle.tensor.has_storage()) return;
  const auto& storage = handle.tensor.storage();
  handle.storage = storage.unsafeGetStorageImpl();
  auto [entry, isNew] = state.storages.emplace(handle.storage, EnvState::StorageUse{0, 0, 0});
  entry->second.handles += 1;
  if (!isNew) return;
  const auto bytes = static_cast<int64_t>(storage.nbytes());
  const int64_t weight = storage.device().is_cuda() ? bytes / kCudaShare : bytes;
  entry->second.bytes = bytes;
  entry->second.weight = weight;
  state.bytes += bytes;
  state.weight += weight;
  state.newWeight += weight;
  collectIfDue(env, state);
}

void releaseStorage(TensorHandle& handle) {
  EnvState& state = *handle.state;
  if (handle.storage == nullptr) return;
  auto entry = state.storages.find(handle.storage);
  if (--entry->second.handles > 0) return;
  state.bytes -= entry->second.bytes;
  state.weight -= entry->second.weight;
  state.storages.erase(entry);
}

void release(TensorHandle& handle) {
  if (!handle.tensor.defined()) return;
  releaseStorage(handle);
  handle.state->tensors -= 1;
  handle.tensor.reset();
}

// Runs inside the collector: it may free native memory but not touch JavaScript.
void finalizeTensor(FinalizerEnv, void* data, void*) {
  auto* handle = static_cast<TensorHandle*>(data);
  release(*handle);
  delete handle;
}

napi_value dispose(const Napi::CallbackInfo& info) {
  release(handleOf<TensorHandle>(info[0], HandleKind::Tensor, "expected a tensor"));
  return nullptr;
}

// setData(tensor, source): the tensor takes the source's memory, type and device, and stays the same leaf.
napi_value setData(const Napi::CallbackInfo& info) {
  const at::Tensor source = tensorOf(info[1]);
  tensorOf(info[0]);
  auto& handle = handleOf<TensorHandle>(info[0], HandleKind::Tensor, "expected a tensor");
  handle.tensor.set_data(source);
  releaseStorage(handle);
  holdStorage(info.Env(), handle);
  return nullptr;
}

// setCollector(gc): how to ask V8 for a collection.
napi_value setCollector(const Napi::CallbackInfo& info) {
  EnvState& state = stateOf(info.Env());
  if (!info[0].IsFunction()) fail("expected a function");
  if (state.collector != nullptr) napi_delete_reference(info.Env(), state.collector);
  napi_create_reference(info.Env(), info[0], 1, &state.collector);
  return nullptr;
}

napi_value liveHandles(const Napi::CallbackInfo& info) {
  const EnvState& state = stateOf(info.Env());
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("tensors", static_cast<double>(state.tensors));
  result.Set("bytes", static_cast<double>(state.bytes));
  return result;
}

}  // namespace

void installState(Napi::Env env) {
  env.SetInstanceData<SharedState>(new SharedState(std::make_shared<EnvState>()));
}

std::shared_ptr<EnvState> sharedStateOf(napi_env env) {
  void* data = nullptr;
  napi_get_instance_data(env, &data);
  return *static_cast<SharedState*>(data);
}

EnvState& stateOf(napi_env env) {
  void* data = nullptr;
  napi_get_instance_data(env, &data);
  return **static_cast<SharedState*>(data);
}

napi_value wrapTensor(napi_env env, at::Tensor tensor) {
  napi_value result = nullptr;
  if (!tensor.defined()) {
    napi_get_null(env, &result);
    return result;
  }
  auto handle = std::make_unique<TensorHandle>();
  handle->state = sharedStateOf(env);
  handle->tensor = std::move(tensor);
  handle->state->tensors += 1;
  holdStorage(env, *handle);
  if (napi_create_external(env, handle.get(), finalizeTensor, nullptr, &result) != napi_ok) {
    release(*handle);
    fail("the JavaScript engine could not hold a tensor", "CRAB_TORCH");
  }
  handle.release();
  return result;
}

napi_value wrapTensors(napi_env env, const std::vector<at::Tensor>& tensors) {
  napi_value array = nullptr;
  napi_create_array_with_length(env, tensors.size(), &array);
  for (size_t i = 0; i < tensors.size(); ++i) {
    napi_set_element(env, array, static_cast<uint32_t>(i), wrapTensor(env, tensors[i]));
  }
  return array;
}

void* unwrapHandle(napi_env env, napi_value value, HandleKind kind) {
  void* data = nullptr;
  if (value == nullptr || napi_get_value_external(env, value, &data) != napi_ok || data == nullptr) {
    return nullptr;
  }
  return *static_cast<HandleKind*>(data) == kind ? data : nullptr;
}

const at::Tensor& tensorOf(Napi::Value value) {
  const auto& handle = handleOf<TensorHandle>(value, HandleKind::Tensor, "expected a tensor");
  if (!handle.tensor.defined()) fail("the tensor has been freed", "CRAB_FREED");
  return handle.tensor;
}

std::vector<at::Tensor> tensorsOf(Napi::Value value) {
  if (!value.IsArray()) fail("expected an array of tensors");
  Napi::Array array = value.As<Napi::Array>();
  std::vector<at::Tensor> tensors;
  tensors.reserve(array.Length());
  for (uint32_t i = 0; i < array.Length(); ++i) {
    Napi::Value element = array.Get(i);
    tensors.push_back(element.IsNull() ? at::Tensor() : tensorOf(element));
  }
  return tensors;
}

const at::Generator& generatorOf(Napi::Value value) {
  return handleOf<GeneratorHandle>(value, HandleKind::Generator, "expected a generator").generator;
}

bool flagOf(Napi::Value value) {
  if (!value.IsBoolean()) fail("expected true or false");
  return value.As<Napi::Boolean>().Value();
}

double numberOf(Napi::Value value, const char* expected) {
  if (!value.IsNumber()) fail(expected);
  return value.As<Napi::Number>().DoubleValue();
}

int64_t wholeOf(Napi::Value value, double least, double most, const char* expected) {
  const double number = numberOf(value, expected);
  if (!(number >= least && number <= most) || number != std::floor(number)) fail(expected);
  return static_cast<int64_t>(number);
}

std::string textOf(Napi::Value value, const char* expected) {
  if (!value.IsString()) fail(expected);
  return value.As<Napi::String>();
}

void fail(const std::string& message, const char* code) { throw Failure{message, code}; }

namespace {

bool saysOutOfMemory(const std::string& message) {
  return message.find("can't allocate memory") != std::string::npos ||
         message.find("not enough memory") != std::string::npos ||
         message.find("out of memory") != std::string::npos;
}

Failure libtorchFailure(const std::string& message) {
  return {message, saysOutOfMemory(message) ? "CRAB_OOM" : "CRAB_TORCH"};
}

}  // namespace

Failure currentFailure() {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure;
  } catch (const PeerError& error) {
    return {error.what(), "CRAB_PEER"};
  } catch (const c10::OutOfMemoryError& error) {
    return {error.what_without_backtrace(), "CRAB_OOM"};
  } catch (const c10::Error& error) {
    return libtorchFailure(error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return {"out of memory", "CRAB_OOM"};
  } catch (const std::exception& error) {
    return libtorchFailure(error.what());
  } catch (...) {
    return {"an unknown C++ exception", "CRAB_TORCH"};
  }
}

napi_value failureToJs(napi_env env, const Failure& failure) {
  Napi::Error error = Napi::Error::New(env, failure.message);
  error.Set("code", Napi::String::New(env, failure.code));
  return error.Value();
}

void throwCurrentToJs(napi_env env) noexcept {
  try {
    try {
      throw;
    } catch (const Napi::Error& error) {
      error.ThrowAsJavaScriptException();
    } catch (...) {
      napi_throw(env, failureToJs(env, currentFailure()));
    }
  } catch (...) {
    // The environment is shutting down; its code sees no more results either.
  }
}

void defineHandles(Napi::Object exports) {
  define<dispose>(exports, "dispose");
  define<setData>(exports, "setData");
  define<liveHandles>(exports, "liveHandles");
  define<setCollector>(exports, "setCollector");
}

}  // namespace crab
