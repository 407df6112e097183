// A helper's line to a camera over the coordinator's relay (WebSocket `/v1/meet`, apps/coordinator/
// http/meetings.h): joins the meeting of a link, proves both ends by their sealed signals, and then
// exchanges sealed records, as many as there is credit for.
//
// Threading: one thread. Errors end the line; each message is one sentence.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "worker/camera/invitation.h"
#include "worker/camera/sealing.h"
#include "worker/camera/wire.h"

namespace weft::worker::camera {

class RelayLine {
 public:
  struct Sends {
    std::function<void(std::string)> text;
    std::function<void(ByteVector)> binary;
  };
  // `nonce` and `attempt` are random.
  struct Chance {
    crypto::ExchangeKey key;
    crypto::AesNonce nonce;
    FixedBytes<16> attempt;
  };
  [[nodiscard]] static Chance chance();

  RelayLine(CameraInvitation invitation, Sends sends, Chance chance = RelayLine::chance());
  RelayLine(const RelayLine&) = delete;

  // Called when the socket has opened.
  void open();
  // Takes a text message of the coordinator. Fails with permission_denied if the camera of the link
  // did not answer, and with data_loss if the message is not one of the protocol.
  [[nodiscard]] Result<> take_text(const std::string& text);
  // Takes a binary message. Returns the camera's record, or nullopt for credit and for the
  // greeting. Fails with data_loss if the message is not one of the protocol or cannot be opened.
  [[nodiscard]] Result<std::optional<Record>> take_binary(ByteSpan message);

  // True if the camera has proved that it has the keys of this line.
  [[nodiscard]] bool is_joined() const { return joined_; }
  // Sends a record now or when there is credit for it. Called only after joining.
  void send(const Record& record);
  // Records that wait for credit.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  // The bytes of records that were sent and received, as they travel.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  enum class Stage : std::uint8_t { greeting, offered, keyed };
  void send_waiting();

  const CameraInvitation invitation_;
  const CameraMeeting meeting_;
  const Sends sends_;
  const Chance chance_;
  CameraSignal offer_;
  Stage stage_ = Stage::greeting;
  std::optional<RecordSealer> seals_;
  std::optional<RecordSealer> opens_;
  bool joined_ = false;
  std::size_t credit_ = 0;
  std::deque<ByteVector> waiting_;  // Records before sealing, in order.
  std::uint64_t bytes_ = 0;
};

}  // namespace weft::worker::camera
