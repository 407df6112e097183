// What the demo says at its end: who ran what, what the quorum said, roots, balances.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/demo/demo_chat.h"
#include "common/protocol/api.h"

namespace weft::cli {

struct DemoReport {
  std::string url;
  std::string killed_worker;  // Its key.
  std::vector<protocol::api::Job> jobs;
  std::vector<protocol::api::Tasks> tasks;  // For each job.
  protocol::api::Workers workers;
  protocol::api::Ledger ledger;
  std::filesystem::path png;       // Absolute.
  std::optional<ChatReport> chat;  // Nothing where it was left out.
};

// To standard output: tables for a person, or one line of JSON.
void print(const DemoReport& report, bool json);

// A stage of the demo, to standard error.
void say(std::string_view text);

}  // namespace weft::cli
