#include "apps/cli/commands/verdict.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/wallet_choice.h"
#include "common/base/counted.h"
#include "common/base/format.h"
#include "common/base/ids.h"

namespace weft::cli {
namespace {

namespace api = protocol::api;

// The job, task or worker that the user asks about.
struct Wanted {
  std::string job;
  std::optional<std::uint32_t> task;
  std::string worker;
};

Result<Wanted> read_id(const std::string& id) {
  const auto slash = id.find('/');
  if (const auto job = JobId::parse(id.substr(0, slash))) {
    Wanted wanted{.job = job->text(), .task = {}, .worker = {}};
    if (slash == std::string::npos) return wanted;
    std::uint32_t index = 0;
    const auto [end, error] = std::from_chars(id.data() + slash + 1, id.data() + id.size(), index);
    if (error != std::errc() || end != id.data() + id.size())
      return fail(ErrorCode::invalid_argument, "\"{}\" is not a task's number: JOB/INDEX.",
                  id.substr(slash + 1));
    wanted.task = index;
    return wanted;
  }
  if (const auto worker = PublicKey::parse(id))
    return Wanted{.job = {}, .task = {}, .worker = worker->text()};
  return fail(ErrorCode::invalid_argument,
              "\"{}\" is neither a job's id (32 hexadecimal digits), nor a task (JOB/INDEX), nor a "
              "worker's key (base58).",
              id);
}

std::string time_text(std::int64_t millis) {
  const std::time_t seconds = millis / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return text.data();
}

std::string text_of(const std::vector<api::VerdictRange>& ranges) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t i = 0; i < ranges.size() && i < shown; ++i) {
    const auto& range = ranges[i];
    text += weft::format("{}{}", text.empty() ? "" : ", ", range.first);
    if (range.count > 1) text += weft::format("..{}", range.first + range.count - 1);
  }
  if (ranges.size() > shown) text += weft::format(" and {} more", ranges.size() - shown);
  return text;
}

std::string text_of(const api::VerdictCheck& check, bool names_worker) {
  std::string text = weft::format("{}  task {}  {} by {}: ", time_text(check.time), check.task,
                                  check.kind, check.by.empty() ? "the coordinator" : check.by);
  text += check.outcome == "agrees" ? "agrees" : check.outcome == "differs" ? "differs" : "failed";
  if (names_worker) text += weft::format(" with what {} handed in", check.worker);
  if (!check.ranges.empty()) text += weft::format(", workgroups {}", text_of(check.ranges));
  if (!check.wrong.empty()) text += weft::format(" (wrong in {})", text_of(check.wrong));
  if (!check.reason.empty()) text += weft::format(" ({})", check.reason);
  return text;
}

void print(const api::Verdict& verdict, const Wanted& wanted) {
  if (!verdict.worker.empty()) {
    std::printf("worker %s  %s of the last 30 days\n", verdict.worker.c_str(),
                counted(verdict.checks.size(), "check").c_str());
    for (const auto& check : verdict.checks)
      std::printf("  job %s  %s\n", check.job.c_str(), text_of(check, false).c_str());
    return;
  }
  if (wanted.task)
    std::printf("task %u of job %s\n", *wanted.task, verdict.job.c_str());
  else
    std::printf("job %s  %s\n", verdict.job.c_str(), verdict.state.c_str());
  std::printf("%s\n",
              verdict.decided.empty() ? "No result is accepted yet." : verdict.decided.c_str());
  for (const auto& task : verdict.tasks) {
    if (!wanted.task) break;
    std::printf("root      %s\nbytes of  %s\naccepted  %s\n", task.root.c_str(),
                task.worker.empty() ? "the coordinator" : task.worker.c_str(),
                time_text(task.accepted).c_str());
    for (const auto& receipt : task.receipts)
      std::printf("receipt   %s of %s for root %s%s\n", receipt.receipt.c_str(),
                  receipt.worker.c_str(), receipt.root.c_str(), receipt.paid ? ", paid" : "");
  }
  for (const auto& each : verdict.corrections)
    std::printf("correction  task %u of %s, %s: %s\n", each.task, each.worker.c_str(),
                time_text(each.time).c_str(),
                each.replaced
                    ? weft::format("the result with the root {} was wrong and is replaced; "
                                   "{:.6f} credits are returned",
                                   each.was, static_cast<double>(each.refunded) * 1e-6)
                          .c_str()
                    : weft::format("not computed again: {}", each.reason).c_str());
  std::printf("%s\n", verdict.checks.empty()
                          ? "No part of it was computed again in the last 30 days."
                          : "Computed again:");
  for (const auto& check : verdict.checks) std::printf("  %s\n", text_of(check, true).c_str());
  if (!verdict.tasks.empty())
    std::printf("Repeat it with the manifest that was submitted: weft run MANIFEST --tasks %u\n",
                wanted.task ? *wanted.task : verdict.tasks.front().task);
}

// Reads as a worker, which sees the decisions about its own results.
Result<api::Verdict> as_worker(ApiClient& client, const Wanted& wanted, const std::string& key) {
  WEFT_ASSIGN(api::Verdict verdict, client.verdict_of_worker(key));
  std::erase_if(verdict.checks, [&](const auto& check) {
    return check.job != wanted.job || (wanted.task && check.task != *wanted.task);
  });
  return verdict;
}

Result<> run(const VerdictOptions& options) {
  WEFT_ASSIGN(const Wanted wanted, read_id(options.id));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_OK(client->coordinator());
  WEFT_ASSIGN(
      const crypto::KeyPair wallet,
      wallet_there(options.data.empty() ? options.wallet : options.data / "coordinator.json"));
  WEFT_OK(client->read_as(wallet));
  auto verdict = wanted.worker.empty() ? client->verdict(wanted.job, wanted.task)
                                       : client->verdict_of_worker(wanted.worker);
  if (!verdict && wanted.worker.empty() && verdict.error().code == ErrorCode::permission_denied) {
    auto own = as_worker(*client, wanted, wallet.public_key().text());
    if (own && !own->checks.empty()) verdict = std::move(own);
  }
  if (!verdict) return std::unexpected(verdict.error());
  if (options.json)
    std::printf("%s\n", api::to_json(*verdict).c_str());
  else
    print(*verdict, wanted);
  return {};
}

}  // namespace

int verdict_command(const VerdictOptions& options) {
  const Result<> done = run(options);
  return done ? 0 : report("verdict", done.error());
}

}  // namespace weft::cli
