// The engine on a GPU, for its own files: gpu_engine.cpp (loading, sequences, rows through the
// layers, reading back), gpu_drawing.cpp (tokens drawn ahead, many submits under way) and
// gpu_ranges.cpp (a range of layers: hidden states in and out).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "engine/gpu/readback.h"
#include "engine/kernels/sampling/gpu_sampler.h"
#include "engine/llm/gpu/float_readback.h"
#include "engine/llm/gpu/gpu_engine.h"
#include "engine/llm/gpu/kv_pages.h"
#include "engine/llm/gpu/model_program.h"
#include "engine/llm/gpu/step_pacer.h"

namespace weft::llm {

// Submits that are under way at a time, so that the device never waits for the CPU to read a token.
constexpr std::size_t submits_ahead = 4;
constexpr std::size_t draws_under_way_max =
    submits_ahead * StepPacer::steps_max + StepPacer::steps_max;

struct GpuSequence {
  std::vector<Token> tokens;  // Handed in and handed out; empty where hidden states come in.
  std::uint32_t length = 0;   // Positions that were handed in and out.
  std::uint32_t fed = 0;      // Positions in the device's caches. What it drew ahead is among them.
  std::deque<Drawn> ahead;    // Drawn and not yet handed out.
  std::uint32_t under_way = 0;
  std::uint64_t epoch = 0;  // Goes up when what is under way no longer counts.
  // Its length when it joined the rows that are drawn together.
  std::uint32_t joined_at = 0;
  // It goes on in these rows from its last token, behind what is under way for the others.
  bool behind = false;
  std::optional<std::uint32_t>
      hidden_at;  // The final hidden state in last_hidden_ is the one behind so many positions.
  Sampling sampling;
  std::uint32_t keep_from = 0, keep_every = 0;         // Hidden states to keep; see Engine.
  std::map<std::uint32_t, std::vector<float>> kept{};  // By length.
};

class GpuEngine final : public Engine {
 public:
  GpuEngine(gpu::Device& device, const Model& model, EngineOptions options, CompileKernels compile)
      : device_(device),
        config_(model.config),
        options_(options),
        buffers_(device, shape_of(device, model, options_)),
        pages_({.pages = buffers_.shape.pages,
                .positions = kv_page_positions,
                .sequences = options.sequences,
                .pages_each = buffers_.shape.table_pages}),
        pipelines_(device),
        compiles_later_(device.adapter().kind == gpu::AdapterKind::cpu &&
                        compile == CompileKernels::at_first_use),
        drawn_ring_(device, {.slots = draws_under_way_max,
                             .slot_bytes = std::uint64_t{options.sequences} * 8}),
        last_hidden_(device.create_buffer(
            {.size = std::uint64_t{options.sequences} * config_.embedding * 4,
             .usage = gpu::BufferUsage::storage | gpu::BufferUsage::copy_source |
                      gpu::BufferUsage::copy_destination,
             .label = "last hidden"})),
        sequences_(options.sequences) {}

  [[nodiscard]] Async<Result<>> load(const Model& model, const gguf::Source& source,
                                     LoadProgress on_progress);

  const Config& config() const override { return config_; }
  const EngineOptions& options() const override { return options_; }
  std::string device() const override;
  EngineCounters counters() const override { return counters_; }

  Result<SequenceId> open() override;
  void close(SequenceId id) override;
  std::uint32_t length(SequenceId id) const override { return sequences_[index(id)]->length; }
  std::uint32_t rewind(SequenceId id, std::uint32_t length) override;
  Async<Result<>> append(SequenceId id, std::vector<Token> tokens) override;
  Async<Result<std::vector<float>>> logits(SequenceId id) override;
  Async<Result<std::vector<float>>> logits_along(SequenceId id, std::vector<Token> tokens) override;
  Async<Result<std::vector<float>>> last_hidden(SequenceId id) override;
  Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> sequences,
                                         std::uint32_t more) override {
    return draw_tokens(std::move(sequences), {.more = more});
  }
  Async<Result<std::vector<Drawn>>> draw_and_read(std::vector<SequenceId> sequences) override {
    return draw_tokens(std::move(sequences), {.reads = true});
  }
  void set_sampling(SequenceId id, const Sampling& sampling) override;
  bool takes_masks() const override { return sampler_ != nullptr; }
  void set_mask(SequenceId id, std::span<const std::uint64_t> allowed) override;
  std::uint32_t drawn_ahead(SequenceId id) const override {
    const GpuSequence& sequence = *sequences_[index(id)];
    return static_cast<std::uint32_t>(sequence.ahead.size()) + sequence.under_way;
  }
  bool keeps_hidden() const override { return true; }
  void keep_hidden(SequenceId id, std::uint32_t from, std::uint32_t every) override;
  std::optional<std::vector<float>> take_hidden(SequenceId id, std::uint32_t length) override;
  Result<> reserve(SequenceId id, std::uint32_t positions) override;
  std::uint32_t share(SequenceId from, SequenceId to, std::uint32_t length) override;
  Async<Result<std::vector<float>>> forward(SequenceId id, std::vector<float> hidden) override;
  Async<Result<std::vector<float>>> forward_tokens(SequenceId id,
                                                   std::vector<Token> tokens) override;
  Async<Result<>> absorb(SequenceId id, std::vector<float> hidden) override;
  Async<Result<Drawn>> draw_behind(SequenceId id, Sampling sampling,
                                   std::vector<Token> tokens) override;
  Async<Result<std::vector<float>>> forward_each(Rows rows) override;
  Async<Result<>> absorb_each(Rows rows) override;
  Async<Result<std::vector<Drawn>>> draw_behind_each(std::vector<DrawBehind> draws) override;

