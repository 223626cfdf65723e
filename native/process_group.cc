// Process groups: rendezvous through a TCPStore, then Gloo (CPU) or NCCL (CUDA), all of them libtorch's.
// Compiled where the found libtorch has their headers. Whatever may wait for other machines happens on a
// thread of its own, except collectives, which are a step's own work.
#include "process_group.h"

#ifdef CRAB_C10D
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#ifdef USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <dlfcn.h>

#include <cstdlib>
#include <thread>
#endif

namespace crab {

#ifdef CRAB_C10D

namespace {

using Milliseconds = std::chrono::milliseconds;

struct StoreHandle {
  HandleKind kind = HandleKind::Store;
  c10::intrusive_ptr<c10d::Store> store;
};

c10::intrusive_ptr<c10d::Store> storeOf(Napi::Value value) {
  return handleOf<StoreHandle>(value, HandleKind::Store, "expected a store").store;
}

int64_t integer(Napi::Value value) { return static_cast<int64_t>(numberOf(value)); }

GroupHandle& groupOf(Napi::Value value) {
  return handleOf<GroupHandle>(value, HandleKind::ProcessGroup, "expected a process group");
}

// The exception now handled, as one that names another process as its reason.
[[noreturn]] void failAsPeer() { throw PeerError(currentFailure().message); }

// Makes the JavaScript value of a result, on the JavaScript thread.
using Result = std::function<napi_value(napi_env)>;

// What a thread works on, and the promise it settles.
struct Task {
  napi_deferred deferred = nullptr;
  std::function<Result()> work;
  Result result;
  std::optional<Failure> failure;
};

void settle(napi_env env, napi_value, void*, void* data) {
  const std::unique_ptr<Task> task(static_cast<Task*>(data));
  if (env == nullptr) return;  // the process ends
  try {
    if (!task->failure) {
      napi_resolve_deferred(env, task->deferred, task->result(env));
      return;
    }
  } catch (...) {
    task->failure = currentFailure();
  }
  napi_reject_deferred(env, task->deferred, failureToJs(env, *task->failure));
}

void carryOut(std::unique_ptr<Task> task, napi_threadsafe_function settling) {
  try {
    dropWarnings();
    task->result = task->work();
  } catch (...) {
    task->failure = currentFailure();
    task->failure->code = "CRAB_PEER";
  }
  if (napi_call_threadsafe_function(settling, task.get(), napi_tsfn_blocking) != napi_ok) return;
  task.release();
  napi_release_threadsafe_function(settling, napi_tsfn_release);
}

// Does something that waits for other machines on a thread of its own, not of Node's pool: some requests of
// c10d wait for ever, and the end of a process waits for the pool. Such a thread does not keep the process
// alive either.
napi_value inBackground(Napi::Env env, std::function<Result()> work) {
  auto task = std::make_unique<Task>();
  task->work = std::move(work);
  napi_value promise = nullptr;
  napi_threadsafe_function settling = nullptr;
  const Napi::String name = Napi::String::New(env, "crab:distributed");
  if (napi_create_promise(env, &task->deferred, &promise) != napi_ok ||
      napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, nullptr, settle,
                                      &settling) != napi_ok ||
      napi_unref_threadsafe_function(env, settling) != napi_ok) {
    fail("the JavaScript engine could not start a thread", "CRAB_TORCH");
  }
  std::thread(carryOut, std::move(task), settling).detach();
  return promise;
}

// As a result: the handle, which JavaScript then owns.
template <typename Handle>
Result owned(std::unique_ptr<Handle> handle) {
  auto held = std::make_shared<std::unique_ptr<Handle>>(std::move(handle));
  return [held](napi_env env) { return wrapHandle(env, std::move(*held)); };
}

// c10d writes its warnings to standard error; a library does not print.
// Where libtorch was built with glog, as Debian's is, that has a level of its own, read before we are loaded.
void quieten() {
  setenv("TORCH_CPP_LOG_LEVEL", "ERROR", 0);
  constexpr int32_t kGlogError = 2;
  auto* level = static_cast<int32_t*>(dlsym(RTLD_DEFAULT, "_ZN3fLI17FLAGS_minloglevelE"));
  if (level != nullptr && *level < kGlogError) *level = kGlogError;
}

// storeConnect(host, port, isServer, timeoutMs, prefix): keys are kept under the prefix.
napi_value storeConnect(const Napi::CallbackInfo& info) {
  quieten();
  const std::string host = textOf(info[0]);
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(integer(info[1]));
  options.isServer = info[2].ToBoolean();
  options.waitWorkers = false;
  options.timeout = Milliseconds(integer(info[3]));
  const std::string prefix = textOf(info[4]);
  return inBackground(info.Env(), [host, options, prefix] {
    auto handle = std::make_unique<StoreHandle>();
    handle->store =
        c10::make_intrusive<c10d::PrefixStore>(prefix, c10::make_intrusive<c10d::TCPStore>(host, options));
    return owned(std::move(handle));
  });
}

// storeAdd(store, key, amount): adds to a counter that begins at 0; a promise of what it is then.
napi_value storeAdd(const Napi::CallbackInfo& info) {
  const auto store = storeOf(info[0]);
  const std::string key = textOf(info[1]);
  const int64_t amount = integer(info[2]);
  return inBackground(info.Env(), [store, key, amount]() -> Result {
    const auto sum = static_cast<double>(store->add(key, amount));
    return [sum](napi_env env) -> napi_value { return Napi::Number::New(env, sum); };
  });
}

struct GroupArguments {
  std::string backend;
  c10::intrusive_ptr<c10d::Store> store;
  int rank;
  int size;
  Milliseconds timeout;
  std::string interface;  // a network interface, or empty
  std::string address;    // an address of this machine, or empty
};

#ifdef USE_C10D_GLOO
c10::intrusive_ptr<Engine> makeGloo(const GroupArguments& given) {
  using c10d::ProcessGroupGloo;
  auto options = ProcessGroupGloo::Options::create(given.timeout);
  options->threads = 2;
  options->devices.push_back(!given.interface.empty()
                                 ? ProcessGroupGloo::createDeviceForInterface(given.interface)
                             : !given.address.empty()
                                 ? ProcessGroupGloo::createDeviceForHostname(given.address)
                                 : ProcessGroupGloo::createDefaultDevice());
  return c10::make_intrusive<ProcessGroupGloo>(given.store, given.rank, given.size, options);
}
#endif

#ifdef USE_C10D_NCCL
c10::intrusive_ptr<Engine> makeNccl(const GroupArguments& given) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = given.timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(given.store, given.rank, given.size, options);
}
#endif

