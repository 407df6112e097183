// The values that the server and its handlers exchange: requests, replies, problem documents (RFC
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
  std::string method;  // HEAD arrives as GET; the server omits the body.
  std::string path;
  // The parts of the path that match the {} of the route's pattern.
  std::vector<std::string> parameters;
  std::map<std::string, std::string> query;
  std::map<std::string, std::string> headers;  // Header names are in lower case.
  std::string body;
  std::string address;  // The peer's address, without its port.
  // True while the peer waits for its answer; may be called from any thread. Empty if that is not
  // known.
  std::function<bool()> connected{};
  // The handler calls this if it knows the sender of the request. The connection then keeps its
  // place (Limits::known_share), and its address has a rate of its own for some time
  // (Limits::strangers_rates).
  std::function<void()> recognise = [] {};
  // Makes the sender's address known, but not its connection; at most a few addresses of one
  // client.
  std::function<void(const std::string& client)> recognise_client = [](const std::string&) {};
  // The handler calls this once the signature is verified as that of the client (a key as text);
  // the answer then states the client's quotas.
  std::function<void(const std::string& client)> identify = [](const std::string&) {};

  // Empty if the request has no such header.
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

// The body of an answer that is sent in parts. It may be used from any thread, by one at a time.
class ReplyStream {
 public:
  virtual ~ReplyStream() = default;
  // Returns false if the connection to the peer is closed.
  virtual bool send(const std::string& bytes) = 0;
  virtual void close() = 0;
};

struct Reply {
  int status = 200;
  std::map<std::string, std::string> headers = {};
  std::string body = {};
  std::optional<FileBody> file = {};  // A file that is sent instead of `body`.
  std::function<void(std::shared_ptr<ReplyStream>)> stream =
      {};  // Sent instead of the body: called once the head is on its way.
};

// Answers one request; called once, from any thread.
using Respond = std::function<void(Reply)>;

[[nodiscard]] Reply json_reply(int status, std::string json);
[[nodiscard]] Reply text_reply(int status, std::string text,
                               std::string type = "text/plain; charset=utf-8");

// The HTTP status that corresponds to the error code.
[[nodiscard]] int http_status(ErrorCode code);
// The document { "type": "about:blank", "title", "status", "detail", "code" } with further members,
// which are given as JSON values by name.
[[nodiscard]] Reply problem(const Error& error,
                            const std::map<std::string, std::string>& members = {});
[[nodiscard]] Reply problem(const Error& error, int status,
                            const std::map<std::string, std::string>& members = {});
[[nodiscard]] std::string_view reason_phrase(int status);

// Replies with immutable content: answers If-None-Match with 304, one Range with 206 (or 416), and
// other requests with the whole file. A request of several ranges is answered with the whole file,
// as the RFC allows.
[[nodiscard]] Reply file_reply(const IncomingRequest& request, const FileBody& file,
                               std::string_view etag, std::string_view content_type);

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
// Parses "bytes=0-99", "bytes=100-" or "bytes=-5" for a file of `size` bytes. Returns nullopt if
// the header is not a single byte range; the header is then ignored. Fails with resource_exhausted
// if the range lies outside of the file.
[[nodiscard]] Result<std::optional<ByteRange>> parse_range(std::string_view header,
                                                           std::uint64_t size);

// Returns for example "text/html; charset=utf-8" for .html; application/octet-stream for an unknown
// extension.
[[nodiscard]] std::string_view content_type_of(const std::filesystem::path& path);

}  // namespace weft::net
