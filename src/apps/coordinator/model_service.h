// The desk (serving/desk.h) at work: a thread that owns it, the workers' sockets on /v1/serve, and the answers on their way to
// clients over HTTP.
//
// Threading: every function from any thread. Lifetime: outlives the server's handlers; stop() ends every answer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "apps/coordinator/book.h"
#include "apps/coordinator/serving/answer_text.h"
#include "apps/coordinator/serving/desk.h"
#include "apps/coordinator/serving/model_registry.h"
#include "apps/coordinator/serving/openai.h"
#include "service/net/server.h"

namespace weft::coordinator {

class ModelService final : private DeskWorld {
 public:
  // Reads the models that were added before.
  [[nodiscard]] static Result<std::unique_ptr<ModelService>> open(const std::filesystem::path& data, Book& book, DeskSettings settings = {});
  ~ModelService() override;

  void start();
  void stop();

  // On /v1/serve.
  [[nodiscard]] net::SocketRoute socket();

  void answer(OpenAiRequest request, const net::IncomingRequest& from, const net::Respond& respond);
  void add(ModelCard card, const net::Respond& respond);
  void remove(std::string name, std::string owner, const net::Respond& respond);
  void list(const net::Respond& respond);
  void show(std::string name, const net::Respond& respond);
  void status(const net::Respond& respond);
  // Prometheus text.
  void metrics(std::function<void(std::string)> done);

 private:
  class Answer;
  using Event = std::function<void(Desk&, Instant)>;
  static constexpr std::size_t events_max = 65536;

  ModelService(ModelRegistry registry, Book& book, DeskSettings settings);
  [[nodiscard]] bool post(Event event);
  void run();
  void drop_gone(Instant now);
  [[nodiscard]] std::string model_json(const ModelCard& card) const;

  void send(ServingId session, const protocol::serving::ServingCoordinatorMessage& message) override;
  void send_hop(ServingId session, ByteVector frame) override;
  void close(ServingId session, const std::string& reason) override;
  void tokens(RequestId request, const std::vector<protocol::serving::Token>& tokens) override;
  void ended(RequestId request, const AnswerEnd& end) override;

  ModelRegistry registry_;
  Book& book_;
  Desk desk_;
  struct Place {
    std::shared_ptr<Answer> answer;
    std::size_t choice = 0;
  };
  std::map<ServingId, std::shared_ptr<net::Peer>> peers_;
  std::map<ServingId, bool> joined_;
  std::map<RequestId, Place> answers_;
  RequestId request_ids_ = 0;

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Event> queue_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace weft::coordinator
