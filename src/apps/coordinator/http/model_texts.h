// Reads prompts for models and knows what their tokens say. A model's tokenizer and template are a
// stranger's: they run in a confined process, one for each model, which the wiring brings
// (TextReader); only tables, numbers and texts come out of it.
//
// Threading: read() from any thread; `done` comes on a thread of its own, and for one model in the
// order of read(). Lifetime: the destructor finishes what was asked. Bounds: models_max processes,
// the longest unused goes, and each ends when it was not used for idle_max; waiting_max requests a
// thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "apps/coordinator/http/token_texts.h"
#include "common/base/bytes.h"
#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "platform/runtime/pool.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

// The length of what a look reads and tells.
inline constexpr std::size_t look_bytes_max = std::size_t{128} << 10;
inline constexpr std::size_t look_tokens_max = look_bytes_max + 16;  // With BOS and EOS.

// Nothing is generated: the request is about the model's tokenizer or its chat template.
struct TextLook {
  // The tokens of the prompt, the text of `tokens`, or the prompt that the prompt is rendered to;
  // none: an answer is generated.
  enum class Kind : std::uint8_t { none, tokens, text, prompt };
  Kind kind = Kind::none;
  bool add_special = false;    // For "tokens": BOS and EOS, where the model wants them.
  bool parse_special = false;  // For "tokens": control tokens in the text are these tokens.
  std::vector<std::int32_t> tokens{};
};
struct Told {
  std::string text{};
  std::vector<std::int32_t> tokens{};
};
struct ReadPrompt {
  std::vector<std::int32_t> tokens{};
  bool begins_in_thought = false;  // The answer does.
};
struct TextRequest {
  Hash file{};
  std::uint64_t file_bytes = 0, head_bytes = 0;
  bool chat = true;  // Prompts are what the chat template is rendered with (JSON).
  std::vector<std::string> prompts{};  // A look has one at most.
  std::int64_t now = 0;                // For templates that ask, in seconds since 1970.
  std::string format{}, rule{};  // See protocol::serving::Ask: refused here where it is wrong.
  TextLook look{};
};

// One model's texts, in a process of their own. Threading: one call at a time.
class TextReader {
 public:
  virtual ~TextReader() = default;
  // `head`: all of the file before the tensors' data. First, once.
  [[nodiscard]] virtual Result<TokenTexts> open(std::uint64_t file_bytes, ByteSpan head) = 0;
  [[nodiscard]] virtual Result<ReadPrompt> prompt(const TextRequest& request,
                                                  const std::string& prompt) = 0;
  [[nodiscard]] virtual Result<Told> look(const TextRequest& request) = 0;
  // False once the process has ended, as it does after a deadline or nonsense.
  [[nodiscard]] virtual bool alive() const = 0;
};
using TextReaderFactory = std::function<std::unique_ptr<TextReader>()>;

class ModelTexts {
 public:
  static constexpr std::size_t models_max = 8;
  static constexpr std::size_t waiting_max = 4096;
  static constexpr auto idle_max = std::chrono::seconds(60);

  struct Read {
    std::shared_ptr<const TokenTexts> tokens;
    std::vector<ReadPrompt> prompts{};
    Told told{};
  };
  using Done = std::function<void(Result<Read>)>;

  // Without `make` nothing can be read.
  ModelTexts(store::Blobs& blobs, TextReaderFactory make) : blobs_(blobs), make_(std::move(make)) {}

  void read(TextRequest request, Done done);
  // Ends the processes that were not used for idle_max at `now`; a thread does it on time. One that
  // reads at the moment ends after that.
  void end_idle(Instant now);

 private:
  struct Model {
    Hash file;
    std::unique_ptr<TextReader> reader;
    std::shared_ptr<const TokenTexts> tokens;
    Instant used{};  // When it was last asked for; under the lock.
  };
  [[nodiscard]] Result<std::shared_ptr<Model>> model(const TextRequest& request);
  void watch(const std::stop_token& stop);
  [[nodiscard]] Result<Read> read_now(const TextRequest& request);

  store::Blobs& blobs_;
  const TextReaderFactory make_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Model>> models_;                      // The latest used first.
  runtime::Pool pool_{{.threads = 2, .queue_max = waiting_max}};  // Ends before what it uses.
  std::mutex waits_;
  std::condition_variable_any ends_;
  std::jthread watch_{[this](const std::stop_token& stop) { watch(stop); }};  // Last: ends first.
};

}  // namespace weft::coordinator
