// Runs passes of rows through a model on the device: writes the rows of a pass, compiles the
// kernels that the pass needs (program.h), records the pass, submits it in pieces, and counts
// dispatches and submits.
//
//   WEFT_CO_OK(co_await passes.prepare(rows, {.layers = true}));   before any other change
//   passes.place_run(id, first, count);
//   gpu::Encoder encoder = passes.begin_layers(rows, false, "forward");
//   ...                                                            the rest of the last piece
//   passes.submit(std::move(encoder));
//
// Threading: the device's thread. Lifetime: the setup outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/gpu/device.h"
#include "engine/gpu/pipeline_cache.h"
#include "engine/llm/engine.h"
#include "engine/llm/gpu/engine_setup.h"
#include "engine/llm/gpu/model_program.h"

namespace weft::llm {

class RowPasses {
 public:
  // If `compiles_later` is true, prepare() compiles kernels, before the first pass that needs them.
  RowPasses(const EngineSetup& setup, bool compiles_later)
      : setup_(setup), pipelines_(setup.device), compiles_later_(compiles_later) {}
  RowPasses(const RowPasses&) = delete;

  // Loads the model; called before all other methods. Fails as ModelProgram::create() does.
  [[nodiscard]] Async<Result<>> load(const Model& model, const gguf::Source& source,
                                     std::function<void(std::uint64_t bytes)> on_bytes);
  [[nodiscard]] const ModelProgram& program() const { return *program_; }
  [[nodiscard]] bool compiles_later() const { return compiles_later_; }
  [[nodiscard]] EngineCounters& counters() { return counters_; }
  [[nodiscard]] const EngineCounters& counters() const { return counters_; }
  // Fails with device_lost if the device is lost.
  [[nodiscard]] Result<> check_device() const;

  // Compiles the kernels that these rows need and that are not compiled yet, and those of `further`
  // passes after them, which see one more position each. Called before the rows are recorded.
  [[nodiscard]] Async<Result<>> prepare(RowCount rows, ModelProgram::Parts parts,
                                        std::uint32_t further = 0);
  // Compiles the kernels for positions [from, to) of one sequence, read in passes of as many rows
  // as possible.
  [[nodiscard]] Async<Result<>> prepare_run(std::uint32_t from, std::uint32_t to, bool embed);
  // Compiles the kernels for the logits of `rows` rows, each of a different sequence.
  [[nodiscard]] Async<Result<>> prepare_head(std::size_t rows);

  // The shape of a pass of `count` rows of one sequence, of which the last sees `positions`
  // positions.
  [[nodiscard]] static RowCount run_of(std::uint32_t count, std::uint32_t positions) {
    return {.rows = count, .segments = 1, .positions = positions, .positions_least = positions};
  }
  // Makes positions [first, first + count) of one sequence the rows of the next pass.
  void place_run(SequenceId id, std::uint32_t first, std::uint32_t count);
  // place_each() makes one position of each of several sequences the rows of the next pass.
  struct Row {
    SequenceId id{};
    std::uint32_t position = 0;
  };
  void place_each(std::span<const Row> rows);
  // write_tokens() and write_hidden() write the input of the rows: one token each, or hidden states
  // [row][embedding].
  void write_tokens(std::span<const Token> tokens) {
    setup_.buffers.write_tokens(setup_.device, tokens);
  }
  void write_hidden(std::span<const float> states) {
    setup_.device.write(setup_.buffers.hidden, 0, as_bytes(states));
  }
  // Writes the place and token of one row. Call it only between passes.
  void write_row(std::uint32_t row, Row place, Token token);

  [[nodiscard]] gpu::Encoder encoder(const char* label) {
    return setup_.device.create_encoder(label);
  }
  // Records a pass of rows through the layers, and submits it in pieces while more is recorded, so
  // that the device begins early. The caller submits the last piece, which is returned.
  [[nodiscard]] gpu::Encoder begin_layers(const RowCount& rows, bool embed, const char* label);
  // Records at most `most` dispatches of the pass, beginning with the dispatch `next`, and advances
  // `next`. If `next` is 0 and `embed` is set, records the embedding first. True if the last
  // dispatch of the layers is recorded.
  bool record_layers(gpu::Encoder& encoder, const RowCount& rows, bool embed, std::size_t& next,
                     std::uint32_t most);
  // record_head() records the head, which makes logits of the first rows' hidden states;
  // record_whole() records all from tokens to logits. Both return the number of dispatches, which
  // the caller counts.
  std::uint32_t record_head(gpu::Pass& pass, const RowCount& rows) const {
    return program_->head(rows).record(pass, rows);
  }
  std::uint32_t record_whole(gpu::Pass& pass, const RowCount& rows) const;
  void count(std::uint32_t dispatches) { counters_.dispatches += dispatches; }
  void count_decode(std::uint32_t dispatches) {
    counters_.dispatches += dispatches;
    counters_.decode_dispatches += dispatches;
  }
  void submit(gpu::Encoder encoder) {
    setup_.device.submit(std::move(encoder));
    ++counters_.submits;
  }

 private:
  const EngineSetup& setup_;
  gpu::PipelineCache pipelines_;
  const bool compiles_later_;
  DispatchMaker maker_{setup_.device, pipelines_};
  std::unique_ptr<ModelProgram> program_;
  EngineCounters counters_;
};

}  // namespace weft::llm
