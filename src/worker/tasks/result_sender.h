// Sends results and, for batches of them, receipts. Results are kept until their verdicts arrive
// (outbox.h).
//
// Threading and lifetime: the session's thread; may be destroyed at any time.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "common/base/clock.h"
#include "common/manifest/split.h"
#include "common/protocol/result_frame.h"
#include "worker/tasks/alive.h"
#include "worker/tasks/connection.h"
#include "worker/tasks/host.h"
#include "worker/tasks/outbox.h"

namespace weft::worker {

class ResultSender {
 public:
  struct Options {
    Outbox::Options outbox;
    std::size_t receipt_items_max = 0;
    Duration receipt_delay{};  // The delay after the first result without a receipt.
  };
  struct Around {
    // True if no further result is expected; the receipt then does not wait for one.
    std::function<bool()> is_last;
    // Called when a receipt was signed.
    std::function<void()> signed_one;
  };
  ResultSender(Host& host, Connection& connection, const Options& options, Around around);

  void add(protocol::ResultFrame frame, manifest::Range part) {
    outbox_.add(std::move(frame), part);
  }
  // Removes a result that was answered or taken back. False if there is no such result.
  bool remove(const TaskKey& key) { return outbox_.remove(key); }
  // Marks a result to be sent again. False if there is no such result.
  bool send_again(const TaskKey& key) { return outbox_.send_again(key); }
  // Marks all results to be sent again, because the connection is new.
  void send_all_again() { outbox_.send_all_again(); }
  // Forgets all results: their tasks are computed again for another coordinator.
  void clear() { outbox_.clear(); }
  // Sends the results that are ready, and the receipt if it is due.
  void send();
  // Sends the receipt for the results sent so far, at once.
  void send_receipt();

  // True if no result can be added until one is sent, and there is no connection to send it.
  [[nodiscard]] bool blocked() const { return outbox_.full() && !connection_.ready(); }
  // True if a result that was sent waits for its receipt.
  [[nodiscard]] bool waits_for_receipt() const { return outbox_.unreceipted() > 0 || signing_ > 0; }
  [[nodiscard]] std::vector<TaskKey> keys() const { return outbox_.keys(); }
  [[nodiscard]] std::size_t size() const { return outbox_.size(); }

 private:
  Host& host_;
  Connection& connection_;
  const Options options_;
  Around around_;
  Outbox outbox_;
  bool receipt_due_ = false;
  std::size_t signing_ = 0;  // Receipts that are being signed.
  Alive alive_;
};

}  // namespace weft::worker
