#include "apps/cli/command_line/help.h"

#include <sstream>

#include "common/base/format.h"

namespace weft::cli {
namespace {

constexpr std::size_t width = 100;

// Wraps `text` in lines of at most `width`, except lines that begin with spaces.
std::string wrapped(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(' ')) {
      out += line + "\n";
      continue;
    }
    std::istringstream words(line);
    std::size_t column = 0;
    for (std::string word; words >> word;) {
      if (column > 0) out += column + 1 + word.size() > width ? "\n" : " ";
      column =
          column > 0 && column + 1 + word.size() <= width ? column + 1 + word.size() : word.size();
      out += word;
    }
    out += "\n";
  }
  if (!out.empty()) out.pop_back();  // CLI11 adds the last line feed again.
  return out;
}

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { enable_description_formatting(false); }

  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description());
  }

  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    out << std::setw(static_cast<int>(get_column_width())) << std::left
        << "  " + command->get_name();
    const std::string& all = command->get_description();
    CLI::detail::streamOutAsParagraph(out, all.substr(0, all.find("\n\n")),
                                      get_right_column_width(),
                                      std::string(get_column_width(), ' '), true);
    out << '\n';
    return out.str();
  }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    for (std::size_t at; (at = name.find("{false}")) != std::string::npos;) name.erase(at, 7);
    return name;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    for (const char* const nothing : {" [{}] ", " [[]] ", " [\"\"] "}) {
      if (const std::size_t at = text.find(nothing); at != std::string::npos)
        text.erase(at, std::string_view(nothing).size());
    }
    for (const char* const nothing : {"TEXT:", ":NONNEGATIVE", ":POSITIVE"}) {
      if (const std::size_t at = text.find(nothing); at != std::string::npos)
        text.erase(at, std::string_view(nothing).size());
    }
    // Shows "UINT:INT in [1 - 64]" as 1..64.
    constexpr std::string_view before = " in [", between = " - ";
    const std::size_t at = text.find(before);
    const std::size_t middle = at == std::string::npos ? at : text.find(between, at);
    const std::size_t end = middle == std::string::npos ? middle : text.find(']', middle);
    if (end != std::string::npos) {
      const std::size_t type = text.rfind(' ', at - 1) + 1;
      text.replace(end, 1, "")
          .replace(middle, between.size(), "..")
          .erase(type, at + before.size() - type);
    }
    // CLI11 shows a list as [[1,10]]; this makes it [1,10].
    const std::size_t opening = text.find("[[");
    const std::size_t closing = text.find("]]");
    if (opening != std::string::npos && closing != std::string::npos)
      text.erase(closing, 1).erase(opening, 1);
    return text;
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

const CLI::App& last_chosen(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  return *last;
}

std::string path_of(const CLI::App& command) {
  return command.get_parent() == nullptr
             ? command.get_name()
             : path_of(*command.get_parent()) + " " + command.get_name();
}

std::optional<std::string> missing_command(const CLI::App& app) {
  const CLI::App* last = &last_chosen(app);
  const std::string path = path_of(*last);
  if (last->get_require_subcommand_min() == 0) return std::nullopt;
  for (const std::string& word : app.remaining(true)) {
    if (word.starts_with('-'))
      return weft::format("There is no option \"{}\"; see {} --help.", word, path);
    const std::string command = path == "weft" ? word : path.substr(5) + " " + word;
    return weft::format("There is no command \"{}\"; see {} --help.", command, path);
  }
  return weft::format("{} needs a command; see {} --help.", path, path);
}

}  // namespace weft::cli
