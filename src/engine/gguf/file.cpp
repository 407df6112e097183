#include "engine/gguf/file.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "common/base/format.h"
#include "common/base/utf8.h"
#include "engine/gguf/reader.h"

namespace weft::gguf {
namespace {

constexpr std::uint32_t magic = 0x46554747;  // The bytes "GGUF".

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

// Reads the parts in the order of the file.
class Parser {
 public:
  Parser(const Source& source, const Limits& limits)
      : limits_(limits), reader_(source, std::min(source.bytes(), limits.header_bytes_max)) {
    file_.file_bytes = source.bytes();
  }

  Result<File> parse() {
    WEFT_OK(parse_front());
    for (std::uint64_t i = 0; i < metadata_count_; ++i) WEFT_OK(parse_entry(i));
    WEFT_OK(parse_alignment());
    // parse_front() has limited the count by the bytes of the file.
    file_.tensors.reserve(tensor_count_);
    for (std::uint64_t i = 0; i < tensor_count_; ++i) WEFT_OK(parse_tensor(i));
    // A file without tensors may end before the padding.
    file_.data_offset =
        tensor_count_ == 0 ? reader_.offset() : aligned(reader_.offset(), file_.alignment);
    WEFT_OK(place_tensors());
    return std::move(file_);
  }

 private:
  Result<> parse_front() {
    WEFT_ASSIGN(const auto first, reader_.scalar<std::uint32_t>("the magic number"));
    if (first != magic)
      return fail(ErrorCode::invalid_argument, "The file begins with 0x{:08x}, not with 'GGUF'.",
                  std::byteswap(first));
    WEFT_ASSIGN(file_.version, reader_.scalar<std::uint32_t>("the version"));
    if (file_.version != 0 && (file_.version & 0xFFFF) == 0)
      return fail(ErrorCode::invalid_argument,
                  "The file is big-endian GGUF version {}; only little-endian files are read.",
                  std::byteswap(file_.version));
    if (file_.version != 2 && file_.version != 3)
      return fail(ErrorCode::invalid_argument,
                  "The file is GGUF version {}; versions 2 and 3 are read.", file_.version);
    WEFT_ASSIGN(tensor_count_, reader_.scalar<std::uint64_t>("the number of tensors"));
    WEFT_ASSIGN(metadata_count_, reader_.scalar<std::uint64_t>("the number of metadata entries"));
    // The smallest tensor has an empty name, a count, one dimension, a type and an offset. The
    // smallest entry has the length of its key, a type and a value of one byte.
    constexpr std::uint64_t tensor_bytes_min = 8 + 4 + 4 + 8, entry_bytes_min = 8 + 4 + 1;
    WEFT_OK(check_count("tensors", tensor_count_, limits_.tensor_count_max, tensor_bytes_min));
    return check_count("metadata entries", metadata_count_, limits_.metadata_count_max,
                       entry_bytes_min);
  }

  Result<> check_count(std::string_view what, std::uint64_t count, std::uint64_t max,
                       std::uint64_t bytes_each) const {
    if (count > max)
      return fail(ErrorCode::invalid_argument, "The file announces {} {}; at most {} are read.",
                  count, what, max);
    if (count > reader_.remaining() / bytes_each)
      return fail(ErrorCode::invalid_argument,
                  "The file announces {} {}, more than its {} bytes can hold.", count, what,
                  file_.file_bytes);
    return {};
  }

  Result<> parse_entry(std::uint64_t index) {
    const std::string place = weft::format("metadata entry {}", index);
    WEFT_ASSIGN(std::string key, parse_string(place, limits_.key_bytes_max));
    if (key.empty()) return fail(ErrorCode::invalid_argument, "The key of {} is empty.", place);
    const std::string where = weft::format("the metadata '{}'", key);
    WEFT_ASSIGN(const ValueType type, parse_type(where));
    WEFT_ASSIGN(Value value, parse_value(type, where));
    if (file_.metadata.has(key))
      return fail(ErrorCode::invalid_argument, "The metadata '{}' occurs twice.", key);
    (void)file_.metadata.insert(std::move(key), std::move(value));
    return {};
  }

  Result<ValueType> parse_type(std::string_view where) {
    WEFT_ASSIGN(const auto number, reader_.scalar<std::uint32_t>(where));
    if (number >= value_type_count)
      return fail(ErrorCode::invalid_argument, "The type of {} is {}; it must be from 0 to {}.",
                  where, number, value_type_count - 1);
    return static_cast<ValueType>(number);
  }

  template <class T>
  Result<Value> parse_scalar(std::string_view where) {
    WEFT_ASSIGN(const T value, reader_.scalar<T>(where));
    return Value(std::in_place_type<T>, value);
  }

