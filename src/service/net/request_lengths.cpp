#include "service/net/request_lengths.h"

#include <algorithm>
#include <charconv>
#include <format>

namespace weft::net {
namespace {

constexpr std::size_t line_bytes_max = 8192;

bool same_word(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, [](char x, char y) { return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> RequestLengths::take(std::string_view bytes) {
  while (!bytes.empty() && state_ != State::off) {
    if (state_ == State::body || state_ == State::chunk) {
      const auto part = std::min<std::uint64_t>(left_, bytes.size());
      bytes.remove_prefix(part);
      left_ -= part;
      if (left_ > 0) break;
      if (state_ == State::body) {
        begin_head();
      } else {
        state_ = State::chunk_end;
      }
      continue;
    }
    const auto end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view part = bytes.substr(0, end);
    line_ += part.substr(0, line_bytes_max - std::min(line_bytes_max, line_.size()));
    if (!part.empty()) last_ = part.back();
    if (end == bytes.size()) break;
    bytes.remove_prefix(end + 1);
    if (last_ != '\r') {  // A line feed alone ends no line.
      last_ = '\n';
      continue;
    }
    if (line_.ends_with('\r')) line_.pop_back();
    auto problem = line(line_);
    line_.clear();
    last_ = 0;
    if (problem) {
      state_ = State::off;
      return problem;
    }
  }
  return std::nullopt;
}

void RequestLengths::begin_head() {
  state_ = State::head;
  begun_ = chunked_ = upgrades_ = false;
  length_.reset();
}

std::optional<std::string> RequestLengths::line(std::string_view text) {
  switch (state_) {
    case State::head:
      if (!begun_) {
        begun_ = !text.empty();  // Empty lines may stand before a request.
        return std::nullopt;
      }
      return text.empty() ? end_of_head() : field(text);
    case State::chunk_size: {
      const auto size = number(trimmed(text.substr(0, text.find(';'))), 16);
      left_ = size.value_or(0);
      state_ = !size ? State::off : left_ == 0 ? State::trailer : State::chunk;
      return std::nullopt;
    }
    case State::chunk_end:
      state_ = State::chunk_size;
      return std::nullopt;
    case State::trailer:
      if (text.empty()) begin_head();
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<std::string> RequestLengths::field(std::string_view text) {
  const auto colon = std::min(text.find(':'), text.size());
  const std::string_view name = trimmed(text.substr(0, colon));
  const std::string_view value = trimmed(text.substr(std::min(colon + 1, text.size())));
  if (same_word(name, "transfer-encoding")) chunked_ = true;
  if (same_word(name, "upgrade") && same_word(value, "websocket")) upgrades_ = true;
  if (!same_word(name, "content-length")) return std::nullopt;
  const auto length = number(value, 10);
  if (!length || name.size() != colon) return "The Content-Length of the request is no number.";
  if (length_ && *length_ != *length) return std::format("The request has two Content-Lengths that differ: {} and {}.", *length_, *length);
  length_ = length;
  return std::nullopt;
}

std::optional<std::string> RequestLengths::end_of_head() {
  if (chunked_ && length_) return "The request has a Content-Length and a Transfer-Encoding; only one of them says how long it is.";
  const std::uint64_t length = length_.value_or(0);
  const bool chunked = chunked_;
  const bool upgrades = upgrades_;
  begin_head();
  left_ = length;
  if (upgrades) {
    state_ = State::off;
  } else if (chunked) {
    state_ = State::chunk_size;
  } else if (length > 0) {
    state_ = State::body;
  }
  return std::nullopt;
}

}  // namespace weft::net
