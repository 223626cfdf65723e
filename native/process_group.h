// Process groups of libtorch's own c10d, for the files that bind them. Builds against a libtorch without
// them define none of this but distributedBackends(), which is then empty.
#pragma once

#include "handles.h"

#if defined(USE_C10D_GLOO) || defined(USE_C10D_NCCL)
#define CRAB_C10D

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#if TORCH_AT_LEAST(2, 0)
#include <torch/csrc/distributed/c10d/Backend.hpp>
#endif

#include <functional>

namespace crab {

// What carries collectives out: since libtorch 2 a "backend", before that the group itself.
#if TORCH_AT_LEAST(2, 0)
using Engine = c10d::Backend;
#else
using Engine = c10d::ProcessGroup;
#endif

struct GroupHandle {
  HandleKind kind = HandleKind::ProcessGroup;
  c10::intrusive_ptr<Engine> engine;  // null once closed
};

// The engine behind a value; throws if it is none, or was closed.
c10::intrusive_ptr<Engine> engineOf(Napi::Value value);

// Collectives on this thread's stream: on a CPU they return when done, on CUDA when queued. All of these
// throw PeerError.
using WorkPointer = c10::intrusive_ptr<c10d::Work>;
WorkPointer started(const std::function<WorkPointer()>& start);
void finishWork(const WorkPointer& work);
void allReduceSum(Engine& engine, const at::Tensor& tensor);
// The tensors of all ranks, by rank; they must be alike.
std::vector<at::Tensor> allGather(Engine& engine, const at::Tensor& tensor);

void defineProcessGroupAutograd(Napi::Object exports);
void defineReducer(Napi::Object exports);

}  // namespace crab

#endif