 private:
  static RowShape shape_of(const gpu::Device& device, const Model& model,
                           const EngineOptions& options);
  static std::uint32_t rows_max(const gpu::Device& device, const EngineOptions& options) {
    constexpr std::uint32_t rows_cpu = 64, rows_gpu = 512;
    return std::max(options.sequences,
                    device.adapter().kind == gpu::AdapterKind::cpu ? rows_cpu : rows_gpu);
  }
  [[nodiscard]] std::size_t index(SequenceId id) const {
    const auto i = static_cast<std::size_t>(id);
    check(i < sequences_.size() && sequences_[i].has_value(), "the sequence is open");
    return i;
  }
  [[nodiscard]] GpuSequence& at(SequenceId id) { return *sequences_[index(id)]; }

  // A row whose hidden state is kept: which of the pass's sequences, and behind how many positions.
  struct HiddenRow {
    std::uint32_t row = 0;
    std::uint32_t length = 0;
  };
  // A draw that was recorded and not yet submitted.
  struct Step {
    std::uint32_t number = 0;  // Number of the sampler's step.
    std::vector<HiddenRow> rows{};
    std::optional<gpu::Readback> hidden{};
  };
  // Passes that were submitted, oldest first.
  struct UnderWay {
    gpu::Readback read;
    std::vector<SequenceId> sequences;
    std::vector<std::uint64_t> epochs;
    std::vector<HiddenRow> rows{};  // Whose hidden states are in `hidden`, one behind the other.
    std::optional<gpu::Readback> hidden{};
  };

