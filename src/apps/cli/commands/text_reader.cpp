#include "apps/cli/commands/text_reader.h"

#include "worker/sandbox/sandbox.h"
#include "worker/sandbox/text_service.h"

namespace weft::cli {
namespace {

// The word for a request kind that the sandboxed process expects (worker/sandbox).
std::string word_of(coordinator::TextLook::Kind kind) {
  using Kind = coordinator::TextLook::Kind;
  switch (kind) {
    case Kind::tokens:
      return "tokens";
    case Kind::text:
      return "text";
    case Kind::prompt:
      return "prompt";
    case Kind::none:
      break;
  }
  return {};
}

using worker::FrameKind;
using worker::Packer;
using worker::Unpacker;

constexpr Duration open_max = std::chrono::seconds(10);
constexpr Duration prompt_max = std::chrono::seconds(2);
constexpr std::uint64_t memory_bytes_max = std::uint64_t{256} << 20;
// The texts and flags of all tokens, with their lengths.
constexpr std::uint64_t table_bytes_max =
    coordinator::TokenTexts::bytes_max + coordinator::TokenTexts::count_max * 16 + 8;
constexpr std::uint64_t reply_bytes_max = std::uint64_t{16} << 20;
constexpr std::uint64_t tokens_max = std::uint64_t{1} << 20;

Result<std::vector<std::int32_t>> read_tokens(Unpacker& in, std::size_t known) {
  WEFT_ASSIGN(const std::uint64_t count, in.number());
  if (count > tokens_max)
    return fail(ErrorCode::data_loss,
                "The process that reads texts sends {} tokens; at most {} are read.", count,
                tokens_max);
  std::vector<std::int32_t> out;
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN(const std::uint64_t token, in.number());
    if (token >= known)
      return fail(ErrorCode::data_loss,
                  "The process that reads texts sends a token that the model does not have.");
    out.push_back(static_cast<std::int32_t>(token));
  }
  return out;
}

class SandboxTextReader final : public coordinator::TextReader {
 public:
  Result<coordinator::TokenTexts> open(std::uint64_t file_bytes, ByteSpan head) override {
    WEFT_ASSIGN(sandbox_, worker::Sandbox::start({.memory_bytes = memory_bytes_max,
                                                  .duty = worker::Sandbox::Duty::texts}));
    WEFT_OK(sandbox_->wait_ready());
    WEFT_ASSIGN(
        const ByteVector reply,
        sandbox_->ask_service(FrameKind::open_text, Packer().number(file_bytes).bytes(head).take(),
                              open_max, table_bytes_max));
    Unpacker in(reply);
    WEFT_ASSIGN(const std::uint64_t count, in.number());
    coordinator::TokenTexts out;
    for (std::uint64_t i = 0; i < count; ++i) {
      WEFT_ASSIGN(const std::uint64_t flags, in.number());
      WEFT_ASSIGN(const ByteSpan text, in.bytes());
      WEFT_OK(out.add(as_text(text), {.is_control = (flags & worker::token_is_control) != 0,
                                      .ends_answer = (flags & worker::token_ends_answer) != 0,
                                      .marks_a_call = (flags & worker::token_marks_a_call) != 0}));
    }
    known_ = out.size();
    return out;
  }

  Result<coordinator::ReadPrompt> prompt(const coordinator::TextRequest& request,
                                         const std::string& prompt) override {
    Packer packer;
    packer.number(request.chat ? 1 : 0)
        .text(prompt)
        .number(static_cast<std::uint64_t>(request.now))
        .text(request.format)
        .text(request.rule);
    WEFT_ASSIGN(const ByteVector reply, sandbox_->ask_service(FrameKind::read_prompt, packer.take(),
                                                              prompt_max, reply_bytes_max));
    Unpacker in(reply);
    WEFT_ASSIGN(const std::uint64_t in_thought, in.number());
    coordinator::ReadPrompt out{.begins_in_thought = in_thought != 0};
    WEFT_ASSIGN(out.tokens, read_tokens(in, known_));
    return out;
  }

  Result<coordinator::Told> look(const coordinator::TextRequest& request) override {
    const coordinator::TextLook& look = request.look;
    Packer packer;
    packer.text(word_of(look.kind))
        .number(look.add_special ? 1 : 0)
        .number(look.parse_special ? 1 : 0)
        .text(request.prompts.empty() ? std::string() : request.prompts.front())
        .number(static_cast<std::uint64_t>(request.now))
        .number(look.tokens.size());
    for (const std::int32_t token : look.tokens) packer.number(static_cast<std::uint64_t>(token));
    WEFT_ASSIGN(const ByteVector reply, sandbox_->ask_service(FrameKind::look_text, packer.take(),
                                                              prompt_max, reply_bytes_max));
    Unpacker in(reply);
    coordinator::Told out;
    WEFT_ASSIGN(out.text, in.text());
    WEFT_ASSIGN(out.tokens, read_tokens(in, known_));
    return out;
  }

  bool alive() const override { return sandbox_ && sandbox_->alive(); }

 private:
  std::unique_ptr<worker::Sandbox> sandbox_;
  std::size_t known_ = 0;  // Number of tokens that the model has.
};

}  // namespace

std::unique_ptr<coordinator::TextReader> make_text_reader() {
  return std::make_unique<SandboxTextReader>();
}

}  // namespace weft::cli
