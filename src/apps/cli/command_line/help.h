// The texts of --help, and the message about a command that does not exist.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace weft::cli {

// Formats --help. Lines that begin with two spaces are examples and stay unchanged; other lines are
// wrapped. Defaults of empty lists and of flags are omitted, as are examples in a list of commands.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_formatter();

// Returns an error message if the arguments that `app` failed to parse name no command, or a
// command that does not exist.
[[nodiscard]] std::optional<std::string> missing_command(const CLI::App& app);

// last_chosen() is the last command that the arguments named, or the program itself. path_of() is
// the text that calls a command: "weft model add".
[[nodiscard]] const CLI::App& last_chosen(const CLI::App& app);
[[nodiscard]] std::string path_of(const CLI::App& command);

}  // namespace weft::cli
