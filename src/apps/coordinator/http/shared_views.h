// Views that cost the core a copy of everything it has (`/v1/workers`, `/v1/ledger`, `/metrics`):
// one snapshot in `every` is made, and all who ask meanwhile get the next one. A client sees
// nothing older than its question.
//
// Threading: any; a thread of its own keeps the time. Lifetime: stop() before what the snapshots
// are made of goes. Bounds: waiting_max questions a view; further ones are answered 503.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "platform/net/http.h"

namespace weft::coordinator {

class SharedViews {
 public:
  struct Options {
    Duration every = std::chrono::milliseconds(250);  // 0: a snapshot for each question.
    std::size_t waiting_max = 1024;
  };
  // Makes one answer and passes it on, later and from any thread.
  using Make = std::function<void(net::Respond)>;

  SharedViews() : SharedViews(Options()) {}
  explicit SharedViews(Options options) : options_(options) {}
  SharedViews(const SharedViews&) = delete;
  ~SharedViews() { stop(); }

  // Before start().
  void add(std::string name, Make make) { views_[std::move(name)].make = std::move(make); }
  void start();
  void stop();
  // Answers with the next snapshot of the view.
  void get(const std::string& name, net::Respond respond);

 private:
  struct View {
    Make make;
    std::vector<net::Respond> waiting;  // For a snapshot that has not begun.
    bool is_made = false;               // One is being made, for others.
    Instant begun{};
  };
  void run();
  void begin(View& view, Instant at, std::unique_lock<std::mutex>& lock);

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, View> views_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace weft::coordinator
