#include "worker/sandbox/sandbox.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <unistd.h>

#include <sys/wait.h>

#include "common/base/format.h"
#include "worker/sandbox/spawn.h"

namespace weft::worker {
namespace {

constexpr std::size_t said_bytes_max = 2048;
constexpr std::uint64_t small_reply_bytes_max = std::uint64_t{64} << 10;

}  // namespace

Result<std::unique_ptr<Sandbox>> Sandbox::start(const Options& options) {
  std::vector<std::string> words = options.arguments;
  words.insert(words.end(), {std::to_string(child_socket), std::to_string(options.memory_bytes),
                             std::to_string(::getpid())});
  if (options.duty == Duty::texts) words.emplace_back("texts");
  if (options.duty == Duty::detector) words.emplace_back("detector");
  if (options.duty == Duty::detector_on_processor) words.emplace_back("detector-on-processor");
  if (options.adapter) words.push_back(std::to_string(*options.adapter));
  WEFT_ASSIGN(const SpawnedChild child, spawn_child(options.program, words, options.driver));
  return std::unique_ptr<Sandbox>(new Sandbox(options, child.pid, child.socket, child.errors));
}

Sandbox::Sandbox(const Options& options, pid_t pid, int socket, int errors)
    : options_(options), pid_(pid), socket_(socket), errors_(errors) {}

Sandbox::~Sandbox() {
  if (alive_) static_cast<void>(bury({}));
  ::close(socket_);
  ::close(errors_);
}

void Sandbox::kill() {
  process_.with([&](Process& process) {
    if (process.reaped) return;  // The pid may belong to another process by now.
    process.killed_by_us = true;
    ::kill(pid_, SIGKILL);
  });
}

void Sandbox::read_errors() {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(errors_, buffer.data(), buffer.size());
    if (count <= 0) return;
    said_.append(buffer.data(), static_cast<std::size_t>(count));
    if (said_.size() > said_bytes_max) said_.erase(0, said_.size() - said_bytes_max);
  }
}

std::string Sandbox::last_words() {
  read_errors();
  const std::size_t end = said_.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "";
  std::string_view text = std::string_view(said_).substr(0, end + 1);
  // Keeps the last three lines of the text.
  std::size_t begin = text.size();
  for (int lines = 0; lines < 3 && begin != std::string_view::npos && begin > 0; ++lines)
    begin = text.rfind('\n', begin - 1);
  if (begin != std::string_view::npos) text.remove_prefix(begin + 1);
  return weft::format(" It said last: {}", text);
}

