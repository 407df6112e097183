#include "fuzz/sessions/workers.h"

#include <algorithm>
#include <array>

#include "common/base/format.h"
#include "common/crypto/sha256.h"
#include "common/proof/merkle.h"
#include "common/proof/receipt.h"
#include "common/protocol/digests.h"
#include "common/protocol/messages.h"
#include "common/protocol/result_frame.h"
#include "common/protocol/test_samples.h"
#include "common/protocol/versions.h"
#include "fuzz/sessions/mutate.h"
#include "fuzz/sessions/work.h"

namespace weft::sessions {

namespace {

ByteVector state_of(const TaskId& task, std::uint64_t filling) {
  ByteVector bytes;
  append(bytes, as_bytes(std::string_view("weftckp1")));
  append(bytes, task.job.span());
  append_le(bytes, task.index);
  append_le(bytes, filling);
  return bytes;
}

}  // namespace

void Worker::forget() {
  leave();
  token_.clear();
  if (world_.random.chance(30)) held_.clear();
}

void Worker::connect(Conduct conduct) {
  greeted_ = false;
  token_.clear();
  line_ =
      std::make_unique<WebSocket>(world_.coordinator.at(), address(), "/v1/worker", world_.host());
  auto& random = world_.random;
  hello_ = {};
  hello_.versions = {protocol::version};
  hello_.key = key().public_key();
  hello_.software = "sessions";
  hello_.slots = 1 + static_cast<std::uint32_t>(random.below(4));
  hello_.capabilities.memory_bytes = std::uint64_t{1} << 30;
  hello_.capabilities.f32_gflop_per_s = 1000;
  hello_.capabilities.features = {"shader-f16", "subgroups"};
  if (conduct == Conduct::honest) return;
  if (random.chance(30)) hello_.kind = protocol::WorkerKind::browser;
  if (random.chance(15)) hello_.versions = {static_cast<std::uint32_t>(random.below(5)), 3};
  if (random.chance(15)) hello_.versions = protocol::version_list();
  if (random.chance(10)) hello_.versions = {protocol::spoken_versions.first};
  if (random.chance(15)) hello_.slots = static_cast<std::uint32_t>(random.number());
  if (random.chance(15)) hello_.slice_memory_bytes = random.any();
  if (random.chance(15)) hello_.capabilities.f32_gflop_per_s = random.chance(50) ? 1e300 : 0;
  if (random.chance(15)) hello_.capabilities.device = protocol::DeviceKind::cpu;
  if (random.chance(10)) hello_.capabilities = protocol::sample_capabilities();
}

void Worker::pump(Conduct conduct) {
  if (!line_) return;
  const bool open =
      line_->pump(world_.random, [&](const std::string& text) { hear(text, conduct); });
  if (!line_) return;
  if (line_->is_upgraded && !greeted_) {
    greeted_ = true;
    if (conduct == Conduct::honest || !world_.random.chance(4)) say(hello_, conduct);
  }
  if (!open) {
    token_.clear();
    line_.reset();
  }
}

void Worker::say(const protocol::WorkerMessage& message, Conduct conduct) {
  if (!line_) return;
  auto& random = world_.random;
  ++world_.events;
  std::string text = protocol::encode(message);
  if (conduct == Conduct::any && random.chance(4)) text = mutate_json(std::move(text), random);
  line_->send(1, text, random, conduct == Conduct::any && random.chance(1));
}

void Worker::put(const ByteVector& bytes) {
  world_.ask(
      {.method = "PUT",
       .target = "/v1/blobs/" + crypto::sha256(bytes).text(),
       .headers = {{"authorization", "Bearer " + token_},
                   {"content-type", "application/octet-stream"}},
       .body = std::string(as_text(bytes))},
      [](const auto&) {}, address());
}

void Worker::resume(Conduct conduct) {
  protocol::Resume shown;
  for (const auto& [lease, held] : held_)
    shown.held.push_back({.task = lease.first, .attempt = lease.second, .proof = held.task.proof});
  auto& random = world_.random;
  if (conduct == Conduct::any) {
    if (random.chance(20))
      shown.held.push_back(
          {.task = some_held().task.index < 9 ? TaskId{some_held().job, 0} : TaskId{},
           .attempt = 1});
    for (auto& each : shown.held) {
      if (random.chance(10)) each.proof.bytes[0] ^= 1;
      if (random.chance(5)) each.attempt += 1;
    }
    if (random.chance(10) && !shown.held.empty()) shown.held.push_back(shown.held.front());
  }
  if (!shown.held.empty()) say(shown, conduct);
}

void Worker::hear(const std::string& text, Conduct conduct) {
  auto& random = world_.random;
  const auto message = protocol::decode_coordinator_message(text);
  // A worker of another version gets an error in the form of that version.
  if (!message) {
    if (!text.contains("\"type\":\"error\""))
      world_.fail("The coordinator says what is no message: " + text.substr(0, 300));
    return;
  }
  const bool honest = conduct == Conduct::honest;
  ++world_.counts[weft::format("told {}", text.substr(0, text.find(',')))];
  if (const auto* verdict = std::get_if<protocol::Verdict>(&*message))
    ++world_.counts[verdict->accepted ? "accepted" : "refused: " + verdict->reason.substr(0, 60)];
  if (const auto* error = std::get_if<protocol::ErrorMessage>(&*message))
    ++world_.counts["error: " + error->message.substr(0, 60)];
  if (const auto* asked = std::get_if<protocol::Challenge>(&*message)) {
    challenge_ = *asked;
    protocol::Prove proof{.signature = key().sign_now(protocol::hello_digest(
                              asked->coordinator, asked->nonce, key().public_key()))};
    if (honest) {
      proof.invite = world_.verifiers_invitation();
    } else if (random.chance(40)) {
      proof.invite = world_.invitation(random.chance(5));
    }
    if (!honest && random.chance(4)) proof.signature.bytes[5] ^= 1;
    if (honest || !random.chance(4)) say(proof, conduct);
  } else if (const auto* welcome = std::get_if<protocol::Welcome>(&*message)) {
    token_ = welcome->blob_token;
    if (honest || random.chance(70)) resume(conduct);
    if (honest) deliver_held();
  } else if (const auto* lease = std::get_if<protocol::Lease>(&*message)) {
    for (const auto& task : lease->tasks)
      held_[{TaskId{.job = lease->job, .index = task.index}, task.attempt}] = {lease->job, task};
    if (honest) {
      for (const auto& task : lease->tasks) deliver({lease->job, task}, conduct);
    }
  } else if (const auto* verdict = std::get_if<protocol::Verdict>(&*message)) {
    if (verdict->accepted) ++right_answers;
    held_.erase({verdict->task, verdict->attempt});
  } else if (const auto* cancel = std::get_if<protocol::Cancel>(&*message)) {
    for (const auto& task : cancel->tasks) {
      if (honest || random.chance(80)) held_.erase({task.task, task.attempt});
    }
  } else if (const auto* asked_open = std::get_if<protocol::OpenChunks>(&*message)) {
    if (honest || random.chance(80)) open(*asked_open, conduct);
  } else if (const auto* asked_states = std::get_if<protocol::OpenStates>(&*message)) {
    if (honest || random.chance(80)) show_states(*asked_states, conduct);
  } else if (const auto* yield = std::get_if<protocol::Yield>(&*message)) {
    for (const auto& task : yield->tasks) {
      const auto found = held_.find({task.task, task.attempt});
      if (found != held_.end() && !honest && random.chance(70)) save_state(found->second);
    }
  }
}

void Worker::open(const protocol::OpenChunks& asked, Conduct conduct) {
  auto& random = world_.random;
  protocol::Opening opening{.task = asked.task, .attempt = asked.attempt, .roots = {}, .paths = {}};
  const auto found = delivered_.find({asked.task, asked.attempt});
  if (found != delivered_.end()) {
    for (const ByteVector& output : found->second)
      opening.roots.push_back(proof::output_root(output));
    for (const auto& [output, chunk] : asked.chunks) {
      if (output >= found->second.size()) continue;
      const auto path = proof::inclusion_path(found->second[output], chunk);
      if (path)
        opening.paths.push_back(
            {.output = output, .chunk = chunk, .chunks = path->chunks, .siblings = path->siblings});
    }
  }
  if (conduct == Conduct::any && random.chance(20) && !opening.roots.empty())
    opening.roots[0].bytes[0] ^= 1;
  if (conduct == Conduct::any && random.chance(20) && !opening.paths.empty())
    opening.paths.pop_back();
  say(opening, conduct);
}

// A worker of this fuzzer keeps no states of steps. One that is not honest invents some.
void Worker::show_states(const protocol::OpenStates& asked, Conduct conduct) {
  auto& random = world_.random;
  protocol::States shown{.task = asked.task, .attempt = asked.attempt, .states = {}};
  for (const std::uint32_t group : asked.groups) {
    protocol::StepState state{.group = group, .blob = {}, .bytes = 0};
    if (conduct == Conduct::any && random.chance(60)) {
      const ByteVector bytes = state_of(asked.task, random.below(3));
      if (random.chance(90)) put(bytes);
      state.blob = crypto::sha256(bytes);
      state.bytes = random.chance(95) ? bytes.size() : random.any();
    }
    if (conduct == Conduct::any && random.chance(5)) state.group = 0;
    shown.states.push_back(state);
  }
  if (conduct == Conduct::any && random.chance(10) && !shown.states.empty())
    shown.states.pop_back();
  say(shown, conduct);
}

void Worker::deliver(const Held& held, Conduct conduct) {
  if (!line_) return;
  auto& random = world_.random;
  const bool honest = conduct == Conduct::honest;
  const TaskId id{.job = held.job, .index = held.task.index};
  const auto known = std::ranges::find(world_.jobs, held.job.text(), &KnownJob::id);
  const auto wrong = [&](std::size_t percent) { return !honest && random.chance(percent); };
  if (known == world_.jobs.end() || !known->manifest || wrong(5)) {
    held_.erase({id, held.task.attempt});
    return say(protocol::TaskFailed{.task = id,
                                    .attempt = held.task.attempt,
                                    .code = random.chance(70) ? "internal" : "invalid_argument",
                                    .message = "It does not compile."},
               conduct);
  }
  auto outputs = right_outputs(*known->manifest, {held.task.first, held.task.count});
  if (outputs.empty()) outputs.emplace_back();
  if (wrong(12) && !outputs[0].empty()) outputs[0][random.below(outputs[0].size())] ^= 0x40;
  if (wrong(3)) outputs[0].push_back(1);
  if (wrong(2)) outputs.pop_back();
  if (wrong(2)) outputs.emplace_back(4, 0);
  protocol::ResultFrame frame;
  frame.result = {.task = id,
                  .attempt = held.task.attempt,
                  .root = proof::task_root(outputs),
                  .outputs = {},
                  .gpu_seconds = wrong(5) ? 1e18 : 0.001,
                  .wall_seconds = 0.001,
                  .resumed = wrong(5) ? 0.5 : 0};
  for (const ByteVector& output : outputs) {
    const bool in_frame = output.size() <= protocol::inline_output_bytes_max && !wrong(10);
    frame.result.outputs.push_back(
        {.hash = crypto::sha256(output), .bytes = output.size(), .in_frame = in_frame});
    if (in_frame) {
      append(frame.payload, output);
    } else if (!wrong(10)) {
      put(output);
      for (int i = 0; i < 5; ++i) world_.pump(std::chrono::milliseconds(2));
    }
  }
  if (wrong(3)) frame.result.root.bytes[0] ^= 1;
  if (wrong(3) && !outputs.empty()) frame.result.outputs[0].hash.bytes[0] ^= 1;
  if (wrong(3) && !outputs.empty() && !frame.result.outputs[0].in_frame)
    frame.result.outputs[0].bytes += 1;
  if (wrong(held.task.step_roots ? 60 : 3))
    frame.result.step_roots.resize(held.task.step_roots ? 1 + random.below(8) : random.below(34));
  if (wrong(3)) frame.result.attempt += 1;
  if (wrong(3)) frame.result.task.index += 1;
  delivered_[{id, held.task.attempt}] = outputs;

  auto encoded = protocol::encode_frame(frame);
  if (!encoded) return;
  std::string bytes(as_text(*encoded));
  if (wrong(3)) bytes = mutate_bytes(std::move(bytes), random);
  if (wrong(4)) bytes = mutate_frame(std::move(bytes), random);
  const manifest::Range leased{.first = held.task.first, .count = held.task.count};
  const bool part = leased != manifest::task_range(*known->manifest, held.task.index);
  proof::Claim claim{.task = id, .attempt = held.task.attempt, .root = frame.result.root};
  if (part != wrong(3)) {
    claim.first = held.task.first;
    claim.count = held.task.count;
  }
  if (wrong(3)) claim.root.bytes[7] ^= 1;
  protocol::Receipt receipt;
  receipt.items.push_back({.task = id,
                           .attempt = held.task.attempt,
                           .root = claim.root,
                           .first = claim.first,
                           .count = claim.count});
  auto digest = proof::receipt_digest({.genesis = challenge_.genesis,
                                       .program = challenge_.program,
                                       .coordinator = challenge_.coordinator,
                                       .session = challenge_.nonce,
                                       .worker = hello_.nonce},
                                      std::vector<proof::Claim>{claim});
  if (wrong(3)) digest.bytes[0] ^= 1;
  receipt.signature = key().sign_now(digest.span());
  const bool receipt_first = wrong(10);
  if (receipt_first) say(receipt, conduct);
  for (int times = wrong(10) ? 2 : 1; times > 0; --times) {
    ++world_.events;
    line_->send(2, bytes, random, wrong(1));
    if (!receipt_first && !wrong(4)) say(receipt, conduct);
    if (!line_) return;
  }
}

// Delivers right results of all held tasks. A result that was handed in before changes nothing.
void Worker::deliver_held() {
  const auto held = held_;
  for (const auto& [lease, each] : held) deliver(each, Conduct::honest);
}

void Worker::save_state(const Held& held) {
  auto& random = world_.random;
  const TaskId id{.job = held.job, .index = held.task.index};
  const ByteVector state = state_of(random.chance(90) ? id : TaskId{}, random.below(3));
  if (random.chance(90)) {
    put(state);
    for (int i = 0; i < 3; ++i) world_.pump(std::chrono::milliseconds(2));
  }
  const std::uint32_t of = random.chance(90) ? 100 : static_cast<std::uint32_t>(random.number());
  say(protocol::Checkpoint{.task = id,
                           .attempt = held.task.attempt,
                           .blob = crypto::sha256(state),
                           .bytes = random.chance(95) ? state.size() : 1,
                           .done = static_cast<std::uint32_t>(random.chance(90) ? random.below(100)
                                                                                : random.number()),
                           .of = of,
                           .stopped = random.chance(25)},
      Conduct::any);
}

Worker::Held Worker::some_held() {
  auto& random = world_.random;
  if (!held_.empty() && random.chance(85))
    return std::next(held_.begin(), static_cast<std::ptrdiff_t>(random.below(held_.size())))
        ->second;
  Held out{.job = {}, .task = {}};
  if (!world_.jobs.empty()) out.job = JobId::parse(random.pick(world_.jobs).id).value();
  out.task.index = static_cast<std::uint32_t>(random.below(10));
  out.task.attempt = static_cast<std::uint32_t>(random.below(3));
  out.task.count = 1;
  return out;
}

// Sends a message out of order, about held tasks or others.
void Worker::say_anything() {
  auto& random = world_.random;
  const Held held = some_held();
  const TaskId id{.job = held.job, .index = held.task.index};
  switch (random.below(16)) {
    case 0:
      return say(protocol::Slots{.slots = static_cast<std::uint32_t>(random.number())},
                 Conduct::any);
    case 1:
      return say(hello_, Conduct::any);
    case 2:
      return say(protocol::Prove{}, Conduct::any);
    case 3:
      return resume(Conduct::any);
    case 4:
      return open({.task = id, .attempt = held.task.attempt, .chunks = {{0, 0}}}, Conduct::any);
    case 5:
      return say(protocol::ErrorMessage{.code = "internal", .message = "x"}, Conduct::any);
    case 6:
      return say(protocol::Bye{.reason = "It goes."}, Conduct::any);
    case 7: {
      auto samples = protocol::sample_worker_messages();
      return say(random.pick(samples), Conduct::any);
    }
    case 8: {
      auto frame = protocol::encode_frame(
          {.result = protocol::sample_result(), .payload = ByteVector(5, 1)});
      if (frame) line_->send(2, as_text(*frame), random);
      return;
    }
    case 9:
      return line_->send(static_cast<std::uint8_t>(1 + random.below(2)),
                         random.bytes(random.below(3'000)), random);
    case 10:
      return line_->send(static_cast<std::uint8_t>(random.below(16)),
                         random.bytes(random.below(200)), random, true);
    case 11:
      return line_->send(1, std::string(random.below(1'200'000), 'x'), random);
    case 12:
      return say(protocol::TaskFailed{.task = id,
                                      .attempt = held.task.attempt,
                                      .code = "x",
                                      .message = std::string(random.below(6'000), 'm')},
                 Conduct::any);
    case 13:
      return say(
          protocol::Receipt{.items = {{.task = id, .attempt = 1, .root = {}}}, .signature = {}},
          Conduct::any);
    case 14:
      return show_states({.task = id, .attempt = held.task.attempt, .groups = {1, 2}},
                         Conduct::any);
    default:
      return save_state(held);
  }
}

void Worker::act(Conduct conduct) {
  auto& random = world_.random;
  if (!line_) {
    if (conduct == Conduct::honest || random.chance(80)) connect(conduct);
    return;
  }
  if (conduct == Conduct::honest) {
    if (!token_.empty() && random.chance(30)) deliver_held();
    return say(protocol::Beat{}, conduct);
  }
  if (random.chance(2)) return line_->line.reset();
  if (random.chance(2)) return leave();
  if (token_.empty()) {
    if (random.chance(8)) say_anything();
    return;
  }
  const std::size_t act = random.below(100);
  if (act < 65 && !held_.empty()) {
    // Sometimes the lease is answered once more later.
    const auto one =
        std::next(held_.begin(), static_cast<std::ptrdiff_t>(random.below(held_.size())));
    const Held held = one->second;
    if (random.chance(85)) held_.erase(one);
    deliver(held, conduct);
  } else if (act < 85) {
    say(protocol::Beat{.running = static_cast<std::uint32_t>(held_.size())}, conduct);
  } else if (act < 89 && !held_.empty()) {
    save_state(some_held());
  } else {
    say_anything();
  }
}

}  // namespace weft::sessions
