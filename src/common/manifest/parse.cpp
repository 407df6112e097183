#include <algorithm>
#include <array>
#include <charconv>

#include "common/json/json.h"
#include "common/manifest/data.h"
#include "common/manifest/manifest.h"

namespace weft::manifest {

namespace {

using json::Object;
using json::Value;

bool is_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 64 && text.front() != '.' &&
         std::ranges::all_of(text, allowed);
}

// True for an identifier of WGSL, which allows most of Unicode: any byte above ASCII is accepted
// here and left to the compiler.
bool is_identifier(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() <= 128 && letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || digit(c); });
}

// True for the name of an override, or the number that @id gave it.
bool is_override(std::string_view text) {
  return is_identifier(text) ||
         (!text.empty() && text.size() <= 5 &&
          std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }));
}

Result<std::string> identifier(const Value& value) {
  WEFT_ASSIGN(std::string text, value.string({.bytes_max = 128}));
  if (!is_identifier(text)) return value.error("must be a WGSL identifier, not \"{}\"", text);
  return text;
}

template <class Enum, std::size_t count>
Result<Enum> one_of(const Value& value, const std::array<Enum, count>& choices) {
  WEFT_ASSIGN(const std::string word, value.string({.bytes_max = 64}));
  std::string names;
  for (const Enum choice : choices) {
    if (to_string(choice) == word) return choice;
    names += (names.empty() ? "" : ", ") + std::string(to_string(choice));
  }
  return value.error("must be one of {}, not \"{}\"", names, word);
}

Result<MicroCredits> credits(const Value& value) {
  WEFT_ASSIGN(const std::string_view text, value.number_text());
  const auto wrong = [&] {
    return value.error(
        "must be an amount in credits from 0 to 9000000000000 with at most six decimals, not {}",
        text);
  };
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view decimals = point == std::string_view::npos ? "" : text.substr(point + 1);
  // Neither part may hold other characters than digits, so an exponent (1e3) or a minus is refused.
  std::uint64_t amount = 0;
  const auto [end, code] = std::from_chars(whole.data(), whole.data() + whole.size(), amount);
  if (code != std::errc() || end != whole.data() + whole.size() || amount > 9'000'000'000'000 ||
      decimals.size() > 6)
    return wrong();
  std::uint64_t micro = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const char digit = i < decimals.size() ? decimals[i] : '0';
    if (digit < '0' || digit > '9') return wrong();
    micro = micro * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return static_cast<MicroCredits>(amount * 1'000'000 + micro);
}

Result<std::variant<std::string, Path, Blob>> parse_shader(const Value& value,
                                                           const Limits& limits) {
  WEFT_ASSIGN(const Object object, value.object({"inline", "path", "blob"}));
  const auto text = object.find("inline");
  if (!text) {
    WEFT_ASSIGN(Data data, parse_data(object, {}));
    if (auto* path = std::get_if<Path>(&data)) return std::move(*path);
    if (auto* blob = std::get_if<Blob>(&data)) return *blob;
    return value.error("needs \"inline\", \"path\" or \"blob\"");
  }
  if (object.has("path") || object.has("blob"))
    return text->error("cannot be given together with \"path\" or \"blob\"");
  WEFT_ASSIGN(std::string shader, text->string({.bytes_max = limits.shader_bytes_max}));
  if (shader.empty()) return text->error("must not be empty");
  if (shader.find('\0') != std::string::npos) return text->error("must not contain a zero byte");
  return shader;
}

Result<std::vector<std::uint64_t>> parse_shape(const Value& value, ElementType type,
                                               const Limits& limits) {
  WEFT_ASSIGN(const std::vector<Value> lengths, value.array({.count_max = 8}));
  if (lengths.empty()) return value.error("must not be empty");
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes = bytes_per_element(type);
  for (const Value& length : lengths) {
    WEFT_ASSIGN(const std::uint64_t number, length.unsigned_integer(limits.binding_bytes_max));
    if (number == 0) return length.error("must not be 0");
    if (bytes > limits.binding_bytes_max / number)
      return value.error("comes to more than {} bytes", limits.binding_bytes_max);
    bytes *= number;
    shape.push_back(number);
  }
  return shape;
}

