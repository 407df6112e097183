#include "apps/coordinator/http/infer_request.h"

#include <algorithm>

#include "common/base/format.h"
#include "common/json/quote.h"

namespace weft::coordinator {
namespace {

using inference::OnnxInterface;
using inference::TensorSpec;

constexpr std::size_t id_bytes_max = 256;
constexpr std::size_t name_bytes_max = 256;
constexpr std::size_t rank_max = 8;

std::string names_of(const std::vector<TensorSpec>& specs) {
  std::string out;
  for (const TensorSpec& spec : specs) out += (out.empty() ? "'" : ", '") + spec.name + "'";
  return out;
}

// The index of a tensor in the interface.
Result<std::size_t> place_of(const json::Value& at, const std::string& name,
                             const std::vector<TensorSpec>& specs, std::string_view what) {
  const auto found = std::ranges::find(specs, name, &TensorSpec::name);
  if (found == specs.end())
    return at.error("\"{}\" is not an {} of the model, which has {}", name, what, names_of(specs));
  return static_cast<std::size_t>(found - specs.begin());
}

// The object "parameters". Servers define its members and ignore unknown ones.
struct Parameters {
  std::optional<std::uint64_t> binary_size{};
  std::optional<bool> binary{}, binary_all{};
};
Result<Parameters> read_parameters(const json::Object& object) {
  Parameters out;
  const auto given = object.find("parameters");
  if (!given) return out;
  WEFT_ASSIGN(const auto members, given->members());
  for (const auto& [key, value] : members) {
    if (key == "binary_data_size") {
      WEFT_ASSIGN(out.binary_size, value.unsigned_integer(std::uint64_t{1} << 40));
    } else if (key == "binary_data") {
      WEFT_ASSIGN(out.binary, value.boolean());
    } else if (key == "binary_data_output") {
      WEFT_ASSIGN(out.binary_all, value.boolean());
    } else if (key == "classification" || key.starts_with("shared_memory")) {
      return value.error("is not possible here: send and ask for whole tensors");
    }
  }
  return out;
}

Result<TensorShape> read_shape(const json::Value& list) {
  TensorShape shape;
  WEFT_OK(list.for_each({.count_max = rank_max}, [&](const json::Value& each) -> Result<> {
    WEFT_ASSIGN(const std::uint64_t size, each.unsigned_integer(std::uint64_t{1} << 31));
    shape.push_back(size);
    return {};
  }));
  return shape;
}

// An input as JSON. Its elements are read after all shapes have been checked against the model.
struct GivenInput {
  json::Value at;
  TensorShape shape;
  std::optional<json::Value> data{};
  std::uint64_t binary_size = 0;
};

Result<GivenInput> read_input(const json::Value& value, const TensorSpec& spec,
                              const json::Object& object) {
  GivenInput given{.at = value, .shape = {}};
  WEFT_ASSIGN(const json::Value type, object.get("datatype"));
  WEFT_ASSIGN(const std::string datatype, type.string({.bytes_max = 16}));
  const std::string_view wanted = tensor_type(spec.type).protocol;
  if (datatype != wanted)
    return type.error("is \"{}\"; the model's input '{}' is {}", datatype, spec.name, wanted);
  WEFT_ASSIGN(const json::Value shape, object.get("shape"));
  WEFT_ASSIGN(given.shape, read_shape(shape));
  WEFT_ASSIGN(const Parameters parameters, read_parameters(object));
  given.data = object.find("data");
  if (given.data.has_value() == parameters.binary_size.has_value())
    return value.error(
        "must have either \"data\" or the parameter \"binary_data_size\", and not both");
  given.binary_size = parameters.binary_size.value_or(0);
  return given;
}

// Reads the inputs of a request by name and returns them in the interface's order.
Result<std::vector<GivenInput>> read_inputs(const json::Value& list, const OnnxInterface& interface,
                                            std::vector<std::size_t>& order) {
  std::vector<std::optional<GivenInput>> found(interface.inputs.size());
  WEFT_OK(list.for_each(
      {.count_max = inference::onnx_tensors_max}, [&](const json::Value& each) -> Result<> {
        WEFT_ASSIGN(const json::Object object,
                    each.object({"name", "shape", "datatype", "parameters", "data"}));
        WEFT_ASSIGN(const json::Value name, object.get("name"));
        WEFT_ASSIGN(const std::string text, name.string({.bytes_max = name_bytes_max}));
        WEFT_ASSIGN(const std::size_t place, place_of(name, text, interface.inputs, "input"));
        if (found[place]) return name.error("\"{}\" occurs twice", text);
        WEFT_ASSIGN(found[place], read_input(each, interface.inputs[place], object));
        order.push_back(place);
        return {};
      }));
  std::vector<GivenInput> inputs;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) return list.error("the model's input '{}' is missing", interface.inputs[i].name);
    inputs.push_back(std::move(*found[i]));
  }
  return inputs;
}

