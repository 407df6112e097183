// Reads prompts for models and knows the texts of their tokens. A model's tokenizer and template
// come from a stranger, so they run in a confined process (TextReader), one for each model; only
// tables, numbers and texts come out of it.
//
// Threading: read() from any thread; `done` runs on a thread of the pool, for one model in the
// order of read(). Lifetime: the destructor finishes all requests. Bounds: models_max processes, of
// which the one unused the longest ends first; a process ends after idle_max without use;
// waiting_max requests a thread.
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

// The longest text that a look (TextLook) reads or returns.
inline constexpr std::size_t look_bytes_max = std::size_t{128} << 10;
// The most tokens of a look: one for each byte, and room for BOS and EOS.
inline constexpr std::size_t look_tokens_max = look_bytes_max + 16;

// A request that generates nothing: it only asks the model's tokenizer or chat template.
struct TextLook {
  // The result that is asked for: the tokens of the prompt, the text of `tokens`, or the rendered
  // prompt. `none` means that an answer is generated.
  enum class Kind : std::uint8_t { none, tokens, text, prompt };
  Kind kind = Kind::none;
  bool add_special = false;    // The look "tokens" adds BOS and EOS if the model wants them.
  bool parse_special = false;  // The look "tokens" reads names of control tokens as these tokens.
  std::vector<std::int32_t> tokens{};
};
struct Told {
  std::string text{};
  std::vector<std::int32_t> tokens{};
};
struct ReadPrompt {
  std::vector<std::int32_t> tokens{};
  bool begins_in_thought = false;  // The prompt ends inside a thought, which the answer continues.
};
struct TextRequest {
  Hash file{};
  std::uint64_t file_bytes = 0, head_bytes = 0;
  bool chat = true;                    // Prompts are JSON input for the chat template.
  std::vector<std::string> prompts{};  // A look has at most one prompt.
  std::int64_t now = 0;                // Time for templates, in seconds since 1970.
  std::string format{}, rule{};        // See protocol::serving::Ask. The reader checks both texts.
  TextLook look{};
};

// Reads texts of one model in a separate process. Threading: one call at a time.
class TextReader {
 public:
  virtual ~TextReader() = default;
  // Called first and once. `head` is the file's content before the tensors' data.
  [[nodiscard]] virtual Result<TokenTexts> open(std::uint64_t file_bytes, ByteSpan head) = 0;
  [[nodiscard]] virtual Result<ReadPrompt> prompt(const TextRequest& request,
                                                  const std::string& prompt) = 0;
  [[nodiscard]] virtual Result<Told> look(const TextRequest& request) = 0;
  // False after the process has ended. It ends after a deadline or a malformed reply.
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

  // `make` starts a reader's process. Without it no text can be read.
  ModelTexts(store::Blobs& blobs, TextReaderFactory make) : blobs_(blobs), make_(std::move(make)) {}

  void read(TextRequest request, Done done);
  // Ends the processes that were not used for idle_max before `now`. A process that is still
  // reading ends when it has read. A thread of this object calls this function regularly.
  void end_idle(Instant now);

 private:
  struct Model {
    Hash file;
    std::unique_ptr<TextReader> reader;
    std::shared_ptr<const TokenTexts> tokens;
    Instant used{};  // Time of the last request; guarded by mutex_.
  };
  [[nodiscard]] Result<std::shared_ptr<Model>> model(const TextRequest& request);
  void watch(const std::stop_token& stop);
  [[nodiscard]] Result<Read> read_now(const TextRequest& request);

  store::Blobs& blobs_;
  const TextReaderFactory make_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Model>> models_;  // Open models, the most recently used one first.
  // Declared after the members that its threads use, so that the threads end before them.
  runtime::Pool pool_{{.threads = 2, .queue_max = waiting_max}};
  std::mutex waits_;
  std::condition_variable_any ends_;
  // Declared last, so that the thread ends before the other members.
  std::jthread watch_{[this](const std::stop_token& stop) { watch(stop); }};
};

}  // namespace weft::coordinator