Result<Binding> parse_binding(const Value& value, const Limits& limits) {
  WEFT_ASSIGN(const Object object,
              value.object({"binding", "role", "type", "shape", "value", "base64", "path", "blob",
                            "split_dim", "combine"}));
  Binding binding;
  WEFT_ASSIGN(const Value index, object.get("binding"));
  WEFT_ASSIGN(binding.binding, index.integer_as<std::uint32_t>({.min = 0, .max = 999}));
  WEFT_ASSIGN(const Value role, object.get("role"));
  WEFT_ASSIGN(binding.role,
              one_of(role, std::array{Role::uniform, Role::input, Role::output, Role::inout}));
  WEFT_ASSIGN(const Value type, object.get("type"));
  WEFT_ASSIGN(binding.type, one_of(type, std::array{ElementType::i32, ElementType::u32,
                                                    ElementType::f32, ElementType::f16}));
  WEFT_ASSIGN(const Value shape, object.get("shape"));
  WEFT_ASSIGN(binding.shape, parse_shape(shape, binding.type, limits));
  WEFT_ASSIGN(binding.data,
              parse_data(object, {.type = binding.type, .elements = binding.elements()}));
  const bool given = !std::holds_alternative<std::monostate>(binding.data);
  if (given && binding.role == Role::output)
    return value.error("is an output and cannot be given data; \"inout\" can");
  if (!given && (binding.role == Role::uniform || binding.role == Role::input)) {
    return value.error("needs data: \"value\", \"base64\", \"path\" or \"blob\"");
  }
  if (const auto split_dim = object.find("split_dim")) {
    if (!binding.is_output()) return split_dim->error("is for outputs only");
    WEFT_ASSIGN(binding.split_dim, split_dim->integer_as<std::uint32_t>());
    if (binding.split_dim != 0U)
      return split_dim->error("must be 0: outputs are cut along their outermost dimension");
  }
  if (const auto combine = object.find("combine")) {
    if (!binding.is_output()) return combine->error("is for outputs only");
    WEFT_ASSIGN(const std::string word, combine->string({.bytes_max = 64}));
    if (word != "concat") return combine->error("must be \"concat\", not \"{}\"", word);
    if (binding.split_dim) return combine->error("cannot be given together with \"split_dim\"");
    binding.concat = true;
  }
  return binding;
}

Result<std::vector<Binding>> parse_bindings(const Value& value, const Limits& limits) {
  WEFT_ASSIGN(const std::vector<Value> items, value.array({.count_max = limits.bindings_max}));
  std::vector<Binding> bindings;
  for (const Value& item : items) {
    WEFT_ASSIGN(Binding binding, parse_binding(item, limits));
    if (std::ranges::contains(bindings, binding.binding, &Binding::binding))
      return item.error("binding {} occurs twice", binding.binding);
    bindings.push_back(std::move(binding));
  }
  if (std::ranges::none_of(bindings, &Binding::is_output))
    return value.error("need at least one with the role \"output\" or \"inout\"");
  return bindings;
}

Result<std::array<std::uint32_t, 3>> parse_dispatch(const Value& value) {
  WEFT_ASSIGN(const std::vector<Value> items, value.array({.count_max = 3}));
  if (items.empty()) return value.error("must not be empty");
  std::array<std::uint32_t, 3> dispatch{1, 1, 1};
  for (std::size_t i = 0; i < items.size(); ++i) {
    WEFT_ASSIGN(dispatch[i], items[i].integer_as<std::uint32_t>({.min = 1, .max = 0xffffffff}));
  }
  return dispatch;
}

