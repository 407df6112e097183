#include "apps/cli/demo/demo_report.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <glaze/glaze.hpp>

#include "common/base/format.h"
#include "common/json/quote.h"

namespace weft::cli {
namespace {

namespace api = protocol::api;

double credits(MicroCredits amount) { return static_cast<double>(amount) * 1e-6; }

std::string short_key(const std::string& key) {
  return key.size() > 10 ? key.substr(0, 8) + ".." : key;
}

void print_workers(const DemoReport& report) {
  // For each worker and job, the number of the worker's agreeing replicas.
  std::map<std::string, std::map<std::string, int>> ran;
  for (std::size_t i = 0; i < report.tasks.size(); ++i) {
    for (const api::Task& task : report.tasks[i].tasks) {
      for (const api::TaskReplica& replica : task.replicas) {
        if (replica.agreed) ++ran[replica.worker][report.jobs[i].name];
      }
    }
  }
  std::printf("\nWho ran what\n");
  for (const api::Worker& worker : report.workers.workers) {
    std::string jobs;
    for (const auto& [job, count] : ran[worker.key])
      jobs += weft::format("{}{} x {}", jobs.empty() ? "" : ", ", count, job);
    std::printf("  %-8s %-10s %12.6f credits  %s%s  (%s)\n", worker.kind.c_str(),
                short_key(worker.key).c_str(), credits(worker.balance),
                jobs.empty() ? "nothing" : jobs.c_str(),
                worker.key == report.killed_worker ? ", then killed" : "",
                worker.description.c_str());
  }
}

void print_jobs(const DemoReport& report) {
  std::printf("\nWhat the quorum said\n");
  for (std::size_t i = 0; i < report.jobs.size(); ++i) {
    const api::Job& job = report.jobs[i];
    std::size_t agreed = 0;
    std::size_t refused = 0;
    for (const api::Task& task : report.tasks[i].tasks) {
      for (const api::TaskReplica& replica : task.replicas) ++(replica.agreed ? agreed : refused);
    }
    std::printf("  %-12s %u of %u tasks accepted, %u replicas each: %zu agree, %zu not paid\n",
                job.name.c_str(), job.accepted, job.tasks, job.replicas, agreed, refused);
    std::printf("  %-12s Merkle root %s, price %.6f credits\n", "", job.root.c_str(),
                credits(job.price));
  }
}

void print_ledger(const DemoReport& report) {
  std::printf("\nThe ledger\n");
  for (const api::Balance& balance : report.ledger.balances)
    std::printf("  %-54s %16.6f\n", balance.account.c_str(), credits(balance.amount));
  std::printf("  %-54s %16.6f\n", "sum", credits(report.ledger.sum));
}

void print_chat(const ChatReport& chat) {
  std::string chain;
  for (const std::string& worker : chat.workers)
    chain += (chain.empty() ? "" : " > ") + short_key(worker);
  std::printf("\nThe question\n  What is the capital of Japan?  %s\n", chat.answer.c_str());
  std::printf(
      "  %u tokens, the same as `weft generate` has, by a chain of %u tabs (%s at the end) over "
      "%s\n",
      chat.tokens, chat.shards, chain.c_str(), chat.transport.c_str());
  std::printf(
      "  one tab was closed in the middle; the answer continued in the standby tab after %.2f "
      "s\n",
      chat.pause_ms * 1e-3);
}

std::string json_of(const std::optional<ChatReport>& chat) {
  std::string text;
  (void)glz::write_json(chat, text);  // Cannot fail: strings and numbers only.
  return text;
}

std::string json_line(const DemoReport& report) {
  std::string jobs;
  for (const api::Job& job : report.jobs) {
    jobs += weft::format(R"({}{{"id":"{}","tasks":{},"accepted":{},"root":"{}"}})",
                         jobs.empty() ? "" : ",", job.id, job.tasks, job.accepted, job.root);
  }
  std::string workers;
  for (const api::Worker& worker : report.workers.workers) {
    workers +=
        weft::format(R"({}{{"kind":"{}","tasks":{},"credits":{:.6f}}})", workers.empty() ? "" : ",",
                     worker.kind, worker.accepted, credits(worker.balance));
  }
  return weft::format(R"({{"jobs":[{}],"workers":[{}],"ledger_sum":{},"png":{},"chat":{}}})", jobs,
                      workers, report.ledger.sum, json::quote(report.png.string()),
                      json_of(report.chat));
}

}  // namespace

void print(const DemoReport& report, bool json) {
  if (json) {
    std::printf("%s\n", json_line(report).c_str());
  } else {
    print_workers(report);
    print_jobs(report);
    print_ledger(report);
    if (report.chat) print_chat(*report.chat);
    std::printf("\nPicture  %s\nPage     %s\n", report.png.c_str(), report.url.c_str());
  }
  std::fflush(stdout);
}

void say(std::string_view text) {
  std::fprintf(stderr, "weft demo: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace weft::cli
