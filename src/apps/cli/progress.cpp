#include "apps/cli/progress.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "common/base/format.h"

namespace weft::cli {
namespace {

constexpr std::uint64_t bar_cells = 24;

}  // namespace

Progress::Progress(std::string title)
    : title_(std::move(title)), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { wipe(); }

void Progress::wipe() {
  if (terminal_ && !drawn_.empty()) std::fputs("\r\033[K", stderr);
  drawn_.clear();
}

void Progress::show(std::uint64_t done, std::uint64_t total, std::string_view note) {
  if (!terminal_) return;
  const std::uint64_t filled = total == 0 ? 0 : std::min(bar_cells, done * bar_cells / total);
  std::string line = weft::format("\r\033[K{} [{}{}] {}/{} {}", title_, std::string(filled, '='),
                                  std::string(bar_cells - filled, ' '), done, total, note);
  if (line == drawn_) return;
  drawn_ = std::move(line);
  std::fputs(drawn_.c_str(), stderr);
  std::fflush(stderr);
}

void say_beside_progress(std::string_view text) {
  const char* const wipe = ::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "";
  std::fprintf(stderr, "%sweft: %.*s\n", wipe, static_cast<int>(text.size()), text.data());
}

}  // namespace weft::cli
