// Finds requests of HTTP/1.1 that say twice, and differently, how long they are: if a proxy before
// this server believes the other length, the rest of one body becomes the next request, of another
// client (RFC 9112, 6.3). Drogon keeps the first of two fields and is not asked about the second.
// Shows each head to a judge as soon as it is whole, before any byte of the body.
//
// Follows one connection's bytes from its beginning: heads line by line, bodies by their lengths.
// Keeps a line of a head, at most 8 KiB of it; the rest is counted.
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
  // Is given each head once it is whole. The refusal that it returns ends the connection.
  using Judge = std::function<std::optional<HeadRefusal>(const RequestHead&)>;
  struct Options {
    std::size_t head_bytes_max = 0;  // 0: no bound.
    bool after_upgrade = true;       // Look on behind the head of an upgrade until resume().
    Judge judge = {};
  };
  RequestLengths() = default;
  explicit RequestLengths(Options options) : options_(std::move(options)) {}

  // The next bytes. Why a request is to be refused; what follows it is not looked at.
  [[nodiscard]] std::optional<HeadRefusal> take(std::string_view bytes);

  // The last head asked for a WebSocket. Whether it became one is not known here: nothing may
  // follow until the caller says that it did not (resume()), or that what follows are frames.
  [[nodiscard]] bool is_upgrading() const { return state_ == State::upgrading; }
  void resume();

  // Some bytes of a head are there, but not all.
  [[nodiscard]] bool is_in_head() const { return state_ == State::head && head_bytes_ > 0; }
  [[nodiscard]] bool is_in_body() const;
  // Bytes of the body that are still to come, as it announced them.
  [[nodiscard]] std::uint64_t body_bytes_left() const { return is_in_body() ? left_ : 0; }
  // How many heads, and how many bodies, have ended.
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
  bool begun_ = false;  // The head's first line is there.
  std::uint64_t heads_ = 0;
  std::uint64_t bodies_ = 0;
  std::uint64_t left_ = 0;  // Bytes that a body or a chunk still lacks.
  std::string line_;
  char last_ = 0;  // Last character of the line, which may be longer than what is kept.
};

}  // namespace weft::net
