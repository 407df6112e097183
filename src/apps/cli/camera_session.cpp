#include "apps/cli/camera_session.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/cli/interruption.h"
#include "apps/cli/progress.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/base/match.h"

namespace weft::cli {

using worker::camera::Helper;
using worker::camera::Record;
using worker::camera::RelayLine;

namespace {

constexpr Duration join_max = std::chrono::seconds(20);
constexpr auto look_every = std::chrono::milliseconds(50);
// The sentence with which the coordinator closes if the camera ends the session (meetings.cpp).
constexpr std::string_view camera_ended = "The camera has ended the connection.";

worker::camera::Box wire_box(const worker::SandboxedDetector::Box& box) {
  constexpr std::int64_t class_max = std::numeric_limits<std::uint16_t>::max();
  worker::camera::Box out{
      .class_id = static_cast<std::uint16_t>(std::clamp<std::int64_t>(box.class_id, 0, class_max)),
      .score = static_cast<float>(box.score),
      .label = box.label};
  for (std::size_t i = 0; i < out.sides.size(); ++i)
    out.sides[i] = static_cast<float>(box.sides[i]);
  return out;
}

}  // namespace

struct CameraSession::State {
  explicit State(const worker::CameraInvitation& invitation)
      : line(invitation,
             {.text = [this](std::string text) { socket->send_text(std::move(text)); },
              .binary = [this](ByteVector bytes) { socket->send_binary(std::move(bytes)); }}) {}

  // Called with the lock held.
  void end(Error why) {
    if (!ended) ended = std::move(why);
    changed.notify_all();
  }
  void take_binary(const ByteVector& bytes) {
    const std::lock_guard lock(mutex);
    if (ended) return;
    auto record = line.take_binary(bytes);
    if (!record) return end(std::move(record.error()));
    if (*record) {
      if (auto heard = helper.hear(std::move(**record)); !heard)
        return end(std::move(heard.error()));
    }
    changed.notify_all();
  }
  void take_text(const std::string& text) {
    const std::lock_guard lock(mutex);
    if (ended) return;
    if (auto taken = line.take_text(text); !taken) end(std::move(taken.error()));
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<net::Socket> socket;  // Set before the socket's callbacks run.
  RelayLine line;
  Helper helper;
  std::optional<Error> ended;
};

CameraSession::CameraSession(net::Client& client, worker::SandboxedDetector& detector,
                             const worker::CameraInvitation& invitation)
    : detector_(detector), state_(std::make_shared<State>(invitation)) {
  const std::lock_guard lock(state_->mutex);
  state_->socket = client.connect(
      "/v1/meet",
      {.open =
           [state = state_] {
             const std::lock_guard opened(state->mutex);
             state->line.open();
           },
       .text = [state = state_](const std::string& text) { state->take_text(text); },
       .binary = [state = state_](const ByteVector& bytes) { state->take_binary(bytes); },
       .closed =
           [state = state_](Error why) {
             const std::lock_guard closed(state->mutex);
             state->end(std::move(why));
           }});
}

CameraSession::~CameraSession() { state_->socket->close(); }

Result<> CameraSession::refuse(Error error) {
  const std::lock_guard lock(state_->mutex);
  if (const auto record = state_->helper.failed(error.message)) state_->line.send(*record);
  return std::unexpected(std::move(error));
}

Result<> CameraSession::open_model(Helper::OpenModel work) {
  say_beside_progress(weft::format("Opens the model {} ({:.1f} MB).", work.name,
                                   static_cast<double>(work.file.size()) * 1e-6));
  auto facts = detector_.open(work.file, worker::camera::held_bytes_max);
  if (!facts) return refuse(std::move(facts.error()));
  const std::lock_guard lock(state_->mutex);
  const auto record = state_->helper.opened(
      {.width = facts->width, .height = facts->height, .gpu = facts->gpu, .device = facts->device});
  if (record) state_->line.send(*record);
  if (record)
    say_beside_progress(weft::format("Computes frames of {} x {} pixels on {}.", facts->width,
                                     facts->height, facts->gpu ? facts->device : "the processor"));
  return {};
}

Result<> CameraSession::find_boxes(Helper::FindBoxes work) {
  const Instant begun = now();
  const worker::camera::Placement& at = work.frame.placement;
  auto boxes = detector_.find(
      work.levels, {.left = at.left, .top = at.top, .scale_x = at.scale_x, .scale_y = at.scale_y});
  if (!boxes) return refuse(std::move(boxes.error()));
  std::vector<worker::camera::Box> out;
  for (const auto& box : *boxes) out.push_back(wire_box(box));
  const std::lock_guard lock(state_->mutex);
  const auto record =
      state_->helper.found(static_cast<float>(seconds(now() - begun) * 1000), std::move(out));
  if (record) state_->line.send(*record);
  return {};
}

Result<std::string> CameraSession::run() {
  const Instant give_up = now() + join_max;
  bool told = false;
  Progress progress("Gets the model");
  std::unique_lock lock(state_->mutex);
  for (;;) {
    if (interrupted()) return "Interrupted.";
    if (state_->ended) {
      if (state_->ended->message.contains(camera_ended)) return std::string(camera_ended);
      return std::unexpected(*state_->ended);
    }
    if (!state_->line.is_joined() && now() >= give_up)
      return fail(ErrorCode::deadline_exceeded, "The camera did not answer.");
    if (state_->line.is_joined() && !std::exchange(told, true))
      say_beside_progress("Joined the camera through the coordinator.");
    if (const auto arriving = state_->helper.arriving())
      progress.show(arriving->bytes, arriving->bytes_all, "bytes");
    auto work = state_->helper.next();
    if (!work) {
      state_->changed.wait_for(lock, look_every);
      continue;
    }
    lock.unlock();
    progress.wipe();
    auto done =
        std::visit(Match{[&](Helper::OpenModel& model) { return open_model(std::move(model)); },
                         [&](Helper::FindBoxes& frame) { return find_boxes(std::move(frame)); }},
                   *work);
    if (interrupted()) return "Interrupted.";
    if (!done) return pass(std::move(done));
    lock.lock();
  }
}

bool CameraSession::was_joined() const {
  const std::lock_guard lock(state_->mutex);
  return state_->line.is_joined();
}
std::uint64_t CameraSession::frames() const {
  const std::lock_guard lock(state_->mutex);
  return state_->helper.frames();
}
std::uint64_t CameraSession::bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->line.bytes();
}
std::string CameraSession::model() const {
  const std::lock_guard lock(state_->mutex);
  return state_->helper.model();
}

}  // namespace weft::cli
