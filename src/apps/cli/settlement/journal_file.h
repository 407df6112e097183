// A text file to which lines are only appended, each on the disk before the next step: the journals
// of `weft chain credit` and `weft chain relay`. The first line identifies the journal.
//
// Threading: one thread. One process at a time has the file open.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::cli {

class JournalFile {
 public:
  // Opens the file, or creates it. A last line that a crash truncated is removed, because its step
  // has not begun. Fails with unavailable if another process has the file open, and with
  // invalid_argument if its first line is not `head`.
  [[nodiscard]] static Result<JournalFile> open(const std::filesystem::path& path,
                                                const std::string& head);
  JournalFile(JournalFile&& other) noexcept;
  JournalFile& operator=(JournalFile&&) = delete;
  ~JournalFile();

  // The lines that the file had when it was opened, without the first.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // Appends `line`, which has no line feed. The line is on the disk when this returns.
  [[nodiscard]] Result<> append(std::string_view line);
  // The error data_loss for a line of lines(), counted from 0, that is no row.
  [[nodiscard]] Error no_row(std::size_t line) const;

 private:
  JournalFile(int file, std::string name) : file_(file), name_(std::move(name)) {}
  [[nodiscard]] Result<> load(const std::string& head);
  int file_;
  std::string name_;
  std::vector<std::string> lines_;
};

}  // namespace weft::cli
