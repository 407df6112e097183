#include "apps/worker/serving/paced_engine.h"

#include <utility>

namespace weft::worker {
namespace {

class PacedEngine final : public llm::Engine {
 public:
  PacedEngine(std::unique_ptr<llm::Engine> engine, Pace pace) : engine_(std::move(engine)), pace_(std::move(pace)) {}

  const llm::Config& config() const override { return engine_->config(); }
  const llm::EngineOptions& options() const override { return engine_->options(); }
  std::string device() const override { return engine_->device(); }
  llm::EngineCounters counters() const override { return engine_->counters(); }
  Result<llm::SequenceId> open() override { return engine_->open(); }
  void close(llm::SequenceId id) override { engine_->close(id); }
  std::uint32_t length(llm::SequenceId id) const override { return engine_->length(id); }
  std::uint32_t rewind(llm::SequenceId id, std::uint32_t length) override { return engine_->rewind(id, length); }
  void set_sampling(llm::SequenceId id, const llm::Sampling& sampling) override { engine_->set_sampling(id, sampling); }

  Async<Result<>> append(llm::SequenceId id, std::vector<llm::Token> tokens) override { return paced(engine_->append(id, std::move(tokens)), true); }
  Async<Result<std::vector<float>>> logits(llm::SequenceId id) override { return paced(engine_->logits(id), false); }
  Async<Result<std::vector<llm::Drawn>>> draw(std::vector<llm::SequenceId> ids, std::uint32_t more) override {
    return paced(engine_->draw(std::move(ids), more), true);
  }
  Async<Result<std::vector<float>>> forward(llm::SequenceId id, std::vector<float> hidden) override {
    return paced(engine_->forward(id, std::move(hidden)), true);
  }
  Async<Result<std::vector<float>>> forward_tokens(llm::SequenceId id, std::vector<llm::Token> tokens) override {
    return paced(engine_->forward_tokens(id, std::move(tokens)), true);
  }
  Async<Result<std::vector<float>>> last_hidden(llm::SequenceId id) override { return paced(engine_->last_hidden(id), false); }

 private:
  template <class T>
  Async<T> paced(Async<T> call, bool pass) {
    // One turn a pass: what else is asked of an engine follows on one.
    if (pass && pace_.before) co_await pace_.before();
    if (pace_.work) pace_.work(true);
    if (pass && pace_.pass) pace_.pass(true);
    T result = co_await std::move(call);
    if (pass && pace_.pass) pace_.pass(false);
    if (pace_.work) pace_.work(false);
    co_return result;
  }

  const std::unique_ptr<llm::Engine> engine_;
  const Pace pace_;
};

}  // namespace

std::unique_ptr<llm::Engine> make_paced(std::unique_ptr<llm::Engine> engine, Pace pace) {
  return std::make_unique<PacedEngine>(std::move(engine), std::move(pace));
}

}  // namespace weft::worker
