// What is wrong with a command line, as one sentence: CLI11 says it in its own words, and in
// several lines.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace weft::cli {

// "weft serve: --jobs-max x is not a whole number from 1 to 1000000." `error` is what app.parse()
// threw, and no call for help.
[[nodiscard]] std::string refusal(const CLI::App& app, const CLI::ParseError& error);

}  // namespace weft::cli
