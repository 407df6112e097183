#include "apps/cli/demo/demo_chat.h"

#include <glaze/glaze.hpp>

#include "apps/cli/demo/chromium.h"
#include "apps/cli/installation.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// One line of the script's output; the members' names are its keys.
struct ScriptLine {
  std::optional<std::string> say;
  std::optional<ChatReport> chat;
  std::optional<std::string> missing;
  std::optional<std::string> failed;
};

}  // namespace documents

namespace {

using namespace documents;

constexpr auto stop_max = std::chrono::seconds(4);

Result<std::filesystem::path> part(const char* path, const char* what) {
  std::filesystem::path file = installation_folder() / path;
  if (!std::filesystem::exists(file))
    return fail(ErrorCode::not_found, "{} ({}) is not here", what, file.string());
  return file;
}

}  // namespace

Result<std::unique_ptr<DemoChat>> DemoChat::start(Options options) {
  WEFT_ASSIGN(const auto model,
              part("tests/data/tiny/tiny-llama-chat-q8_0.gguf", "the small model"));
  WEFT_ASSIGN(const auto script, part("scripts/demo-chat.mjs", "the chat's script"));
  WEFT_ASSIGN(const std::string chromium, find_chromium());
  std::unique_ptr<DemoChat> chat(new DemoChat);
  std::vector<std::string> arguments = {"node",          script.string(),
                                        "--coordinator", options.coordinator,
                                        "--weft",        own_executable().string(),
                                        "--chromium",    chromium,
                                        "--model",       model.string(),
                                        "--scratch",     options.scratch.string()};
  if (options.stay) arguments.emplace_back("--stay");
  const auto on_line = [outcome = chat->outcome_, say = std::move(options.say),
                        log = std::move(options.log)](std::string_view text) {
    ScriptLine line;
    if (!text.starts_with('{') ||
        glz::read<glz::opts{.null_terminated = false, .error_on_unknown_keys = false}>(line, text))
      return log(text);
    if (line.say) say(*line.say);
    if (line.chat) outcome->with([&](Outcome& kept) { kept = std::move(*line.chat); });
    if (line.missing)
      outcome->with([&](Outcome& kept) { kept = fail(ErrorCode::not_found, "{}", *line.missing); });
    if (line.failed)
      outcome->with([&](Outcome& kept) {
        kept = fail(ErrorCode::internal, "The chat failed: {}", *line.failed);
      });
  };
  WEFT_ASSIGN(chat->script_,
              ChildProcess::start(
                  {.arguments = std::move(arguments), .environment = {}, .on_line = on_line}));
  return chat;
}

DemoChat::~DemoChat() {
  if (script_) script_->stop(stop_max);
}

std::optional<Result<ChatReport>> DemoChat::done() {
  // The script has ended and all its lines were received.
  if (script_ && !script_->running()) script_.reset();
  auto outcome = outcome_->with([](Outcome& kept) { return kept; });
  if (!outcome && !script_)
    return Result<ChatReport>(
        fail(ErrorCode::internal, "The chat's script ended without reporting a result."));
  return outcome;
}

}  // namespace weft::cli
