#include "engine/llm/gpu/output_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/check.h"

namespace weft::llm {

void OutputReader::check_last_layer() const {
  check(setup_.options.layers.end == setup_.config.layers,
        "logits come from the engine with the last layer");
}

std::uint32_t OutputReader::record_head(gpu::Encoder& encoder,
                                        const std::vector<SequenceId>& ids) const {
  for (std::size_t i = 0; i < ids.size(); ++i) last_hidden_.put(encoder, ids[i], i);
  gpu::Pass pass = encoder.begin_pass("head");
  const auto rows = static_cast<std::uint32_t>(ids.size());
  return passes_.record_head(pass, {.rows = rows, .segments = rows});
}

Async<Result<std::vector<float>>> OutputReader::logits(SequenceId id) {
  check_last_layer();
  WEFT_CO_OK(passes_.check_device());
  const std::uint32_t length = sequences_.at(id).length;
  if (length == 0)
    co_return fail(ErrorCode::invalid_argument, "There are no logits before the first token.");
  // If the last drawn token is not read yet, the sequence may need a new page for its position.
  WEFT_CO_OK(sequences_.grow_or_fail(id, length));
  WEFT_CO_OK(co_await prompts_.prepare_hidden(id));
  WEFT_CO_OK(co_await passes_.prepare_head(1));
  prompts_.ensure_hidden(id);
  drawn_rows_.end();
  passes_.place_run(id, sequences_.at(id).length, 1);
  gpu::Encoder encoder = passes_.encoder("logits");
  const std::vector<SequenceId> one{id};
  passes_.count(record_head(encoder, one));
  FloatReadback::Copy back =
      floats_.record(encoder, setup_.buffers.logits, setup_.config.vocabulary);
  passes_.submit(std::move(encoder));
  co_return co_await floats_.read(std::move(back));
}

// Reads the tokens in passes of at most logits_rows rows, because every row gets logits.
Async<Result<std::vector<float>>> OutputReader::logits_along(SequenceId id,
                                                             std::vector<Token> tokens) {
  check_last_layer();
  WEFT_CO_OK(passes_.check_device());
  WEFT_CO_OK(prompts_.check_tokens(tokens));
  WEFT_CO_OK(sequences_.fits(sequences_.at(id), tokens.size()));
  const std::size_t rows = std::min(setup_.buffers.shape.rows, setup_.buffers.shape.logits_rows);
  std::vector<float> out;
  for (std::size_t done = 0; done < tokens.size(); done += rows) {
    const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(done);
    const std::size_t count = std::min(rows, tokens.size() - done);
    // Tokens that are not read yet are read first, so that the pass has only the rows of `tokens`.
    drawn_rows_.settle(id);
    const std::uint32_t length = sequences_.at(id).length;
    WEFT_CO_OK(sequences_.grow_or_fail(id, length));
    WEFT_CO_OK(co_await passes_.prepare_run(sequences_.at(id).fed, length, true));
    prompts_.feed(id);
    const auto longer = length + static_cast<std::uint32_t>(count);
    WEFT_CO_OK(sequences_.grow_or_fail(id, longer));
    WEFT_CO_OK(co_await passes_.prepare_run(length, longer, true));
    WEFT_CO_OK(co_await passes_.prepare_head(count));
    GpuSequence& sequence = sequences_.at(id);
    sequence.tokens.insert(sequence.tokens.end(), from, from + static_cast<std::ptrdiff_t>(count));
    sequence.length += static_cast<std::uint32_t>(count);
    std::optional<FloatReadback::Copy> back;
    prompts_.feed(id, [&](gpu::Encoder& encoder, std::uint32_t fed) {
      {
        gpu::Pass pass = encoder.begin_pass("head");
        passes_.count(passes_.record_head(pass, {.rows = fed, .segments = fed}));
      }
      back.emplace(floats_.record(encoder, setup_.buffers.logits,
                                  std::uint64_t{fed} * setup_.config.vocabulary));
    });
    WEFT_CO_ASSIGN(const std::vector<float> logits, co_await floats_.read(std::move(*back)));
    out.insert(out.end(), logits.begin(), logits.end());
  }
  co_return out;
}

Async<Result<std::vector<float>>> OutputReader::last_hidden(SequenceId id) {
  WEFT_CO_OK(passes_.check_device());
  const std::uint32_t length = sequences_.at(id).length;
  if (length == 0)
    co_return fail(ErrorCode::invalid_argument, "There is no hidden state before the first token.");
  WEFT_CO_OK(sequences_.grow_or_fail(id, length));
  WEFT_CO_OK(co_await prompts_.prepare_hidden(id));
  prompts_.ensure_hidden(id);
  gpu::Encoder encoder = passes_.encoder("readback");
  FloatReadback::Copy back =
      floats_.record(encoder, last_hidden_.states(), setup_.config.embedding,
                     static_cast<std::uint64_t>(id) * setup_.config.embedding);
  passes_.submit(std::move(encoder));
  co_return co_await floats_.read(std::move(back));
}

}  // namespace weft::llm
