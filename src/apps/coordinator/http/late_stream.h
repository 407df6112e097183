// The text of a streamed reply, which any thread may write. The text is kept here until the server
// hands over its stream on a thread of its own.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "platform/net/http.h"

namespace weft::coordinator {

class LateStream {
 public:
  void take(std::shared_ptr<net::ReplyStream> stream) {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty()) stream->send(std::exchange(waiting_, {}));
    if (finished_) return stream->close();
    stream_ = std::move(stream);
  }
  void write(const std::string& bits) {
    if (bits.empty()) return;
    const std::lock_guard lock(mutex_);
    if (stream_) {
      stream_->send(bits);
    } else {
      waiting_ += bits;
    }
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    if (stream_) stream_->close();
    stream_.reset();
  }

 private:
  std::mutex mutex_;  // Guards all other members.
  std::shared_ptr<net::ReplyStream> stream_;
  std::string waiting_;
  bool finished_ = false;
};

}  // namespace weft::coordinator
