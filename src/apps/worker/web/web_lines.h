// Direct links to other tabs, for chains whose members are both in browsers. The page opens the
// links and passes their channels to this Worker.
//
// Threading: the Worker's one thread. Lifetime: one object at a time.
#pragma once

#include <map>

#include "worker/inference/serving.h"

namespace weft::worker::web {

class WebLines final : public PeerLines {
 public:
  WebLines();
  ~WebLines() override;
  WebLines(const WebLines&) = delete;

  void open(Chain chain, Events events) override;
  void signal(std::uint32_t chain, std::uint32_t epoch, std::uint32_t from,
              std::string text) override;
  [[nodiscard]] bool send(std::uint32_t chain, std::uint32_t member, ByteSpan frame) override;
  void close(std::uint32_t chain) override;

  // The kinds of events that serving_web.js reports.
  enum class News : int { signal = 0, frame = 1, open = 2, closed = 3 };
  static void news(News kind, std::uint32_t chain, std::uint32_t epoch, std::uint32_t member,
                   ByteSpan data);

 private:
  struct Lines {
    std::uint32_t epoch = 0;
    Events events;
  };
  std::map<std::uint32_t, Lines> lines_;  // Lines by chain.
};

}  // namespace weft::worker::web