c10::intrusive_ptr<Engine> makeEngine(const GroupArguments& given) {
#ifdef USE_C10D_GLOO
  if (given.backend == "gloo") return makeGloo(given);
#endif
#ifdef USE_C10D_NCCL
  if (given.backend == "nccl") return makeNccl(given);
#endif
  fail("this libtorch's addon was built without " + given.backend);
}

// groupCreate(backend, store, rank, size, timeoutMs, interface | null, address | null)
napi_value groupCreate(const Napi::CallbackInfo& info) {
  quieten();
  GroupArguments given;
  given.backend = textOf(info[0]);
  given.store = storeOf(info[1]);
  given.rank = static_cast<int>(integer(info[2]));
  given.size = static_cast<int>(integer(info[3]));
  given.timeout = Milliseconds(integer(info[4]));
  if (!info[5].IsNull()) given.interface = textOf(info[5]);
  if (!info[6].IsNull()) given.address = textOf(info[6]);
  return inBackground(info.Env(), [given] {
    given.store->setTimeout(given.timeout);
    auto handle = std::make_unique<GroupHandle>();
    handle->engine = makeEngine(given);
    return owned(std::move(handle));
  });
}

c10d::ReduceOp reduceOp(const std::string& name) {
  if (name == "sum") return c10d::ReduceOp::SUM;
  if (name == "min") return c10d::ReduceOp::MIN;
  if (name == "max") return c10d::ReduceOp::MAX;
  if (name == "product") return c10d::ReduceOp::PRODUCT;
  fail("expected one of sum, min, max, product");
}

