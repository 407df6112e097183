#include "platform/net/http.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/base/format.h"
#include "common/base/utf8.h"
#include "common/json/quote.h"

namespace weft::net {

std::string_view IncomingRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view IncomingRequest::bearer() const {
  std::string_view value = header("authorization");
  constexpr std::string_view scheme = "Bearer ";
  if (!value.starts_with(scheme)) return {};
  return value.substr(scheme.size());
}

Reply json_reply(int status, std::string json) {
  return {.status = status,
          .headers = {{"content-type", "application/json"}, {"cache-control", "no-store"}},
          .body = std::move(json)};
}

Reply text_reply(int status, std::string text, std::string type) {
  return {.status = status,
          .headers = {{"content-type", std::move(type)}, {"cache-control", "no-store"}},
          .body = std::move(text)};
}

int http_status(ErrorCode code) {
  using enum ErrorCode;
  switch (code) {
    case invalid_argument:
      return 400;
    case not_found:
      return 404;
    case already_exists:
      return 409;
    case unauthenticated:
      return 401;
    case permission_denied:
      return 403;
    case insufficient_funds:
      return 402;
    case resource_exhausted:
      return 429;
    case deadline_exceeded:
      return 504;
    case cancelled:
      return 409;
    case unavailable:
      return 503;
    case unsupported:
      return 501;
    case out_of_memory:
    case device_lost:
    case data_loss:
    case internal:
      return 500;
  }
  return 500;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 421:
      return "Misdirected Request";
    case 426:
      return "Upgrade Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return status >= 500 ? "Internal Server Error" : "Error";
  }
}

namespace {

// Quotes a message, which may contain a path or a query that is not UTF-8.
std::string json_text(std::string_view text) { return json::quote(utf8::replace_invalid(text)); }

}  // namespace

Reply problem(const Error& error, const std::map<std::string, std::string>& members) {
  return problem(error, http_status(error.code), members);
}

Reply problem(const Error& error, int status, const std::map<std::string, std::string>& members) {
  std::string json = weft::format(
      R"({{"type":"about:blank","title":{},"status":{},"detail":{},"code":"{}")",
      json_text(reason_phrase(status)), status, json_text(error.message), to_string(error.code));
  for (const auto& [name, value] : members) json += weft::format(",{}:{}", json_text(name), value);
  Reply reply{
      .status = status,
      .headers = {{"content-type", "application/problem+json"}, {"cache-control", "no-store"}},
      .body = json + "}"};
  if (status == 401) reply.headers["www-authenticate"] = "Bearer";
  if (status == 429 || status == 503) reply.headers["retry-after"] = "1";
  return reply;
}

Result<std::optional<ByteRange>> parse_range(std::string_view header, std::uint64_t size) {
  if (!header.starts_with("bytes=") || header.contains(',')) return std::nullopt;
  header.remove_prefix(6);
  const auto dash = header.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto number = [](std::string_view text) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  };
  const auto first = number(header.substr(0, dash));
  const auto last = number(header.substr(dash + 1));
  if (dash == 0) {  // A range such as "-5" asks for the last bytes.
    if (!last) return std::nullopt;
    if (*last == 0 || size == 0)
      return fail(ErrorCode::resource_exhausted, "The range contains none of the {} bytes.", size);
    const auto count = std::min(*last, size);
    return ByteRange{.first = size - count, .count = count};
  }
  if (!first || (!last && dash + 1 != header.size()) || (last && *last < *first))
    return std::nullopt;
  if (*first >= size)
    return fail(ErrorCode::resource_exhausted, "The range begins at {}, after the end of {} bytes.",
                *first, size);
  const std::uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return ByteRange{.first = *first, .count = end - *first + 1};
}

Reply file_reply(const IncomingRequest& request, const FileBody& file, std::string_view etag,
                 std::string_view content_type) {
  const std::string tag = weft::format("\"{}\"", etag);
  Reply reply;
  reply.headers = {
      {"etag", tag}, {"accept-ranges", "bytes"}, {"content-type", std::string(content_type)}};
  const auto none_match = request.header("if-none-match");
  if (none_match == "*" || none_match.contains(tag)) {
    reply.status = 304;
    return reply;
  }
  reply.file = file;
  const auto if_range = request.header("if-range");
  if (request.header("range").empty() || (!if_range.empty() && if_range != tag)) return reply;
  auto range = parse_range(request.header("range"), file.size);
  if (!range) {
    Reply refused = problem(range.error(), 416);
    refused.headers["content-range"] = weft::format("bytes */{}", file.size);
    return refused;
  }
  if (!*range) return reply;
  reply.status = 206;
  reply.headers["content-range"] = weft::format("bytes {}-{}/{}", (*range)->first,
                                                (*range)->first + (*range)->count - 1, file.size);
  reply.file->offset += (*range)->first;
  reply.file->size = (*range)->count;
  return reply;
}

std::string_view content_type_of(const std::filesystem::path& path) {
  static constexpr std::pair<std::string_view, std::string_view> types[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".map", "application/json"},
      {".wasm", "application/wasm"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".txt", "text/plain; charset=utf-8"},
      {".wgsl", "text/plain; charset=utf-8"},
      {".webmanifest", "application/manifest+json"},
  };
  const std::string extension = path.extension().string();
  for (const auto& [name, type] : types) {
    if (name == extension) return type;
  }
  return "application/octet-stream";
}

}  // namespace weft::net