Result<std::vector<Step>> parse_steps(const Object& root, const Limits& limits) {
  std::vector<Step> steps;
  const auto list = root.find("steps");
  if (!list) {
    WEFT_ASSIGN(const Value entry, root.get("entry"));
    WEFT_ASSIGN(const Value dispatch, root.get("dispatch"));
    Step step;
    WEFT_ASSIGN(step.entry, identifier(entry));
    WEFT_ASSIGN(step.dispatch, parse_dispatch(dispatch));
    steps.push_back(std::move(step));
    return steps;
  }
  for (const std::string_view key : {"entry", "dispatch"}) {
    if (const auto other = root.find(key))
      return other->error("cannot be given together with \"steps\"");
  }
  WEFT_ASSIGN(const std::vector<Value> items, list->array({.count_max = limits.steps_max}));
  if (items.empty()) return list->error("must not be empty");
  for (const Value& item : items) {
    WEFT_ASSIGN(const Object object, item.object({"entry", "dispatch"}));
    WEFT_ASSIGN(const Value entry, object.get("entry"));
    WEFT_ASSIGN(const Value dispatch, object.get("dispatch"));
    Step step;
    WEFT_ASSIGN(step.entry, identifier(entry));
    WEFT_ASSIGN(step.dispatch, parse_dispatch(dispatch));
    steps.push_back(std::move(step));
  }
  return steps;
}

Result<std::map<std::string, double>> parse_constants(const Value& value, const Limits& limits) {
  WEFT_ASSIGN(const auto members, value.members({.count_max = limits.constants_max}));
  std::map<std::string, double> constants;
  for (const auto& [name, number] : members) {
    if (!is_override(name)) return number.error("is not the name of a WGSL override");
    WEFT_ASSIGN(constants[name], number.number());
  }
  return constants;
}

Result<std::map<std::string, std::vector<double>>> parse_tune(const Value& value,
                                                              const Manifest& manifest,
                                                              const Limits& limits) {
  WEFT_ASSIGN(const auto members, value.members({.count_max = 8}));
  std::map<std::string, std::vector<double>> tune;
  std::size_t combinations = 1;
  for (const auto& [name, list] : members) {
    if (!is_override(name)) return list.error("is not the name of a WGSL override");
    if (manifest.constants.contains(name)) return list.error("is fixed in \"constants\" already");
    WEFT_ASSIGN(const std::vector<Value> items, list.array({.count_max = 16}));
    if (items.empty()) return list.error("must not be empty");
    std::vector<double>& values = tune[name];
    for (const Value& item : items) {
      WEFT_ASSIGN(const double number, item.number());
      if (std::ranges::contains(values, number)) return item.error("occurs twice");
      values.push_back(number);
    }
    combinations *= values.size();
    if (combinations > limits.tune_combinations_max)
      return value.error("has more than {} combinations", limits.tune_combinations_max);
  }
  return tune;
}

// Checks that the split of a wgsl job fits its steps and outputs.
Result<> check_split(const Value& root, const std::optional<Value>& split,
                     const std::vector<Value>& bindings, const Manifest& manifest) {
  const Value& place = split ? *split : root;
  const auto axis = static_cast<std::size_t>(manifest.split.axis);
  const std::uint32_t length = manifest.steps.front().dispatch[axis];
  if (split) {
    for (const Step& step : manifest.steps) {
      if (step.dispatch[axis] == length) continue;
      return place.error("cuts along {}, where step \"{}\" has {} workgroups and the first step {}",
                         to_string(manifest.split.axis), step.entry, step.dispatch[axis], length);
    }
    if (manifest.split.tasks > length) {
      return place.error("has more tasks ({}) than workgroups along {} ({})", manifest.split.tasks,
                         to_string(manifest.split.axis), length);
    }
  }
  for (std::size_t i = 0; i < manifest.bindings.size(); ++i) {
    const Binding& binding = manifest.bindings[i];
    if (!binding.is_output()) continue;
    if (!split && (binding.split_dim || binding.concat))
      return bindings[i].error("is cut or combined, but the job has no \"split\"");
    if (binding.split_dim && binding.shape.front() % length != 0) {
      return bindings[i].error(
          "cannot be cut: its outermost dimension ({}) is not a multiple of the {} workgroups "
          "along {}",
          binding.shape.front(), length, to_string(manifest.split.axis));
    }
    if (manifest.split.tasks > 1 && !binding.split_dim && !binding.concat) {
      return bindings[i].error("needs \"split_dim\" or \"combine\", since the job has {} tasks",
                               manifest.split.tasks);
    }
  }
  return {};
}

