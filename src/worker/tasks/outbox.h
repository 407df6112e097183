// Results without a verdict: sent again after a reconnect, and gathered into receipts. Pure.
//
// Bounds: at most results_max results and bytes_max bytes are kept. Beyond that, the oldest results
// that were sent are forgotten. A forgotten result is lost only if the connection breaks, and then
// the task is run again.
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

  // Adds a result. `part` is the part of the task that it is for; empty: the whole task.
  void add(protocol::ResultFrame frame, manifest::Range part);
  // Removes a result that was answered or taken back. False if there is no such result.
  bool remove(const TaskKey& key);
  void clear();
  // True if a result must be sent before another one is added.
  [[nodiscard]] bool full() const {
    return entries_.size() >= options_.results_max || bytes_ >= options_.bytes_max;
  }

  // Returns the next result to send, and counts it as sent: the result then waits for its receipt.
  [[nodiscard]] const protocol::ResultFrame* send_next();
  // Marks a result to be sent again. False if there is no such result.
  bool send_again(const TaskKey& key);
  // Marks all results to be sent again, under new receipts, because the connection is new.
  void send_all_again();

  // The number of results that were sent since the last receipt.
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
  std::deque<Entry> entries_;  // The results, the oldest first.
  std::vector<protocol::ReceiptItem> unreceipted_;
  std::uint64_t bytes_ = 0;
};

}  // namespace weft::worker
