// What clients, the operator and strangers do over HTTP: one act a call, drawn from the history's
// numbers. Most acts are as an honest client has them, some have one thing wrong, some are bytes.
#pragma once

#include <string>

#include "decisions/inference/model_card.h"
#include "fuzz/sessions/world.h"

namespace weft::sessions {

class Clients {
 public:
  explicit Clients(World& world) : world_(world) {}

  void act();
  // The operator's and the honest client's: what a history begins with.
  void begin();

 private:
  void submit();
  void submit_again();
  void cancel();
  void read();
  void upload();
  void upload_parts();
  void key();
  void owner();
  void stake();
  void model();
  // A card of a file that was uploaded: there is one.
  [[nodiscard]] inference::ModelCard make_card(std::string name);
  void answer();
  void operate();
  void garbage();
  // Sends it, sometimes with one thing wrong; `answered` hears of it only if nothing was.
  void send(std::size_t client, HttpRequest request, World::Answered answered = {});
  [[nodiscard]] std::string some_key();
  [[nodiscard]] std::string some_job();

  World& world_;
};

}  // namespace weft::sessions
