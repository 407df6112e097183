#include <algorithm>
#include <charconv>

#include <glaze/glaze.hpp>

#include "common/base/format.h"
#include "platform/net/client.h"

namespace weft::net {

Result<Url> Url::parse(std::string_view text) {
  Url url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    url.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return fail(
        ErrorCode::invalid_argument,
        "\"{}\" is not a URL of a coordinator: it begins with neither http:// nor https://.", text);
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  std::string_view port;
  if (rest.starts_with('[')) {
    const auto end = rest.find(']');
    if (end == std::string_view::npos)
      return fail(ErrorCode::invalid_argument,
                  "\"{}\" has an opening bracket without its closing one.", text);
    url.host = rest.substr(1, end - 1);
    if (!url.host.contains(':') || url.host.find_first_of("/?#@[ ") != std::string::npos)
      return fail(ErrorCode::invalid_argument,
                  "\"{}\" is not a URL of a coordinator: \"{}\" is no IPv6 address.", text,
                  url.host);
    rest.remove_prefix(end + 1);
    if (!rest.empty() && !rest.starts_with(':'))
      return fail(ErrorCode::invalid_argument, "\"{}\" has text after the address.", text);
    if (!rest.empty()) port = rest.substr(1);
  } else {
    const auto colon = rest.find(':');
    url.host = rest.substr(0, colon);
    if (colon != std::string_view::npos) port = rest.substr(colon + 1);
    if (url.host.empty() || url.host.find_first_of("/?#@ ") != std::string::npos) {
      return fail(ErrorCode::invalid_argument,
                  "\"{}\" is not a URL of a coordinator: it wants http://HOST:PORT without a path.",
                  text);
    }
  }
  if (port.find_first_of("/?#@") != std::string_view::npos)
    return fail(ErrorCode::invalid_argument,
                "\"{}\" is not a URL of a coordinator: it wants http://HOST:PORT without a path.",
                text);
  url.port = url.tls ? 443 : 80;
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc() || end != port.data() + port.size() || url.port == 0) {
      return fail(ErrorCode::invalid_argument,
                  "\"{}\" is not a URL of a coordinator: \"{}\" is not a port.", text, port);
    }
  }
  return url;
}

std::string Url::text() const {
  return weft::format("{}://{}", tls ? "https" : "http", authority());
}
std::string Url::authority() const {
  const bool bracketed = host.contains(':');
  return weft::format("{}{}{}:{}", bracketed ? "[" : "", host, bracketed ? "]" : "", port);
}

Request get(std::string path) {
  Request request;
  request.path = std::move(path);
  return request;
}

std::string percent_encoded(std::string_view segment) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string out;
  for (const char c : segment)
    out += plain.contains(c) ? std::string(1, c)
                             : weft::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

Request get_range(std::string path, std::uint64_t first, std::uint64_t count) {
  Request request = get(std::move(path));
  request.headers["range"] =
      weft::format("bytes={}-{}", first, first + (count == 0 ? 0 : count - 1));
  return request;
}

Request put(std::string path, std::string body) {
  Request request;
  request.method = "PUT";
  request.path = std::move(path);
  request.body = std::move(body);
  request.headers["content-type"] = "application/octet-stream";
  return request;
}

Request post(std::string path, std::string body, std::string content_type) {
  Request request;
  request.method = "POST";
  request.path = std::move(path);
  request.body = std::move(body);
  request.headers["content-type"] = std::move(content_type);
  return request;
}

Request with_bearer(Request request, std::string_view token) {
  request.headers["authorization"] = weft::format("Bearer {}", token);
  return request;
}

namespace {

ErrorCode code_of_status(int status) {
  switch (status) {
    case 401:
      return ErrorCode::unauthenticated;
    case 402:
      return ErrorCode::insufficient_funds;
    case 403:
      return ErrorCode::permission_denied;
    case 404:
      return ErrorCode::not_found;
    case 409:
      return ErrorCode::already_exists;
    case 413:
    case 429:
      return ErrorCode::resource_exhausted;
    case 501:
      return ErrorCode::unsupported;
    case 502:
    case 503:
      return ErrorCode::unavailable;
    case 504:
      return ErrorCode::deadline_exceeded;
    default:
      return status >= 500 ? ErrorCode::internal : ErrorCode::invalid_argument;
  }
}

}  // namespace

std::optional<Duration> retry_after(const Response& response) {
  if (response.status != 429 && response.status != 503) return std::nullopt;
  constexpr std::uint32_t seconds_max = 60;
  std::uint32_t wait = 1;
  if (const auto header = response.headers.find("retry-after"); header != response.headers.end()) {
    const std::string& text = header->second;
    std::uint32_t named = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), named);
    if (error == std::errc() && end == text.data() + text.size()) wait = named;
  }
  return std::chrono::seconds(std::min(wait, seconds_max));
}

Error error_of(const Response& response) {
  Error error{code_of_status(response.status),
              weft::format("The coordinator answers with status {}.", response.status)};
  const auto type = response.headers.find("content-type");
  if (type == response.headers.end() || !type->second.starts_with("application/problem+json"))
    return error;
  glz::generic problem;
  if (glz::read_json(problem, response.body) || !problem.is_object()) return error;
  if (problem.contains("code") && problem["code"].is_string())
    error.code = error_code_from(problem["code"].get_string());
  if (problem.contains("detail") && problem["detail"].is_string())
    error.message = problem["detail"].get_string();
  return error;
}

}  // namespace weft::net
