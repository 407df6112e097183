#include "worker/inference/chain_member.h"

#include <utility>

#include "common/base/format.h"
#include "common/proof/fingerprint.h"

namespace weft::worker {

namespace wire = protocol::serving;

namespace {

constexpr Duration tell_delay =
    std::chrono::milliseconds(5);  // Tokens within this time are reported together.
// Prompt tokens that are read between two tokens of other requests: as many as a GPU reads at a
// time, and fewer on a CPU, whose calls are cut further.
constexpr std::uint32_t append_max = 512, append_max_exact = 128;

wire::Answered failed(std::uint32_t request, std::uint32_t epoch, const Error& error) {
  return {.request = request,
          .epoch = epoch,
          .reason = "failed",
          .code = std::string(to_string(error.code)),
          .message = error.message};
}

}  // namespace

std::shared_ptr<ChainMember> ChainMember::create(ServingHost& host, wire::Link link,
                                                 std::shared_ptr<Shard> shard, Lines lines) {
  std::shared_ptr<ChainMember> out(
      new ChainMember(host, std::move(link), std::move(shard), std::move(lines)));
  out->begin();
  return out;
}

ChainMember::ChainMember(ServingHost& host, wire::Link link, std::shared_ptr<Shard> shard,
                         Lines lines)
    : host_(host), link_(std::move(link)), shard_(std::move(shard)), lines_(std::move(lines)) {}

// The link's callbacks hold this member weakly and check that it still exists.
void ChainMember::begin() {
  const auto members = static_cast<std::uint16_t>(link_.members.size());
  const auto index = static_cast<std::uint16_t>(link_.index);
  if (shard_->beside() && members > 1)
    return broken(link_.index, "A shard that weighs answers is no member of a longer chain.");
  const auto hop = [weak = weak_from_this()](std::uint16_t to) {
    return [weak, to](ByteVector message) {
      const auto self = weak.lock();
      if (!self || self->ended_) return;
      self->log(self->link_.index, message);
      self->lines_.send(to, std::move(message));
    };
  };
  if (shard_->encoder() != nullptr) {
    embedder_ = std::make_shared<Embedder>(
        host_, link_.epoch, shard_,
        [weak = weak_from_this()](const wire::ServingWorkerMessage& message) {
          if (const auto self = weak.lock(); self && !self->ended_) self->lines_.tell(message);
        });
    return;
  }
  const llm::Wire values = link_.wire == "f16"  ? llm::Wire::f16
                           : link_.wire == "i8" ? llm::Wire::i8
                                                : llm::Wire::f32;
  if (index > 0) {
    stage_ = llm::ChainStage::create(
        shard_->engine(), {.last = index + 1 == members, .wire = values},
        {.onwards = hop(static_cast<std::uint16_t>(index + 1)), .to_first = hop(0)});
    return;
  }
  llm::Engine* engine = shard_->engine().get();
  if (members > 1) {
    chain_ = std::make_unique<llm::ChainEngine>(
        *engine,
        llm::ChainEngine::Options{.wire = values, .stages = members, .sequences = link_.sequences},
        hop(1));
    engine = chain_.get();
  }
  generator_ = std::make_unique<llm::Generator>(
      *engine, shard_->text()->tokenizer(),
      llm::Generator::Options{
          .append_max = link_.exact || members > 1 ? append_max_exact : append_max,
          .exact_in_parts = link_.exact});
  if (shard_->beside())
    beside_ = std::make_unique<llm::Generator>(
        *shard_->beside(), shard_->text()->tokenizer(),
        llm::Generator::Options{.append_max = link_.exact ? append_max_exact : append_max,
                                .exact_in_parts = link_.exact});
}

void ChainMember::broken(std::uint32_t member, std::string message) {
  if (!ended_)
    lines_.tell(wire::Broken{.chain = link_.chain,
                             .epoch = link_.epoch,
                             .member = member,
                             .message = std::move(message)});
}

void ChainMember::receive(const wire::HopFrame& frame) {
  if (ended_) return;
  const auto self = shared_from_this();
  auto message = joiner_.take(frame);
  Result<> taken;
  if (!message) {
    taken = std::unexpected(message.error());
  } else if (*message) {
    const auto members = static_cast<std::uint32_t>(link_.members.size());
    const std::uint32_t before = (link_.index + members - 1) % members;
    if (frame.from == before) log(before, **message);
    if (stage_) {
      taken = stage_->receive(**message);
    } else if (chain_) {
      taken = chain_->receive(**message);
    } else {
      taken = fail(ErrorCode::invalid_argument,
                   "The worker serves the model alone and receives a frame of a chain.");
    }
  }
  if (!taken) broken(frame.from, taken.error().message);
}

void ChainMember::log(std::uint32_t line, ByteSpan message) {
  if (!link_.commits || lines_.frames == nullptr || lines_.signer == nullptr) return;
  lines_.frames->add({.chain = link_.chain, .epoch = link_.epoch, .line = line}, message,
                     [this](const proof::FrameBlock& block) { tell_block(block); });
}

void ChainMember::tell_block(const proof::FrameBlock& block) {
  start<Result<Signature>>(lines_.signer->sign(proof::frame_block_digest(block)),
                           [self = shared_from_this(), block](const Result<Signature>& signature) {
                             if (!signature || self->ended_) return;
                             self->lines_.tell(wire::Frames{.chain = block.chain,
                                                            .epoch = block.epoch,
                                                            .line = block.line,
                                                            .first = block.first,
                                                            .count = block.count,
                                                            .root = block.root,
                                                            .signature = *signature});
                           });
}

void ChainMember::ask(const wire::Ask& ask) {
  const auto refuse = [&](const Error& error) {
    lines_.tell(failed(ask.request, link_.epoch, error));
  };
  if (embedder_) return embedder_->ask(ask);
  if (!generator_)
    return refuse(
        {ErrorCode::internal, "A request came to a member of a chain that is not the first."});
  if (beside_ && !ask.audit)
    return refuse({ErrorCode::unsupported,
                   "The shard weighs the answers of others in audits, and gives no answers."});
  if (requests_.contains(ask.request))
    return refuse({ErrorCode::already_exists, "The request is being answered already."});
  const tokenizer::Vocabulary& vocabulary = shard_->text()->tokenizer().vocabulary();
  for (const auto* tokens : {&ask.prompt, &ask.answered}) {
    for (const std::int32_t token : *tokens) {
      if (!vocabulary.has(token))
        return refuse({ErrorCode::invalid_argument,
                       weft::format("The token {} is not one of the model's {} tokens.", token,
                                    vocabulary.size())});
    }
  }
  const std::uint32_t number = ask.request;
  const auto prompt_tokens = static_cast<std::uint32_t>(ask.prompt.size());
  // An audit that only reads an answer needs no grammar and no biases.
  const bool draws = !ask.audit || ask.redraw > 0;
  auto constraint =
      draws ? shard_->text()->constraint(
                  {.format = ask.format, .rule = ask.rule, .calls = ask.calls}, ask.prompt)
            : Result<std::shared_ptr<grammar::Constraint>>(nullptr);
  if (!constraint) return refuse(constraint.error());
  llm::Request request{.prompt = ask.prompt,
                       .answered = ask.answered,
                       .tokens_max = ask.tokens_max,
                       .stop = ask.stop,
                       .top = ask.top,
                       .constraint = std::move(*constraint)};
  if (draws) {
    for (const wire::Bias& one : ask.bias)
      request.bias.push_back({.token = one.token, .bias = static_cast<float>(one.bias)});
  }
  request.sampling = {.temperature = static_cast<float>(ask.temperature),
                      .top_k = ask.top_k,
                      .top_p = static_cast<float>(ask.top_p),
                      .min_p = static_cast<float>(ask.min_p),
                      .repetition_penalty = static_cast<float>(ask.repetition_penalty),
                      .presence_penalty = static_cast<float>(ask.presence_penalty),
                      .frequency_penalty = static_cast<float>(ask.frequency_penalty),
                      .seed = ask.seed};
  // The member outlives its generator, which calls these functions.
  request.wanted = [this, number] { return !ended_ && requests_.at(number).wanted; };
  request.on_token = [this, number](const llm::GeneratedToken& token, std::string_view) {
    on_token(number, token);
  };
  if (ask.prints)
    request.on_hidden = [this, number](std::uint32_t tokens, std::span<const float> hidden) {
      on_hidden(number, Weights::own, tokens, hidden);
    };
  if (ask.audit && ask.redraw > 0) {
    request.redraw_error = ask.redraw;
    request.on_redrawn = [this, number, count = static_cast<std::uint32_t>(ask.answered.size())](
                             const std::vector<std::uint32_t>& doubtful) {
      Request& redrawn = requests_.at(number);
      redrawn.redrawn = count;
      redrawn.doubtful = doubtful;
    };
  }
  requests_[number].told = static_cast<std::uint32_t>(ask.answered.size());
  requests_[number].prompt_tokens = prompt_tokens;
  std::function<void(Result<llm::Generation>)> done =
      [this, number, prompt_tokens](Result<llm::Generation> generation) {
        on_done(number, prompt_tokens, std::move(generation));
      };
  if (beside_)
    done = [this, ask, prompt_tokens](Result<llm::Generation> generation) {
      if (!generation || ended_ || !requests_.at(ask.request).wanted)
        return on_done(ask.request, prompt_tokens, std::move(generation));
      read_beside(ask, std::move(*generation));
    };
  if (auto added = generator_->add(std::move(request), {}, done); !added) {
    requests_.erase(number);
    return refuse(added.error());
  }
  run(*generator_, running_);
}

void ChainMember::run(llm::Generator& generator, bool& running) {
  if (std::exchange(running, true)) return;
  // The callback keeps the member alive while its generators work.
  start<Result<>>(generator.run(), [self = shared_from_this(), &running](const Result<>&) {
    running = false;
    self->check_ended();
  });
}

void ChainMember::read_beside(const wire::Ask& ask, llm::Generation read) {
  const std::uint32_t number = ask.request;
  const auto prompt_tokens = static_cast<std::uint32_t>(ask.prompt.size());
  llm::Request request{
      .prompt = ask.prompt, .answered = ask.answered, .tokens_max = ask.tokens_max};
  request.wanted = [this, number] { return !ended_ && requests_.at(number).wanted; };
  request.on_token = [](const llm::GeneratedToken&, std::string_view) {};
  request.on_hidden = [this, number](std::uint32_t tokens, std::span<const float> hidden) {
    on_hidden(number, Weights::beside, tokens, hidden);
  };
  const auto done = [this, number, prompt_tokens,
                     read = std::move(read)](const Result<llm::Generation>& second) {
    on_done(number, prompt_tokens,
            second ? Result<llm::Generation>(read) : std::unexpected(second.error()));
  };
  if (auto added = beside_->add(std::move(request), {}, done); !added) {
    return on_done(number, prompt_tokens, std::unexpected(added.error()));
  }
  run(*beside_, running_beside_);
}

void ChainMember::on_token(std::uint32_t number, const llm::GeneratedToken& token) {
  if (ended_) return;
  Request& request = requests_.at(number);
  wire::Token out{.id = token.id, .logprob = token.logprob};
  for (const llm::Drawn& drawn : token.top)
    out.top.push_back({.id = drawn.token, .logprob = drawn.logprob});
  request.tokens.push_back(std::move(out));
  constexpr std::size_t together_max = 32;
  if (request.tokens.size() >= together_max) return tell_tokens(number);
  if (std::exchange(request.telling, true)) return;
  host_.after(tell_delay, [weak = weak_from_this(), number] {
    if (const auto self = weak.lock()) self->tell_tokens(number);
  });
}

// A hidden state without a fingerprint (numbers that are not finite) is reported without one.
void ChainMember::on_hidden(std::uint32_t number, Weights weights, std::uint32_t tokens,
                            std::span<const float> hidden) {
  if (ended_) return;
  Request& request = requests_.at(number);
  if (const auto bytes = proof::fingerprint(hidden))
    (weights == Weights::own ? request.prints : request.beside)
        .push_back({.at = tokens, .data = to_base64(*bytes)});
}

void ChainMember::tell_tokens(std::uint32_t number) {
  const auto found = requests_.find(number);
  if (ended_ || found == requests_.end()) return;
  Request& request = found->second;
  request.telling = false;
  if (request.tokens.empty() && request.prints.empty() && request.beside.empty()) return;
  wire::Tokens tokens{.request = number,
                      .epoch = link_.epoch,
                      .first = request.told,
                      .tokens = std::exchange(request.tokens, {}),
                      .prompt_tokens = request.prompt_tokens,
                      .prints = std::exchange(request.prints, {}),
                      .beside = std::exchange(request.beside, {})};
  request.told += static_cast<std::uint32_t>(tokens.tokens.size());
  lines_.tell(std::move(tokens));
}

void ChainMember::on_done(std::uint32_t number, std::uint32_t prompt_tokens,
                          Result<llm::Generation> generation) {
  if (!ended_) {
    tell_tokens(number);
    if (chain_ && link_.commits) chain_->commit();
    // If a member was lost, the coordinator forms the chain again, and the request continues in the
    // new chain.
    const bool lost =
        !generation && chain_ != nullptr && generation.error().code == ErrorCode::unavailable;
    if (lost) {
      broken(0, generation.error().message);
    } else if (!generation) {
      lines_.tell(failed(number, link_.epoch, generation.error()));
    } else {
      lines_.tell(wire::Answered{.request = number,
                                 .epoch = link_.epoch,
                                 .reason = std::string(to_string(generation->stop)),
                                 .prompt_tokens = prompt_tokens,
                                 .reused_tokens = generation->reused_tokens,
                                 .prefill_s = generation->prefill_s,
                                 .decode_s = generation->decode_s,
                                 .sequence = generation->sequence,
                                 .redrawn = requests_.at(number).redrawn,
                                 .doubtful = requests_.at(number).doubtful});
    }
  }
  requests_.erase(number);
}

void ChainMember::drop(std::uint32_t request) {
  if (embedder_) return embedder_->drop(request);
  if (const auto found = requests_.find(request); found != requests_.end())
    found->second.wanted = false;
}

void ChainMember::end(std::function<void()> done) {
  const auto self = shared_from_this();
  ended_ = true;
  on_end_ = std::move(done);
  if (embedder_) {
    return embedder_->end([self] {
      self->embedder_.reset();
      self->check_ended();
    });
  }
  if (chain_) chain_->lose({ErrorCode::unavailable, "The chain has ended."});
  if (stage_) {
    return stage_->stop([self] {
      self->stage_.reset();
      self->check_ended();
    });
  }
  check_ended();
}

void ChainMember::check_ended() {
  if (!ended_ || running_ || running_beside_ || stage_ || embedder_) return;
  generator_.reset();
  beside_.reset();
  chain_.reset();
  if (const auto done = std::exchange(on_end_, nullptr)) done();
}

}  // namespace weft::worker
