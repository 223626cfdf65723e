// Entry of the addon proper, called by loader.cc: one EnvState for each JavaScript environment that loads
// it (main thread, workers).
#include "handles.h"

namespace {

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  crab::installState(env);
  crab::dropWarnings();
  crab::defineHandles(exports);
  crab::defineTensor(exports);
  crab::defineData(exports);
  crab::defineOperators(exports);
  crab::defineAutograd(exports);
  crab::defineModes(exports);
  crab::defineRandom(exports);
  crab::defineRuntime(exports);
  crab::defineCuda(exports);
  crab::defineProcessGroup(exports);
  return exports;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) napi_value crabTorchInitialize(napi_env env,
                                                                                 napi_value exports) {
  return Napi::RegisterModule(env, exports, initialize);
}