std::vector<at::Tensor> denseTensor(Napi::Value value) {
  const at::Tensor tensor = tensorOf(value).detach();
  if (!tensor.is_non_overlapping_and_dense()) fail("the tensor's elements must be dense in memory");
  return {tensor};
}

// groupAllReduce(group, tensor, op): in place
napi_value groupAllReduce(const Napi::CallbackInfo& info) {
  const auto engine = engineOf(info[0]);
  auto tensors = denseTensor(info[1]);
  c10d::AllreduceOptions options;
  options.reduceOp = reduceOp(textOf(info[2]));
  finishWork(started([&] { return engine->allreduce(tensors, options); }));
  return nullptr;
}

// groupBroadcast(group, tensor, root): in place
napi_value groupBroadcast(const Napi::CallbackInfo& info) {
  const auto engine = engineOf(info[0]);
  auto tensors = denseTensor(info[1]);
  c10d::BroadcastOptions options;
  options.rootRank = integer(info[2]);
  finishWork(started([&] { return engine->broadcast(tensors, options); }));
  return nullptr;
}

napi_value groupAllGather(const Napi::CallbackInfo& info) {
  const auto engine = engineOf(info[0]);
  return wrapTensors(info.Env(), allGather(*engine, tensorOf(info[1]).detach()));
}

// groupBarrier(group): a promise; nothing of this process is held up meanwhile.
napi_value groupBarrier(const Napi::CallbackInfo& info) {
  const auto engine = engineOf(info[0]);
  return inBackground(info.Env(), [engine]() -> Result {
    finishWork(started([&] { return engine->barrier(); }));
    return [](napi_env env) -> napi_value { return Napi::Env(env).Undefined(); };
  });
}

// groupClose(group): leaves it; the others' next collective fails.
napi_value groupClose(const Napi::CallbackInfo& info) {
  groupOf(info[0]).engine.reset();
  return nullptr;
}

}  // namespace

c10::intrusive_ptr<Engine> engineOf(Napi::Value value) {
  const GroupHandle& group = groupOf(value);
  if (!group.engine) fail("the process group has been closed", "CRAB_FREED");
  return group.engine;
}

WorkPointer started(const std::function<WorkPointer()>& start) {
  try {
    return start();
  } catch (...) {
    failAsPeer();
  }
}

void finishWork(const WorkPointer& work) {
  try {
    if (work->wait()) return;
  } catch (...) {
    failAsPeer();
  }
  throw PeerError("the collective was given up");
}

void allReduceSum(Engine& engine, const at::Tensor& tensor) {
  std::vector<at::Tensor> tensors{tensor};
  finishWork(started([&] { return engine.allreduce(tensors); }));
}

std::vector<at::Tensor> allGather(Engine& engine, const at::Tensor& tensor) {
  std::vector<at::Tensor> inputs{tensor.contiguous()};
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int rank = 0; rank < engine.getSize(); ++rank) {
    outputs[0].push_back(at::empty_like(inputs[0], at::MemoryFormat::Contiguous));
  }
  finishWork(started([&] { return engine.allgather(outputs, inputs); }));
  return outputs[0];
}

#endif  // CRAB_C10D

namespace {

// distributedBackends(): those this addon was built with.
napi_value distributedBackends(const Napi::CallbackInfo& info) {
  Napi::Array names = Napi::Array::New(info.Env());
#ifdef USE_C10D_GLOO
  names.Set(names.Length(), "gloo");
#endif
#ifdef USE_C10D_NCCL
  names.Set(names.Length(), "nccl");
#endif
  return names;
}

}  // namespace

void defineProcessGroup(Napi::Object exports) {
  define<distributedBackends>(exports, "distributedBackends");
#ifdef CRAB_C10D
  define<storeConnect>(exports, "storeConnect");
  define<storeAdd>(exports, "storeAdd");
  define<groupCreate>(exports, "groupCreate");
  define<groupAllReduce>(exports, "groupAllReduce");
  define<groupBroadcast>(exports, "groupBroadcast");
  define<groupAllGather>(exports, "groupAllGather");
  define<groupBarrier>(exports, "groupBarrier");
  define<groupClose>(exports, "groupClose");
  defineProcessGroupAutograd(exports);
  defineReducer(exports);
#endif
}

}  // namespace crab
