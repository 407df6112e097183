#include "platform/net/drogon_guard.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"

namespace weft::net {
namespace {

constexpr double refused_s_max = 2;  // Time for a refused peer to read the answer and close.
constexpr std::size_t bytes_after_refusal_max = std::size_t{64} << 10;
// Room for a frame's head (14 bytes) besides the greeting, and some reserve.
constexpr std::size_t frame_head_bytes = 64;

thread_local std::shared_ptr<Watched> watched_now;

struct Reach : trantor::TcpConnection {
  static auto receive_callback() { return &Reach::recvMsgCallback_; }
};

void answer_and_end(const trantor::TcpConnectionPtr& connection, const std::string& answer) {
  connection->send(answer);
  connection->shutdown();
  connection->getLoop()->runAfter(refused_s_max, [weak = std::weak_ptr(connection)] {
    if (const auto still = weak.lock(); still && still->connected()) still->forceClose();
  });
}

void end(const trantor::TcpConnectionPtr& connection) {
  connection->getLoop()->queueInLoop([connection] { connection->forceClose(); });
}

}  // namespace

std::shared_ptr<Watched> Watched::current() { return watched_now; }

void Watched::became_socket(bool greets, const Limits& limits, Instant at) {
  is_socket_ = true;
  since_message_ = 0;  // The upgrade's head is not a message.
  if (!greets) return set_deadline(std::nullopt);
  greeting_bytes_max_ = limits.greeting_bytes_max;
  set_deadline(limits.greeting_max == Duration::zero() ? std::nullopt
                                                       : std::optional(at + limits.greeting_max));
}

void Watched::admit() {
  greeting_bytes_max_ = 0;
  set_deadline(std::nullopt);
}

// Sets the deadline of the connection. A new connection and a head that has begun have `head_max`;
// a body has a time that grows with its length. Drogon ends connections that are idle between
// requests.
void ConnectionGuard::set_deadline(Watched& state, std::uint64_t heads_before, bool was_in_head,
                                   Instant at) const {
  const Limits& limits = options_.limits;
  const RequestLengths& lengths = *state.lengths_;
  const bool new_head = lengths.heads() != heads_before || !was_in_head;
  if (lengths.is_in_head()) {
    if (!new_head) return;
    state.set_deadline(limits.head_max == Duration::zero() ? std::nullopt
                                                           : std::optional(at + limits.head_max));
  } else if (lengths.is_in_body()) {
    if (lengths.heads() == heads_before) return;
    const double at_least =
        static_cast<double>(state.body_bytes_) /
        static_cast<double>(std::max<std::uint64_t>(limits.body_bytes_per_second, 1));
    state.set_deadline(
        limits.body_max == Duration::zero()
            ? std::nullopt
            : std::optional(at + limits.body_max +
                            std::chrono::milliseconds(static_cast<std::int64_t>(at_least * 1000))));
  } else {
    state.set_deadline(std::nullopt);
  }
}

void ConnectionGuard::refuse(Watched& state, const trantor::TcpConnectionPtr& connection,
                             const HeadRefusal& problem, Instant at) const {
  state.refused_ = true;
  state.hold_.reset();
  state.lengths_.reset();
  const Duration wait = gate_.refused(connection->peerAddr().toIp(), at);
  if (wait == Duration::zero()) {
    state.set_deadline(std::nullopt);
    return answer_and_end(connection, options_.refusal(problem));
  }
  state.refusal_.with([&](auto& answer) { answer = options_.refusal(problem); });
  state.set_deadline(at + wait);
}

void ConnectionGuard::take(Watched& state, const trantor::TcpConnectionPtr& from,
                           trantor::MsgBuffer* buffer) {
  const std::size_t fresh =
      buffer->readableBytes() - std::min(state.left_, buffer->readableBytes());
  if (state.refused_ || !state.lengths_) return;
  const Instant at = now();
  const std::uint64_t heads = state.lengths_->heads();
  const bool was_in_head = state.lengths_->is_in_head();
  const auto problem =
      state.lengths_->take({buffer->peek() + buffer->readableBytes() - fresh, fresh});
  if (!state.lengths_->is_in_body()) state.hold_.reset();
  if (problem) {
    return refuse(state, from, *problem, at);
  }
  // The time of the first head began with the connection.
  set_deadline(state, heads, was_in_head || heads == 0, at);
}

void ConnectionGuard::guard(const trantor::TcpConnectionPtr& connection) {
  const Limits& limits = options_.limits;
  connection->setHighWaterMarkCallback(
      [](const trantor::TcpConnectionPtr& slow, std::size_t queued) {
        log_warning("{} does not read: {} bytes are queued for it, so its connection ends.",
                    slow->peerAddr().toIpPort(), queued);
        end(slow);
      },
      options_.send_bytes_max);
  const auto watched = std::make_shared<Watched>(connection);
  watched->lengths_ = std::make_unique<RequestLengths>(RequestLengths::Options{
      .head_bytes_max = limits.head_bytes_max,
      .after_upgrade = limits.lengths_after_upgrade,
      .judge = [this, state = watched.get(), peer = connection->peerAddr().toIp()](
                   const RequestHead& head) -> std::optional<HeadRefusal> {
        state->hold_.reset();  // The previous body is complete.
        auto passed = gate_.judge(head, peer, now());
        if (!passed) return passed.error();
        state->hold_ = std::move(passed->hold);
        state->body_bytes_ = head.length.value_or(0);
        return std::nullopt;
      }});
  if (limits.head_max > Duration::zero()) watched->set_deadline(now() + limits.head_max);
  watched_.with([&](auto& all) { all.push_back(watched); });

  auto handle = (*connection).*Reach::receive_callback();
  connection->setRecvMsgCallback(
      [this, handle, watched](const trantor::TcpConnectionPtr& from, trantor::MsgBuffer* buffer) {
        Watched& state = *watched;
        const std::size_t before = state.left_;
        take(state, from, buffer);
        if (state.refused_) {
          state.left_ = 0;
          // The bytes for which the request was refused do not count.
          if (std::exchange(state.drops_, true)) state.since_refused_ += buffer->readableBytes();
          // The answer to a refused request may be delayed, so the memory of a long head is
          // released now.
          trantor::MsgBuffer empty(0);
          buffer->swap(empty);
          if (state.since_refused_ > bytes_after_refusal_max) end(from);
          return;
        }
        state.since_message_ += buffer->readableBytes() - std::min(before, buffer->readableBytes());
        watched_now = watched;
        handle(from, buffer);
        watched_now = nullptr;
        state.left_ = buffer->readableBytes();
        if (state.is_socket_) {
          state.lengths_.reset();
          state.hold_.reset();
        } else if (state.lengths_) {
          state.lengths_->resume();  // The answer was not 101.
        }
        const std::size_t greeting = state.greeting_bytes_max_;
        const std::size_t most =
            greeting > 0 ? greeting + frame_head_bytes : options_.receive_bytes_max;
        if (state.left_ > most || (state.is_socket_ && state.since_message_ > most)) {
          log_warning("{} sends a message that is too long, so its connection ends.",
                      from->peerAddr().toIpPort());
          end(from);
        }
      });
}

bool ConnectionGuard::is_silent(Watched& state, const trantor::TcpConnection& connection,
                                Instant at) const {
  const Duration most = options_.limits.silent_max;
  if (most == Duration::zero()) return false;
  const std::size_t bytes = connection.bytesReceived() + connection.bytesSent();
  if (std::exchange(state.moved_bytes_, bytes) != bytes) state.moved_ = at;
  return at - state.moved_ > most;
}

void ConnectionGuard::end_late(Instant at) {
  std::vector<trantor::TcpConnectionPtr> late;
  std::vector<std::pair<trantor::TcpConnectionPtr, std::string>> refused;
  watched_.with([&](auto& all) {
    std::erase_if(all, [&](const std::weak_ptr<Watched>& weak) {
      const auto watched = weak.lock();
      if (!watched) return true;
      auto connection = watched->connection_.lock();
      if (!connection) return true;
      if (at <= watched->deadline_.load() && !is_silent(*watched, *connection, at)) return false;
      if (auto answer = watched->refusal_.with([](auto& kept) { return std::move(kept); })) {
        refused.emplace_back(std::move(connection), std::move(*answer));
      } else {
        late.push_back(std::move(connection));
      }
      return true;
    });
  });
  for (auto& [connection, answer] : refused) {
    connection->getLoop()->queueInLoop(
        [connection, answer = std::move(answer)] { answer_and_end(connection, answer); });
  }
  for (const auto& connection : late) {
    log_debug("{} takes too long to send a request, so its connection ends.",
              connection->peerAddr().toIpPort());
    end(connection);
  }
}

}  // namespace weft::net