  Result<Value> parse_value(ValueType type, std::string_view where) {
    switch (type) {
      case ValueType::uint8:
        return parse_scalar<std::uint8_t>(where);
      case ValueType::int8:
        return parse_scalar<std::int8_t>(where);
      case ValueType::uint16:
        return parse_scalar<std::uint16_t>(where);
      case ValueType::int16:
        return parse_scalar<std::int16_t>(where);
      case ValueType::uint32:
        return parse_scalar<std::uint32_t>(where);
      case ValueType::int32:
        return parse_scalar<std::int32_t>(where);
      case ValueType::float32:
        return parse_scalar<float>(where);
      case ValueType::uint64:
        return parse_scalar<std::uint64_t>(where);
      case ValueType::int64:
        return parse_scalar<std::int64_t>(where);
      case ValueType::float64:
        return parse_scalar<double>(where);
      case ValueType::boolean: {
        WEFT_ASSIGN(const auto byte, reader_.scalar<std::uint8_t>(where));
        if (byte > 1)
          return fail(ErrorCode::invalid_argument, "The bool in {} is {}, neither 0 nor 1.", where,
                      byte);
        return Value(std::in_place_type<bool>, byte == 1);
      }
      case ValueType::string: {
        WEFT_ASSIGN(std::string text, parse_string(where, limits_.header_bytes_max));
        return Value(std::in_place_type<std::string>, std::move(text));
      }
      case ValueType::array:
        break;
    }
    WEFT_ASSIGN(Array array, parse_array(where, 1));
    return Value(std::in_place_type<Array>, std::move(array));
  }

  Result<Array> parse_array(std::string_view where, std::uint32_t depth) {
    if (depth > limits_.array_depth_max)
      return fail(ErrorCode::invalid_argument, "The arrays in {} nest deeper than {} levels.",
                  where, limits_.array_depth_max);
    Array array;
    WEFT_ASSIGN(array.element_type, parse_type(where));
    WEFT_ASSIGN(const auto count, reader_.scalar<std::uint64_t>(where));
    const std::size_t bytes_each = scalar_bytes(array.element_type);
    // A string takes at least the bytes of its length; an array takes at least those of its type
    // and length.
    const std::uint64_t bytes_min = bytes_each != 0                           ? bytes_each
                                    : array.element_type == ValueType::string ? 8
                                                                              : 12;
    if (count > reader_.remaining() / bytes_min)
      return fail(ErrorCode::invalid_argument,
                  "The array in {} has {} elements of type {}, more than the {} bytes that follow "
                  "can hold.",
                  where, count, to_string(array.element_type), reader_.remaining());
    array.count = static_cast<std::size_t>(count);
    if (array.element_type == ValueType::string) return parse_strings(std::move(array), where);
    if (array.element_type == ValueType::array) return parse_arrays(std::move(array), where, depth);
    array.scalars.resize(array.count * bytes_each);
    WEFT_OK(reader_.read(array.scalars, where));
    if (array.element_type == ValueType::boolean) {
      const auto wrong =
          std::ranges::find_if(array.scalars, [](std::uint8_t byte) { return byte > 1; });
      if (wrong != array.scalars.end())
        return fail(ErrorCode::invalid_argument, "The bool in {} is {}, neither 0 nor 1.", where,
                    *wrong);
    }
    return array;
  }

  Result<Array> parse_strings(Array array, std::string_view where) {
    array.strings.reserve(array.count);
    for (std::size_t i = 0; i < array.count; ++i) {
      WEFT_ASSIGN(const auto length, parse_length(where, limits_.header_bytes_max));
      const std::span<char> text = array.strings.append(length);
      WEFT_OK(reader_.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}, where));
      if (!utf8::is_valid({text.data(), text.size()}))
        return fail(ErrorCode::invalid_argument, "String {} of {} is not UTF-8.", i, where);
    }
    return array;
  }

  Result<Array> parse_arrays(Array array, std::string_view where, std::uint32_t depth) {
    nested_arrays_ += array.count;
    if (nested_arrays_ > limits_.nested_arrays_max)
      return fail(ErrorCode::invalid_argument,
                  "The file has more than {} nested arrays (Limits::nested_arrays_max), counted up "
                  "to {}.",
                  limits_.nested_arrays_max, where);
    for (std::size_t i = 0; i < array.count; ++i) {
      WEFT_ASSIGN(Array inner, parse_array(where, depth + 1));
      array.arrays.push_back(std::move(inner));
    }
    return array;
  }

  Result<std::size_t> parse_length(std::string_view where, std::uint64_t bytes_max) {
    WEFT_ASSIGN(const auto length, reader_.scalar<std::uint64_t>(where));
    if (length > reader_.remaining())
      return fail(ErrorCode::invalid_argument,
                  "A string in {} has {} bytes, more than the {} that follow.", where, length,
                  reader_.remaining());
    if (length > bytes_max)
      return fail(ErrorCode::invalid_argument, "A string in {} has {} bytes; at most {} are read.",
                  where, length, bytes_max);
    return static_cast<std::size_t>(length);
  }

