// A progress line on standard error that is overwritten while work goes on. Prints nothing if
// standard error is no terminal, so that pipes and logs contain only results.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::cli {

class Progress {
 public:
  explicit Progress(std::string title);
  Progress(const Progress&) = delete;
  ~Progress();  // Erases the progress line.

  // Erases the line so that another line can be printed.
  void wipe();

  // Draws the line "title [=====>    ] done/total note".
  void show(std::uint64_t done, std::uint64_t total, std::string_view note = "");

 private:
  std::string title_;
  bool terminal_;
  std::string drawn_;
};

// Prints "weft: TEXT" as a line of its own on standard error, and erases a progress line before it.
void say_beside_progress(std::string_view text);

}  // namespace weft::cli
