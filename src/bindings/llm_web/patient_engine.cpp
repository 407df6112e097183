#include "bindings/llm_web/patient_engine.h"

#include <utility>

namespace weft::llm_web {
namespace {

using llm::Drawn;
using llm::SequenceId;
using llm::Token;

class PatientEngine final : public llm::Engine {
 public:
  PatientEngine(std::unique_ptr<Engine> inner, Pauses pauses)
      : inner_(std::move(inner)), pauses_(std::move(pauses)) {}

  const llm::Config& config() const override { return inner_->config(); }
  const llm::EngineOptions& options() const override { return inner_->options(); }
  std::string device() const override { return inner_->device(); }
  llm::EngineCounters counters() const override { return inner_->counters(); }
  Result<SequenceId> open() override { return inner_->open(); }
  void close(SequenceId sequence) override { inner_->close(sequence); }
  std::uint32_t length(SequenceId sequence) const override { return inner_->length(sequence); }
  std::uint32_t rewind(SequenceId sequence, std::uint32_t length) override {
    return inner_->rewind(sequence, length);
  }
  std::uint32_t drawn_ahead(SequenceId id) const override { return inner_->drawn_ahead(id); }
  bool keeps_hidden() const override { return inner_->keeps_hidden(); }
  void keep_hidden(SequenceId id, std::uint32_t from, std::uint32_t every) override {
    inner_->keep_hidden(id, from, every);
  }
  std::optional<std::vector<float>> take_hidden(SequenceId id, std::uint32_t length) override {
    return inner_->take_hidden(id, length);
  }
  Result<> reserve(SequenceId id, std::uint32_t positions) override {
    return inner_->reserve(id, positions);
  }
  std::uint32_t share(SequenceId from, SequenceId to, std::uint32_t length) override {
    return inner_->share(from, to, length);
  }
  void set_sampling(SequenceId sequence, const llm::Sampling& sampling) override {
    inner_->set_sampling(sequence, sampling);
  }

  Async<Result<>> append(SequenceId sequence, std::vector<Token> tokens) override {
    if (std::exchange(appended_, true)) co_await pauses_.between_parts();
    co_return co_await inner_->append(sequence, std::move(tokens));
  }
  Async<Result<std::vector<float>>> logits(SequenceId sequence) override {
    return inner_->logits(sequence);
  }
  Async<Result<std::vector<float>>> last_hidden(SequenceId sequence) override {
    return inner_->last_hidden(sequence);
  }
  Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> sequences,
                                         std::uint32_t more) override {
    appended_ = false;
    if (pauses_.before_draw) co_await pauses_.before_draw();
    co_return co_await inner_->draw(std::move(sequences), more);
  }
  Async<Result<std::vector<float>>> forward(SequenceId sequence,
                                            std::vector<float> hidden) override {
    return inner_->forward(sequence, std::move(hidden));
  }
  Async<Result<std::vector<float>>> forward_tokens(SequenceId sequence,
                                                   std::vector<Token> tokens) override {
    return inner_->forward_tokens(sequence, std::move(tokens));
  }

 private:
  const std::unique_ptr<Engine> inner_;
  const Pauses pauses_;
  bool appended_ = false;  // True if append() was called after the last draw().
};

}  // namespace

std::unique_ptr<llm::Engine> make_patient(std::unique_ptr<llm::Engine> engine, Pauses pauses) {
  return std::make_unique<PatientEngine>(std::move(engine), std::move(pauses));
}

}  // namespace weft::llm_web
