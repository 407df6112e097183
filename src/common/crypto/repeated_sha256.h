// SHA-256 of many short messages in a row, without setting the library up for each: for trees over
// millions of leaves.
#pragma once

#include <memory>

#include "common/base/bytes.h"
#include "common/base/ids.h"

namespace weft::crypto {

// Hashes many messages one after the other. An object must not be shared between threads.
class RepeatedSha256 {
 public:
  RepeatedSha256();
  RepeatedSha256(const RepeatedSha256&) = delete;
  ~RepeatedSha256();
  // Returns the hash that sha256(message) returns. A native build takes about a third of the time
  // of sha256() for a hundred bytes.
  [[nodiscard]] Hash operator()(ByteSpan message);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::crypto
