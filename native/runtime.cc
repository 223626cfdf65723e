// The library as a whole: its version, threads, and the BLAS in use.
#include "handles.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <link.h>

namespace crab {

namespace {

// Paths of the loaded shared libraries whose file name contains one of these words.
int collectBlas(dl_phdr_info* library, size_t, void* data) {
  const std::string path = library->dlpi_name;
  const std::string file = path.substr(path.find_last_of('/') + 1);
  for (const char* word : {"blas", "mkl_core", "blis", "atlas"}) {
    if (file.find(word) == std::string::npos) continue;
    static_cast<std::vector<std::string>*>(data)->push_back(path);
    break;
  }
  return 0;
}

std::vector<std::string> loadedBlas() {
  std::vector<std::string> paths;
  dl_iterate_phdr(collectBlas, &paths);
  return paths;
}

// A function of an already loaded library, or nullptr.
template <typename Function>
Function loadedFunction(const std::string& path, const char* name) {
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  auto function = reinterpret_cast<Function>(dlsym(library, name));
  dlclose(library);
  return function;
}

// libtorch tells OpenMP the number of threads; an OpenBLAS with threads of its own must be told too.
void setBlasThreads(int threads) {
  for (const std::string& path : loadedBlas()) {
    auto set = loadedFunction<void (*)(int)>(path, "openblas_set_num_threads");
    if (set != nullptr) set(threads);
  }
}

std::string openblasConfig(const std::string& path) {
  auto config = loadedFunction<char* (*)()>(path, "openblas_get_config");
  if (config == nullptr) return "";
  auto parallel = loadedFunction<int (*)()>(path, "openblas_get_parallel");
  const int kind = parallel == nullptr ? -1 : parallel();
  const char* threads = kind == 2 ? "openmp" : kind == 1 ? "pthread" : "sequential";
  return std::string(config()) + " (" + threads + ")";
}

// The BLAS in words: OpenBLAS's own description, or the libraries' file names.
std::string blasDescription() {
  const auto paths = loadedBlas();
  for (const std::string& path : paths) {
    const std::string config = openblasConfig(path);
    if (!config.empty()) return config;
  }
  if (at::hasMKL()) return "MKL";
  return paths.empty() ? "built into libtorch" : paths.front();
}

int threadArgument(Napi::Value value) {
  const char* expected = "expected a number of threads: a whole number from 1 to 1024";
  return static_cast<int>(wholeOf(value, 1, 1024, expected));
}

napi_value setNumThreads(const Napi::CallbackInfo& info) {
  const int threads = threadArgument(info[0]);
  at::set_num_threads(threads);
  setBlasThreads(threads);
  return nullptr;
}

napi_value getNumThreads(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), at::get_num_threads());
}

napi_value getNumInteropThreads(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), at::get_num_interop_threads());
}

napi_value runtimeInfo(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  Napi::Object result = Napi::Object::New(env);
  result.Set("version", TORCH_VERSION);
  result.Set("blas", blasDescription());
  const auto paths = loadedBlas();
  Napi::Array libraries = Napi::Array::New(env, paths.size());
  for (uint32_t i = 0; i < paths.size(); ++i) libraries.Set(i, paths[i]);
  result.Set("blasLibraries", libraries);
  result.Set("mkldnn", at::hasMKLDNN());
  return result;
}

// A library does not print: libtorch's warnings (about slow kernels and coming changes) are dropped.
class QuietWarnings : public c10::WarningHandler {
 public:
#if TORCH_AT_LEAST(2, 0)
  void process(const c10::Warning&) override {}
#else
  void process(const c10::SourceLocation&, const std::string&, bool) override {}
#endif
};

}  // namespace

void dropWarnings() {
  static QuietWarnings quiet;
#if TORCH_AT_LEAST(2, 0)
  c10::WarningUtils::set_warning_handler(&quiet);
#else
  c10::Warning::set_warning_handler(&quiet);
#endif
}

void defineRuntime(Napi::Object exports) {
  define<setNumThreads>(exports, "setNumThreads");
  define<getNumThreads>(exports, "getNumThreads");
  define<getNumInteropThreads>(exports, "getNumInteropThreads");
  define<runtimeInfo>(exports, "runtimeInfo");
}

}  // namespace crab
