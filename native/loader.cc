// The file Node loads. It knows nothing of libtorch: it prepares the process, then loads the addon proper
// (crab_torch_core.so, beside it). OpenBLAS and oneDNN choose their kernels while they are being loaded,
// from environment variables, so this cannot be done any later; and a worker thread's process.env does not
// reach them, so it cannot be done in JavaScript.
#include <dlfcn.h>
#include <malloc.h>
#include <node_api.h>
#include <stdlib.h>
#include <string.h>
#include <torch/version.h>

#include <string>

namespace {

#if defined(__x86_64__)
bool hasAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

// OpenBLAS takes an Intel processor newer than itself for one of 2004, and is then several times slower.
void chooseOpenblasKernels() {
  __builtin_cpu_init();
  if (!__builtin_cpu_is("intel")) return;
  if (hasAvx512()) {
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    setenv("OPENBLAS_CORETYPE", "Haswell", 0);
  }
}
#else
void chooseOpenblasKernels() {}
#endif

// The oneDNN of libtorch 1 uses AMX wherever the processor names it, also where the system has not allowed
// it to the process, which is then killed.
void avoidAmx() {
#if TORCH_VERSION_MAJOR < 2
  setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
#endif
}

// By default glibc gives large blocks back to the system as soon as they are freed, and the system clears
// them anew for the next tensor: a quarter of the time of a training step. Here freed memory is kept for
// reuse. CRAB_TORCH_MALLOC=system leaves glibc as it is, as do its own variables (MALLOC_MMAP_MAX_ and so
// on), whichever are set.
void keepFreedMemory() {
#if defined(__GLIBC__)
  const char* choice = getenv("CRAB_TORCH_MALLOC");
  if (choice != nullptr && strcmp(choice, "system") == 0) return;
  if (getenv("MALLOC_MMAP_MAX_") == nullptr) mallopt(M_MMAP_MAX, 0);
  if (getenv("MALLOC_TRIM_THRESHOLD_") == nullptr) mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

// A thread of OpenMP that has nothing to do spins for milliseconds by default, and where it is one of more
// busy threads than there are cores, it spins while the one it waits for cannot run: a step then takes
// tens of times as long. A short while covers the pauses between the operations of a step.
void spinBriefly() {
  if (getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "1000", 0);
}

std::string corePath() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&chooseOpenblasKernels), &self) == 0) return "crab_torch_core.so";
  const std::string path = self.dli_fname;
  return path.substr(0, path.find_last_of('/') + 1) + "crab_torch_core.so";
}

using Initialize = napi_value (*)(napi_env, napi_value);

napi_value loadCore(napi_env env, napi_value exports) {
  chooseOpenblasKernels();
  avoidAmx();
  keepFreedMemory();
  spinBriefly();
  void* core = dlopen(corePath().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* initialize = core == nullptr ? nullptr : dlsym(core, "crabTorchInitialize");
  if (initialize == nullptr) {
    napi_throw_error(env, nullptr, dlerror());
    return nullptr;
  }
  return reinterpret_cast<Initialize>(initialize)(env, exports);
}

}  // namespace

NAPI_MODULE_INIT() { return loadCore(env, exports); }
