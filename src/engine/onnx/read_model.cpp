#include "engine/onnx/read_model.h"

#include "engine/onnx/read_fields.h"

namespace weft::onnx {
namespace {

using protozero::pbf_reader;

// Values of AttributeProto.type. The field is 0 in files before IR version 2; the kind is then that
// of the field that is set.
enum class AttributeKind : std::int32_t {
  unset = 0,
  number = 1,
  integer = 2,
  text = 3,
  tensor = 4,
  graph = 5,
  numbers = 6,
  integers = 7,
  texts = 8,
};

struct AttributeFields {
  std::string name;
  AttributeKind kind = AttributeKind::unset;
  std::int32_t kind_number = 0;
  std::optional<float> number;
  std::optional<std::int64_t> integer;
  std::optional<std::string> text;
  std::optional<Tensor> tensor;
  std::vector<float> numbers;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
};

Result<> too_long(const ReadBounds& bounds) {
  return fail(ErrorCode::resource_exhausted, "A list has more than {} elements.", bounds.list_max);
}

Result<AttributeFields> read_attribute_fields(pbf_reader reader, const ExternalData& external,
                                              const ReadBounds& bounds) {
  AttributeFields fields;
  const auto packed = [&] {
    return reader.wire_type() == protozero::pbf_wire_type::length_delimited;
  };
  while (reader.next()) {
    switch (reader.tag()) {
      case 1: {
        WEFT_ASSIGN(fields.name, read_name(reader, bounds));
        break;
      }
      case 2:
        fields.number = reader.get_float();
        break;
      case 3:
        fields.integer = reader.get_int64();
        break;
      case 4: {
        WEFT_ASSIGN(fields.text, read_name(reader, bounds));
        break;
      }
      case 5: {
        WEFT_ASSIGN(NamedTensor tensor,
                    read_tensor_message(reader.get_message(), external, bounds));
        fields.tensor = std::move(tensor.tensor);
        break;
      }
      case 7:
        if (packed()) {
          for (const float value : reader.get_packed_float()) {
            if (fields.numbers.size() >= bounds.list_max) return pass(too_long(bounds));
            fields.numbers.push_back(value);
          }
        } else {
          fields.numbers.push_back(reader.get_float());
        }
        break;
      case 8:
        if (packed()) {
          for (const std::int64_t value : reader.get_packed_int64()) {
            if (fields.integers.size() >= bounds.list_max) return pass(too_long(bounds));
            fields.integers.push_back(value);
          }
        } else {
          fields.integers.push_back(reader.get_int64());
        }
        break;
      case 9: {
        WEFT_ASSIGN(std::string text, read_name(reader, bounds));
        fields.texts.push_back(std::move(text));
        break;
      }
      case 20:
        fields.kind_number = reader.get_int32();
        fields.kind = static_cast<AttributeKind>(fields.kind_number);
        break;
      default:
        reader.skip();
    }
    if (fields.numbers.size() > bounds.list_max || fields.integers.size() > bounds.list_max ||
        fields.texts.size() > bounds.list_max)
      return pass(too_long(bounds));
  }
  return fields;
}

Attribute attribute_of(AttributeFields fields) {
  if (fields.kind == AttributeKind::unset) {
    if (fields.number) return *fields.number;
    if (fields.integer) return *fields.integer;
    if (fields.text) return std::move(*fields.text);
    if (fields.tensor) return std::move(*fields.tensor);
    if (!fields.numbers.empty()) return std::move(fields.numbers);
    if (!fields.texts.empty()) return std::move(fields.texts);
    return std::move(fields.integers);
  }
  switch (fields.kind) {
    case AttributeKind::number:
      return fields.number.value_or(0.0f);
    case AttributeKind::integer:
      return fields.integer.value_or(0);
    case AttributeKind::text:
      return fields.text.value_or("");
    case AttributeKind::tensor:
      if (fields.tensor) return std::move(*fields.tensor);
      return UnreadableAttribute{"a tensor that is missing"};
    case AttributeKind::numbers:
      return std::move(fields.numbers);
    case AttributeKind::integers:
      return std::move(fields.integers);
    case AttributeKind::texts:
      return std::move(fields.texts);
    case AttributeKind::graph:
      return UnreadableAttribute{"a graph"};
    default:
      return UnreadableAttribute{weft::format("of kind {}", fields.kind_number)};
  }
}

Result<ModelNode> read_node(pbf_reader reader, const ExternalData& external,
                            const ReadBounds& bounds) {
  ModelNode node;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
      case 2: {
        auto& names = reader.tag() == 1 ? node.inputs : node.outputs;
        WEFT_ASSIGN(std::string name, read_name(reader, bounds));
        names.push_back(std::move(name));
        if (names.size() > bounds.list_max) return pass(too_long(bounds));
        break;
      }
      case 3: {
        WEFT_ASSIGN(node.name, read_name(reader, bounds));
        break;
      }
      case 4: {
        WEFT_ASSIGN(node.op, read_name(reader, bounds));
        break;
      }
      case 5: {
        auto fields = read_attribute_fields(reader.get_message(), external, bounds);
        if (!fields)
          return pass(std::move(fields), "while reading node '{}' ({})", node.name, node.op);
        std::string name = fields->name;
        if (!node.attributes.emplace(name, attribute_of(std::move(*fields))).second)
          return fail(ErrorCode::invalid_argument, "Node '{}' ({}) has the attribute '{}' twice.",
                      node.name, node.op, name);
        break;
      }
      case 7: {
        WEFT_ASSIGN(node.domain, read_name(reader, bounds));
        break;
      }
      default:
        reader.skip();
    }
  }
  return node;
}