Result<> parse_wgsl(const Object& root, Manifest& manifest, const Limits& limits) {
  WEFT_ASSIGN(const Value shader, root.get("shader"));
  WEFT_ASSIGN(manifest.shader, parse_shader(shader, limits));
  if (const auto constants = root.find("constants")) {
    WEFT_ASSIGN(manifest.constants, parse_constants(*constants, limits));
  }
  WEFT_ASSIGN(const Value bindings, root.get("bindings"));
  WEFT_ASSIGN(manifest.bindings, parse_bindings(bindings, limits));
  WEFT_ASSIGN(manifest.steps, parse_steps(root, limits));
  if (const auto tune = root.find("tune")) {
    WEFT_ASSIGN(manifest.tune, parse_tune(*tune, manifest, limits));
  }
  const auto split = root.find("split");
  if (split) {
    WEFT_ASSIGN(const Object object, split->object({"tasks", "axis"}));
    WEFT_ASSIGN(const Value tasks, object.get("tasks"));
    WEFT_ASSIGN(manifest.split.tasks,
                tasks.integer_as<std::uint32_t>({.min = 1, .max = limits.tasks_max}));
    WEFT_ASSIGN(const Value axis, object.get("axis"));
    WEFT_ASSIGN(manifest.split.axis, one_of(axis, std::array{Axis::x, Axis::y, Axis::z}));
  }
  WEFT_ASSIGN(const std::vector<Value> items, bindings.array());
  return check_split(root.value(), split, items, manifest);
}

Result<Data> parse_operand(const Object& root, std::string_view key, std::uint64_t rows,
                           std::uint64_t columns, const Limits& limits) {
  WEFT_ASSIGN(const Value value, root.get(key));
  WEFT_ASSIGN(const Object object, value.object({"value", "base64", "path", "blob"}));
  if (rows * columns > limits.binding_bytes_max)
    return value.error("comes to more than {} bytes", limits.binding_bytes_max);
  WEFT_ASSIGN(Data data, parse_data(object, {.type = ElementType::i8, .elements = rows * columns}));
  if (std::holds_alternative<std::monostate>(data))
    return value.error("needs data: \"value\", \"base64\", \"path\" or \"blob\"");
  return data;
}

Result<> parse_kernel(const Object& root, Manifest& manifest, const Limits& limits) {
  Kernel& kernel = manifest.kernel;
  WEFT_ASSIGN(const Value name, root.get("kernel"));
  WEFT_ASSIGN(kernel.name, name.string({.bytes_max = 64}));
  if (kernel.name != "matmul_i8")
    return name.error("must be matmul_i8, the one kernel there is, not \"{}\"", kernel.name);
  for (const auto& [key, length, length_max] :
       {std::tuple("m", &kernel.m, 1U << 20U), std::tuple("n", &kernel.n, 1U << 20U),
        // 128 * 128 * k must stay below 2^31.
        std::tuple("k", &kernel.k, 131071U)}) {
    WEFT_ASSIGN(const Value value, root.get(key));
    WEFT_ASSIGN(*length, value.integer_as<std::uint32_t>({.min = 1, .max = length_max}));
  }
  if (manifest.output_bytes().front() > limits.binding_bytes_max)
    return root.value().error("has a result of more than {} bytes", limits.binding_bytes_max);
  WEFT_ASSIGN(kernel.a, parse_operand(root, "a", kernel.m, kernel.k, limits));
  WEFT_ASSIGN(kernel.b, parse_operand(root, "b", kernel.k, kernel.n, limits));
  if (const auto split = root.find("split")) {
    WEFT_ASSIGN(const Object object, split->object({"tasks"}));
    WEFT_ASSIGN(const Value tasks, object.get("tasks"));
    WEFT_ASSIGN(manifest.split.tasks,
                tasks.integer_as<std::uint32_t>({.min = 1, .max = limits.tasks_max}));
    if (manifest.split.tasks > kernel.m)
      return tasks.error("must be at most the number of rows ({}), not {}", kernel.m,
                         manifest.split.tasks);
  }
  return {};
}

