#include "worker/tasks/deliveries.h"

#include <utility>

#include "common/crypto/sha256.h"

namespace weft::worker {
namespace {

constexpr int upload_attempts_max = 6;
constexpr Duration upload_retry = std::chrono::milliseconds(500);
// The largest payload of a frame: the header of a result with 64 outputs takes under 16 KiB.
constexpr std::size_t payload_bytes_max = protocol::frame_bytes_max - (std::size_t{64} << 10);

}  // namespace

Deliveries::Deliveries(Host& host, const Connection& connection, const WorkSession& session,
                       SigningMemory* signing, Done done)
    : host_(host),
      connection_(connection),
      session_(session),
      signing_(signing),
      done_(std::move(done)) {}

void Deliveries::start(const TaskKey& key, Delivered result, std::vector<ByteVector> outputs) {
  Delivery& delivery = deliveries_[key];
  delivery.result = std::move(result);
  delivery.serial = ++serial_;
  protocol::ResultFrame& frame = delivery.result.frame;
  std::vector<Upload> uploads;
  for (ByteVector& bytes : outputs) {
    const bool in_frame = bytes.size() <= protocol::inline_output_bytes_max &&
                          frame.payload.size() + bytes.size() <= payload_bytes_max;
    const Hash hash = crypto::sha256(bytes);
    frame.result.outputs.push_back({.hash = hash, .bytes = bytes.size(), .in_frame = in_frame});
    if (in_frame) {
      append(frame.payload, bytes);
    } else {
      uploads.push_back({.key = key,
                         .delivery = delivery.serial,
                         .hash = hash,
                         .bytes = std::make_shared<const ByteVector>(std::move(bytes)),
                         .attempt = 1});
    }
  }
  delivery.uploads =
      // One more than the uploads, so that the delivery is not over before all uploads have begun.
      uploads.size() + 1;
  for (Upload& one : uploads) upload(std::move(one));
  uploaded(key, {});
}

std::vector<TaskKey> Deliveries::keys() const {
  std::vector<TaskKey> keys;
  for (const auto& [key, delivery] : deliveries_) keys.push_back(key);
  return keys;
}

std::vector<TaskKey> Deliveries::take_back_all() {
  std::vector<TaskKey> all = keys();
  deliveries_.clear();
  return all;
}

bool Deliveries::is_wanted(const Upload& upload) const {
  const auto delivery = deliveries_.find(upload.key);
  return delivery != deliveries_.end() && delivery->second.serial == upload.delivery;
}

void Deliveries::upload(Upload one) {
  host_.put_blob(
      one.hash, *one.bytes, session_.token, alive_.guard([this, one](Result<> result) mutable {
        if (!is_wanted(one)) return;  // The result was taken back during the upload.
        const bool passing = !result && (result.error().code == ErrorCode::unavailable ||
                                         result.error().code == ErrorCode::deadline_exceeded ||
                                         // The token may be of the last session.
                                         result.error().code == ErrorCode::unauthenticated);
        if (!passing || one.attempt >= upload_attempts_max)
          return uploaded(one.key, std::move(result));
        host_.after(upload_retry * one.attempt, alive_.guard([this, one]() mutable {
          if (!is_wanted(one)) return;
          // Attempts count only with a connection: without one the upload is tried for as long as
          // it takes.
          if (connection_.ready()) ++one.attempt;
          upload(std::move(one));
        }));
      }));
}

void Deliveries::uploaded(const TaskKey& key, Result<> result) {
  Delivery& delivery = deliveries_.at(key);
  if (!result && !delivery.result.error) delivery.result.error = result.error();
  if (--delivery.uploads > 0) return;
  admit(key);
}

void Deliveries::admit(const TaskKey& key) {
  const Delivery& delivery = deliveries_.at(key);
  if (delivery.result.error || delivery.result.part.count > 0 || signing_ == nullptr)
    return deliver(key);
  signing_->admit(session_.coordinator, key, delivery.result.frame.result.root,
                  alive_.guard([this, key, serial = delivery.serial,
                                coordinator = session_.coordinator](const Result<>& admitted) {
                    const auto found = deliveries_.find(key);
                    if (found == deliveries_.end() || found->second.serial != serial)
                      return;  // The result was taken back meanwhile.
                    if (coordinator != session_.coordinator) return admit(key);
                    if (!admitted) found->second.result.error = admitted.error();
                    deliver(key);
                  }));
}

void Deliveries::deliver(const TaskKey& key) {
  const TaskKey delivered = key;
  Delivered result = std::move(deliveries_.at(delivered).result);
  deliveries_.erase(delivered);
  done_(delivered, std::move(result));
}

}  // namespace weft::worker
