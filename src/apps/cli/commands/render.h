// `weft render`: prints a conversation as the text that a model continues, by its chat template.
#pragma once

#include <optional>
#include <string>

namespace weft::cli {

struct RenderOptions {
  std::optional<std::string>
      model;  // A GGUF file: its template, or the format that its tokens indicate.
  std::optional<std::string>
      template_file;  // A Jinja file; BOS and EOS are those of `model`, if given.
  std::string input =
      "-";  // JSON: "messages" and the template's other variables; "-" is standard input.
  std::optional<std::string> now;  // Time for the template, "2026-01-02T03:04:05"; default: now.
};

// Writes exactly the text to standard output. Returns the exit code, which is not 0 if the template
// raises an error.
int render_command(const RenderOptions& options);

}  // namespace weft::cli
