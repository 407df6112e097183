#include "worker/camera/relay_line.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/base/base64_url.h"
#include "common/base/byte_reader.h"
#include "common/base/format.h"
#include "common/crypto/keys.h"

namespace weft::worker::camera {
namespace {

// The first byte of a binary message, and the least cost of a record, as in meetings.h and
// camera_relay.h of the coordinator.
constexpr std::uint8_t record_message = 0;
constexpr std::uint8_t count_message = 1;
constexpr std::size_t record_cost_least = std::size_t{1} << 10;
constexpr std::size_t seal_bytes = 16;

std::unexpected<Error> not_of_this_line() {
  return fail(ErrorCode::data_loss, "What arrives does not belong on this line.");
}

}  // namespace

RelayLine::Chance RelayLine::chance() {
  Chance out{.key = crypto::ExchangeKey::generate(), .nonce = {}, .attempt = {}};
  crypto::random_bytes(out.nonce.bytes);
  crypto::random_bytes(out.attempt.bytes);
  return out;
}

RelayLine::RelayLine(CameraInvitation invitation, Sends sends, Chance chance)
    : invitation_(invitation),
      meeting_(meeting_of(invitation)),
      sends_(std::move(sends)),
      chance_(std::move(chance)),
      offer_{.attempt = to_base64_url(chance_.attempt.span()),
             .public_key = to_base64_url(chance_.key.point().span()),
             .sdp = {}} {}

void RelayLine::open() {
  sends_.text(weft::format(R"({{"meet":"{}","as":"guest"}})", meeting_.id));
}

Result<> RelayLine::take_text(const std::string& text) {
  // The first text has the coordinator's ICE servers, which a helper without direct connections
  // does not use.
  if (stage_ == Stage::greeting) {
    stage_ = Stage::offered;
    sends_.text(seal_signal(meeting_.key, SignalKind::offer, offer_, chance_.nonce));
    return {};
  }
  if (stage_ != Stage::offered) return not_of_this_line();
  const auto not_the_camera = [] {
    return fail(ErrorCode::permission_denied, "What answered is not the camera of this link.");
  };
  const auto answer = open_signal(meeting_.key, SignalKind::answer, text);
  if (!answer || answer->attempt != offer_.attempt) return not_the_camera();
  const auto point = point_of(answer->public_key);
  if (!point || !is_of_camera(*point, invitation_)) return not_the_camera();
  WEFT_ASSIGN(const LineKeys keys, relay_keys(chance_.key, invitation_, offer_, *answer));
  seals_.emplace(keys.from_helper);
  opens_.emplace(keys.from_camera);
  stage_ = Stage::keyed;
  send(Hello());
  return {};
}

Result<std::optional<Record>> RelayLine::take_binary(ByteSpan message) {
  if (stage_ != Stage::keyed || message.empty()) return not_of_this_line();
  const ByteSpan content = message.subspan(1);
  if (message.front() == count_message && content.size() == sizeof(std::uint32_t)) {
    credit_ += read_le<std::uint32_t>(content);
    send_waiting();
    return std::nullopt;
  }
  if (message.front() != record_message || content.size() > record_bytes_max)
    return not_of_this_line();
  bytes_ += content.size();
  const auto bytes = opens_->open(content);
  if (!bytes) return not_of_this_line();
  auto record = decode(*bytes);
  if (!record) return not_of_this_line();
  ByteVector taken{count_message};
  append_le(taken, std::uint32_t{1});
  sends_.binary(std::move(taken));
  if (joined_) return record;
  if (!std::holds_alternative<Hello>(*record)) return not_of_this_line();
  joined_ = true;
  return std::nullopt;
}

void RelayLine::send(const Record& record) {
  waiting_.push_back(encode(record));
  send_waiting();
}

void RelayLine::send_waiting() {
  while (!waiting_.empty()) {
    const std::size_t size = waiting_.front().size() + seal_bytes;
    const std::size_t cost = std::max(size, record_cost_least);
    if (cost > credit_) return;
    credit_ -= cost;
    bytes_ += size;
    ByteVector message{record_message};
    append(message, seals_->seal(waiting_.front()));
    waiting_.pop_front();
    sends_.binary(std::move(message));
  }
}

}  // namespace weft::worker::camera
