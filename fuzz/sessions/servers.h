// A worker's connection for language models, /v1/serve. It offers models, loads, links, draws
// tokens with their fingerprints, complains and leaves, in right and wrong ways.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/protocol/serving.h"
#include "fuzz/sessions/workers.h"
#include "fuzz/sessions/world.h"

namespace weft::sessions {

class Server {
 public:
  // An obliging server does what it is asked at once.
  Server(World& world, Worker& worker, bool obliging)
      : world_(world), worker_(worker), obliging_(obliging) {}

  void act();
  void pump();
  void leave();
  [[nodiscard]] int file() const { return line_ ? line_->line.file() : -1; }

 private:
  struct Request {
    protocol::serving::Ask ask;
    std::uint32_t drawn = 0;
  };

  void hear(const std::string& text);
  void say(const protocol::serving::ServingWorkerMessage& message);
  void draw(Request& request);
  void say_anything();

  World& world_;
  Worker& worker_;
  const bool obliging_;
  std::unique_ptr<WebSocket> line_;
  bool offered_ = false;
  std::vector<std::uint32_t> shards_;
  std::map<std::uint32_t, Request> requests_;
  protocol::serving::Link link_;
};

}  // namespace weft::sessions
