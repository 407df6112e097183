#include "engine/exec/shader_error.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "common/base/format.h"
#include "engine/exec/wgsl_scan.h"

namespace weft::exec {
namespace {

constexpr std::size_t fact_bytes_max = 400;

// Returns the first line. The further lines of a message from Dawn describe the call that failed.
std::string first_line(const std::string& message) {
  return message.substr(0, std::min(message.find('\n'), fact_bytes_max));
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}
// Replaces each "[KIND "label"]" with `to`.
void replace_object(std::string& text, std::string_view kind, std::string_view to) {
  for (std::size_t at = text.find(kind); at != std::string::npos;
       at = text.find(kind, at + to.size())) {
    const std::size_t end = text.find(']', at);
    if (end == std::string::npos) return;
    text.replace(at, end + 1 - at, to);
  }
}

// Replaces the names of Dawn's objects and types with the words of WGSL and of the manifest.
std::string in_plain_words(std::string text) {
  for (const std::string_view kind : {"[ShaderModule", "[ComputePipeline"})
    replace_object(text, kind, "the shader");
  for (const std::string_view kind : {"[BindGroupLayout", "[PipelineLayout"})
    replace_object(text, kind, "the job");
  replace(text, "BufferBindingType::ReadOnlyStorage", "var<storage, read>");
  replace(text, "BufferBindingType::Storage", "var<storage, read_write>");
  replace(text, "BufferBindingType::Uniform", "var<uniform>");
  replace(text, "\"\"", "\"");
  return text;
}

// Returns the text between the first `before` and the next `after`.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view after) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + before.size());
  const auto end = text.find(after);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}
std::optional<std::uint32_t> number_behind(std::string_view text, std::string_view before) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data() + at + before.size(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

struct Binding {
  std::uint32_t group = 0;
  std::uint32_t binding = 0;
};
std::optional<Binding> binding_in(std::string_view message) {
  for (const auto& [group_word, binding_word] :
       {std::pair("@group(", ") @binding("), std::pair("at group ", ", binding ")}) {
    const auto at = message.find(group_word);
    if (at == std::string_view::npos) continue;
    const auto group = number_behind(message.substr(at), group_word);
    const auto binding = number_behind(message.substr(at), binding_word);
    if (group && binding) return Binding{*group, *binding};
  }
  return std::nullopt;
}

struct Sentence {
  std::string text;
  std::optional<WgslPlace> place = {};
};

std::string entry_points_of(const WgslScan& shader) {
  std::string names;
  for (const std::string_view name : shader.entry_points())
    names += weft::format("{}\"{}\"", names.empty() ? "" : ", ", name);
  return names.empty() ? "it has none with @compute" : "it has " + names;
}

// Returns nothing if the message is not about an entry point or an override.
std::optional<Sentence> about_entry(std::string_view fact, const WgslScan& shader,
                                    std::string_view entry) {
  if (fact.starts_with("Entry point ") && fact.contains("doesn't exist"))
    return Sentence{
        weft::format("The shader has no entry point \"{}\": {}.", entry, entry_points_of(shader))};
  if (fact.starts_with("The stage (") && fact.contains("entry point")) {
    std::string stage(between(fact, "(", ")").value_or("another stage"));
    std::ranges::transform(stage, stage.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return Sentence{
        weft::format("The entry point \"{}\" is one of @{}; a job's is one of @compute.", entry,
                     stage),
        shader.place_of_function(entry)};
  }
  if (const auto names =
          between(fact, "uninitialized pipeline overridable constants, their identifiers:[", "]"))
    return Sentence{weft::format(
        "These overrides have no value, neither in the shader nor in the job's constants: {}.",
        *names)};
  if (fact.starts_with("Pipeline overridable constant ") && fact.contains("not found")) {
    const std::string plain = in_plain_words(std::string(fact));
    return Sentence{
        weft::format("The job gives the constant \"{}\", but its shader has no such override.",
                     between(plain, "\"", "\"").value_or(""))};
  }
  return std::nullopt;
}

std::optional<Sentence> about_binding(const std::string& fact, std::string_view message,
                                      const WgslScan& shader) {
  if (const auto group = number_behind(fact, "uses bindings in group ")) {
    return Sentence{
        weft::format("The shader uses bindings of @group({}); a job's are in @group(0), "
                     "and Weft's own is in @group(1).",
                     *group),
        shader.place_of_group(*group)};
  }
  const auto binding = binding_in(message);
  if (!binding) return std::nullopt;
  const std::string name =
      weft::format("@group({}) @binding({})", binding->group, binding->binding);
  const auto place = shader.place_of_binding(binding->group, binding->binding);
  const std::string plain = in_plain_words(fact);
  if (fact.starts_with("Binding doesn't exist"))
    return Sentence{weft::format("The shader uses {}, which is not a binding of the job.", name),
                    place};
  if (fact.starts_with("The buffer type in the shader (")) {
    const auto here = between(plain, "shader (", ") is not"),
               there = between(plain, "layout (", ")");
    if (here && there)
      return Sentence{weft::format("{} is {} in the shader, but {} by its role in the job.", name,
                                   *here, *there),
                      place};
  }
  if (fact.starts_with("Binding type in the shader ("))
    return Sentence{weft::format("{} is a {} in the shader; a job binds buffers.", name,
                                 between(fact, "(", ")").value_or("thing of another kind")),
                    place};
  const auto has = number_behind(fact, "bound with size "),
             needs = number_behind(fact, "at least ");
  if (has && needs)
    return Sentence{weft::format("{} has {} bytes in a task, but its type in the shader needs {}.",
                                 name, *has, *needs),
                    place};
  return Sentence{plain.contains(name) ? plain : weft::format("{}: {}", name, plain), place};
}

// Returns true if the message begins with "LINE:COLUMN:".
bool has_place(std::string_view message) {
  for (int i = 0; i < 2; ++i) {
    const auto digits = message.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos || message[digits] != ':') return false;
    message.remove_prefix(digits + 1);
  }
  return true;
}

}  // namespace

Error shader_error(Error error, const WgslScan& shader, std::string_view entry) {
  if (error.code != ErrorCode::invalid_argument) return error;
  if (has_place(error.message)) {
    std::ranges::replace(error.message, '\n', ' ');
    return error;
  }
  const std::string fact = first_line(error.message);
  auto sentence = about_entry(fact, shader, entry);
  if (!sentence) sentence = about_binding(fact, error.message, shader);
  if (!sentence) {
    sentence = Sentence{in_plain_words(fact)};
    if (sentence->text.contains("workgroup_size"))
      sentence->place = shader.place_of_function(entry);
  }
  error.message = sentence->place ? weft::format("{}:{}: {}", sentence->place->line,
                                                 sentence->place->column, sentence->text)
                                  : sentence->text;
  return error;
}

}  // namespace weft::exec
