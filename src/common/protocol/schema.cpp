#include "common/protocol/schema.h"

#include <cstdio>

#include "common/base/format.h"
#include "common/protocol/fields.h"
#include "common/protocol/write.h"

namespace weft::protocol {
namespace {

template <class T>
struct Describe;

template <class T>
std::string describe(const FieldBounds& bounds) {
  return Describe<T>::schema(bounds);
}

constexpr std::string_view base58 = "[1-9A-HJ-NP-Za-km-z]";

template <class T>
struct Describe {
  static std::string schema(const FieldBounds& bounds) {
    if constexpr (HasShape<T>) {
      return weft::format(R"({{ "$ref": "#/$defs/{}" }})", Shape<T>::name);
    } else if constexpr (std::is_same_v<T, Hash>) {
      return R"({ "type": "string", "pattern": "^[0-9a-f]{64}$" })";
    } else if constexpr (std::is_same_v<T, JobId>) {
      return R"({ "type": "string", "pattern": "^[0-9a-f]{32}$" })";
    } else if constexpr (std::is_same_v<T, TaskId>) {
      return R"({ "type": "string", "pattern": "^[0-9a-f]{32}/[0-9]{1,10}$" })";
    } else if constexpr (std::is_same_v<T, PublicKey>) {
      return weft::format(R"({{ "type": "string", "pattern": "^{}{{32,44}}$" }})", base58);
    } else if constexpr (std::is_same_v<T, Signature>) {
      return weft::format(R"({{ "type": "string", "pattern": "^{}{{64,88}}$" }})", base58);
    } else if constexpr (std::is_same_v<T, std::string>) {
      return weft::format(R"({{ "type": "string", "maxLength": {} }})", bounds.bytes_max);
    } else if constexpr (std::is_same_v<T, bool>) {
      return R"({ "type": "boolean" })";
    } else if constexpr (std::is_same_v<T, double>) {
      return R"({ "type": "number" })";
    } else if constexpr (std::is_enum_v<T>) {
      std::string words;
      for (const std::string_view word : Words<T>::words)
        words += weft::format("{}\"{}\"", words.empty() ? "" : ", ", word);
      return weft::format(R"({{ "enum": [{}] }})", words);
    } else if constexpr (std::is_signed_v<T>) {
      return R"({ "type": "integer" })";
    } else {
      const std::uint64_t max = std::min<std::uint64_t>(bounds.max, std::numeric_limits<T>::max());
      return weft::format(R"({{ "type": "integer", "minimum": 0, "maximum": {} }})", max);
    }
  }
};
template <class T>
struct Describe<std::vector<T>> {
  static std::string schema(const FieldBounds& bounds) {
    return weft::format(R"({{ "type": "array", "maxItems": {}, "items": {} }})", bounds.count_max,
                        describe<T>(bounds));
  }
};
template <>
struct Describe<std::map<std::string, std::uint64_t>> {
  static std::string schema(const FieldBounds& bounds) {
    return weft::format(
        R"({{ "type": "object", "maxProperties": {}, "additionalProperties": {} }})",
        bounds.count_max, describe<std::uint64_t>(bounds));
  }
};

template <HasShape T>
std::string definition() {
  std::string properties;
  std::string required;
  const auto add = [&](std::string_view name, std::string_view schema, bool optional = false) {
    properties +=
        weft::format("{}\n        \"{}\": {}", properties.empty() ? "" : ",", name, schema);
    if (!optional) required += weft::format("{}\"{}\"", required.empty() ? "" : ", ", name);
  };
  if constexpr (requires { Shape<T>::type; }) {
    add("type", weft::format(R"({{ "const": "{}" }})", Shape<T>::type));
    add("v", weft::format(R"({{ "const": {} }})", version));
  }
  std::apply(
      [&]<class... Member>(const Field<T, Member>&... fields) {
        (add(fields.name, describe<Member>(fields.bounds), fields.bounds.optional), ...);
      },
      Shape<T>::fields);
  return weft::format(
      "    \"{}\": {{\n      \"type\": \"object\",\n      \"additionalProperties\": false,\n      "
      "\"required\": [{}],\n      \"properties\": {{{}\n  "
      "    }}\n    }}",
      Shape<T>::name, required, properties);
}

template <class... T>
std::string definitions() {
  std::string out;
  ((out += definition<T>() + ",\n"), ...);
  return out;
}

template <class Variant>
struct Union;
template <class... T>
struct Union<std::variant<T...>> {
  static std::string schema(std::string_view name) {
    std::string refs;
    ((refs +=
      weft::format("{}{{ \"$ref\": \"#/$defs/{}\" }}", refs.empty() ? "" : ", ", Shape<T>::name)),
     ...);
    return weft::format("    \"{}\": {{ \"oneOf\": [{}] }}", name, refs);
  }
};

}  // namespace

std::string json_schema() {
  return "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": \"Weft "
         "protocol " +
         std::to_string(version) + "\",\n  \"$defs\": {\n" +
         definitions<Capabilities, Hello, Challenge, Prove, Welcome, HeldTask, Resume, LeasedTask,
                     ResumePoint, Lease, OutputPart, TaskResult, ReceiptItem, Receipt, TaskFailed,
                     Beat, Checkpoint, Slots, Bye, Verdict, Cancel, Yield, ChunkName, OpenChunks,
                     ChunkPath, Opening, OpenStates, StepState, States, ErrorMessage>() +
         Union<WorkerMessage>::schema("WorkerMessage") + ",\n" +
         Union<CoordinatorMessage>::schema("CoordinatorMessage") + "\n  }\n}\n";
}

int schema_command() {
  const std::string text = json_schema();
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? 0 : 1;
}

}  // namespace weft::protocol
