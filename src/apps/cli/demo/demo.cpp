#include "apps/cli/demo/demo.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "apps/cli/api_client.h"
#include "apps/cli/demo/demo_chat.h"
#include "apps/cli/demo/demo_network.h"
#include "apps/cli/demo/demo_report.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/installation.h"
#include "apps/cli/interruption.h"
#include "apps/cli/picture.h"
#include "apps/cli/portable_manifest.h"
#include "apps/cli/progress.h"
#include "common/base/format.h"
#include "common/crypto/ordered_id.h"

namespace weft::cli {
namespace {

namespace api = protocol::api;

constexpr auto job_max = std::chrono::seconds(120);
constexpr auto chat_max = std::chrono::seconds(300);
constexpr auto poll_every = std::chrono::milliseconds(10);
constexpr std::size_t killed_worker = 1;

// Submits an example through the interface that `weft submit` uses, with the file unchanged.
Result<std::string> submit(DemoNetwork& network, const crypto::KeyPair& client,
                           const std::filesystem::path& file) {
  WEFT_ASSIGN(const std::string text, portable_manifest(file, network.api(), client));
  WEFT_ASSIGN(const api::Submitted submitted,
              network.api().submit(text, client, crypto::ordered_id()));
  return submitted.id;
}

// Follows the jobs to their end. Calls `half_way` once, when half of the first job's tasks are
// accepted.
Result<std::vector<api::Job>> follow(DemoNetwork& network, const std::vector<std::string>& ids,
                                     const std::function<void()>& half_way) {
  Progress progress("weft demo: tasks");
  bool passed_half = false;
  const Instant give_up = now() + job_max;
  for (;;) {
    std::vector<api::Job> jobs;
    std::uint32_t done = 0;
    std::uint32_t total = 0;
    for (const std::string& id : ids) {
      WEFT_ASSIGN(api::Job job, network.api().job(id));
      done += job.accepted;
      total += job.tasks;
      jobs.push_back(std::move(job));
    }
    progress.show(done, total, "accepted");
    if (!passed_half && 2 * jobs.front().accepted >= jobs.front().tasks) {
      passed_half = true;
      half_way();
    }
    if (std::ranges::none_of(jobs, [](const api::Job& job) { return job.state == "running"; }))
      return jobs;
    if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
    if (now() > give_up)
      return fail(ErrorCode::deadline_exceeded, "The jobs did not end within {}.\n{}", job_max,
                  network.last_words());
    std::this_thread::sleep_for(poll_every);
  }
}

Result<std::filesystem::path> draw(DemoNetwork& network, const api::Job& job,
                                   const DemoOptions& options) {
  WEFT_ASSIGN(const ByteVector pixels, network.api().output(job.id, 0));
  std::filesystem::path file =
      std::filesystem::absolute((options.out.empty() ? "." : options.out) / "mandelbrot.png")
          .lexically_normal();
  WEFT_OK(write_picture(file, pixels, job.outputs.front().type, job.outputs.front().shape));
  return file;
}

// Lets the chat answer its question. Returns nullopt if this machine lacks a requirement of the
// chat.
Result<std::optional<ChatReport>> converse(DemoNetwork& network, std::unique_ptr<DemoChat>& chat,
                                           const DemoOptions& options) {
  const auto without = [](const Error& error) -> Result<std::optional<ChatReport>> {
    if (error.code != ErrorCode::not_found) return std::unexpected(error);
    say(weft::format("without the chat: {}", error.message));
    return std::nullopt;
  };
  say("now a question to a language model, answered by three tabs");
  network.stop_browser();  // The tab is not needed any more; the chat opens four other tabs.
  auto started =
      DemoChat::start({.coordinator = network.url(),
                       .scratch = network.folder(),
                       .stay = options.stay,
                       .say = [](std::string_view text) { say(weft::format("chat: {}", text)); },
                       .log = network.listen_to("chat")});
  if (!started) return without(started.error());
  chat = std::move(*started);
  const Instant give_up = now() + chat_max;
  for (;;) {
    if (auto outcome = chat->done()) {
      if (*outcome) return std::move(**outcome);
      if (outcome->error().code == ErrorCode::not_found) return without(outcome->error());
      return fail(outcome->error().code, "{}\n{}", outcome->error().message, network.last_words());
    }
    if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
    if (now() > give_up)
      return fail(ErrorCode::deadline_exceeded, "The chat did not end within {}.\n{}", chat_max,
                  network.last_words());
    std::this_thread::sleep_for(poll_every);
  }
}

Result<int> demo(const DemoOptions& options) {
  const std::filesystem::path examples =
      options.examples.empty() ? installation_folder() / "examples" : options.examples;
  say(options.browser ? "starting a coordinator, two native workers and a headless Chromium tab"
                      : "starting a coordinator and three native workers");
  WEFT_ASSIGN(const auto network, DemoNetwork::start({.listen = options.listen,
                                                      .native_workers = options.browser ? 2U : 3U,
                                                      .browser = options.browser}));
  say(weft::format("{} is up and all workers have joined", network->url()));

  WEFT_ASSIGN(const crypto::KeyPair client, crypto::KeyPair::generate());
  std::vector<std::string> ids;
  for (const char* name : {"mandelbrot.json", "matmul.json"}) {
    WEFT_ASSIGN(std::string id, submit(*network, client, examples / name));
    say(weft::format("submitted {} as job {}", name, id));
    ids.push_back(std::move(id));
  }
  std::string killed;
  WEFT_ASSIGN(const std::vector<api::Job> jobs, follow(*network, ids, [&] {
                killed = network->kill_native_worker(killed_worker);
                say("half of the picture is accepted: killed one native worker (SIGKILL)");
              }));

  DemoReport report;
  report.url = network->url();
  report.killed_worker = killed;
  report.jobs = jobs;
  for (const api::Job& job : jobs) {
    WEFT_ASSIGN(api::Tasks tasks, network->api().tasks(job.id));
    report.tasks.push_back(std::move(tasks));
    if (job.state != "done" && job.state != "corrected")
      return fail(ErrorCode::internal, "Job {} ended as {}: {}\n{}", job.name, job.state,
                  job.reason, network->last_words());
  }
  WEFT_ASSIGN(report.png, draw(*network, jobs.front(), options));
  WEFT_ASSIGN(report.workers, network->api().workers());
  std::unique_ptr<DemoChat> chat;  // Lives as long as the network, so that its tabs stay open.
  if (options.browser && options.chat) {
    WEFT_ASSIGN(report.chat, converse(*network, chat, options));
  }
  WEFT_ASSIGN(report.ledger, network->api().ledger());
  print(report, options.json);

  if (options.stay) {
    say(weft::format("the network stays up at {}; Ctrl-C ends it", network->url()));
    while (!interrupted()) sleep_unless_interrupted(std::chrono::seconds(1));
  }
  return report.ledger.sum == 0 ? 0 : 1;
}

}  // namespace

int demo_command(const DemoOptions& options) {
  note_interruptions();
  Result<int> code = demo(options);
  return code ? *code : report("demo", code.error());
}

}  // namespace weft::cli
