// An engine for tests of the code above engines: it keeps the lengths and the memory of sequences,
// and its draws and logits are the ones that the test sets.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/test_data.h"
#include "engine/gguf/file.h"
#include "engine/gguf/mapped_file.h"
#include "engine/llm/engine.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm::test {

class CountingEngine final : public Engine {
 public:
  CountingEngine(std::uint32_t sequences, std::uint32_t positions) : memory(positions) {
    options_.sequences = sequences;
    options_.context = 1000;
  }
  const Config& config() const override { return config_; }
  const EngineOptions& options() const override { return options_; }
  std::string device() const override { return "none"; }
  EngineCounters counters() const override { return {}; }
  Result<SequenceId> open() override {
    const SequenceId id{next_++};
    lengths[id] = 0;
    return id;
  }
  void close(SequenceId id) override {
    lengths.erase(id);
    reserved.erase(id);
  }
  std::uint32_t length(SequenceId id) const override { return lengths.at(id); }
  std::uint32_t rewind(SequenceId id, std::uint32_t length) override {
    return lengths.at(id) = std::min(lengths.at(id), length);
  }
  Result<> reserve(SequenceId id, std::uint32_t positions) override {
    std::uint32_t others = 0;
    for (const auto& [other, taken] : reserved) others += other == id ? 0 : taken;
    // Positions that a sequence has read stay in memory.
    const std::uint32_t wanted = std::max(positions, lengths.at(id));
    if (others + wanted > memory) return fail(ErrorCode::resource_exhausted, "full");
    reserved[id] = wanted;
    return {};
  }
  std::uint32_t share(SequenceId from, SequenceId to, std::uint32_t length) override {
    return lengths.at(to) = std::min(length, lengths.at(from));
  }
  void set_sampling(SequenceId id, const Sampling& sampling) override { samplings[id] = sampling; }
  bool takes_masks() const override { return true; }
  void set_mask(SequenceId id, std::span<const std::uint64_t> allowed) override {
    masks[id].assign(allowed.begin(), allowed.end());
    ++masks_set;
  }
  bool keeps_hidden() const override { return true; }
  void keep_hidden(SequenceId, std::uint32_t from, std::uint32_t every) override {
    kept_from = from;
    kept_every = every;
  }
  std::optional<std::vector<float>> take_hidden(SequenceId, std::uint32_t length) override {
    if (!hidden_kept) return std::nullopt;
    return std::vector<float>{static_cast<float>(length)};
  }
  Async<Result<std::vector<float>>> last_hidden(SequenceId id) override {
    co_return std::vector<float>{static_cast<float>(lengths.at(id))};
  }
  Async<Result<>> append(SequenceId id, std::vector<Token> tokens) override {
    lengths.at(id) += static_cast<std::uint32_t>(tokens.size());
    co_return Result<>();
  }
  Async<Result<std::vector<float>>> logits(SequenceId) override {
    if (logits_said.empty()) co_return none();
    co_return logits_said;
  }
  Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId>, std::uint32_t) override {
    co_return fail(ErrorCode::unsupported, "draws nothing");
  }
  Async<Result<std::vector<float>>> forward(SequenceId, std::vector<float>) override {
    co_return none();
  }
  Async<Result<std::vector<float>>> forward_tokens(SequenceId, std::vector<Token>) override {
    co_return none();
  }

  std::map<SequenceId, std::uint32_t> lengths, reserved;
  std::uint32_t memory;  // The number of positions that all sequences may have together.
  std::map<SequenceId, Sampling> samplings;
  std::map<SequenceId, std::vector<std::uint64_t>> masks;
  int masks_set = 0;
  std::uint32_t kept_from = 0, kept_every = 0;  // The last arguments of keep_hidden().
  bool hidden_kept = true;                      // True if draws keep their hidden states.
  std::vector<float> logits_said{};             // The logits that every sequence has.

 private:
  static Result<std::vector<float>> none() {
    return fail(ErrorCode::unsupported, "computes nothing");
  }
  Config config_;
  EngineOptions options_;
  std::uint32_t next_ = 0;
};

inline const tokenizer::Tokenizer& small_tokenizer() {
  static const auto made = [] {
    const auto path = weft::test::find_data("models/tiny-llama-chat-q8_0.gguf");
    const auto source = gguf::MappedFile::open(path->string()).value();
    return tokenizer::Tokenizer::create(gguf::read_file(*source).value().metadata).value();
  }();
  return *made;
}

}  // namespace weft::llm::test