// Reads "model": { data, "bytes" }, which becomes the first binding.
Result<Binding> parse_model(const Value& value, const Limits& limits) {
  WEFT_ASSIGN(const Object object, value.object({"base64", "path", "blob", "bytes"}));
  WEFT_ASSIGN(const Value bytes, object.get("bytes"));
  WEFT_ASSIGN(const std::uint64_t size, bytes.unsigned_integer(limits.binding_bytes_max));
  if (size == 0) return bytes.error("must not be 0");
  Binding model{.role = Role::input, .type = ElementType::i8, .shape = {size}};
  WEFT_ASSIGN(model.data, parse_data(object, {.type = ElementType::i8, .elements = size}));
  if (std::holds_alternative<std::monostate>(model.data))
    return value.error("needs data: \"base64\", \"path\" or \"blob\"");
  return model;
}

// Reads an input or output of the model, for all items.
Result<Binding> parse_stack(const Value& value, Role role, const Manifest& manifest,
                            const Limits& limits) {
  const bool is_input = role == Role::input;
  WEFT_ASSIGN(const Object object,
              is_input ? value.object({"name", "type", "shape", "value", "base64", "path", "blob"})
                       : value.object({"name", "type", "shape"}));
  Binding stack{.binding = static_cast<std::uint32_t>(manifest.bindings.size()), .role = role};
  WEFT_ASSIGN(const Value name, object.get("name"));
  WEFT_ASSIGN(stack.name, name.string({.bytes_max = 256}));
  if (stack.name.empty()) return name.error("must not be empty");
  for (const Binding& other : manifest.bindings) {
    if (other.name == stack.name && other.role == role)
      return name.error("\"{}\" occurs twice", stack.name);
  }
  WEFT_ASSIGN(const Value type, object.get("type"));
  WEFT_ASSIGN(stack.type,
              one_of(type, std::array{ElementType::i32, ElementType::u32, ElementType::f32,
                                      ElementType::f16, ElementType::i8}));
  WEFT_ASSIGN(const Value shape, object.get("shape"));
  WEFT_ASSIGN(stack.shape, parse_shape(shape, stack.type, limits));
  if (stack.shape.front() != manifest.onnx.items) {
    return shape.error("must begin with the number of items ({}), not {}", manifest.onnx.items,
                       stack.shape.front());
  }
  if (!is_input) {
    stack.split_dim = 0;
    return stack;
  }
  WEFT_ASSIGN(stack.data, parse_data(object, {.type = stack.type, .elements = stack.elements()}));
  if (std::holds_alternative<std::monostate>(stack.data))
    return value.error("needs data: \"value\", \"base64\", \"path\" or \"blob\"");
  return stack;
}

Result<> parse_onnx(const Object& root, Manifest& manifest, const Limits& limits) {
  WEFT_ASSIGN(const Value items, root.get("items"));
  WEFT_ASSIGN(manifest.onnx.items,
              items.integer_as<std::uint32_t>({.min = 1, .max = limits.items_max}));
  WEFT_ASSIGN(const Value model, root.get("model"));
  WEFT_ASSIGN(Binding file, parse_model(model, limits));
  manifest.bindings.push_back(std::move(file));
  for (const auto& [key, role] :
       {std::pair("inputs", Role::input), std::pair("outputs", Role::output)}) {
    WEFT_ASSIGN(const Value list, root.get(key));
    WEFT_ASSIGN(const std::vector<Value> stacks, list.array({.count_max = limits.bindings_max}));
    if (stacks.empty()) return list.error("must not be empty");
    for (const Value& stack : stacks) {
      WEFT_ASSIGN(Binding binding, parse_stack(stack, role, manifest, limits));
      manifest.bindings.push_back(std::move(binding));
    }
  }
  if (const auto split = root.find("split")) {
    WEFT_ASSIGN(const Object object, split->object({"tasks"}));
    WEFT_ASSIGN(const Value tasks, object.get("tasks"));
    WEFT_ASSIGN(manifest.split.tasks,
                tasks.integer_as<std::uint32_t>({.min = 1, .max = limits.tasks_max}));
    if (manifest.split.tasks > manifest.onnx.items)
      return tasks.error("must be at most the number of items ({}), not {}", manifest.onnx.items,
                         manifest.split.tasks);
  }
  return {};
}

