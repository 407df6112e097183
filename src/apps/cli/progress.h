// A line on standard error that is drawn over itself while something long goes on. Silent where
// standard error is no terminal, so that pipes and logs hold results only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::cli {

class Progress {
 public:
  explicit Progress(std::string title);
  Progress(const Progress&) = delete;
  ~Progress();  // Wipes the line.

  // For a line of something else.
  void wipe();

  // "title [=====>    ] done/total note"
  void show(std::uint64_t done, std::uint64_t total, std::string_view note = "");

 private:
  std::string title_;
  bool terminal_;
  std::string drawn_;
};

// "weft: TEXT" as a line of its own on standard error, where a line of progress may stand.
void say_beside_progress(std::string_view text);

}  // namespace weft::cli
