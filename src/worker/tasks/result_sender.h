// Sends results and, for batches of them, receipts; results stay until their verdicts (outbox.h).
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
    Duration receipt_delay{};  // After the first result that is not in a receipt.
  };
  struct Around {
    // Whether no further result is to come: then a receipt does not wait for one.
    std::function<bool()> is_last;
    // A receipt was signed.
    std::function<void()> signed_one;
  };
  ResultSender(Host& host, Connection& connection, const Options& options, Around around);

  void add(protocol::ResultFrame frame, manifest::Range part) {
    outbox_.add(std::move(frame), part);
  }
  // Answered or taken back. False if there is no such result.
  bool remove(const TaskKey& key) { return outbox_.remove(key); }
  // False if there is no such result.
  bool send_again(const TaskKey& key) { return outbox_.send_again(key); }
  // A new connection: all results are to be sent again.
  void send_all_again() { outbox_.send_all_again(); }
  // Results for another coordinator are done again.
  void clear() { outbox_.clear(); }
  // What is ready, and the receipt if it is due.
  void send();
  // The receipt for what was sent, and no later.
  void send_receipt();

  // Nothing can be added before something is sent, which takes a connection.
  [[nodiscard]] bool blocked() const { return outbox_.full() && !connection_.ready(); }
  // A result that was sent waits for its receipt.
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
  std::size_t signing_ = 0;  // Receipts.
  Alive alive_;
};

}  // namespace weft::worker
