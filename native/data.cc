// Between tensors and JavaScript's memory: one copy each way, straight to and from the device.
// Memory is never shared: an ArrayBuffer can be detached or transferred while libtorch still uses it.
#include "handles.h"

#include <ATen/core/grad_mode.h>

namespace crab {

namespace {

struct Bytes {
  void* data;
  size_t length;
};

Bytes bytesOf(Napi::Value value) {
  if (!value.IsTypedArray()) fail("expected a typed array");
  Napi::TypedArray array = value.As<Napi::TypedArray>();
  return {static_cast<uint8_t*>(array.ArrayBuffer().Data()) + array.ByteOffset(), array.ByteLength()};
}

at::ScalarType dtypeArgument(Napi::Value value) {
  const std::string name = textOf(value, "expected a dtype name");
  auto type = parseDtype(name);
  if (!type) fail("unknown dtype '" + name + "'");
  return *type;
}

std::vector<int64_t> shapeArgument(Napi::Value value) {
  if (!value.IsArray()) fail("expected a shape: an array of whole numbers");
  Napi::Array array = value.As<Napi::Array>();
  std::vector<int64_t> shape(array.Length());
  for (uint32_t i = 0; i < array.Length(); ++i) {
    shape[i] = wholeOf(array.Get(i), 0, kMaxSafeInteger, "expected a shape: whole numbers from 0");
  }
  return shape;
}

// Number of bytes of a dense tensor, or -1 if it does not fit any memory.
int64_t denseBytes(const std::vector<int64_t>& shape, at::ScalarType type) {
  int64_t bytes = static_cast<int64_t>(c10::elementSize(type));
  for (int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) return -1;
  }
  return bytes;
}

at::Tensor viewOfBytes(Bytes bytes, at::IntArrayRef shape, at::ScalarType type) {
  return at::from_blob(bytes.data, shape, at::TensorOptions().dtype(type));
}

void requireLength(size_t bytes, int64_t expected) {
  if (expected >= 0 && bytes == static_cast<size_t>(expected)) return;
  fail("the array has " + std::to_string(bytes) + " bytes, the tensor " + std::to_string(expected));
}

// fromBytes(typedArray, shape, dtype, device): the array's bytes as a new tensor of that type.
napi_value fromBytes(const Napi::CallbackInfo& info) {
  const Bytes bytes = bytesOf(info[0]);
  const auto shape = shapeArgument(info[1]);
  const auto type = dtypeArgument(info[2]);
  const at::Device device = parseDevice(textOf(info[3], "expected a device name"));
  requireLength(bytes.length, denseBytes(shape, type));
  at::AutoDispatchBelowADInplaceOrView guard;
  at::Tensor result = at::empty(shape, at::TensorOptions().dtype(type).device(device));
  if (bytes.length > 0) result.copy_(viewOfBytes(bytes, shape, type));
  return wrapTensor(info.Env(), std::move(result));
}

// copyFromBytes(tensor, typedArray): overwrites a tensor's elements (row-major order) in place.
napi_value copyFromBytes(const Napi::CallbackInfo& info) {
  at::Tensor tensor = tensorOf(info[0]);
  const Bytes bytes = bytesOf(info[1]);
  requireLength(bytes.length, tensor.numel() * static_cast<int64_t>(tensor.element_size()));
  at::NoGradGuard guard;
  if (bytes.length > 0) tensor.copy_(viewOfBytes(bytes, tensor.sizes(), tensor.scalar_type()));
  return nullptr;
}

// copyToBytes(tensor, typedArray): the elements in row-major order into the array's memory.
napi_value copyToBytes(const Napi::CallbackInfo& info) {
  const at::Tensor tensor = tensorOf(info[0]).detach();
  const Bytes bytes = bytesOf(info[1]);
  requireLength(bytes.length, tensor.numel() * static_cast<int64_t>(tensor.element_size()));
  at::NoGradGuard guard;
  if (bytes.length > 0) viewOfBytes(bytes, tensor.sizes(), tensor.scalar_type()).copy_(tensor);
  return nullptr;
}

}  // namespace

void defineData(Napi::Object exports) {
  define<fromBytes>(exports, "fromBytes");
  define<copyFromBytes>(exports, "copyFromBytes");
  define<copyToBytes>(exports, "copyToBytes");
}

}  // namespace crab
