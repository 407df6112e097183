// The parts of an engine over a device that runs nothing, for tests of single parts. The test
// itself writes the values that a kernel would write.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/gpu/null/instance.h"
#include "engine/llm/gpu/layer_ranges.h"
#include "engine/llm/test_expected.h"

namespace weft::llm::test {

using gpu::null::Command;

struct PartsOptions {
  std::string model = "tiny-llama-chat-q8_0";
  EngineOptions engine{};
  bool software = false;  // The adapter is a CPU, and kernels are compiled before their first use.
};

class Parts {
  using Options = PartsOptions;
  static std::unique_ptr<OpenModel> open(const std::string& name) {
    return std::move(*open_model(*weft::test::find_data("models/" + name + ".gguf")));
  }
  static gpu::null::Options adapter_of(const Options& options) {
    gpu::AdapterInfo adapter = gpu::null::default_adapter();
    if (options.software) adapter.kind = gpu::AdapterKind::cpu;
    return {.adapters = {adapter}};
  }

 public:
  explicit Parts(Options options = {})
      : instance(gpu::null::create_instance(adapter_of(options))),
        device(run(instance->create_device({.trusted_shaders = true})).value()),
        model(open(options.model)),
        setup(*device, model->model, complete(options.engine, model->model.config).value()),
        passes(setup, options.software) {
    EXPECT_TRUE(run(passes.load(model->model, *model->source, [](std::uint64_t) {})));
    if (setup.options.layers.end == setup.config.layers) {
      EXPECT_TRUE(run(sampling.load(
          {.draws_max = DrawsUnderWay::under_way_max, .compiles_later = options.software})));
    }
    instance->forget_commands();
  }

  template <class T>
  T run(Async<T> work) {
    return gpu::run(*instance, std::move(work));
  }
  [[nodiscard]] static std::vector<Token> tokens(std::size_t count, Token first = 40) {
    std::vector<Token> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(first + static_cast<Token>(i % 200));
    return out;
  }
  // Opens a sequence that has read `count` tokens.
  SequenceId read(std::size_t count) {
    const SequenceId id = sequences.open().value();
    EXPECT_TRUE(run(prompts.append(id, tokens(count))));
    return id;
  }
  // Writes the result of the draw of step `step`: a token for each row.
  void play_draw(std::uint32_t step, std::span<const Token> drawn) {
    for (std::size_t row = 0; row < drawn.size(); ++row)
      instance->poke(sampling.drawn().handle(),
                     sampling.drawn_offset(step) + row * TokenSampling::drawn_bytes,
                     as_bytes(drawn.subspan(row, 1)));
  }
  // play_hidden() fills the hidden state of a row of the pass with `value`; hidden_of() reads the
  // first number of a row's state.
  void play_hidden(std::uint64_t row, float value) {
    const std::vector<float> state(setup.config.embedding, value);
    instance->poke(setup.buffers.hidden.handle(), row * setup.hidden_bytes(),
                   as_bytes(std::span<const float>(state)));
  }
  [[nodiscard]] float hidden_of(const gpu::Buffer& buffer, std::uint64_t row) const {
    const ByteVector bytes = instance->bytes(buffer);
    float value = 0;
    std::memcpy(&value, bytes.data() + row * setup.hidden_bytes(), sizeof(value));
    return value;
  }
  void submit(gpu::Encoder encoder) { passes.submit(std::move(encoder)); }

  std::unique_ptr<gpu::null::NullInstance> instance;
  std::unique_ptr<gpu::Device> device;
  std::unique_ptr<OpenModel> model;
  const EngineSetup setup;
  GpuSequences sequences{setup};
  RowPasses passes;
  TokenSampling sampling{setup};
  DrawsUnderWay draws{setup, sequences, sampling, passes};
  const LastHidden last_hidden{setup};
  FloatReadback floats{setup.device};
  DrawnRows rows{setup, sequences, last_hidden, sampling, passes};
  PromptReader prompts{setup, sequences, last_hidden, rows, passes};
  OutputReader outputs{setup, sequences, last_hidden, rows, prompts, floats, passes};
  TokenDraws token_draws{setup, sequences, last_hidden, sampling, draws, rows, prompts, passes};
  LayerRanges ranges{setup,   sequences,   last_hidden, sampling, draws, rows,
                     prompts, token_draws, outputs,     floats,   passes};
};

}  // namespace weft::llm::test