Result<> parse_verify(const Object& root, Manifest& manifest, const Limits& limits) {
  const bool floats = std::ranges::any_of(manifest.bindings, [](const Binding& b) {
    return b.is_output() && (b.type == ElementType::f32 || b.type == ElementType::f16);
  });
  const auto verify = root.find("verify");
  std::optional<Value> compare;
  if (verify) {
    WEFT_ASSIGN(const Object object, verify->object({"compare", "replicas", "audit", "trust"}));
    compare = object.find("compare");
    if (const auto replicas = object.find("replicas")) {
      WEFT_ASSIGN(manifest.verify.replicas,
                  replicas->integer_as<std::uint32_t>({.min = 1, .max = limits.replicas_max}));
    }
    if (const auto audit = object.find("audit")) {
      WEFT_ASSIGN(manifest.verify.audit, audit->number());
      if (manifest.verify.audit < 0 || manifest.verify.audit > 1)
        return audit->error("must be from 0 to 1, not {}", manifest.verify.audit);
    }
    if (const auto trust = object.find("trust")) {
      WEFT_ASSIGN(const std::string whom, trust->string());
      if (whom != "anyone" && whom != "verified")
        return trust->error("must be \"verified\" (the default) or \"anyone\", not \"{}\"", whom);
      manifest.verify.anyone = whom == "anyone";
    }
  }
  if (!compare) {
    if (floats) {
      return (verify ? *verify : root.value())
          .error(
              "needs \"compare\": the job has float outputs, which differ between GPUs; give "
              "{{\"absolute\", \"relative\"}} or \"exact\"");
    }
    return {};
  }
  if (compare->kind() == json::Kind::string) {
    WEFT_ASSIGN(const std::string word, compare->string({.bytes_max = 64}));
    if (word != "exact")
      return compare->error("must be \"exact\" or {{\"absolute\", \"relative\"}}, not \"{}\"",
                            word);
    return {};
  }
  WEFT_ASSIGN(const Object object, compare->object({"absolute", "relative"}));
  if (manifest.kind == Kind::kernel)
    return compare->error("must be \"exact\" for {}", manifest.kernel.name);
  manifest.verify.compare.exact = false;
  if (!object.has("absolute") && !object.has("relative"))
    return compare->error("needs \"absolute\", \"relative\" or both");
  for (const auto& [key, bound] : {std::pair("absolute", &manifest.verify.compare.absolute),
                                   std::pair("relative", &manifest.verify.compare.relative)}) {
    const auto value = object.find(key);
    if (!value) continue;
    WEFT_ASSIGN(*bound, value->number());
    if (*bound < 0) return value->error("must not be negative");
  }
  return {};
}

Result<Requires> parse_requires(const Value& value) {
  WEFT_ASSIGN(const Object object, value.object({"features", "limits", "memory_bytes"}));
  Requires wanted;
  if (const auto features = object.find("features")) {
    WEFT_ASSIGN(const std::vector<Value> items, features->array({.count_max = 32}));
    for (const Value& item : items) {
      WEFT_ASSIGN(std::string feature, item.string({.bytes_max = 64}));
      if (std::ranges::contains(wanted.features, feature)) return item.error("occurs twice");
      wanted.features.push_back(std::move(feature));
    }
  }
  if (const auto limits = object.find("limits")) {
    WEFT_ASSIGN(const auto members, limits->members({.count_max = 64}));
    for (const auto& [name, least] : members) {
      if (!is_identifier(name)) return least.error("is not the name of a WebGPU limit");
      WEFT_ASSIGN(wanted.limits[name], least.unsigned_integer(std::uint64_t{1} << 53));
    }
  }
  if (const auto memory = object.find("memory_bytes")) {
    WEFT_ASSIGN(wanted.memory_bytes, memory->unsigned_integer(std::uint64_t{1} << 53));
  }
  return wanted;
}

