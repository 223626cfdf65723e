// Lifetime of tensors held by JavaScript, and the translation of C++ exceptions.
//
// A handle is freed by dispose() or by the collector, whichever comes first. V8 sees only a few words
// per tensor, so the bytes behind it are reported as external memory: per storage, not per view, and in
// steps of at least kReportStep, because each report costs as much as a tiny operation.
#include "handles.h"

#include <new>

namespace crab {

namespace {

constexpr int64_t kReportStep = 256 * 1024;

using SharedState = std::shared_ptr<EnvState>;

void reportBytes(FinalizerEnv env, EnvState& state, int64_t change) {
  state.bytes += change;
  state.unreportedBytes += change;
  if (state.unreportedBytes < kReportStep && state.unreportedBytes > -kReportStep) return;
  int64_t total = 0;
  napi_adjust_external_memory(env, state.unreportedBytes, &total);
  state.unreportedBytes = 0;
}

void holdStorage(napi_env env, TensorHandle& handle) {
  EnvState& state = *handle.state;
  handle.storage = nullptr;
  if (!handle.tensor.has_storage()) return;
  const auto& storage = handle.tensor.storage();
  handle.storage = storage.unsafeGetStorageImpl();
  auto [entry, isNew] = state.storages.emplace(handle.storage, EnvState::StorageUse{0, 0});
  entry->second.handles += 1;
  if (!isNew) return;
  entry->second.bytes = static_cast<int64_t>(storage.nbytes());
  reportBytes(env, state, entry->second.bytes);
}

void releaseStorage(FinalizerEnv env, TensorHandle& handle) {
  EnvState& state = *handle.state;
  if (handle.storage == nullptr) return;
  auto entry = state.storages.find(handle.storage);
  if (--entry->second.handles > 0) return;
  reportBytes(env, state, -entry->second.bytes);
  state.storages.erase(entry);
}

void release(FinalizerEnv env, TensorHandle& handle) {
  if (!handle.tensor.defined()) return;
  releaseStorage(env, handle);
  handle.state->tensors -= 1;
  handle.tensor.reset();
}

// Runs inside the collector: it may free native memory but not touch JavaScript.
void finalizeTensor(FinalizerEnv env, void* data, void*) {
  auto* handle = static_cast<TensorHandle*>(data);
  release(env, *handle);
  delete handle;
}

napi_value dispose(const Napi::CallbackInfo& info) {
  auto* handle = static_cast<TensorHandle*>(unwrapHandle(info.Env(), info[0], HandleKind::Tensor));
  if (handle == nullptr) fail("expected a tensor");
  release(info.Env(), *handle);
  return nullptr;
}

// setData(tensor, source): the tensor takes the source's memory, type and device, and stays the same leaf.
napi_value setData(const Napi::CallbackInfo& info) {
  requireNoAsyncBackward(info.Env(), "setData() cannot be called");
  const at::Tensor source = tensorOf(info[1]);
  tensorOf(info[0]);
  auto* handle = static_cast<TensorHandle*>(unwrapHandle(info.Env(), info[0], HandleKind::Tensor));
  handle->tensor.set_data(source);
  releaseStorage(info.Env(), *handle);
  holdStorage(info.Env(), *handle);
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
    release(env, *handle);
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
  auto* handle = static_cast<TensorHandle*>(unwrapHandle(value.Env(), value, HandleKind::Tensor));
  if (handle == nullptr) fail("expected a tensor");
  if (!handle->tensor.defined()) fail("the tensor has been freed", "CRAB_FREED");
  return handle->tensor;
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
  auto* handle = static_cast<GeneratorHandle*>(unwrapHandle(value.Env(), value, HandleKind::Generator));
  if (handle == nullptr) fail("expected a generator");
  return handle->generator;
}

void fail(const std::string& message, const char* code) { throw Failure{message, code}; }

void requireNoAsyncBackward(napi_env env, const char* what) {
  if (stateOf(env).asyncBackwards == 0) return;
  fail(std::string(what) + " while backwardAsync() is running; await it first", "CRAB_BUSY");
}

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
}

}  // namespace crab
