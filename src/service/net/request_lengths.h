// Finds requests of HTTP/1.1 that say twice, and differently, how long they are: where a proxy in front believes the other length, the rest
// of one body is the next request, of somebody else (RFC 9112, 6.3). Drogon keeps the first of two fields and is not asked about the second.
//
// Follows one connection's bytes from its beginning: heads line by line, bodies by their lengths. Keeps a line of a head, at most
// 8 KiB of it; the rest is counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::net {

class RequestLengths {
 public:
  // The next bytes. A sentence where a request is to be refused; what follows it is not looked at, as behind a WebSocket's head.
  [[nodiscard]] std::optional<std::string> take(std::string_view bytes);

 private:
  enum class State { head, body, chunk_size, chunk, chunk_end, trailer, off };

  [[nodiscard]] std::optional<std::string> line(std::string_view text);
  [[nodiscard]] std::optional<std::string> field(std::string_view text);
  [[nodiscard]] std::optional<std::string> end_of_head();
  void begin_head();

  State state_ = State::head;
  bool begun_ = false;  // The head's first line is there.
  bool chunked_ = false;
  bool upgrades_ = false;
  std::optional<std::uint64_t> length_;
  std::uint64_t left_ = 0;  // Of a body or a chunk.
  std::string line_;
  char last_ = 0;  // Of the line, which may be longer than what is kept.
};

}  // namespace weft::net
