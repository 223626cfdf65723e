// What a tensor says of itself, and the names TypeScript uses for types, devices and memory formats.
#include "handles.h"

#include <ATen/detail/CUDAHooksInterface.h>

namespace crab {

namespace {

struct DtypeName {
  at::ScalarType type;
  const char* name;
};
constexpr DtypeName kDtypes[] = {
    {at::kFloat, "f32"}, {at::kDouble, "f64"}, {at::kHalf, "f16"}, {at::kBFloat16, "bf16"},
    {at::kLong, "i64"},  {at::kInt, "i32"},    {at::kByte, "u8"},  {at::kBool, "bool"},
};

napi_value numbers(Napi::Env env, at::IntArrayRef values) {
  Napi::Array array = Napi::Array::New(env, values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    array.Set(static_cast<uint32_t>(i), static_cast<double>(values[i]));
  }
  return array;
}

napi_value shape(const Napi::CallbackInfo& info) {
  return numbers(info.Env(), tensorOf(info[0]).sizes());
}

napi_value strides(const Napi::CallbackInfo& info) {
  return numbers(info.Env(), tensorOf(info[0]).strides());
}

napi_value dtype(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), dtypeName(tensorOf(info[0]).scalar_type()));
}

napi_value device(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), deviceName(tensorOf(info[0]).device()));
}

napi_value isContiguous(const Napi::CallbackInfo& info) {
  auto format = at::MemoryFormat::Contiguous;
  if (info[1].IsString()) {
    auto parsed = parseMemoryFormat(info[1].As<Napi::String>());
    if (!parsed) fail("unknown memory format");
    format = *parsed;
  }
  return Napi::Boolean::New(info.Env(), tensorOf(info[0]).is_contiguous(format));
}

// Whether two handles look at the same memory, from the same first element on.
napi_value sameMemory(const Napi::CallbackInfo& info) {
  const at::Tensor& a = tensorOf(info[0]);
  const at::Tensor& b = tensorOf(info[1]);
  const bool same = a.has_storage() && b.has_storage() &&
                    a.storage().unsafeGetStorageImpl() == b.storage().unsafeGetStorageImpl() &&
                    a.storage_offset() == b.storage_offset();
  return Napi::Boolean::New(info.Env(), same);
}

}  // namespace

Optional<at::ScalarType> parseDtype(const std::string& name) {
  for (const auto& entry : kDtypes) {
    if (name == entry.name) return entry.type;
  }
  return {};
}

const char* dtypeName(at::ScalarType type) {
  for (const auto& entry : kDtypes) {
    if (type == entry.type) return entry.name;
  }
  return c10::toString(type);
}

at::Device parseDevice(const std::string& name) {
  const bool known = name == "cpu" || name == "cuda" || name == "meta" || name.rfind("cuda:", 0) == 0;
  if (!known) fail("unknown device '" + name + "'; expected 'cpu', 'cuda' or 'cuda:<index>'");
  at::Device device(name);
  if (!device.is_cuda()) return device;
  const auto count = static_cast<int>(at::detail::getCUDAHooks().getNumGPUs());
  if (count == 0) fail("device '" + name + "': this libtorch sees no CUDA device", "CRAB_TORCH");
  if (device.has_index() && device.index() >= count) {
    fail("device '" + name + "': there are only " + std::to_string(count) + " CUDA devices", "CRAB_TORCH");
  }
  return device;
}

std::string deviceName(const at::Device& device) { return device.str(); }

Optional<at::MemoryFormat> parseMemoryFormat(const std::string& name) {
  if (name == "contiguous") return at::MemoryFormat::Contiguous;
  if (name == "preserve") return at::MemoryFormat::Preserve;
  if (name == "channelsLast") return at::MemoryFormat::ChannelsLast;
  return {};
}

void defineTensor(Napi::Object exports) {
  define<shape>(exports, "shape");
  define<strides>(exports, "strides");
  define<dtype>(exports, "dtype");
  define<device>(exports, "device");
  define<isContiguous>(exports, "isContiguous");
  define<sameMemory>(exports, "sameMemory");
}

}  // namespace crab
