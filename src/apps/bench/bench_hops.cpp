// Measures the round trip of 10 KB over a direct link between two workers, as they use it
// (apps/worker/native/tcp_lines.h), and over a plain socket.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <iterator>
#include <span>
#include <thread>
#include <type_traits>
#include <unistd.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "apps/bench/bench_serving.h"
#include "apps/worker/native/tcp_lines.h"
#include "common/base/clock.h"
#include "platform/net/client.h"

namespace weft::cli {
namespace {

namespace wire = protocol::serving;

constexpr std::size_t hop_bytes = 10 * 1024;

// The direct link between two workers. Each end runs on its own client's thread, as in a native
// worker. The second end returns each frame at once, and the first end then starts the next round
// trip.
class LinePair {
 public:
  static Result<std::unique_ptr<LinePair>> open(const std::filesystem::path& scratch) {
    std::unique_ptr<LinePair> out(new LinePair);
    for (Side& side : out->sides_) {
      WEFT_ASSIGN(side.client, net::Client::create({.url = "http://127.0.0.1:1"}));
      auto made = out->on(side, [&] {
        return worker::TcpLines::create(
            {.scratch = scratch,
             .after = [client = side.client.get()](Duration delay, std::function<void()> work) {
               client->after(delay, std::move(work));
             }});
      });
      if (!made) return std::unexpected(made.error());
      side.lines = std::move(*made);
    }
    for (const std::uint32_t index : {1u, 0u}) {
      Side& side = out->sides_[index];
      out->on(side, [&] {
        side.lines->open(
            {.chain = 1,
             .epoch = 1,
             .index = index,
             .others = {{.member = 1 - index,
                         .line = out->sides_[1 - index].lines->line(),
                         .token = std::string(64, 'a')}},
             .ice = {}},
            {.signal = {},
             .frame = [pair = out.get(), index](
                          std::uint32_t, const ByteVector& frame) { pair->take(index, frame); },
             .open = [pair = out.get()](std::uint32_t,
                                        std::string_view) { pair->opened_.fetch_add(1); },
             .closed = [](std::uint32_t) {}});
        return 0;
      });
    }
    for (int i = 0; i < 500 && out->opened_ < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (out->opened_ < 2)
      return fail(ErrorCode::unavailable,
                  "The direct line between two workers does not open within 5 s.");
    return out;
  }
  ~LinePair() {
    for (Side& side : sides_) {
      if (side.client) {
        on(side, [&] {
          side.lines.reset();
          return 0;
        });
      }
    }
  }

  std::vector<double> measure(std::uint32_t hops) {
    std::promise<void> done;
    on(sides_[0], [&] {
      times_.clear();
      left_ = hops;
      done_ = [&done] { done.set_value(); };
      send();
      return 0;
    });
    done.get_future().get();
    return std::move(times_);
  }

 private:
  struct Side {
    std::unique_ptr<net::Client> client;
    std::unique_ptr<worker::TcpLines> lines;
  };
  template <class Function>
  std::invoke_result_t<Function> on(Side& side, Function function) {
    std::promise<std::invoke_result_t<Function>> promise;
    side.client->post([&] { promise.set_value(function()); });
    return promise.get_future().get();
  }
  void send() {
    sent_ = now();
    (void)sides_[0].lines->send(
        1, 1,
        wire::encode(
            wire::HopFrame{.chain = 1, .epoch = 1, .from = 0, .to = 1, .payload = payload_}));
  }
  void take(std::uint32_t index, const ByteVector& bytes) {
    const auto frame = wire::decode_hop(bytes);
    if (index == 1) {
      (void)sides_[1].lines->send(
          1, 0,
          wire::encode(wire::HopFrame{
              .chain = 1, .epoch = 1, .from = 1, .to = 0, .payload = frame->payload}));
      return;
    }
    times_.push_back(seconds(now() - sent_) * 1e6);
    if (--left_ > 0) return send();
    done_();
  }

  std::array<Side, 2> sides_;
  std::atomic<int> opened_ = 0;
  const ByteVector payload_ = ByteVector(hop_bytes, 7);
  std::vector<double> times_;
  std::uint32_t left_ = 0;
  Instant sent_{};
  std::function<void()> done_;
};

bool all(int descriptor, std::span<std::uint8_t> bytes, bool out) {
  while (!bytes.empty()) {
    const ssize_t n = out ? ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                          : recv(descriptor, bytes.data(), bytes.size(), 0);
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

// A plain socket pair with blocking reads and writes on two threads.
class RawPair {
 public:
  static Result<std::unique_ptr<RawPair>> open() {
    std::unique_ptr<RawPair> out(new RawPair);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{
        .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    const bool listens = bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                         listen(listener, 1) == 0 &&
                         getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    out->near_ = socket(AF_INET, SOCK_STREAM, 0);
    if (listens && connect(out->near_, reinterpret_cast<sockaddr*>(&address), size) == 0)
      out->far_ = accept(listener, nullptr, nullptr);
    ::close(listener);
    if (out->far_ < 0)
      return fail(ErrorCode::unavailable, "A TCP connection over loopback cannot be opened.");
    const int on = 1;
    for (const int one : {out->near_, out->far_})
      setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    out->echo_ = std::jthread([far = out->far_] {
      ByteVector bytes(hop_bytes);
      while (all(far, bytes, false) && all(far, bytes, true)) {
      }
    });
    return out;
  }
  ~RawPair() {
    for (const int one : {near_, far_}) {
      if (one >= 0) shutdown(one, SHUT_RDWR);
    }
    if (echo_.joinable()) echo_.join();
    for (const int one : {near_, far_}) {
      if (one >= 0) ::close(one);
    }
  }
  std::vector<double> measure(std::uint32_t hops) const {
    std::vector<double> times;
    ByteVector bytes(hop_bytes, 7);
    for (std::uint32_t i = 0; i < hops; ++i) {
      const Instant sent = now();
      if (!all(near_, bytes, true) || !all(near_, bytes, false)) break;
      times.push_back(seconds(now() - sent) * 1e6);
    }
    return times;
  }

 private:
  int near_ = -1, far_ = -1;
  std::jthread echo_;
};

}  // namespace

Result<HopTimes> measure_hops(const std::filesystem::path& scratch, std::uint32_t hops) {
  WEFT_ASSIGN(const auto line, LinePair::open(scratch));
  WEFT_ASSIGN(const auto raw, RawPair::open());
  (void)line->measure(100);
  (void)raw->measure(100);
  HopTimes out;
  // The two measurements alternate in short turns, so that other load on the machine affects both.
  constexpr std::uint32_t turn = 100;
  for (std::uint32_t done = 0; done < hops; done += turn) {
    std::ranges::copy(line->measure(turn), std::back_inserter(out.line_us));
    std::ranges::copy(raw->measure(turn), std::back_inserter(out.raw_us));
  }
  return out;
}

}  // namespace weft::cli
