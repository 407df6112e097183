// The demo's chat: three tabs serve a small model as a chain over WebRTC, a fourth tab is in
// reserve, and one tab is closed during an answer. This class runs the Node script
// scripts/demo-chat.mjs, which controls the tabs and the official OpenAI client as a user would.
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
  std::uint32_t shards = 0;   // Members of the chain at the start of the answer.
  std::string transport;      // How hidden states were sent from tab to tab.
  std::uint32_t resumed = 0;  // Times that the answer continued after a loss.
  // Number of answer tokens. `weft generate` must draw the same number on this machine, or the demo
  // fails.
  std::uint32_t tokens = 0;
  std::uint32_t pause_ms = 0;
  std::vector<std::string> workers;  // Workers at the answer's end, in the chain's order.
};

class DemoChat {
 public:
  struct Options {
    std::string coordinator;
    std::filesystem::path scratch;
    bool stay = false;                               // Keeps the tabs open until this object ends.
    std::function<void(std::string_view text)> say;  // Called with progress on another thread.
    std::function<void(std::string_view line)>
        log;  // Called with other output of the script, on another thread.
  };
  // Starts the script. Fails with not_found, and a message of one line, if this machine or this
  // clone lacks a requirement: Node, Chromium, the model, or the page's packages.
  [[nodiscard]] static Result<std::unique_ptr<DemoChat>> start(Options options);
  ~DemoChat();

  // The report, or an error, once the chat has ended. Fails with not_found as start() does.
  [[nodiscard]] std::optional<Result<ChatReport>> done();

 private:
  using Outcome = std::optional<Result<ChatReport>>;
  DemoChat() = default;

  std::shared_ptr<Guarded<Outcome>> outcome_ = std::make_shared<Guarded<Outcome>>();
  std::unique_ptr<ChildProcess> script_;
};

}  // namespace weft::cli