std::vector<WantedTensor> all_outputs(const OnnxInterface& interface, bool binary) {
  std::vector<WantedTensor> wanted;
  for (std::size_t i = 0; i < interface.outputs.size(); ++i)
    wanted.push_back({.output = i, .binary = binary});
  return wanted;
}

// Reads the wanted outputs. A missing or empty list means all outputs.
Result<std::vector<WantedTensor>> read_outputs(const json::Object& request,
                                               const OnnxInterface& interface, bool binary) {
  std::vector<WantedTensor> wanted;
  if (const auto list = request.find("outputs")) {
    WEFT_OK(list->for_each(
        {.count_max = inference::onnx_tensors_max}, [&](const json::Value& each) -> Result<> {
          WEFT_ASSIGN(const json::Object object, each.object({"name", "parameters"}));
          WEFT_ASSIGN(const json::Value name, object.get("name"));
          WEFT_ASSIGN(const std::string text, name.string({.bytes_max = name_bytes_max}));
          WEFT_ASSIGN(const std::size_t place, place_of(name, text, interface.outputs, "output"));
          if (std::ranges::contains(wanted, place, &WantedTensor::output))
            return name.error("\"{}\" occurs twice", text);
          WEFT_ASSIGN(const Parameters parameters, read_parameters(object));
          wanted.push_back({.output = place, .binary = parameters.binary.value_or(binary)});
          return {};
        }));
  }
  return wanted.empty() ? all_outputs(interface, binary) : wanted;
}

std::string dims_json(const TensorSpec& spec) {
  std::string out;
  for (const inference::TensorSize& size : spec.shape)
    out += (out.empty() ? "" : ",") + (size.number > 0 ? std::to_string(size.number) : "-1");
  return "[" + out + "]";
}

std::string protocol_tensors(const std::vector<TensorSpec>& specs) {
  std::string out;
  for (const TensorSpec& spec : specs)
    out += weft::format(R"({}{{"name":{},"datatype":"{}","shape":{}}})", out.empty() ? "" : ",",
                        json::quote(spec.name), tensor_type(spec.type).protocol, dims_json(spec));
  return "[" + out + "]";
}

std::string serving_tensors(const std::vector<TensorSpec>& specs) {
  std::string out;
  for (const TensorSpec& spec : specs) {
    std::string dims;
    for (const inference::TensorSize& size : spec.shape)
      dims += weft::format(R"({}{{"size":"{}","name":{}}})", dims.empty() ? "" : ",",
                           size.number > 0 ? std::to_string(size.number) : "-1",
                           json::quote(size.symbol));
    out += weft::format(
        R"({}{}:{{"dtype":"{}","tensor_shape":{{"dim":[{}],"unknown_rank":false}},"name":{}}})",
        out.empty() ? "" : ",", json::quote(spec.name), tensor_type(spec.type).serving, dims,
        json::quote(spec.name));
  }
  return "{" + out + "}";
}