Result<> parse_common(const Object& root, Manifest& manifest, const Limits& limits) {
  WEFT_OK(parse_verify(root, manifest, limits));
  if (const auto wanted = root.find("requires")) {
    WEFT_ASSIGN(manifest.requirements, parse_requires(*wanted));
  }
  if (const auto priority = root.find("priority")) {
    WEFT_ASSIGN(manifest.priority, priority->integer_as<std::uint32_t>({.min = 0, .max = 100}));
  }
  if (const auto deadline = root.find("deadline_s")) {
    WEFT_ASSIGN(manifest.deadline_s, deadline->integer_as<std::uint32_t>());
  }
  if (const auto budget = root.find("budget")) {
    WEFT_ASSIGN(manifest.budget, credits(*budget));
  }
  return {};
}

Result<Object> known_keys(const Value& document, Kind kind) {
  switch (kind) {
    case Kind::kernel:
      return document.object({"weft", "kind", "name", "kernel", "m", "n", "k", "a", "b", "split",
                              "verify", "requires", "priority", "deadline_s", "budget"});
    case Kind::onnx:
      return document.object({"weft", "kind", "name", "model", "items", "inputs", "outputs",
                              "split", "verify", "requires", "priority", "deadline_s", "budget"});
    case Kind::wgsl:
      break;
  }
  return document.object({"weft", "kind", "name", "shader", "entry", "constants", "tune",
                          "bindings", "dispatch", "steps", "split", "verify", "requires",
                          "priority", "deadline_s", "budget"});
}

Result<> parse_work(const Object& root, Manifest& manifest, const Limits& limits) {
  switch (manifest.kind) {
    case Kind::kernel:
      return parse_kernel(root, manifest, limits);
    case Kind::onnx:
      return parse_onnx(root, manifest, limits);
    case Kind::wgsl:
      break;
  }
  return parse_wgsl(root, manifest, limits);
}

}  // namespace

Result<Manifest> parse(std::string_view text, const Limits& limits) {
  WEFT_ASSIGN(const Value document,
              json::parse(text, {.bytes_max = limits.text_bytes_max, .depth_max = 16}));
  // The kind is read first, because it decides which keys are known.
  WEFT_ASSIGN(const auto members, document.members({.count_max = 256}));
  const auto kind =
      std::ranges::find(members, std::string_view("kind"),
                        [](const auto& member) -> std::string_view { return member.first; });
  if (kind == members.end()) return document.error("lacks the key \"kind\"");
  WEFT_ASSIGN(const std::string word, kind->second.string({.bytes_max = 64}));
  constexpr std::array kinds = {Kind::wgsl, Kind::kernel, Kind::onnx};
  const auto known =
      std::ranges::find(kinds, std::string_view(word), [](Kind each) { return to_string(each); });
  if (known == kinds.end())
    return kind->second.error("must be wgsl, kernel or onnx, not \"{}\"", word);

  Manifest manifest;
  manifest.kind = *known;
  WEFT_ASSIGN(const Object root, known_keys(document, manifest.kind));
  WEFT_ASSIGN(const Value version, root.get("weft"));
  WEFT_ASSIGN(const std::int64_t number, version.integer());
  if (number != 1) return version.error("must be 1, the version of the format, not {}", number);
  WEFT_ASSIGN(const Value name, root.get("name"));
  WEFT_ASSIGN(manifest.name, name.string({.bytes_max = 64}));
  if (!is_name(manifest.name))
    return name.error(
        "must be 1 to 64 of A-Z a-z 0-9 . _ - and not begin with a dot (it names files)");
  WEFT_OK(parse_work(root, manifest, limits));
  WEFT_OK(parse_common(root, manifest, limits));
  return manifest;
}

}  // namespace weft::manifest