Result<std::vector<Dimension>> read_shape(pbf_reader reader, const ReadBounds& bounds) {
  std::vector<Dimension> shape;
  while (reader.next(1)) {
    pbf_reader field = reader.get_message();
    Dimension dimension;
    while (field.next()) {
      if (field.tag() == 1) {
        dimension.size = field.get_int64();
        if (*dimension.size < 0) dimension.size.reset();  // Exporters write -1 for an unknown size.
      } else if (field.tag() == 2) {
        WEFT_ASSIGN(dimension.symbol, read_name(field, bounds));
      } else {
        field.skip();
      }
    }
    shape.push_back(std::move(dimension));
    if (shape.size() > rank_max)
      return fail(ErrorCode::resource_exhausted, "A shape has more than {} dimensions.", rank_max);
  }
  return shape;
}

Result<ValueInfo> read_value_info(pbf_reader reader, const ReadBounds& bounds) {
  ValueInfo info;
  std::int64_t type = 0;
  bool is_tensor = false;
  while (reader.next()) {
    if (reader.tag() == 1) {
      WEFT_ASSIGN(info.name, read_name(reader, bounds));
    } else if (reader.tag() == 2) {
      pbf_reader kind = reader.get_message();
      while (kind.next()) {
        // Field 6 is a denotation; any other field is a type other than a tensor.
        if (kind.tag() != 1) {
          if (kind.tag() != 6)
            return fail(ErrorCode::unsupported, "The value '{}' is not a tensor.", info.name);
          kind.skip();
          continue;
        }
        is_tensor = true;
        pbf_reader tensor = kind.get_message();
        while (tensor.next()) {
          if (tensor.tag() == 1) {
            type = tensor.get_int32();
          } else if (tensor.tag() == 2) {
            WEFT_ASSIGN(info.shape, read_shape(tensor.get_message(), bounds));
          } else {
            tensor.skip();
          }
        }
      }
    } else {
      reader.skip();
    }
  }
  if (!is_tensor)
    return fail(ErrorCode::invalid_argument, "The value '{}' has no type.", info.name);
  auto known = element_type_from(type);
  if (!known) return pass(std::move(known), "while reading the value '{}'", info.name);
  info.type = *known;
  return info;
}

Result<> read_graph(pbf_reader reader, const ExternalData& external, const ReadBounds& bounds,
                    Model& model) {
  while (reader.next()) {
    switch (reader.tag()) {
      case 1: {
        if (model.nodes.size() >= bounds.nodes_max)
          return fail(ErrorCode::resource_exhausted, "The graph has more than {} nodes.",
                      bounds.nodes_max);
        WEFT_ASSIGN(ModelNode node, read_node(reader.get_message(), external, bounds));
        model.nodes.push_back(std::move(node));
        break;
      }
      case 2: {
        WEFT_ASSIGN(model.graph_name, read_name(reader, bounds));
        break;
      }
      case 5: {
        if (model.initializers.size() >= bounds.tensors_max)
          return fail(ErrorCode::resource_exhausted, "The graph has more than {} tensors.",
                      bounds.tensors_max);
        WEFT_ASSIGN(NamedTensor tensor,
                    read_tensor_message(reader.get_message(), external, bounds));
        model.initializers.emplace_back(std::move(tensor.name), std::move(tensor.tensor));
        break;
      }
      case 11:
      case 12: {
        auto& values = reader.tag() == 11 ? model.inputs : model.outputs;
        if (values.size() >= bounds.tensors_max)
          return fail(ErrorCode::resource_exhausted, "The graph has more than {} inputs.",
                      bounds.tensors_max);
        WEFT_ASSIGN(ValueInfo info, read_value_info(reader.get_message(), bounds));
        values.push_back(std::move(info));
        break;
      }
      case 15:
        return fail(ErrorCode::unsupported, "Sparse initialisers are not supported.");
      default:
        reader.skip();
    }
  }
  return {};
}

Result<> read_opset(pbf_reader reader, const ReadBounds& bounds, Model& model) {
  std::string domain;
  std::int64_t version = 0;
  while (reader.next()) {
    if (reader.tag() == 1) {
      WEFT_ASSIGN(domain, read_name(reader, bounds));
    } else if (reader.tag() == 2) {
      version = reader.get_int64();
    } else {
      reader.skip();
    }
  }
  if (domain.empty() || domain == "ai.onnx") model.opset = version;
  return {};
}

Result<Model> read_fields_of_model(ByteSpan bytes, const ExternalData& external,
                                   const ReadBounds& bounds) {
  Model model;
  bool has_graph = false;
  pbf_reader reader(text_of(bytes));
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        model.ir_version = reader.get_int64();
        break;
      case 2: {
        WEFT_ASSIGN(model.producer, read_name(reader, bounds));
        break;
      }
      case 7:
        if (has_graph) return fail(ErrorCode::invalid_argument, "The file has two graphs.");
        has_graph = true;
        WEFT_OK(read_graph(reader.get_message(), external, bounds, model));
        break;
      case 8:
        WEFT_OK(read_opset(reader.get_message(), bounds, model));
        break;
      default:
        reader.skip();
    }
  }
  if (!has_graph)
    return fail(ErrorCode::invalid_argument, "The bytes are not an ONNX model: there is no graph.");
  if (model.opset == 0) model.opset = 1;  // Files of IR versions 1 and 2 have no opset.
  if (model.opset != 1 && (model.opset < 7 || model.opset > opset_max))
    return fail(ErrorCode::unsupported,
                "The model is of opset {}; opset 1 and 7 to {} are supported.", model.opset,
                opset_max);
  return model;
}

}  // namespace

Result<Model> read_model(ByteSpan bytes, const ExternalData& external, const ReadBounds& bounds) {
  return without_exceptions<Model>("a model",
                                   [&] { return read_fields_of_model(bytes, external, bounds); });
}

}  // namespace weft::onnx