// The values of each input in "instances" or "inputs". Instances give one value each.
struct NamedValues {
  std::vector<std::vector<json::Value>> of;  // The values by index of the input.
  std::optional<std::uint64_t> rows{};
};

Result<NamedValues> named(const json::Value& object, const OnnxInterface& interface,
                          NamedValues values) {
  WEFT_ASSIGN(const auto members, object.members({.count_max = inference::onnx_tensors_max}));
  for (const auto& [key, value] : members) {
    WEFT_ASSIGN(const std::size_t place, place_of(value, key, interface.inputs, "input"));
    values.of[place].push_back(value);
  }
  if (members.size() != interface.inputs.size())
    return object.error("must have a member for each input of the model: {}",
                        names_of(interface.inputs));
  return values;
}

Result<NamedValues> read_rows(const json::Value& list, const OnnxInterface& interface) {
  NamedValues values{.of = std::vector<std::vector<json::Value>>(interface.inputs.size())};
  std::uint64_t rows = 0;
  bool is_named = false;
  WEFT_OK(list.for_each({.count_max = 4096}, [&](const json::Value& each) -> Result<> {
    const bool now_named = each.kind() == json::Kind::object;
    if (rows++ > 0 && now_named != is_named)
      return each.error("is of a kind other than the instances before");
    is_named = now_named;
    if (now_named) {
      WEFT_ASSIGN(values, named(each, interface, std::move(values)));
      return {};
    }
    if (interface.inputs.size() != 1)
      return each.error("must be an object with a member for each input of the model: {}",
                        names_of(interface.inputs));
    values.of.front().push_back(each);
    return {};
  }));
  if (rows == 0) return list.error("must not be empty");
  values.rows = rows;
  return values;
}

Result<NamedValues> read_columns(const json::Value& value, const OnnxInterface& interface) {
  NamedValues values{.of = std::vector<std::vector<json::Value>>(interface.inputs.size())};
  if (value.kind() == json::Kind::object) return named(value, interface, std::move(values));
  if (interface.inputs.size() != 1)
    return value.error("must be an object with a member for each input of the model: {}",
                       names_of(interface.inputs));
  values.of.front().push_back(value);
  return values;
}

Result<std::string> write_rows(const InferRequest& request, const OnnxInterface& interface,
                               const InferResult& result) {
  const std::uint64_t rows = request.shapes.inputs.front().front();
  std::string out;
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::string of_row;
    for (std::size_t i = 0; i < request.outputs.size(); ++i) {
      const std::size_t place = request.outputs[i].output;
      const TensorSpec& spec = interface.outputs[place];
      TensorShape shape = request.shapes.outputs[place];
      shape.erase(shape.begin());
      const ByteVector& bytes = result.outputs[i];
      const std::size_t each = bytes.size() / rows;
      WEFT_ASSIGN(const std::string text,
                  write_values(ByteSpan(bytes).subspan(row * each, each), tensor_type(spec.type),
                               shape, Nesting::nested, spec.name));
      of_row += request.outputs.size() == 1
                    ? text
                    : (of_row.empty() ? "" : ",") + json::quote(spec.name) + ":" + text;
    }
    out += (out.empty() ? "" : ",") + (request.outputs.size() == 1 ? of_row : "{" + of_row + "}");
  }
  return R"({"predictions":[)" + out + "]}";
}

Result<std::string> write_columns(const InferRequest& request, const OnnxInterface& interface,
                                  const InferResult& result) {
  std::string out;
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    const std::size_t place = request.outputs[i].output;
    const TensorSpec& spec = interface.outputs[place];
    WEFT_ASSIGN(const std::string text,
                write_values(result.outputs[i], tensor_type(spec.type),
                             request.shapes.outputs[place], Nesting::nested, spec.name));
    out += request.outputs.size() == 1
               ? text
               : (out.empty() ? "" : ",") + json::quote(spec.name) + ":" + text;
  }
  return R"({"outputs":)" + (request.outputs.size() == 1 ? out : "{" + out + "}") + "}";
}

}  // namespace

