// Refuses requests of HTTP/1.1 that state two different lengths. If a proxy before this server
// takes the length that this server ignores, the rest of one body becomes the next request, in the
// name of another client (RFC 9112, 6.3). If a field occurs twice, Drogon keeps the first and
// ignores the second. Each head is shown to a judge as soon as it is whole, before any byte of the
// body.
//
// Follows the bytes of one connection from its beginning: heads line by line, bodies by their
// lengths. Keeps one line of a head, at most 8 KiB of it; further bytes are only counted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "platform/net/request_head.h"

namespace weft::net {

class RequestLengths {
 public:
  // Called with each head once it is whole. If it returns a refusal, the connection ends.
  using Judge = std::function<std::optional<HeadRefusal>(const RequestHead&)>;
  struct Options {
    std::size_t head_bytes_max = 0;  // 0 means no bound.
    bool after_upgrade = true;  // If true, the bytes after the head of an upgrade are checked, too.
    Judge judge = {};
  };
  RequestLengths() = default;
  explicit RequestLengths(Options options) : options_(std::move(options)) {}

  // Takes the next bytes. Returns the reason to refuse a request, if any; the bytes after that
  // request are not looked at.
  [[nodiscard]] std::optional<HeadRefusal> take(std::string_view bytes);

  // True if the last head asked for a WebSocket. This class does not know if the upgrade succeeded:
  // no bytes may follow until the caller says that it did not (resume()) or that frames follow.
  [[nodiscard]] bool is_upgrading() const { return state_ == State::upgrading; }
  void resume();

  // True if a head has begun and is not complete.
  [[nodiscard]] bool is_in_head() const { return state_ == State::head && head_bytes_ > 0; }
  [[nodiscard]] bool is_in_body() const;
  // The number of bytes that are still to come of the announced body.
  [[nodiscard]] std::uint64_t body_bytes_left() const { return is_in_body() ? left_ : 0; }
  // The number of heads and of bodies that have ended.
  [[nodiscard]] std::uint64_t heads() const { return heads_; }
  [[nodiscard]] std::uint64_t bodies() const { return bodies_; }

 private:
  enum class State { head, body, chunk_size, chunk, chunk_end, trailer, upgrading, off };

  [[nodiscard]] std::optional<HeadRefusal> line(std::string_view text);
  [[nodiscard]] std::optional<HeadRefusal> first_line(std::string_view text);
  [[nodiscard]] std::optional<HeadRefusal> field(std::string_view text);
  [[nodiscard]] std::optional<HeadRefusal> end_of_head();
  void begin_head();

  Options options_;
  State state_ = State::head;
  RequestHead head_;
  std::size_t head_bytes_ = 0;
  bool begun_ = false;  // The head's first line was read.
  std::uint64_t heads_ = 0;
  std::uint64_t bodies_ = 0;
  std::uint64_t left_ = 0;  // Missing bytes of a body or a chunk.
  std::string line_;
  char last_ = 0;  // Last character of the line, which may be cut in line_.
};

}  // namespace weft::net
