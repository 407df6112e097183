// The head of an HTTP/1.1 answer and its body as bytes come in: in chunks, of a known length, or to
// the end of the connection. Pure; bounded by the callers' sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::net {

// What stands before the empty line. data_loss if it is not HTTP/1.
[[nodiscard]] Result<Response> read_answer_head(std::string_view text);

class StreamedBody {
 public:
  // data_loss for a length that cannot be read.
  [[nodiscard]] static Result<StreamedBody> of(const Response& head);

  // What of the body is in the next bytes that came.
  [[nodiscard]] Result<std::string> take(std::string_view bytes);
  [[nodiscard]] bool ended() const { return ended_; }
  // The connection has ended: data_loss if the body has not.
  [[nodiscard]] Result<> close();

 private:
  [[nodiscard]] Result<> take_chunks(std::string& out);

  bool chunked_ = false, to_the_end_ = false, ended_ = false;
  bool in_trailer_ = false;  // Behind the last chunk.
  std::uint64_t left_ = 0;   // Bytes of the body, or of a chunk with its line end.
  std::string line_;         // Bytes of chunks that were not looked at.
};

}  // namespace weft::net
