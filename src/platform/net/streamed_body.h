// Reads the head of an HTTP/1.1 answer and its body as bytes arrive: a body in chunks, of a known
// length, or up to the end of the connection. Pure; bounded by the sizes that callers pass in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::net {

// Reads the head of an answer, without the empty line that ends the head. Fails with unsupported if
// the answer is not HTTP/1.
[[nodiscard]] Result<Response> read_answer_head(std::string_view text);

class StreamedBody {
 public:
  // Fails with data_loss for an unreadable length and with unsupported for an unknown transfer
  // encoding.
  [[nodiscard]] static Result<StreamedBody> of(const Response& head);

  // Returns the bytes of the body that the next received bytes contain.
  [[nodiscard]] Result<std::string> take(std::string_view bytes);
  [[nodiscard]] bool ended() const { return ended_; }
  // Called when the connection has ended. Fails with data_loss if the body is incomplete.
  [[nodiscard]] Result<> close();

 private:
  [[nodiscard]] Result<> take_chunks(std::string& out);

  bool chunked_ = false, to_the_end_ = false, ended_ = false;
  bool in_trailer_ = false;  // The last chunk was read.
  std::uint64_t left_ = 0;   // Bytes left of the body, or of a chunk and its line end.
  std::string line_;         // Received bytes that were not parsed yet.
};

}  // namespace weft::net
