// A text file whose lines are only added, each on the disk before the next step: the journals of
// `weft chain credit` and `weft chain relay`. Its first line says what it is a journal of.
//
// Threading: one thread. One process at a time has the file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::cli {

class JournalFile {
 public:
  // Makes the file if there is none. A last line that a crash cut short is taken off: what it
  // was for has not begun. unavailable if another process has it; invalid_argument if its
  // first line is not `head`.
  [[nodiscard]] static Result<JournalFile> open(const std::filesystem::path& path,
                                                const std::string& head);
  JournalFile(JournalFile&& other) noexcept;
  JournalFile& operator=(JournalFile&&) = delete;
  ~JournalFile();

  // As they were when it was opened, without the first.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // On the disk when it returns. `line` without its end.
  [[nodiscard]] Result<> append(std::string_view line);
  // data_loss for a line of lines(), counted from 0, that is no row.
  [[nodiscard]] Error no_row(std::size_t line) const;

 private:
  JournalFile(int file, std::string name) : file_(file), name_(std::move(name)) {}
  [[nodiscard]] Result<> load(const std::string& head);
  int file_;
  std::string name_;
  std::vector<std::string> lines_;
};

}  // namespace weft::cli
