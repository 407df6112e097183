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

#include "apps/coordinator/answers.h"
#include "apps/coordinator/book.h"
#include "apps/coordinator/serving/answer_text.h"
#include "apps/coordinator/serving/desk.h"
#include "apps/coordinator/serving/model_registry.h"
#include "apps/coordinator/serving/openai.h"
#include "common/base/guarded.h"
#include "service/net/server.h"

namespace weft::coordinator {

// What a request needs to know of a model before it is asked.
struct ModelTerms {
  MicroCredits price = 0;  // Of 1,000 tokens.
  std::uint32_t context = 0;
};
// A request that was admitted with an API key: an id for each of its answers, and what its reply says of the key's rates.
struct ChargedAnswers {
  std::vector<AnswerId> answers;
  std::map<std::string, std::string> headers;
};

class ModelService final : private DeskWorld {
 public:
  // Reads the models that were added before.
  [[nodiscard]] static Result<std::unique_ptr<ModelService>> open(const std::filesystem::path& data, Book& book, DeskSettings settings = {});
  ~ModelService() override;

  // Who hears of every answer that has ended, and of audits. Set before start(); called on the service's thread.
  struct Listener {
    std::function<void(AnswerReport)> ended;
    std::function<void(AnswerAudited)> audited;
  };
  void listen(Listener listener) { listener_ = std::move(listener); }

  void start();
  void stop();

  // On /v1/serve.
  [[nodiscard]] net::SocketRoute socket();

  void answer(OpenAiRequest request, const net::IncomingRequest& from, const net::Respond& respond, ChargedAnswers charged = {});
  // Nothing where there is no such model.
  [[nodiscard]] std::optional<ModelTerms> terms(const std::string& model) const;
  // Comes back as Listener::audited, also where the answer is not known any more.
  void audit(const AnswerAuditOrder& order);
  // Forgets what an audit would need.
  void settled(const AnswerId& answer);
  // Closes the worker's line; Book says until when it may not come back.
  void bar(const PublicKey& worker);
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
  void set_terms(const ModelCard& card);
  void report(RequestId request, const AnswerEnd& end);
  [[nodiscard]] std::string model_json(const ModelCard& card) const;

  void send(ServingId session, const protocol::serving::ServingCoordinatorMessage& message) override;
  void send_hop(ServingId session, ByteVector frame) override;
  void close(ServingId session, const std::string& reason) override;
  void tokens(RequestId request, const std::vector<protocol::serving::Token>& tokens) override;
  void ended(RequestId request, const AnswerEnd& end) override;
  void audited(RequestId request, const AuditEnd& end) override;

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
  Listener listener_;
  Guarded<std::map<std::string, ModelTerms>> terms_;
  // What was asked and answered, until it is settled.
  struct Kept {
    AnswerId answer;
    std::string model;
    std::uint32_t embedding = 0;
    protocol::serving::Ask ask;
    bool whole = false;
    Prints prints{};
  };
  std::map<RequestId, Kept> asked_;
  std::map<AnswerId, Kept> finished_;
  std::map<RequestId, AnswerId> audits_;

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Event> queue_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace weft::coordinator
