// Writes GGUF files for tests. The files are valid unless the test adds invalid parts.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/gguf/metadata.h"
#include "engine/gguf/tensor_type.h"

namespace weft::gguf::test {

template <class T>
void put(std::string& out, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline void put_text(std::string& out, std::string_view text) {
  put<std::uint64_t>(out, text.size());
  out += text;
}

class Builder {
 public:
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;

  // Adds an entry whose value has the given bytes.
  Builder& raw(std::string_view key, std::uint32_t type, std::string_view bytes) {
    put_text(entries_, key);
    put(entries_, type);
    entries_ += bytes;
    ++entry_count;
    return *this;
  }
  template <class T>
  Builder& scalar(std::string_view key, ValueType type, T value) {
    std::string bytes;
    put(bytes, value);
    return raw(key, static_cast<std::uint32_t>(type), bytes);
  }
  Builder& uint32(std::string_view key, std::uint32_t value) {
    return scalar(key, ValueType::uint32, value);
  }
  Builder& text(std::string_view key, std::string_view value) {
    std::string bytes;
    put_text(bytes, value);
    return raw(key, static_cast<std::uint32_t>(ValueType::string), bytes);
  }
  Builder& texts(std::string_view key, const std::vector<std::string>& values) {
    std::string bytes;
    put(bytes, static_cast<std::uint32_t>(ValueType::string));
    put<std::uint64_t>(bytes, values.size());
    for (const auto& value : values) put_text(bytes, value);
    return raw(key, static_cast<std::uint32_t>(ValueType::array), bytes);
  }
  template <class T>
  Builder& array(std::string_view key, ValueType type, const std::vector<T>& values) {
    std::string bytes;
    put(bytes, static_cast<std::uint32_t>(type));
    put<std::uint64_t>(bytes, values.size());
    for (const T value : values) put(bytes, value);
    return raw(key, static_cast<std::uint32_t>(ValueType::array), bytes);
  }
  // Adds a tensor at `offset` in the data.
  Builder& tensor(std::string_view name, const std::vector<std::uint64_t>& dimensions,
                  std::uint32_t type, std::uint64_t offset) {
    put_text(tensors_, name);
    put(tensors_, static_cast<std::uint32_t>(dimensions.size()));
    for (const std::uint64_t size : dimensions) put(tensors_, size);
    put(tensors_, type);
    put(tensors_, offset);
    ++tensor_count;
    return *this;
  }
  Builder& tensor(std::string_view name, const std::vector<std::uint64_t>& dimensions,
                  TensorType type, std::uint64_t offset) {
    return tensor(name, dimensions, static_cast<std::uint32_t>(type), offset);
  }

  // Returns the file, with `data_bytes` zeros after the header.
  [[nodiscard]] std::string bytes(std::size_t data_bytes = 0) const {
    std::string out = "GGUF";
    put(out, version);
    put(out, tensor_count);
    put(out, entry_count);
    out += entries_;
    out += tensors_;
    if (data_bytes > 0) {
      out.resize((out.size() + alignment - 1) / alignment * alignment);
      out.resize(out.size() + data_bytes);
    }
    return out;
  }

  std::uint64_t tensor_count = 0;
  std::uint64_t entry_count = 0;

 private:
  std::string entries_;
  std::string tensors_;
};

}  // namespace weft::gguf::test
