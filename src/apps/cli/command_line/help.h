// How the command line explains itself: --help, and what it says of a command that does not exist.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace weft::cli {

// Lines that begin with two spaces are examples and stay as they are written; others are wrapped.
// Defaults that say nothing (of empty lists, of flags) are left out, and a list of commands has no
// examples.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_formatter();

// One sentence, where the arguments that `app` failed to parse lack a command or name one that does
// not exist.
[[nodiscard]] std::optional<std::string> missing_command(const CLI::App& app);

// The last command that the arguments named, or the program itself; and how it is called: "weft
// model add".
[[nodiscard]] const CLI::App& last_chosen(const CLI::App& app);
[[nodiscard]] std::string path_of(const CLI::App& command);

}  // namespace weft::cli
