#include "fuzz/sessions/servers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/bytes.h"
#include "common/base/format.h"
#include "common/proof/fingerprint.h"
#include "fuzz/sessions/mutate.h"

namespace weft::sessions {

namespace serving = protocol::serving;

namespace {

std::string print_of(std::uint32_t at, bool wrong) {
  std::array<float, 64> hidden{};
  for (std::size_t i = 0; i < hidden.size(); ++i)
    hidden[i] = std::sin(static_cast<float>(i * 7 + at) + (wrong ? 3.0F : 1.0F));
  return to_base64(proof::fingerprint(hidden).value());
}

}  // namespace

void Server::leave() {
  line_.reset();
  requests_.clear();
  shards_.clear();
  offered_ = false;
}

void Server::say(const serving::ServingWorkerMessage& message) {
  if (!line_) return;
  auto& random = world_.random;
  ++world_.events;
  std::string text = serving::encode(message);
  if (!obliging_ && random.chance(5)) text = mutate_json(std::move(text), random);
  line_->send(1, text, random, !obliging_ && random.chance(1));
}

void Server::pump() {
  if (!line_) return;
  const bool open = line_->pump(world_.random, [&](const std::string& text) { hear(text); });
  if (line_ && line_->is_upgraded && !offered_) {
    offered_ = true;
    auto& random = world_.random;
    serving::Offer offer{.token = worker_.token(),
                         .memory_bytes = std::uint64_t{8} << 30,
                         .gb_per_s = 50,
                         .lines = {}};
    if (random.chance(40)) offer.lines = {"webrtc"};
    if (random.chance(30)) offer.lines.push_back("tcp://127.0.0.1:9#" + std::string(64, 'a'));
    if (!obliging_ && random.chance(10)) offer.token = "x";
    if (!obliging_ && random.chance(10)) offer.memory_bytes = random.any();
    if (!obliging_ && random.chance(10)) offer.gb_per_s = 1e300;
    say(offer);
  }
  if (!open) leave();
}

void Server::hear(const std::string& text) {
  auto& random = world_.random;
  const auto message = serving::decode_coordinator(text);
  if (!message) {
    if (!text.contains("\"type\":\"error\""))
      world_.fail("The coordinator says to a model server what is no message: " +
                  text.substr(0, 300));
    return;
  }
  ++world_.counts[weft::format("server told {}", text.substr(0, text.find(',')))];
  const auto does = [&] { return obliging_ || random.chance(85); };
  if (const auto* load = std::get_if<serving::Load>(&*message)) {
    if (!does()) return;
    if (!obliging_ && random.chance(15))
      return say(serving::Unloaded{.shard = load->shard, .code = "data_loss", .message = "x"});
    shards_.push_back(load->shard);
    say(serving::Loaded{
        .shard = load->shard,
        .seconds = 0.1,
        .memory_bytes = obliging_ ? 1000 : static_cast<std::uint64_t>(random.number()),
        .device = "sessions",
        .sequences = static_cast<std::uint32_t>(random.below(4))});
  } else if (const auto* unload = std::get_if<serving::Unload>(&*message)) {
    std::erase(shards_, unload->shard);
    if (does()) say(serving::Unloaded{.shard = unload->shard, .code = "", .message = ""});
  } else if (const auto* link = std::get_if<serving::Link>(&*message)) {
    link_ = *link;
    if (does())
      say(serving::Linked{.chain = link->chain,
                          .epoch = link->epoch,
                          .line = link->members.size() == 1 ? "self" : "relay",
                          .unreached = {}});
  } else if (const auto* ask = std::get_if<serving::Ask>(&*message)) {
    if (does()) requests_[ask->request] = {.ask = *ask};
  } else if (const auto* drop = std::get_if<serving::Drop>(&*message)) {
    if (does()) requests_.erase(drop->request);
  } else if (const auto* signal = std::get_if<serving::Signal>(&*message)) {
    if (does())
      say(serving::Signal{.chain = signal->chain,
                          .epoch = signal->epoch,
                          .from = signal->to,
                          .to = signal->from,
                          .text = "answer"});
  }
}

// Sends a few tokens of an answer, or the fingerprints of an answer that is read again.
void Server::draw(Request& request) {
  auto& random = world_.random;
  const serving::Ask& ask = request.ask;
  const auto wrong = [&](std::size_t percent) { return !obliging_ && random.chance(percent); };
  serving::Tokens tokens{.request = ask.request,
                         .epoch = ask.epoch,
                         .first = static_cast<std::uint32_t>(ask.answered.size()) + request.drawn,
                         .tokens = {},
                         .prompt_tokens = static_cast<std::uint32_t>(ask.prompt.size()),
                         .prints = {}};
  const auto put = [&](std::uint32_t at) {
    tokens.prints.push_back({.at = at, .data = print_of(at, wrong(10))});
  };
  if (ask.audit) {
    for (std::uint32_t at = 0; at < ask.answered.size(); at += 32) put(at);
    put(static_cast<std::uint32_t>(ask.answered.size()));
  } else {
    for (std::size_t i = 1 + random.below(12); i > 0 && request.drawn < ask.tokens_max; --i) {
      serving::Token token{.id = static_cast<std::int32_t>('a' + random.below(26)),
                           .logprob = -0.5};
      for (std::uint32_t top = 0; top < ask.top; ++top)
        token.top.push_back({.id = static_cast<std::int32_t>(top), .logprob = -1});
      if (wrong(2)) token.id = static_cast<std::int32_t>(random.number());
      if (wrong(2)) token.logprob = -1e300;
      tokens.tokens.push_back(token);
      const std::uint32_t at = tokens.first + static_cast<std::uint32_t>(tokens.tokens.size()) - 1;
      if (ask.prints && at % 32 == 0) put(at);
      ++request.drawn;
    }
  }
  if (wrong(3)) tokens.first += 1;
  if (wrong(3)) tokens.epoch += 1;
  if (wrong(3)) tokens.prompt_tokens = static_cast<std::uint32_t>(random.number());
  const bool ends = ask.audit || request.drawn >= ask.tokens_max || random.chance(30);
  if (ends && ask.prints && !ask.audit)
    put(tokens.first + static_cast<std::uint32_t>(tokens.tokens.size()));
  say(tokens);
  if (!ends) return;
  static constexpr const char* reasons[] = {"eos", "length", "stop", "cancelled", "failed", "x"};
  say(serving::Answered{.request = ask.request,
                        .epoch = ask.epoch,
                        .reason = obliging_ ? (request.drawn >= ask.tokens_max ? "length" : "eos")
                                            : reasons[random.below(6)],
                        .code = "",
                        .message = "",
                        .prompt_tokens = static_cast<std::uint32_t>(ask.prompt.size()),
                        .reused_tokens = 0,
                        .prefill_s = 0.01,
                        .decode_s = 0.01});
  const std::uint32_t number = ask.request;
  requests_.erase(number);
}

void Server::say_anything() {
  auto& random = world_.random;
  const auto number = [&] {
    return static_cast<std::uint32_t>(random.chance(80) ? random.below(4) : random.number());
  };
  const std::uint32_t chain = random.chance(80) ? link_.chain : number();
  const std::uint32_t epoch = random.chance(80) ? link_.epoch : number();
  switch (random.below(14)) {
    case 0:
      return say(serving::Parted{.chain = chain, .epoch = epoch, .member = number()});
    case 1:
      return say(
          serving::Broken{.chain = chain, .epoch = epoch, .member = number(), .message = "slow"});
    case 2:
      return say(
          serving::Linked{.chain = chain, .epoch = epoch, .line = "tcp", .unreached = {number()}});
    case 3:
      return say(serving::Signal{.chain = chain,
                                 .epoch = epoch,
                                 .from = number(),
                                 .to = number(),
                                 .text = std::string(random.below(20'000), 's')});
    case 4:
      return say(serving::Unloaded{.shard = shards_.empty() ? number() : random.pick(shards_),
                                   .code = "internal",
                                   .message = "It is gone."});
    case 5:
      return say(serving::Loaded{.shard = number(),
                                 .seconds = 1,
                                 .memory_bytes = 1,
                                 .device = "d",
                                 .sequences = number()});
    case 6: {
      serving::HopFrame hop{.chain = chain,
                            .epoch = epoch,
                            .from = static_cast<std::uint16_t>(number()),
                            .to = static_cast<std::uint16_t>(number()),
                            .more = random.chance(30),
                            .payload = ByteVector(random.below(5'000), 3)};
      return line_->send(2, as_text(serving::encode(hop)), random);
    }
    case 7:
      return line_->send(2,
                         as_text(serving::encode(serving::PingFrame{
                             .chain = chain, .epoch = epoch, .number = number()})),
                         random);
    case 8:
      return line_->send(static_cast<std::uint8_t>(1 + random.below(2)),
                         random.bytes(random.below(2'000)), random);
    case 9:
      return line_->send(static_cast<std::uint8_t>(random.below(16)),
                         random.bytes(random.below(200)), random, true);
    case 10:
      return say(serving::Answered{.request = number(), .epoch = epoch, .reason = "eos"});
    case 11:
      return say(serving::Tokens{.request = number(),
                                 .epoch = epoch,
                                 .first = number(),
                                 .tokens = {{.id = 5}},
                                 .prompt_tokens = 1});
    case 12:
      return say(
          serving::Offer{.token = worker_.token(), .memory_bytes = 1, .gb_per_s = 1, .lines = {}});
    default: {
      serving::Pulse pulse{.running = number(),
                           .memory_free = random.any(),
                           .load = random.chance(80) ? 0.5 : 7,
                           .direct_hops = random.any()};
      for (std::size_t i = random.below(4); i > 0; --i) {
        pulse.peers.push_back({.worker = random.pick(world_.workers).public_key(),
                               .ms = random.chance(80) ? 5.0 : -1.0});
        pulse.paces.push_back({.shard = number(), .ms = 2});
      }
      return say(pulse);
    }
  }
}

void Server::act() {
  auto& random = world_.random;
  if (!line_) {
    if (worker_.token().empty()) return;
    leave();
    line_ = std::make_unique<WebSocket>(world_.coordinator.at(), worker_.address(), "/v1/serve",
                                        world_.host());
    return;
  }
  if (!line_->is_upgraded) return;
  if (!obliging_ && random.chance(2)) return leave();
  if (!requests_.empty() && random.chance(75)) {
    auto one =
        std::next(requests_.begin(), static_cast<std::ptrdiff_t>(random.below(requests_.size())));
    return draw(one->second);
  }
  if (!obliging_ && random.chance(30)) return say_anything();
  say(serving::Pulse{.running = static_cast<std::uint32_t>(requests_.size()),
                     .memory_free = std::uint64_t{4} << 30,
                     .load = 0.1});
}

}  // namespace weft::sessions
