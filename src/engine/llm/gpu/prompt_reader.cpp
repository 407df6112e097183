#include "engine/llm/gpu/prompt_reader.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace weft::llm {

Result<> PromptReader::check_tokens(std::span<const Token> tokens) const {
  check(setup_.options.layers.begin == 0, "tokens go to the engine with the first layer");
  for (const Token token : tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= setup_.config.vocabulary)
      return fail(ErrorCode::invalid_argument, "The token {} is not one of the model's {} tokens.",
                  token, setup_.config.vocabulary);
  }
  return {};
}

Async<Result<>> PromptReader::append(SequenceId id, std::vector<Token> tokens) {
  GpuSequence& sequence = sequences_.at(id);
  WEFT_CO_OK(passes_.check_device());
  WEFT_CO_OK(sequences_.fits(sequence, tokens.size()));
  WEFT_CO_OK(check_tokens(tokens));
  drawn_rows_.settle(id);
  const auto length = sequence.length + static_cast<std::uint32_t>(tokens.size());
  WEFT_CO_OK(sequences_.grow_or_fail(id, length));
  WEFT_CO_OK(co_await passes_.prepare_run(sequence.fed, length, true));
  sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
  sequence.length += static_cast<std::uint32_t>(tokens.size());
  feed(id);
  co_return Result<>();
}

void PromptReader::feed(SequenceId id, const Record& record) {
  GpuSequence& sequence = sequences_.at(id);
  while (sequence.fed < sequence.length) {
    const std::uint32_t count = std::min(setup_.buffers.shape.rows, sequence.length - sequence.fed);
    drawn_rows_.end();
    passes_.place_run(id, sequence.fed, count);
    passes_.write_tokens(std::span(sequence.tokens).subspan(sequence.fed, count));
    gpu::Encoder encoder =
        passes_.begin_layers(RowPasses::run_of(count, sequence.fed + count), true, "feed");
    last_hidden_.keep(encoder, count - 1, id);
    if (record) record(encoder, count);
    passes_.submit(std::move(encoder));
    sequence.fed += count;
    sequence.hidden_at = sequence.fed;
  }
}

void PromptReader::read_last_again(GpuSequence& sequence) const {
  if (!lacks_hidden(sequence)) return;
  check(!sequences_.recurrent(), "a recurrent state never lies behind its hidden state");
  --sequence.fed;
}

void PromptReader::settle_rows(SequenceId id) {
  drawn_rows_.settle(id);
  if (drawn_rows_.is_read()) drawn_rows_.end();
}

Async<Result<>> PromptReader::prepare_hidden(SequenceId id) {
  settle_rows(id);
  const GpuSequence& sequence = sequences_.at(id);
  return passes_.prepare_run(sequence.fed - (lacks_hidden(sequence) ? 1 : 0), sequence.length,
                             true);
}

void PromptReader::ensure_hidden(SequenceId id) {
  settle_rows(id);
  read_last_again(sequences_.at(id));
  feed(id);
}

}  // namespace weft::llm
