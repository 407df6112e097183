#include "common/tools/stop_text.h"

#include <algorithm>
#include <utility>

namespace weft::tools {

StopText::StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase(stops_, "");
}

std::string StopText::push(std::string_view text) {
  if (found_) return {};
  held_ += text;
  std::size_t first = std::string::npos;
  for (const std::string& stop : stops_) first = std::min(first, held_.find(stop));
  if (first != std::string::npos) {
    found_ = true;
    held_.resize(first);
    return std::exchange(held_, {});
  }
  // The longest end of the text that begins a stop text is kept.
  std::size_t kept = 0;
  for (const std::string& stop : stops_) {
    for (std::size_t size = std::min(stop.size() - 1, held_.size()); size > kept; --size) {
      if (std::string_view(held_).ends_with(std::string_view(stop).substr(0, size))) kept = size;
    }
  }
  std::string out = held_.substr(0, held_.size() - kept);
  held_.erase(0, held_.size() - kept);
  return out;
}

std::string StopText::finish() { return std::exchange(held_, {}); }

}  // namespace weft::tools
