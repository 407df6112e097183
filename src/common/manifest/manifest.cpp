#include "common/manifest/manifest.h"

#include "common/base/check.h"

namespace weft::manifest {

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::wgsl:
      return "wgsl";
    case Kind::kernel:
      return "kernel";
    case Kind::onnx:
      return "onnx";
  }
  return "?";
}

std::string_view to_string(ElementType type) {
  switch (type) {
    case ElementType::i32:
      return "i32";
    case ElementType::u32:
      return "u32";
    case ElementType::f32:
      return "f32";
    case ElementType::f16:
      return "f16";
    case ElementType::i8:
      return "i8";
  }
  return "?";
}

std::string_view to_string(Role role) {
  switch (role) {
    case Role::uniform:
      return "uniform";
    case Role::input:
      return "input";
    case Role::output:
      return "output";
    case Role::inout:
      return "inout";
  }
  return "?";
}

std::string_view to_string(Axis axis) {
  switch (axis) {
    case Axis::x:
      return "x";
    case Axis::y:
      return "y";
    case Axis::z:
      return "z";
  }
  return "?";
}

std::uint64_t bytes_per_element(ElementType type) {
  switch (type) {
    case ElementType::i32:
    case ElementType::u32:
    case ElementType::f32:
      return 4;
    case ElementType::f16:
      return 2;
    case ElementType::i8:
      return 1;
  }
  return 0;
}

std::uint64_t Binding::elements() const {
  std::uint64_t count = 1;
  for (const std::uint64_t length : shape) count *= length;
  return count;
}

std::vector<std::uint64_t> Manifest::output_bytes() const {
  if (kind == Kind::kernel) return {std::uint64_t{kernel.m} * kernel.n * sizeof(std::int32_t)};
  std::vector<std::uint64_t> sizes;
  for (const Binding& binding : bindings) {
    if (binding.is_output()) sizes.push_back(binding.bytes());
  }
  return sizes;
}

}  // namespace weft::manifest