Result<InferRequest> read_infer_request(std::string_view body,
                                        std::optional<std::size_t> json_bytes,
                                        const OnnxInterface& interface) {
  if (json_bytes && *json_bytes > body.size())
    return fail(ErrorCode::invalid_argument,
                "The header Inference-Header-Content-Length says {} bytes; the body has {}.",
                *json_bytes, body.size());
  const std::string_view text = body.substr(0, json_bytes.value_or(body.size()));
  ByteSpan binary = as_bytes(body.substr(text.size()));
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = text.size() + 1}));
  WEFT_ASSIGN(const json::Object object, root.object({"id", "parameters", "inputs", "outputs"}));
  InferRequest request;
  if (const auto id = object.find("id")) {
    WEFT_ASSIGN(request.id, id->string({.bytes_max = id_bytes_max}));
  }
  WEFT_ASSIGN(const Parameters parameters, read_parameters(object));
  WEFT_ASSIGN(request.outputs,
              read_outputs(object, interface, parameters.binary_all.value_or(false)));
  WEFT_ASSIGN(const json::Value list, object.get("inputs"));
  std::vector<std::size_t> order;
  WEFT_ASSIGN(const std::vector<GivenInput> given, read_inputs(list, interface, order));
  std::vector<TensorShape> shapes;
  for (const GivenInput& input : given) shapes.push_back(input.shape);
  WEFT_ASSIGN(request.shapes, inference::bind(interface, shapes));
  request.inputs.resize(given.size());
  for (const std::size_t place : order) {  // The binary tensors are in the order of the request.
    const GivenInput& input = given[place];
    const TensorType& type = tensor_type(interface.inputs[place].type);
    if (input.data) {
      WEFT_ASSIGN(request.inputs[place], read_values(*input.data, type, input.shape));
      continue;
    }
    const std::uint64_t wanted = element_count(input.shape) * type.bytes;
    if (input.binary_size != wanted)
      return input.at.error("has {} bytes; {} of the shape {} has {}", input.binary_size,
                            type.protocol, inference::to_string(input.shape), wanted);
    if (input.binary_size > binary.size())
      return input.at.error("has {} bytes; {} are left in the body", input.binary_size,
                            binary.size());
    const ByteSpan own = binary.first(static_cast<std::size_t>(wanted));
    request.inputs[place] = ByteVector(own.begin(), own.end());
    binary = binary.subspan(own.size());
  }
  if (!binary.empty())
    return fail(ErrorCode::invalid_argument,
                "The body has {} bytes after its JSON that belong to no input.", binary.size());
  return request;
}

Result<InferRequest> read_predict_request(std::string_view body, const OnnxInterface& interface) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = body.size() + 1}));
  WEFT_ASSIGN(const json::Object object, root.object({"signature_name", "instances", "inputs"}));
  if (const auto signature = object.find("signature_name")) {
    WEFT_ASSIGN(const std::string name, signature->string());
    if (!name.empty() && name != "serving_default")
      return signature->error("\"{}\" does not exist; the model has \"serving_default\"", name);
  }
  const auto instances = object.find("instances"), inputs = object.find("inputs");
  if (instances.has_value() == inputs.has_value())
    return root.error("must have either \"instances\" or \"inputs\"");
  InferRequest request{.form = instances ? InferForm::rows : InferForm::columns};
  NamedValues values;
  if (instances) {
    WEFT_ASSIGN(values, read_rows(*instances, interface));
  } else {
    WEFT_ASSIGN(values, read_columns(*inputs, interface));
  }
  std::vector<TensorShape> shapes;
  for (const auto& of_input : values.of) {
    WEFT_ASSIGN(TensorShape shape, shape_of_values(of_input.front()));
    if (values.rows) shape.insert(shape.begin(), *values.rows);
    shapes.push_back(std::move(shape));
  }
  WEFT_ASSIGN(request.shapes, inference::bind(interface, shapes));
  for (std::size_t i = 0; i < values.of.size(); ++i) {
    TensorShape shape = shapes[i];
    if (values.rows) shape.erase(shape.begin());
    ByteVector bytes;
    for (const json::Value& value : values.of[i]) {
      WEFT_ASSIGN(const ByteVector own,
                  read_values(value, tensor_type(interface.inputs[i].type), shape));
      append(bytes, own);
    }
    request.inputs.push_back(std::move(bytes));
  }
  request.outputs = all_outputs(interface, false);
  if (values.rows) {
    for (std::size_t i = 0; i < request.shapes.outputs.size(); ++i) {
      const TensorShape& shape = request.shapes.outputs[i];
      if (shape.empty() || shape.front() != *values.rows)
        return fail(ErrorCode::invalid_argument,
                    "The output '{}' has the shape {}, which has no row for each of {} instances: "
                    "ask with \"inputs\" instead.",
                    interface.outputs[i].name, inference::to_string(shape), *values.rows);
    }
  }
  return request;
}

