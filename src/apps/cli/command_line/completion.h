// Shell completion scripts, made from the command line's own description, so that they never fall
// behind it.
#pragma once

#include <string>

#include "common/base/result.h"

namespace CLI {
class App;
}

namespace weft::cli {

// The script for "bash", "zsh" or "fish": commands and their options; files, folders or words where
// an option or the first argument takes them.
[[nodiscard]] Result<std::string> completion_script(const CLI::App& app, const std::string& shell);

}  // namespace weft::cli
