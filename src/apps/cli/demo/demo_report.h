// The report at the end of the demo: the worker of each task, the quorum, roots and balances.
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
  std::string killed_worker;  // Key of the worker that was killed.
  std::vector<protocol::api::Job> jobs;
  std::vector<protocol::api::Tasks> tasks;  // The tasks of each job.
  protocol::api::Workers workers;
  protocol::api::Ledger ledger;
  std::filesystem::path png;       // Absolute path of the picture.
  std::optional<ChatReport> chat;  // nullopt if there was no chat.
};

// Prints to standard output: tables, or one line of JSON.
void print(const DemoReport& report, bool json);

// Prints a stage of the demo to standard error.
void say(std::string_view text);

}  // namespace weft::cli
