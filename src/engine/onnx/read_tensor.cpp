#include <charconv>
#include <cstring>

#include <protozero/pbf_writer.hpp>

#include "engine/onnx/read_fields.h"

namespace weft::onnx {
namespace {

// Field numbers of TensorProto.
enum : protozero::pbf_tag_type {
  dims = 1,
  data_type = 2,
  segment = 3,
  float_data = 4,
  int32_data = 5,
  int64_data = 7,
  tensor_name = 8,
  raw_data = 9,
  double_data = 10,
  uint64_data = 11,
  external_data = 13,
  data_location = 14,
};

struct External {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

struct TensorFields {
  std::string name;
  std::int64_t type = 0;
  Shape shape;
  std::optional<ByteSpan> raw;
  std::vector<float> floats;
  std::vector<std::int32_t> small;             // i32 and narrower integers; f16 as bits.
  std::vector<std::int64_t> large;             // The elements of an i64 tensor.
  std::vector<std::uint64_t> unsigned_values;  // The elements of a u32 tensor.
  std::optional<External> external;
  bool is_external = false;
};

Result<std::uint64_t> external_number(std::string_view key, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(ErrorCode::invalid_argument, "The external data's {} '{}' is not a number.", key,
                text);
  return value;
}

Result<> read_external_entry(protozero::pbf_reader entry, const ReadBounds& bounds,
                             External& external) {
  std::string key, value;
  while (entry.next()) {
    if (entry.tag() == 1) {
      WEFT_ASSIGN(key, read_name(entry, bounds));
    } else if (entry.tag() == 2) {
      WEFT_ASSIGN(value, read_name(entry, bounds));
    } else {
      entry.skip();
    }
  }
  if (key == "location") {
    external.location = value;
  } else if (key == "offset") {
    WEFT_ASSIGN(external.offset, external_number(key, value));
  } else if (key == "length") {
    WEFT_ASSIGN(external.length, external_number(key, value));
  }
  return {};
}

// Appends the elements of a packed field, or the one element of an unpacked field.
template <class T, class Packed, class Single>
Result<> append_numbers(protozero::pbf_reader& reader, std::vector<T>& out, Packed packed,
                        Single single) {
  if (reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const auto value : packed()) {
      if (out.size() * sizeof(T) >= tensor_bytes_max)
        return fail(ErrorCode::resource_exhausted, "A tensor has more than {} bytes.",
                    tensor_bytes_max);
      out.push_back(static_cast<T>(value));
    }
  } else {
    out.push_back(static_cast<T>(single()));
  }
  return {};
}

Result<TensorFields> read_fields(protozero::pbf_reader reader, const ReadBounds& bounds) {
  TensorFields fields;
  while (reader.next()) {
    switch (reader.tag()) {
      case dims:
        WEFT_OK(append_numbers(
            reader, fields.shape, [&] { return reader.get_packed_int64(); },
            [&] { return reader.get_int64(); }));
        if (fields.shape.size() > rank_max)
          return fail(ErrorCode::resource_exhausted, "A tensor has more than {} dimensions.",
                      rank_max);
        break;
      case data_type:
        fields.type = reader.get_int32();
        break;
      case segment:
        return fail(ErrorCode::unsupported, "A tensor in segments is not supported.");
      case float_data:
        WEFT_OK(append_numbers(
            reader, fields.floats, [&] { return reader.get_packed_float(); },
            [&] { return reader.get_float(); }));
        break;
      case int32_data:
        WEFT_OK(append_numbers(
            reader, fields.small, [&] { return reader.get_packed_int32(); },
            [&] { return reader.get_int32(); }));
        break;
      case int64_data:
        WEFT_OK(append_numbers(
            reader, fields.large, [&] { return reader.get_packed_int64(); },
            [&] { return reader.get_int64(); }));
        break;
      case uint64_data:
        WEFT_OK(append_numbers(
            reader, fields.unsigned_values, [&] { return reader.get_packed_uint64(); },
            [&] { return reader.get_uint64(); }));
        break;
      case tensor_name: {
        WEFT_ASSIGN(fields.name, read_name(reader, bounds));
        break;
      }
      case raw_data: {
        const protozero::data_view view = reader.get_view();
        fields.raw = weft::as_bytes(std::string_view(view.data(), view.size()));
        break;
      }
      case external_data:
        if (!fields.external) fields.external.emplace();
        WEFT_OK(read_external_entry(reader.get_message(), bounds, *fields.external));
        break;
      case data_location:
        fields.is_external = reader.get_int32() == 1;
        break;
      default:
        reader.skip();
    }
  }
  return fields;
}

template <class T, class From>
ByteVector converted(const std::vector<From>& values) {
  ByteVector bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    if constexpr (std::is_same_v<T, Half>)
      value.bits = static_cast<std::uint16_t>(values[i]);
    else if constexpr (std::is_same_v<T, Truth>)
      value = Truth(values[i] != 0);
    else
      value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

ByteVector typed_bytes(ElementType type, const TensorFields& fields) {
  return with_type(type, [&]<class T>() {
    if constexpr (std::is_same_v<T, float>)
      return converted<T>(fields.floats);
    else if constexpr (std::is_same_v<T, std::int64_t>)
      return converted<T>(fields.large);
    else if constexpr (std::is_same_v<T, std::uint32_t>)
      return converted<T>(fields.unsigned_values);
    else
      return converted<T>(fields.small);
  });
}

Result<NamedTensor> resolve(TensorFields fields, const ExternalData& external) {
  WEFT_ASSIGN(const ElementType type, element_type_from(fields.type));
  WEFT_ASSIGN(const std::int64_t count, checked_count(fields.shape, type));
  const std::uint64_t expected = static_cast<std::uint64_t>(count) * element_bytes(type);
  ByteVector bytes;
  if (fields.is_external) {
    if (!fields.external || fields.external->location.empty())
      return fail(ErrorCode::invalid_argument, "The tensor's external data has no location.");
    if (!external)
      return fail(
          ErrorCode::unsupported,
          "The tensor's data is in the file '{}', and no folder with external data is given.",
          fields.external->location);
    if (fields.external->length && *fields.external->length != expected)
      return fail(ErrorCode::invalid_argument,
                  "The tensor's external data has {} bytes; shape {} of {} takes {}.",
                  *fields.external->length, to_string(fields.shape), to_string(type), expected);
    WEFT_ASSIGN(bytes, external(fields.external->location, fields.external->offset, expected));
  } else if (fields.raw) {
    bytes.assign(fields.raw->begin(), fields.raw->end());
  } else {
    bytes = typed_bytes(type, fields);
  }
  if (type == ElementType::boolean)
    for (std::uint8_t& byte : bytes) byte = byte != 0 ? 1 : 0;
  WEFT_ASSIGN(Tensor tensor, Tensor::from_bytes(type, std::move(fields.shape), std::move(bytes)));
  return NamedTensor{std::move(fields.name), std::move(tensor)};
}

}  // namespace

Result<NamedTensor> read_tensor_message(protozero::pbf_reader reader, const ExternalData& external,
                                        const ReadBounds& bounds) {
  WEFT_ASSIGN(TensorFields fields, read_fields(reader, bounds));
  const std::string name = fields.name;
  auto tensor = resolve(std::move(fields), external);
  if (!tensor) return pass(std::move(tensor), "while reading tensor '{}'", name);
  return tensor;
}

Result<NamedTensor> read_tensor(ByteSpan bytes, const ExternalData& external,
                                const ReadBounds& bounds) {
  return without_exceptions<NamedTensor>("a tensor", [&] {
    return read_tensor_message(protozero::pbf_reader(text_of(bytes)), external, bounds);
  });
}

ByteVector write_tensor(const std::string& name, const Tensor& tensor) {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_packed_int64(dims, tensor.shape().begin(), tensor.shape().end());
  writer.add_int32(data_type, static_cast<std::int32_t>(tensor.type()));
  writer.add_string(tensor_name, name);
  const std::string_view raw = as_text(tensor.bytes());
  writer.add_bytes(raw_data, raw.data(), raw.size());
  return {out.begin(), out.end()};
}

}  // namespace weft::onnx
