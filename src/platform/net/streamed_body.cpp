#include "platform/net/streamed_body.h"

#include <algorithm>
#include <charconv>

namespace weft::net {

namespace {

constexpr std::size_t line_bytes_max = 4096;
constexpr std::uint64_t chunk_bytes_max = std::uint64_t{1} << 40;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}
std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  return out;
}

}  // namespace

Result<Response> read_answer_head(std::string_view text) {
  Response out;
  const std::string_view first = text.substr(0, text.find("\r\n"));
  const auto status = first.size() >= 12 ? number(first.substr(9, 3), 10) : std::nullopt;
  if (!first.starts_with("HTTP/1.") || !status || *status < 100)
    return fail(ErrorCode::unsupported, "The server's answer is not HTTP/1.");
  out.status = static_cast<int>(*status);
  for (std::size_t at = first.size() + 2; at < text.size();) {
    const std::size_t end = std::min(text.find("\r\n", at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      out.headers[lower(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
    at = end + 2;
  }
  return out;
}

Result<StreamedBody> StreamedBody::of(const Response& head) {
  StreamedBody out;
  const auto coding = head.headers.find("transfer-encoding");
  const auto length = head.headers.find("content-length");
  if (head.status == 204 || head.status == 304) {
    out.ended_ = true;
  } else if (coding != head.headers.end() && lower(coding->second) != "identity") {
    if (lower(coding->second) != "chunked")
      return fail(ErrorCode::unsupported,
                  "The answer has the transfer encoding '{}', which is not supported.",
                  coding->second);
    out.chunked_ = true;
  } else if (length != head.headers.end()) {
    const auto bytes = number(length->second, 10);
    if (!bytes)
      return fail(ErrorCode::data_loss, "The Content-Length of the answer is not a number.");
    out.left_ = *bytes;
    out.ended_ = *bytes == 0;
  } else {
    out.to_the_end_ = true;
  }
  return out;
}

Result<std::string> StreamedBody::take(std::string_view bytes) {
  std::string out;
  if (ended_) return out;
  if (to_the_end_) return std::string(bytes);
  if (!chunked_) {
    out = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
    left_ -= out.size();
    ended_ = left_ == 0;
    return out;
  }
  line_ += bytes;
  WEFT_OK(take_chunks(out));
  return out;
}

Result<> StreamedBody::take_chunks(std::string& out) {
  constexpr std::uint64_t line_end = 2;
  std::size_t at = 0;
  while (!ended_) {
    if (left_ > 0) {
      const std::uint64_t here = std::min<std::uint64_t>(left_, line_.size() - at);
      const std::uint64_t data = left_ > line_end ? std::min(here, left_ - line_end) : 0;
      out.append(line_, at, static_cast<std::size_t>(data));
      at += static_cast<std::size_t>(here);
      left_ -= here;
      if (left_ > 0) break;
      continue;
    }
    const std::size_t end = line_.find("\r\n", at);
    if (end == std::string::npos) break;
    const std::string_view line = std::string_view(line_).substr(at, end - at);
    at = end + line_end;
    if (in_trailer_) {
      ended_ = line.empty();
      continue;
    }
    const auto size = number(trimmed(line.substr(0, line.find(';'))), 16);
    if (!size || *size > chunk_bytes_max)
      return fail(ErrorCode::data_loss, "A chunk of the answer has no valid length.");
    in_trailer_ = *size == 0;
    if (*size > 0) left_ = *size + line_end;
  }
  line_.erase(0, at);
  if (left_ == 0 && line_.size() > line_bytes_max)
    return fail(ErrorCode::data_loss, "A chunk of the answer has no valid length.");
  return {};
}

Result<> StreamedBody::close() {
  if (to_the_end_) ended_ = true;
  if (ended_) return {};
  return fail(ErrorCode::data_loss, "The answer ended before it was complete.");
}

}  // namespace weft::net
