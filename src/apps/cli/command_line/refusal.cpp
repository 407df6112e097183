#include "apps/cli/command_line/refusal.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "apps/cli/command_line/help.h"
#include "apps/cli/command_line/option_kind.h"
#include "common/base/format.h"

namespace weft::cli {
namespace {

// Finds an option of the chosen command, or of a command above it.
const CLI::Option* find(const CLI::App& chosen, const std::string& name) {
  for (const CLI::App* at = &chosen; at != nullptr; at = at->get_parent()) {
    if (const CLI::Option* option = at->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

// Extracts the option's name from CLI11's messages: "--slots: ...", "Could not convert: --slots =
// x", "--slots is required".
std::string name_in(std::string_view message) {
  constexpr std::string_view conversion = "Could not convert: ";
  if (message.starts_with(conversion)) {
    message.remove_prefix(conversion.size());
    return std::string(message.substr(0, message.find(" = ")));
  }
  return std::string(
      message.substr(0, std::min({message.find(": "), message.find(" is required"),
                                  message.find(" excludes "), message.find(" was given ")})));
}

std::string value_of(const CLI::Option& option) {
  std::string out;
  for (const std::string& result : option.results()) out += (out.empty() ? "" : ",") + result;
  return out;
}

// Returns for example "is not a number from 0 to 1."
std::string what_is_wrong(const OptionKind& kind, const std::string& value) {
  using What = OptionKind::What;
  std::error_code ignored;
  const bool there = std::filesystem::exists(value, ignored);
  if (kind.what == What::file) return there ? "is a folder, not a file." : "does not exist.";
  if (kind.what == What::folder) return there ? "is not a folder." : "does not exist.";
  const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  if (kind.what == What::whole_number && kind.most.empty() && digits) return "is too large.";
  return "is not " + kind.text() + ".";
}

std::optional<std::string> about_value(const CLI::App& chosen, const CLI::ParseError& error) {
  const CLI::Option* option = find(chosen, name_in(error.what()));
  if (option == nullptr || option->results().empty()) return std::nullopt;
  const OptionKind kind = OptionKind::of(*option);
  if (kind.what == OptionKind::What::text || kind.what == OptionKind::What::flag)
    return std::nullopt;
  const std::string value = value_of(*option);
  return weft::format("{}{} {}", option->get_positional() ? "" : option->get_name() + " ",
                      value.empty() ? "\"\"" : value, what_is_wrong(kind, value));
}

// Detects an option of the chosen command that is written before the command, where CLI11 does not
// look for it.
std::optional<std::string> in_front(const CLI::App& app, const CLI::App& chosen,
                                    const std::string& path) {
  for (const std::string& word : app.remaining(false)) {
    const std::string name = word.substr(0, word.find('='));
    if (&chosen == &app || !name.starts_with('-') || chosen.get_option_no_throw(name) == nullptr)
      continue;
    return weft::format("The option {} must stand after its command: {} {} ...", name, path, name);
  }
  return std::nullopt;
}

std::string sentence(const CLI::App& chosen, const std::string& path,
                     const CLI::ParseError& error) {
  const std::string see = weft::format("; see {} --help.", path);
  const std::string message = error.what();
  if (error.get_name() == "ValidationError" || error.get_name() == "ConversionError") {
    if (auto text = about_value(chosen, error)) return *text;
    // An error of a command's own callback: "submit: name one of ..."
    const auto colon = message.find(": ");
    const std::string own = colon == std::string::npos
                                ? message
                                : (message.starts_with("--") ? message : message.substr(colon + 2));
    return own + (own.ends_with('.') ? "" : see);
  }
  if (error.get_name() == "RequiredError") {
    const std::string name = name_in(message);
    const CLI::Option* option = find(chosen, name);
    if (option == nullptr) return message + see;
    return weft::format("{} is missing{}{}", name,
                        option->get_envname().empty() ? "" : " (or " + option->get_envname() + ")",
                        see);
  }
  if (error.get_name() == "ArgumentMismatch") {
    const CLI::Option* option = find(chosen, name_in(message));
    if (option == nullptr) return message + see;
    const OptionKind kind = OptionKind::of(*option);
    if (kind.what == OptionKind::What::flag)
      return weft::format("{} takes no value{}", option->get_name(), see);
    return option->results().empty() || message.contains("missing")
               ? weft::format("{} needs {}{}", option->get_name(), kind.text(), see)
               : weft::format("{} is given twice{}", option->get_name(), see);
  }
  if (error.get_name() == "ExcludesError") {
    const auto other = message.find(" excludes ");
    if (other != std::string::npos)
      return weft::format("Give either {} or {}, not both.", name_in(message),
                          message.substr(other + 10));
  }
  constexpr std::string_view extra = "not expected: ";
  if (const auto at = message.find(extra); at != std::string::npos) {
    const bool several = message.contains("arguments");
    const std::string rest = message.substr(at + extra.size());
    const std::string word = several ? rest.substr(0, rest.find(' ')) : rest;
    return word.starts_with('-') ? weft::format("There is no option \"{}\"{}", word, see)
                                 : weft::format("\"{}\" is one argument too many{}", word, see);
  }
  return message + see;
}

}  // namespace

std::string refusal(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& chosen = last_chosen(app);
  const std::string path = path_of(chosen);
  return weft::format("{}: {}", path,
                      in_front(app, chosen, path).value_or(sentence(chosen, path, error)));
}

}  // namespace weft::cli
