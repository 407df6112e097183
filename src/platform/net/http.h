// What the server hands to handlers and takes from them: requests, replies, problem documents (RFC
// 9457), entity tags and ranges (RFC 9110). Plain values, no sockets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::net {

struct IncomingRequest {
  std::string method;  // GET also for HEAD: the server leaves the body out.
  std::string path;
  std::vector<std::string> parameters;  // What stood for the {} of the route's pattern.
  std::map<std::string, std::string> query;
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;
  std::string address;  // The peer's address, without its port.
  // Whether the peer still waits for its answer; from any thread. Empty if that is not known.
  std::function<bool()> connected{};
  // To call if the request's sender is known: its connection keeps its place
  // (Limits::known_share), and its address has a rate of its own for some time
  // (Limits::strangers_rates).
  std::function<void()> recognise = [] {};
  // The same for the address alone, and a few addresses of this client.
  std::function<void(const std::string& client)> recognise_client = [](const std::string&) {};
  // Its signature holds and is of this client (a key as text): the answer tells its quotas.
  std::function<void(const std::string& client)> identify = [](const std::string&) {};

  // Empty where it is not given.
  [[nodiscard]] std::string_view header(const std::string& name) const;
  // The token of "Authorization: Bearer TOKEN"; empty if there is none.
  [[nodiscard]] std::string_view bearer() const;
};

// Part of a file, sent without being read into memory.
struct FileBody {
  std::filesystem::path path = {};
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// The body of an answer that comes bit by bit. From any thread, one at a time.
class ReplyStream {
 public:
  virtual ~ReplyStream() = default;
  // False where the peer is gone.
  virtual bool send(const std::string& bytes) = 0;
  virtual void close() = 0;
};

struct Reply {
  int status = 200;
  std::map<std::string, std::string> headers = {};
  std::string body = {};
  std::optional<FileBody> file = {};  // Instead of the body.
  std::function<void(std::shared_ptr<ReplyStream>)> stream =
      {};  // The same: called once the head is on its way.
};

// Answers one request; once, from any thread.
using Respond = std::function<void(Reply)>;

[[nodiscard]] Reply json_reply(int status, std::string json);
[[nodiscard]] Reply text_reply(int status, std::string text,
                               std::string type = "text/plain; charset=utf-8");

// The HTTP status that says the same as the code.
[[nodiscard]] int http_status(ErrorCode code);
// { "type": "about:blank", "title", "status", "detail", "code" } and further members, given as JSON
// values by name.
[[nodiscard]] Reply problem(const Error& error,
                            const std::map<std::string, std::string>& members = {});
[[nodiscard]] Reply problem(const Error& error, int status,
                            const std::map<std::string, std::string>& members = {});
[[nodiscard]] std::string_view reason_phrase(int status);

// Bytes of immutable content: answers If-None-Match with 304, one Range with 206 (or 416),
// otherwise all of it. Several ranges in one request are answered with everything, as the RFC
// allows.
[[nodiscard]] Reply file_reply(const IncomingRequest& request, const FileBody& file,
                               std::string_view etag, std::string_view content_type);

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
// "bytes=0-99", "bytes=100-", "bytes=-5" of `size` bytes. Nothing where the header asks for no
// single byte range at all (it is then ignored); resource_exhausted if it asks for bytes that
// are not there.
[[nodiscard]] Result<std::optional<ByteRange>> parse_range(std::string_view header,
                                                           std::uint64_t size);

// "text/html; charset=utf-8" for .html, and so on; application/octet-stream for what is unknown.
[[nodiscard]] std::string_view content_type_of(const std::filesystem::path& path);

}  // namespace weft::net
