#include "worker/tasks/result_sender.h"

#include <utility>

#include "common/base/check.h"

namespace weft::worker {

ResultSender::ResultSender(Host& host, Connection& connection, const Options& options,
                           Around around)
    : host_(host),
      connection_(connection),
      options_(options),
      around_(std::move(around)),
      outbox_(options.outbox) {}

void ResultSender::send() {
  if (!connection_.ready()) return;
  while (const protocol::ResultFrame* frame = outbox_.send_next()) {
    check(connection_.send(*frame), "a result fits into a frame");
    if (outbox_.unreceipted() >= options_.receipt_items_max) send_receipt();
  }
  if (outbox_.unreceipted() == 0) return;
  if (around_.is_last()) return send_receipt();
  if (std::exchange(receipt_due_, true)) return;
  host_.after(options_.receipt_delay, alive_.guard([this] {
    receipt_due_ = false;
    send_receipt();
  }));
}

void ResultSender::send_receipt() {
  if (outbox_.unreceipted() == 0 || !connection_.ready()) return;
  ++signing_;
  connection_.send_receipt(outbox_.take_unreceipted(), alive_.guard([this] {
    --signing_;
    around_.signed_one();
  }));
}

}  // namespace weft::worker
