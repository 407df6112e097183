// Converts CLI11's errors, which have several lines, into one sentence.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace weft::cli {

// Returns for example "weft serve: --jobs-max x is not a whole number from 1 to 1000000." `error`
// is the exception of app.parse(), other than a call for help.
[[nodiscard]] std::string refusal(const CLI::App& app, const CLI::ParseError& error);

}  // namespace weft::cli
