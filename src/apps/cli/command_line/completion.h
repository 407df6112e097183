// Makes shell completion scripts from the description of the command line, so that they are never
// out of date.
#pragma once

#include <string>

#include "common/base/result.h"

namespace CLI {
class App;
}

namespace weft::cli {

// Returns the script for "bash", "zsh" or "fish". It completes commands and their options, and the
// values of options and of the first argument: files, folders or words.
[[nodiscard]] Result<std::string> completion_script(const CLI::App& app, const std::string& shell);

}  // namespace weft::cli
