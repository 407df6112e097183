// The demo's chat: three tabs serve a small model as a chain over WebRTC, a fourth stands by, one
// is closed in the middle of an answer. A script under Node (scripts/demo-chat.mjs) drives the tabs
// and the official OpenAI client, as a user of both would; here is its process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/child_process.h"
#include "common/base/guarded.h"
#include "common/base/result.h"

namespace weft::cli {

struct ChatReport {
  std::string answer;
  std::uint32_t shards = 0;   // Members of the chain that began the answer.
  std::string transport;      // How hidden states went from tab to tab.
  std::uint32_t resumed = 0;  // Times that the answer continued after a loss.
  std::uint32_t tokens =
      0;  // The same as `weft generate` has on this machine; otherwise the demo fails.
  std::uint32_t pause_ms = 0;
  std::vector<std::string> workers;  // Workers that ended it, in the chain's order.
};

class DemoChat {
 public:
  struct Options {
    std::string coordinator;
    std::filesystem::path scratch;
    bool stay = false;                               // The tabs stay open until this object ends.
    std::function<void(std::string_view text)> say;  // What goes on. On another thread.
    std::function<void(std::string_view line)>
        log;  // What else the script prints. On another thread.
  };
  // not_found, in one line, where this machine or this clone lacks what it needs: Node, Chromium,
  // the model, the page's packages.
  [[nodiscard]] static Result<std::unique_ptr<DemoChat>> start(Options options);
  ~DemoChat();

  // Once it is over: the report, or why there is none; not_found as above.
  [[nodiscard]] std::optional<Result<ChatReport>> done();

 private:
  using Outcome = std::optional<Result<ChatReport>>;
  DemoChat() = default;

  std::shared_ptr<Guarded<Outcome>> outcome_ = std::make_shared<Guarded<Outcome>>();
  std::unique_ptr<ChildProcess> script_;
};

}  // namespace weft::cli