Result<InferReply> write_infer_reply(const std::string& model, const InferRequest& request,
                                     const OnnxInterface& interface, const InferResult& result) {
  InferReply reply;
  reply.headers["weft-job"] = result.job;
  reply.headers["content-type"] = "application/json";
  if (request.form != InferForm::protocol) {
    auto text = request.form == InferForm::rows ? write_rows(request, interface, result)
                                                : write_columns(request, interface, result);
    if (!text) return pass(std::move(text));
    reply.body = std::move(*text);
    return reply;
  }
  std::string outputs, binary;
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    const WantedTensor& wanted = request.outputs[i];
    const TensorSpec& spec = interface.outputs[wanted.output];
    const TensorShape& shape = request.shapes.outputs[wanted.output];
    const TensorType& type = tensor_type(spec.type);
    std::string rest;
    if (wanted.binary) {
      rest = weft::format(R"("parameters":{{"binary_data_size":{}}})", result.outputs[i].size());
      binary += as_text(result.outputs[i]);
    } else {
      WEFT_ASSIGN(const std::string text,
                  write_values(result.outputs[i], type, shape, Nesting::flat, spec.name));
      rest = R"("data":)" + text;
    }
    outputs +=
        weft::format(R"({}{{"name":{},"datatype":"{}","shape":{},{}}})", outputs.empty() ? "" : ",",
                     json::quote(spec.name), type.protocol, inference::to_string(shape), rest);
  }
  reply.body = weft::format(
      R"({{"model_name":{},"model_version":"1"{},"parameters":{{"job":"{}","price":{:.6f}}},"outputs":[{}]}})",
      json::quote(model), request.id.empty() ? "" : R"(,"id":)" + json::quote(request.id),
      result.job, static_cast<double>(result.price) / 1e6, outputs);
  const bool any_binary = std::ranges::contains(request.outputs, true, &WantedTensor::binary);
  if (any_binary) {
    reply.headers["inference-header-content-length"] = std::to_string(reply.body.size());
    reply.headers["content-type"] = "application/octet-stream";
    reply.body += binary;
  }
  return reply;
}

std::string protocol_metadata(const std::string& model, const OnnxInterface& interface) {
  return weft::format(
      R"({{"name":{},"versions":["1"],"platform":"onnx","inputs":{},"outputs":{}}})",
      json::quote(model), protocol_tensors(interface.inputs), protocol_tensors(interface.outputs));
}

std::string serving_metadata(const std::string& model, const OnnxInterface& interface) {
  return weft::format(
      R"({{"model_spec":{{"name":{},"signature_name":"","version":"1"}},)"
      R"("metadata":{{"signature_def":{{"signature_def":{{"serving_default":{{"inputs":{},"outputs":{},)"
      R"("method_name":"tensorflow/serving/predict"}}}}}}}}}})",
      json::quote(model), serving_tensors(interface.inputs), serving_tensors(interface.outputs));
}

}  // namespace weft::coordinator