  Result<std::string> parse_string(std::string_view where, std::uint64_t bytes_max) {
    WEFT_ASSIGN(const std::size_t length, parse_length(where, bytes_max));
    std::string text(length, '\0');
    WEFT_OK(reader_.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}, where));
    if (const std::size_t at = utf8::find_invalid(text); at != std::string::npos)
      return fail(ErrorCode::invalid_argument, "A string in {} is not UTF-8 (byte {} of {}).",
                  where, at, text.size());
    return text;
  }

  Result<> parse_alignment() {
    const Value* value = file_.metadata.find("general.alignment");
    if (value == nullptr) return {};
    const auto* alignment = std::get_if<std::uint32_t>(value);
    if (alignment == nullptr)
      return fail(ErrorCode::invalid_argument,
                  "The metadata 'general.alignment' is of type {}, not uint32.",
                  to_string(type_of(*value)));
    if (!std::has_single_bit(*alignment))
      return fail(ErrorCode::invalid_argument, "The alignment ({}) is not a power of two.",
                  *alignment);
    file_.alignment = *alignment;
    return {};
  }

  Result<> parse_tensor(std::uint64_t index) {
    Tensor tensor;
    WEFT_ASSIGN(tensor.name, parse_string(weft::format("the name of tensor {}", index),
                                          limits_.tensor_name_bytes_max));
    const std::string where = weft::format("the tensor '{}'", tensor.name);
    WEFT_ASSIGN(tensor.dimension_count, reader_.scalar<std::uint32_t>(where));
    if (tensor.dimension_count > Tensor::dimensions_max)
      return fail(ErrorCode::invalid_argument,
                  "The tensor '{}' has {} dimensions; there are at most {}.", tensor.name,
                  tensor.dimension_count, Tensor::dimensions_max);
    std::uint64_t elements = 1;
    for (std::uint32_t i = 0; i < tensor.dimension_count; ++i) {
      WEFT_ASSIGN(const auto size, reader_.scalar<std::uint64_t>(where));
      if (size == 0)
        return fail(ErrorCode::invalid_argument, "Dimension {} of the tensor '{}' is 0.", i,
                    tensor.name);
      // The number of elements must fit into int64, so that no product of sizes overflows later.
      if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / elements)
        return fail(ErrorCode::invalid_argument,
                    "The dimensions of the tensor '{}' multiply to more than 2^63.", tensor.name);
      elements *= size;
      tensor.dimensions[i] = size;
    }
    WEFT_ASSIGN(const auto type, reader_.scalar<std::uint32_t>(where));
    const TensorTypeInfo* about = find_tensor_type(type);
    if (about == nullptr)
      return fail(ErrorCode::invalid_argument,
                  "The tensor '{}' has type {}, which is not a format of ggml.", tensor.name, type);
    tensor.type = about->type;
    if (tensor.dimensions[0] % about->block_elements != 0)
      return fail(ErrorCode::invalid_argument,
                  "Rows of the tensor '{}' have {} elements, not a multiple of {} as {} needs.",
                  tensor.name, tensor.dimensions[0], about->block_elements, about->name);
    const std::uint64_t blocks = elements / about->block_elements;
    if (blocks > std::numeric_limits<std::uint64_t>::max() / about->block_bytes)
      return fail(ErrorCode::invalid_argument, "The tensor '{}' has more than 2^64 bytes.",
                  tensor.name);
    tensor.bytes = blocks * about->block_bytes;
    WEFT_ASSIGN(tensor.offset, reader_.scalar<std::uint64_t>(where));
    if (!file_.tensor_index.try_emplace(tensor.name, file_.tensors.size()).second)
      return fail(ErrorCode::invalid_argument, "The tensor '{}' occurs twice.", tensor.name);
    file_.tensors.push_back(std::move(tensor));
    return {};
  }

  // Checks the offsets into the data and converts them to offsets into the file.
  Result<> place_tensors() {
    const std::uint64_t data_bytes =
        file_.data_offset <= file_.file_bytes ? file_.file_bytes - file_.data_offset : 0;
    for (Tensor& tensor : file_.tensors) {
      if (tensor.offset % file_.alignment != 0)
        return fail(ErrorCode::invalid_argument,
                    "The offset ({}) of the tensor '{}' is not a multiple of the alignment ({}).",
                    tensor.offset, tensor.name, file_.alignment);
      if (tensor.offset > data_bytes || tensor.bytes > data_bytes - tensor.offset)
        return fail(ErrorCode::invalid_argument,
                    "The tensor '{}' ({} bytes at {}) lies past the end of the data ({} bytes); "
                    "the file is incomplete.",
                    tensor.name, tensor.bytes, tensor.offset, data_bytes);
      tensor.offset += file_.data_offset;
    }
    std::vector<std::size_t> order(file_.tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return file_.tensors[i].offset; });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const Tensor& before = file_.tensors[order[i - 1]];
      const Tensor& after = file_.tensors[order[i]];
      if (before.offset + before.bytes > after.offset)
        return fail(ErrorCode::invalid_argument, "The tensors '{}' and '{}' overlap.", before.name,
                    after.name);
    }
    return {};
  }

  const Limits limits_;
  Reader reader_;
  File file_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t metadata_count_ = 0;
  std::uint64_t nested_arrays_ = 0;
};

}  // namespace

const Tensor* File::find_tensor(std::string_view name) const {
  const auto found = tensor_index.find(std::string(name));
  return found == tensor_index.end() ? nullptr : &tensors[found->second];
}

Result<File> read_file(const Source& source, const Limits& limits) {
  return Parser(source, limits).parse();
}

}  // namespace weft::gguf