bool Sandbox::reap(Reap how, int& status) {
  // WNOWAIT leaves the child as a zombie, so that the lock is held only while its pid is released.
  siginfo_t ignored;
  while (how == Reap::wait &&
         ::waitid(P_PID, static_cast<id_t>(pid_), &ignored, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  return process_.with([&](Process& process) {
    process.reaped = process.reaped || ::waitpid(pid_, &status, WNOHANG) == pid_;
    return process.reaped;
  });
}

Error Sandbox::bury(Error error) {
  alive_ = false;
  // The exit status tells why the child ended if it did so by itself; a running child is killed
  // here.
  int status = 0;
  const bool killed_before =
      process_.with([](const Process& process) { return process.killed_by_us; });
  bool ended = reap(Reap::look, status);
  // The socket closes a moment before waitpid() can see the end.
  for (int i = 0; !ended && error.code == ErrorCode::unavailable && i < 200; ++i) {
    ::usleep(1000);
    ended = reap(Reap::look, status);
  }
  if (!ended) {
    ::kill(pid_, SIGKILL);
    reap(Reap::wait, status);
  }
  if (killed_before) return {ErrorCode::cancelled, "The task was cancelled."};
  if (ended && error.code != ErrorCode::deadline_exceeded) {
    return {ErrorCode::internal,
            weft::format("The sandboxed process {}.{}", describe_end(status), last_words())};
  }
  return error;
}

Result<ByteVector> Sandbox::ask(FrameKind kind, ByteSpan payload, Duration wall_max,
                                std::uint64_t reply_bytes_max) {
  if (!ready_) {
    if (auto ready = wait_ready(); !ready) return pass(std::move(ready));
  }
  if (!alive_)
    return fail(ErrorCode::unavailable,
                "The task cannot run: the sandbox's process ended after an earlier error.");
  const Instant deadline = now() + wall_max;
  const auto listen = [this] { read_errors(); };
  auto written = write_frame(socket_, kind, payload, deadline, listen);
  auto reply = written ? read_frame(socket_, reply_bytes_max, deadline, listen)
                       : Result<Frame>(pass(std::move(written)));
  if (!reply) {
    if (reply.error().code == ErrorCode::deadline_exceeded) {
      reply.error().message =
          weft::format("The task took longer than {} ms and was ended.",
                       std::chrono::duration_cast<std::chrono::milliseconds>(wall_max).count());
    }
    return std::unexpected(bury(std::move(reply.error())));
  }
  if (reply->kind == FrameKind::failed) {
    Error error = unpack_error(reply->payload);
    if (error.code == ErrorCode::device_lost)
      static_cast<void>(bury(error));  // The child ends by itself after this answer.
    return std::unexpected(std::move(error));
  }
  if (reply->kind != FrameKind::done)
    return std::unexpected(
        bury({ErrorCode::internal, "The sandbox answers with a frame of an unknown kind."}));
  return std::move(reply->payload);
}

Result<std::vector<std::string>> Sandbox::wait_ready() {
  if (ready_) return missing_;
  if (!alive_)
    return fail(ErrorCode::unavailable,
                "The task cannot run: the sandbox's process ended after an earlier error.");
  auto frame = read_frame(socket_, small_reply_bytes_max, now() + options_.start_max,
                          [this] { read_errors(); });
  if (!frame) return std::unexpected(bury(std::move(frame.error())));
  if (frame->kind == FrameKind::failed) {
    Error error = unpack_error(frame->payload);
    static_cast<void>(bury(error));
    return std::unexpected(std::move(error));
  }
  auto missing = unpack_missing(frame->payload);
  if (!missing)
    return std::unexpected(
        bury({ErrorCode::internal, "The sandbox's first frame is not complete."}));
  for (MissingPart& part : *missing) {
    if (part.need == MissingPart::Need::required && !options_.unsafe) {
      Error refused{ErrorCode::permission_denied,
                    weft::format("This machine cannot confine strangers' work: {}. "
                                 "--unsafe-sandbox runs it without that protection.",
                                 part.what)};
      static_cast<void>(bury({}));
      return std::unexpected(std::move(refused));
    }
    missing_.push_back(std::move(part.what));
  }
  ready_ = true;
  return missing_;
}

Result<protocol::Capabilities> Sandbox::describe() {
  WEFT_ASSIGN(const ByteVector text,
              ask(FrameKind::describe, {}, options_.start_max, small_reply_bytes_max));
  return protocol::decode_capabilities(as_text(text));
}

Result<std::uint64_t> Sandbox::load(const std::shared_ptr<const exec::Job>& job) {
  const auto known =
      std::ranges::find_if(loaded_, [&](const auto& each) { return each.second.lock() == job; });
  if (known != loaded_.end()) return known->first;
  const std::uint64_t id = next_id_++;
  const ByteVector payload = Packer().number(id).bytes(pack_job(*job)).take();
  auto loaded = ask(FrameKind::load, payload, options_.load_max, small_reply_bytes_max);
  if (!loaded && loaded.error().code == ErrorCode::deadline_exceeded)
    loaded.error().message = "Compiling the shader: " + loaded.error().message;
  loaded_.emplace_back(id, job);
  if (loaded_.size() > loaded_jobs_max) loaded_.pop_front();
  if (!loaded) {
    // The child keeps the job as well, so both lists stay equal. Here the entry is cleared, so that
    // the job is sent and refused again.
    loaded_.back().second.reset();
    return pass(std::move(loaded));
  }
  return id;
}

Result<exec::Output> Sandbox::run(const TaskRun& task) {
  WEFT_ASSIGN(const std::uint64_t id, load(task.job));
  const manifest::Range range = task.options.range;
  Packer packer;
  packer.number(id)
      .number(range.first)
      .number(range.count)
      .number(task.options.piece_workgroups_max);
  packer.number(task.options.step_first)
      .number(task.options.step_count)
      .number(task.options.bytes_max);
  packer.number(task.options.state == nullptr ? 0 : task.options.state->size());
  for (std::size_t i = 0; task.options.state != nullptr && i < task.options.state->size(); ++i)
    packer.bytes((*task.options.state)[i]);
  const ByteVector payload = packer.take();
  WEFT_ASSIGN(const ByteVector reply, ask(FrameKind::run, payload, task.wall_max,
                                          options_.memory_bytes + small_reply_bytes_max));
  auto output = unpack_output(reply);
  if (!output) return std::unexpected(bury(std::move(output.error())));
  return output;
}

Result<> Sandbox::check(const exec::Job& job) {
  exec::Job bare{.manifest = job.manifest, .shader = job.shader, .data = {}};
  auto reply = ask(FrameKind::check, pack_job(bare), options_.load_max, small_reply_bytes_max);
  if (!reply) return pass(std::move(reply));
  return {};
}

Result<ByteVector> Sandbox::ask_service(FrameKind kind, ByteSpan payload, Duration wall_max,
                                        std::uint64_t reply_bytes_max) {
  return ask(kind, payload, wall_max, reply_bytes_max);
}

}  // namespace weft::worker
