#include "platform/net/request_lengths.h"

#include <algorithm>
#include <charconv>

#include "common/base/format.h"

namespace weft::net {
namespace {

constexpr std::size_t line_bytes_max = 8192;

bool same_word(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
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

// True if the byte can begin a request: a byte of a method (a token, RFC 9110, 5.6.2) or of empty
// lines before it.
bool begins_request(char first) {
  const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  const bool digit = first >= '0' && first <= '9';
  return letter || digit || std::string_view("!#$%&'*+-.^_`|~\r\n").contains(first);
}

HeadRefusal malformed(std::string sentence) {
  return {.status = 400, .error = {ErrorCode::invalid_argument, std::move(sentence)}};
}

}  // namespace

std::optional<HeadRefusal> RequestLengths::take(std::string_view bytes) {
  while (!bytes.empty() && state_ != State::off) {
    if (state_ == State::upgrading) {
      if (!options_.after_upgrade) return std::nullopt;
      state_ = State::off;
      return malformed(
          "The client sends bytes after its request for a WebSocket, before the request is "
          "answered.");
    }
    if (state_ == State::body || state_ == State::chunk) {
      const auto part = std::min<std::uint64_t>(left_, bytes.size());
      bytes.remove_prefix(part);
      left_ -= part;
      if (left_ > 0) break;
      if (state_ == State::body) {
        ++bodies_;
        begin_head();
      } else {
        state_ = State::chunk_end;
      }
      continue;
    }
    if (state_ == State::head && head_bytes_ == 0 && !begins_request(bytes.front())) {
      state_ = State::off;
      return malformed(
          "The bytes do not begin an HTTP request (if they are TLS: this port does not use it).");
    }
    const auto end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view part = bytes.substr(0, end);
    line_ += part.substr(0, line_bytes_max - std::min(line_bytes_max, line_.size()));
    if (!part.empty()) last_ = part.back();
    // The line feed of a line counts when it has arrived, so that a head has the same length
    // however the socket cuts it.
    head_bytes_ += part.size() + (end < bytes.size() ? 1 : 0);
    if (options_.head_bytes_max > 0 && head_bytes_ > options_.head_bytes_max) {
      state_ = State::off;
      return HeadRefusal{.status = 431,
                         .error = {ErrorCode::resource_exhausted,
                                   weft::format("The request's head has more than {} bytes.",
                                                options_.head_bytes_max)}};
    }
    if (end == bytes.size()) break;
    bytes.remove_prefix(end + 1);
    if (last_ != '\r') {  // A line feed without CR does not end a line.
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

void RequestLengths::resume() {
  if (state_ == State::upgrading) begin_head();
}

bool RequestLengths::is_in_body() const {
  return state_ == State::body || state_ == State::chunk || state_ == State::chunk_size ||
         state_ == State::chunk_end || state_ == State::trailer;
}

void RequestLengths::begin_head() {
  state_ = State::head;
  begun_ = false;
  head_bytes_ = 0;
  head_ = {};
}

std::optional<HeadRefusal> RequestLengths::line(std::string_view text) {
  switch (state_) {
    case State::head:
      if (!begun_) return first_line(text);
      return text.empty() ? end_of_head() : field(text);
    case State::chunk_size: {
      const auto size = number(trimmed(text.substr(0, text.find(';'))), 16);
      left_ = size.value_or(0);
      head_bytes_ = 0;
      state_ = !size ? State::off : left_ == 0 ? State::trailer : State::chunk;
      return std::nullopt;
    }
    case State::chunk_end:
      state_ = State::chunk_size;
      return std::nullopt;
    case State::trailer:
      if (!text.empty()) return std::nullopt;
      ++bodies_;
      begin_head();
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Reads a line such as "GET /v1/jobs HTTP/1.1"; empty lines may precede it.
std::optional<HeadRefusal> RequestLengths::first_line(std::string_view text) {
  begun_ = !text.empty();
  if (!begun_) return std::nullopt;
  const auto space = std::min(text.find(' '), text.size());
  head_.method = text.substr(0, space);
  const std::string_view rest = trimmed(text.substr(space));
  head_.target = rest.substr(0, rest.find(' '));
  return std::nullopt;
}

std::optional<HeadRefusal> RequestLengths::field(std::string_view text) {
  const auto colon = std::min(text.find(':'), text.size());
  const std::string_view name = trimmed(text.substr(0, colon));
  const std::string_view value = trimmed(text.substr(std::min(colon + 1, text.size())));
  if (same_word(name, "transfer-encoding")) head_.chunked = true;
  if (same_word(name, "upgrade") && same_word(value, "websocket")) head_.upgrades = true;
  if (same_word(name, "host")) {
    ++head_.hosts;
    head_.host = value;
  }
  if (same_word(name, "origin")) head_.origin = value;
  if (same_word(name, "sec-fetch-site")) head_.fetch_site = value;
  if (same_word(name, "content-type")) head_.content_type = value;
  if (same_word(name, "weft-client")) head_.client = value;
  if (same_word(name, "weft-nonce")) head_.nonce = value;
  if (same_word(name, "weft-time")) head_.time = value;
  if (same_word(name, "weft-signature")) head_.signature = value;
  // Several fields of one name form one list (RFC 9110, 5.3).
  if (same_word(name, "x-forwarded-for"))
    head_.forwarded_for += (head_.forwarded_for.empty() ? "" : ",") + std::string(value);
  if (!same_word(name, "content-length")) return std::nullopt;
  const auto length = number(value, 10);
  if (!length || name.size() != colon)
    return malformed("The Content-Length of the request is not a number.");
  if (head_.length && *head_.length != *length)
    return malformed(weft::format("The request has two Content-Lengths that differ: {} and {}.",
                                  *head_.length, *length));
  head_.length = length;
  return std::nullopt;
}

std::optional<HeadRefusal> RequestLengths::end_of_head() {
  if (head_.chunked && head_.length)
    return malformed(
        "The request has a Content-Length and a Transfer-Encoding; only one of them says how "
        "long it is.");
  ++heads_;
  if (options_.judge) {
    if (auto refused = options_.judge(head_)) return refused;
  }
  const std::uint64_t length = head_.length.value_or(0);
  const bool chunked = head_.chunked;
  const bool upgrades = head_.upgrades;
  begin_head();
  left_ = length;
  if (chunked) {
    state_ = State::chunk_size;
  } else if (length > 0) {
    state_ = State::body;
  } else if (upgrades) {
    state_ = options_.after_upgrade ? State::upgrading : State::off;
  } else {
    ++bodies_;
  }
  return std::nullopt;
}

}  // namespace weft::net
