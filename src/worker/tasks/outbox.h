// Results that no verdict has answered yet: sent again after a reconnect, and gathered into
// receipts. Pure.
//
// Bounds: at most results_max and bytes_max are kept. What is over, oldest first, is forgotten once
// it was sent: nothing is lost by that unless the connection breaks, and then the task is merely
// run again.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "common/manifest/split.h"
#include "common/protocol/result_frame.h"
#include "worker/tasks/events.h"

namespace weft::worker {

class Outbox {
 public:
  struct Options {
    std::size_t results_max = 1024;
    std::uint64_t bytes_max = std::uint64_t{64} << 20;
  };

  explicit Outbox(Options options) : options_(options) {}

  // `part`: of the task that it is about; empty: the whole.
  void add(protocol::ResultFrame frame, manifest::Range part);
  // Answered or taken back. False if there is no such result.
  bool remove(const TaskKey& key);
  void clear();
  // Nothing more may be added before something was sent.
  [[nodiscard]] bool full() const {
    return entries_.size() >= options_.results_max || bytes_ >= options_.bytes_max;
  }

  // The next result to send, which is then sent and waits for its receipt.
  [[nodiscard]] const protocol::ResultFrame* send_next();
  // False if there is no such result.
  bool send_again(const TaskKey& key);
  // A new connection: all are to be sent again, under new receipts.
  void send_all_again();

  // Sent since the last receipt.
  [[nodiscard]] std::size_t unreceipted() const { return unreceipted_.size(); }
  [[nodiscard]] std::vector<protocol::ReceiptItem> take_unreceipted();

  [[nodiscard]] std::vector<TaskKey> keys() const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    TaskKey key;
    protocol::ResultFrame frame;
    manifest::Range part;
    bool sent = false;
  };
  void forget_oldest_sent();

  const Options options_;
  std::deque<Entry> entries_;  // Oldest first.
  std::vector<protocol::ReceiptItem> unreceipted_;
  std::uint64_t bytes_ = 0;
};

}  // namespace weft::worker
