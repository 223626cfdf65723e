// Enough of CUDA to run kernels on a processor, for tests on machines without a GPU: blocks run one after the
// other, the threads of a block as fibres that take turns at barriers and shuffles. Kernels are compiled as they
// are, apart from their launches and what is `extern __shared__` (cuda-sources.ts). Run with `backwards`, the last
// block and the last thread come first: if results differ, threads meet that no barrier keeps apart. What it cannot
// show is speed.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __global__
#define __device__
#define __launch_bounds__(...)
// Blocks run one at a time, so that what they share can be static.
#define __shared__ static

struct Dimensions {
  unsigned x = 1;
};
struct float2 {
  float x, y;
};
inline Dimensions threadIdx, blockIdx, blockDim, gridDim;

using cudaStream_t = void*;
using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }

using std::max;
using std::min;
inline float rsqrtf(float value) { return 1.f / std::sqrt(value); }

using __half = _Float16;
inline float __half2float(__half value) { return static_cast<float>(value); }
inline __half __float2half_rn(float value) { return static_cast<__half>(value); }

struct __nv_bfloat16 {
  uint16_t bits;
};
inline float __bfloat162float(__nv_bfloat16 value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (value != value) return {0x7fff};
  // To the nearest, and to the even one of two.
  return {static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

namespace emulated {

constexpr unsigned kWarp = 32;
constexpr size_t kStack = 64 * 1024;

[[noreturn]] inline void give_up(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::exit(1);
}

enum class Waits { no, forWarp, forBlock, ended };

// A thread of a block; the same ones serve all blocks. Jumps are many times faster than contexts, which ask the
// system about signals, but only a context can begin on a stack of its own.
struct Fibre {
  ucontext_t beginning;
  jmp_buf place;
  std::unique_ptr<char[]> stack;
  Waits waits = Waits::no;
  // What it offers in a shuffle; two, because it may come to the next one before others have read the last.
  float offered[2] = {};
  unsigned shuffles = 0;
};

// Whether the last block and the last thread come first.
inline bool backwards = false;

inline unsigned inOrder(unsigned n, unsigned count) { return backwards ? count - 1 - n : n; }

struct Block {
  std::vector<Fibre> fibres;
  jmp_buf scheduler;
  std::function<void()> body;
  std::vector<char> shared;
};
inline Block block;

inline void* sharedMemory() { return block.shared.data(); }

inline Fibre& self() { return block.fibres[threadIdx.x]; }

inline void wait(Waits what) {
  Fibre& own = self();
  own.waits = what;
  if (_setjmp(own.place) == 0) _longjmp(block.scheduler, 1);
}

inline void runFibre() {
  for (;;) {
    block.body();
    wait(Waits::ended);
  }
}

// Runs a thread of the block until it waits.
inline void resume(unsigned thread) {
  Fibre& fibre = block.fibres[thread];
  threadIdx.x = thread;
  if (_setjmp(block.scheduler) != 0) return;
  if (fibre.stack != nullptr) _longjmp(fibre.place, 1);
  fibre.stack.reset(new char[kStack]);
  getcontext(&fibre.beginning);
  fibre.beginning.uc_stack.ss_sp = fibre.stack.get();
  fibre.beginning.uc_stack.ss_size = kStack;
  fibre.beginning.uc_link = nullptr;
  makecontext(&fibre.beginning, runFibre, 0);
  setcontext(&fibre.beginning);
}

// Lets those go on who wait for what all of a group have come to; whether there were any.
inline bool release(unsigned from, unsigned to, Waits what) {
  bool any = false;
  for (unsigned n = from; n < to; n++) {
    const Waits waits = block.fibres[n].waits;
    if (waits != what && waits != Waits::ended) return false;
    any = any || waits == what;
  }
  if (!any) return false;
  for (unsigned n = from; n < to; n++) {
    if (block.fibres[n].waits == what) block.fibres[n].waits = Waits::no;
  }
  return true;
}

inline void runBlock(unsigned threads) {
  for (unsigned n = 0; n < threads; n++) {
    Fibre& fibre = block.fibres[n];
    fibre.waits = Waits::no;
    fibre.shuffles = 0;
  }
  for (;;) {
    bool ended = true;
    for (unsigned turn = 0; turn < threads; turn++) {
      const unsigned n = inOrder(turn, threads);
      if (block.fibres[n].waits == Waits::no) resume(n);
      ended = ended && block.fibres[n].waits == Waits::ended;
    }
    if (ended) return;
    bool released = release(0, threads, Waits::forBlock);
    for (unsigned first = 0; first < threads; first += kWarp) {
      released = release(first, min(first + kWarp, threads), Waits::forWarp) || released;
    }
    if (!released) give_up("threads wait for each other for ever");
  }
}

template <typename Body>
void launch(unsigned blocks, unsigned threads, size_t shared, cudaStream_t, const Body& body) {
  if (block.fibres.size() < threads) block.fibres = std::vector<Fibre>(threads);
  block.body = body;
  gridDim.x = blocks;
  blockDim.x = threads;
  for (unsigned turn = 0; turn < blocks; turn++) {
    blockIdx.x = inOrder(turn, blocks);
    // As floats no numbers, so that what is read before it is written shows.
    block.shared.assign(shared, '\xff');
    runBlock(threads);
  }
}

}  // namespace emulated

inline void __syncthreads() { emulated::wait(emulated::Waits::forBlock); }

inline float __shfl_xor_sync(unsigned mask, float value, unsigned other) {
  if (mask != 0xffffffffu) emulated::give_up("only shuffles of all lanes are known");
  emulated::Fibre& own = emulated::self();
  const unsigned turn = own.shuffles++ % 2, partner = threadIdx.x ^ other;
  own.offered[turn] = value;
  emulated::wait(emulated::Waits::forWarp);
  return emulated::block.fibres[partner].offered[turn];
}
