// The acts of clients, the operator and strangers over HTTP: one act a call, drawn from the
// history's random numbers. Most acts are those of an honest client, some have one thing wrong,
// some are random bytes.
#pragma once

#include <string>

#include "decisions/inference/model_card.h"
#include "fuzz/sessions/world.h"

namespace weft::sessions {

class Clients {
 public:
  explicit Clients(World& world) : world_(world) {}

  void act();
  // The first acts of a history, by the operator and the honest client.
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
  // Makes a card of an uploaded file; one must exist.
  [[nodiscard]] inference::ModelCard make_card(std::string name);
  void answer();
  void operate();
  void garbage();
  // Sends a request, sometimes with one thing wrong. `answered` is called only if nothing was
  // wrong.
  void send(std::size_t client, HttpRequest request, World::Answered answered = {});
  [[nodiscard]] std::string some_key();
  [[nodiscard]] std::string some_job();

  World& world_;
};

}  // namespace weft::sessions
