#include "engine/chat/call_grammar.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "common/json/json.h"
#include "common/json/quote.h"
#include "engine/schema/schema.h"

namespace weft::chat {
namespace {

struct OfferedTool {
  std::string name;
  std::string parameters;  // The JSON schema of the parameters.
};

Result<std::optional<json::Value>> member_of(const json::Value& value, std::string_view key) {
  WEFT_ASSIGN(const auto members, value.members());
  for (const auto& [name, inner] : members)
    if (name == key && inner.kind() != json::Kind::null) return inner;
  return std::nullopt;
}

Result<std::vector<OfferedTool>> tools_of(std::string_view input) {
  WEFT_ASSIGN(const json::Value root,
              json::parse(input, {.bytes_max = std::size_t{4} << 20, .depth_max = 100}));
  WEFT_ASSIGN(const auto list, member_of(root, "tools"));
  std::vector<OfferedTool> out;
  if (!list) return out;
  WEFT_OK(list->for_each({.count_max = 256}, [&](const json::Value& one) -> Result<> {
    WEFT_ASSIGN(const auto function, member_of(one, "function"));
    if (!function) return one.error("lacks the key \"function\"");
    WEFT_ASSIGN(const auto name, member_of(*function, "name"));
    if (!name) return function->error("lacks the key \"name\"");
    WEFT_ASSIGN(const auto parameters, member_of(*function, "parameters"));
    OfferedTool tool;
    WEFT_ASSIGN(tool.name, name->string());
    tool.parameters =
        parameters ? std::string(parameters->text()) : R"({"type": "object", "properties": {}})";
    out.push_back(std::move(tool));
    return {};
  }));
  return out;
}

// The grammar of one call of this tool: its parameters one after another, strings without quotes
// and other values as JSON.
Result<schema::Variant> functions_variant(const OfferedTool& tool) {
  schema::Variant out{.parts = {{.before = "<tool_call>\n<function=" + tool.name + ">\n"}}};
  WEFT_ASSIGN(const json::Value root, json::parse(tool.parameters, {.depth_max = 64}));
  std::vector<std::string> required;
  WEFT_ASSIGN(const auto list, member_of(root, "required"));
  if (list) {
    WEFT_ASSIGN(const auto names, list->array());
    for (const json::Value& name : names) {
      WEFT_ASSIGN(required.emplace_back(), name.string());
    }
  }
  WEFT_ASSIGN(const auto properties, member_of(root, "properties"));
  if (properties) {
    WEFT_ASSIGN(const auto members, properties->members());
    for (const auto& [key, value] : members) {
      if (value.text().find("\"$ref\"") != std::string_view::npos)
        return fail(
            ErrorCode::unsupported,
            "The parameter '{}' of the tool {} has a reference, which calls of this model's "
            "format cannot be held to.",
            key, tool.name);
      const auto type = value.kind() == json::Kind::object
                            ? member_of(value, "type")
                            : Result<std::optional<json::Value>>(std::nullopt);
      const bool text = type && *type && (*type)->text() == "\"string\"";
      out.parts.push_back({.before = "<parameter=" + key + ">\n",
                           .schema = std::string(value.text()),
                           .text = text,
                           .after = "\n</parameter>\n",
                           .optional = !std::ranges::contains(required, key)});
    }
  }
  out.parts.push_back({.before = "</function>\n</tool_call>"});
  return out;
}

}  // namespace

CallFormat call_format(std::string_view source) {
  if (source.contains("<function=")) return CallFormat::functions;
  if (source.contains("<tool_call>")) return CallFormat::hermes;
  if (source.contains("[TOOL_CALLS]")) return CallFormat::list;
  if (source.contains("<｜tool▁calls▁begin｜>")) return CallFormat::deepseek;
  return CallFormat::bare;
}

Result<CallGrammar> grammar_of_calls(std::string_view template_source, std::string_view input,
                                     std::string_view name, bool many) {
  const CallFormat format = call_format(template_source);
  WEFT_ASSIGN(std::vector<OfferedTool> tools, tools_of(input));
  if (!name.empty())
    std::erase_if(tools, [name](const OfferedTool& tool) { return tool.name != name; });
  if (tools.empty())
    return fail(ErrorCode::invalid_argument, "There is no tool that the answer could call.");
  CallGrammar out;
  schema::Frame frame{.many = many};
  std::vector<schema::Variant> variants;
  const auto around = [&](std::string before, const OfferedTool& tool, std::string after) {
    variants.push_back(
        {.parts = {
             {.before = std::move(before), .schema = tool.parameters, .after = std::move(after)}}});
  };
  for (const OfferedTool& tool : tools) {
    const std::string quoted = json::quote(tool.name);
    switch (format) {
      case CallFormat::hermes:
        around("<tool_call>\n{\"name\": " + quoted + ", \"arguments\": ", tool, "}\n</tool_call>");
        frame.between = "\n";
        break;
      case CallFormat::functions: {
        WEFT_ASSIGN(schema::Variant variant, functions_variant(tool));
        variants.push_back(std::move(variant));
        frame.between = "\n";
        break;
      }
      case CallFormat::bare:
        around("{\"name\": " + quoted + ", \"parameters\": ", tool, "}");
        frame.many = false;  // The template allows only one call.
        break;
      case CallFormat::list:
        around("{\"name\": " + quoted + ", \"arguments\": ", tool, "}");
        out.mark = "[TOOL_CALLS]";
        frame.open = "[";
        frame.between = ", ";
        frame.close = "]";
        break;
      case CallFormat::deepseek:
        around("<｜tool▁call▁begin｜>function<｜tool▁sep｜>" + tool.name + "\n```json\n", tool,
               "\n```<｜tool▁call▁end｜>");
        frame.open = "<｜tool▁calls▁begin｜>";
        frame.between = "\n";
        frame.close = "<｜tool▁calls▁end｜>";
        break;
    }
  }
  auto made = schema::grammar_of_variants(variants, frame);
  if (!made) return pass(std::move(made), "while reading the tools' parameters");
  out.gbnf = std::move(*made);
  return out;
}

}  // namespace weft::chat
