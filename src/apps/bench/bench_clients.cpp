#include "apps/bench/bench_clients.h"

#include <charconv>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

#include "common/base/clock.h"
#include "common/base/format.h"

namespace weft::cli {

namespace {

net::Request question(const ClientLoad& load, std::uint32_t number) {
  std::mt19937_64 random(load.seed * 1'000'003 + number);
  std::string prompt;
  for (std::uint32_t i = 0; i < load.prompt_words; ++i)
    prompt += weft::format("{}word{}", i == 0 ? "" : " ", random() % 997);
  net::Request request =
      net::post("/v1/completions",
                weft::format(R"({{"model":"bench","prompt":"{}","max_tokens":{},"temperature":0}})",
                             prompt, load.tokens));
  request.timeout = std::chrono::minutes(5);
  return request;
}

// Sends requests and counts their replies, which arrive on the client's thread; wait() blocks until
// all have arrived.
class Asking {
 public:
  Asking(net::Client& client, const ClientLoad& load) : client_(client), load_(load) {}

  void ask() {
    std::uint32_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      if (asked_ == load_.requests) return;
      number = asked_++;
    }
    const Instant begun = now();
    client_.send(question(load_, number), [this, begun](const Result<net::Response>& answer) {
      take(answer, seconds(now() - begun));
    });
  }
  Result<ClientTimes> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ == load_.requests; });
    if (!trouble_.empty()) return fail(ErrorCode::unavailable, "{}", trouble_);
    return std::move(times_);
  }

 private:
  void take(const Result<net::Response>& answer, double took) {
    const std::unique_lock lock(mutex_);
    if (!answer) {
      trouble_ = answer.error().message;
    } else if (answer->status == 429 || answer->status == 503) {
      ++times_.refused;
    } else if (!answer->ok()) {
      trouble_ = answer->body;
    } else {
      times_.answer_tokens += usage_number(answer->body, "completion_tokens");
      times_.prompt_tokens += usage_number(answer->body, "prompt_tokens");
      times_.answer_s.push_back(took);
    }
    // The next request is posted, so that it is sent after this function has released the lock.
    if (++ended_ == load_.requests) {
      changed_.notify_all();
    } else if (!load_.per_s) {
      client_.post([this] { ask(); });
    }
  }

  net::Client& client_;
  const ClientLoad& load_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t asked_ = 0, ended_ = 0;
  std::string trouble_;
  ClientTimes times_;
};

}  // namespace

std::uint64_t usage_number(const std::string& body, const std::string& key) {
  const std::string mark = "\"" + key + "\":";
  const std::size_t at = body.find(mark);
  std::uint64_t value = 0;
  if (at != std::string::npos)
    (void)std::from_chars(body.data() + at + mark.size(), body.data() + body.size(), value);
  return value;
}

Result<ClientTimes> measure_clients(net::Client& client, const ClientLoad& load) {
  Asking asking(client, load);
  const Instant begun = now();
  if (load.per_s) {
    std::mt19937_64 random(load.seed);
    std::exponential_distribution<double> gap(*load.per_s);
    double at = 0;
    for (std::uint32_t i = 0; i < load.requests; ++i) {
      at += gap(random);
      std::this_thread::sleep_until(
          begun + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(at)));
      asking.ask();
    }
  } else {
    for (std::uint32_t i = 0; i < std::min(load.clients, load.requests); ++i) asking.ask();
  }
  WEFT_ASSIGN(ClientTimes times, asking.wait());
  times.wall_s = seconds(now() - begun);
  return times;
}

}  // namespace weft::cli