  [[nodiscard]] Result<> fits(const GpuSequence& sequence, std::size_t more) const;
  [[nodiscard]] Result<> check_tokens(std::span<const Token> tokens) const;
  void reset(SequenceId id);
  void settle(SequenceId id);
  // Takes back what was drawn ahead of a sequence that goes on in the same rows: the others keep
  // theirs. False if it cannot, or nothing was drawn ahead.
  [[nodiscard]] bool draw_again(SequenceId id);
  // What penalties look back at.
  void remember_drawn(SequenceId id);
  void place_rows(SequenceId id, std::uint32_t first, std::uint32_t count);
  // Before rows are recorded: compiles what they need and is not compiled yet (program.h). Nothing
  // of a sequence is changed before, so that a call that is dropped meanwhile leaves it as it was.
  // Positions [from, to) of one sequence, as feed() and pass_hidden() cut them.
  [[nodiscard]] Async<Result<>> prepare_rows(std::uint32_t from, std::uint32_t to, bool embed);
  // What ensure_hidden() records.
  [[nodiscard]] Async<Result<>> prepare_hidden(SequenceId id);
  // Logits of so many rows.
  [[nodiscard]] Async<Result<>> prepare_head(std::size_t rows);
  // A draw of these sequences.
  [[nodiscard]] Async<Result<>> prepare_draw(const std::vector<SequenceId>& sequences);
  // The next draws of stream_.
  [[nodiscard]] Async<Result<>> prepare_further(std::size_t steps);
  // The rows of stream_, and what they see now.
  [[nodiscard]] RowCount stream_rows() const;
  // Records a pass of rows through the layers, and hands it to the device in pieces while more is
  // being recorded, so that it does not wait for all of it; the last piece is the caller's to
  // submit.
  [[nodiscard]] gpu::Encoder begin_layers(const RowCount& rows, bool embed, const char* label);
  // Records at most `most` dispatches of the pass from `next` on, and puts that forward; from 0 on
  // the embedding as well, where it is asked for.
  void record_layers(gpu::Encoder& encoder, const RowCount& rows, bool embed, std::size_t& next,
                     std::uint32_t most);
  // Everything that was handed in goes through the layers; what comes out of the last rows can be
  // recorded along with them.
  void feed(SequenceId id,
            const std::function<void(gpu::Encoder&, std::uint32_t rows)>& record = {});
  [[nodiscard]] Result<> takes_hidden(const GpuSequence& sequence,
                                      const std::vector<float>& hidden) const;
  // These rows of hidden states through the layers, in one submit with what `record` adds behind
  // them.
  void pass_hidden(SequenceId id, std::span<const float> states,
                   const std::function<void(gpu::Encoder&)>& record);
  // A row of each of several sequences, in one submit with what `record` adds behind them.
  [[nodiscard]] Async<Result<>> pass_each(Rows rows, std::function<void(gpu::Encoder&)> record);
  void ensure_hidden(SequenceId id);
  // Copies final hidden states to the first rows and makes logits of them.
  std::uint32_t record_head(gpu::Encoder& encoder, const std::vector<SequenceId>& sequences);
  [[nodiscard]] Async<Result<std::vector<float>>> read_floats_back(const gpu::Buffer& buffer,
                                                                   std::uint64_t count,
                                                                   std::uint64_t first = 0);
  [[nodiscard]] Async<Result<>> take_oldest();
  [[nodiscard]] Async<Result<>> draw_first(const std::vector<SequenceId>& sequences);
  void record_draw(gpu::Pass& pass, const std::vector<SequenceId>& sequences);
  // Rows of the pass whose hidden states are to be kept, where row i's is the one behind
  // lengths(i) positions.
  [[nodiscard]] std::vector<HiddenRow> rows_to_keep(
      const std::vector<SequenceId>& sequences,
      const std::function<std::uint32_t(std::size_t)>& length) const;
  // Copies them for the last step that was recorded.
  void record_hidden(gpu::Encoder& encoder, std::vector<HiddenRow> rows);
  [[nodiscard]] bool grow(SequenceId id, std::uint32_t positions);
  [[nodiscard]] Result<> grow_or_fail(SequenceId id, std::uint32_t positions);
  void count_decode(std::uint32_t dispatches);
  void finish_draws(gpu::Encoder encoder, const std::vector<SequenceId>& sequences);
  void draw_further(std::size_t steps);
  // What draw() and draw_and_read() do: so many draws ahead, or one that is read and not yet
  // chosen.
  struct Ahead {
    std::uint32_t more = 0;
    bool reads = false;
  };
  [[nodiscard]] Async<Result<std::vector<Drawn>>> draw_tokens(std::vector<SequenceId> sequences,
                                                              Ahead ahead);
  // Reads the tokens in the rows, if these sequences are asked for the last that were drawn.
  [[nodiscard]] Async<Result<>> read_last(const std::vector<SequenceId>& sequences);
  // Whether the rows that these sequences draw in can be read once each of them has `ahead` tokens
  // that are drawn and not handed out.
  [[nodiscard]] bool may_read(const std::vector<SequenceId>& sequences, std::uint32_t ahead);
  // Takes the rows through the layers and the head, from the dispatch `next` on.
  void read_rows(std::size_t next = 0);
  // The draw that follows on read_rows(); `reads`: and read_rows() behind it.
  void choose_read(bool reads);
  // Positions that still fit behind what was fed, of all sequences in the rows, with a token to be
  // drawn behind each.
  [[nodiscard]] std::size_t may_feed() {
    std::uint32_t left = options_.context;
    for (const SequenceId id : stream_) {
      const std::uint32_t fed = at(id).fed;
      (void)grow(id, std::min<std::uint32_t>(options_.context, fed + StepPacer::steps_max));
      const std::uint32_t room =
          std::min(options_.context - 1, pages_.room(static_cast<std::uint32_t>(id)));
      left = std::min(left, room - std::min(room, fed));
    }
    return left;
  }
  // The rows are those of these sequences, in whatever order, and of those that are behind.
  [[nodiscard]] bool streams(const std::vector<SequenceId>& sequences) const {
    const auto asked = [&](SequenceId id) { return std::ranges::contains(sequences, id); };
    return !stream_.empty() && std::ranges::all_of(sequences, [&](SequenceId id) {
      return std::ranges::contains(stream_, id);
    }) && std::ranges::all_of(stream_, [&](SequenceId id) {
      return asked(id) || sequences_[index(id)]->behind;
    });
  }
  void end_stream();
  [[nodiscard]] Result<> check_device() const;

  gpu::Device& device_;
  const Config config_;
  const EngineOptions options_;
  const RowBuffers buffers_;
  KvPages pages_;
  gpu::PipelineCache pipelines_;
  const bool compiles_later_;
  DispatchMaker maker_{device_, pipelines_};
  std::unique_ptr<ModelProgram> program_;
  gpu::ReadbackRing drawn_ring_;
  std::unique_ptr<gpu::ReadbackRing> hidden_ring_;  // Made when the first is to be kept.
  gpu::Buffer last_hidden_;                         // [slot][embedding]
  FloatReadback floats_{device_};
  std::vector<std::optional<GpuSequence>> sequences_;
  std::deque<UnderWay> under_way_;
  std::vector<SequenceId> stream_;  // Whose last drawn tokens are in the device's rows; empty when
                                    // the rows were used otherwise.
  bool read_ = false;  // The tokens in stream_'s rows are read, and the next are not drawn: their
                       // logits are there.
  std::unique_ptr<kernels::GpuSampler> sampler_;  // Null without the last layer.
  std::optional<kernels::GpuSampler::Rows> sampled_rows_;
  std::vector<Step> steps_;
  StepPacer pacer_;
  EngineCounters counters_;
};

// What the sampler leaves of one draw (kernels::GpuDrawn).
[[nodiscard]] Drawn drawn_of(ByteSpan bytes);

}  // namespace weft::llm
