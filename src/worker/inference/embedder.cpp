#include "worker/inference/embedder.h"

#include <utility>

#include "common/base/bytes.h"
#include "common/proof/fingerprint.h"

namespace weft::worker {

namespace wire = protocol::serving;

namespace {

// Maximum number of texts in a pass, whose tokens the encoder bounds. Texts that arrive meanwhile
// wait for the next pass.
constexpr std::size_t texts_max = 64;

std::string packed(const std::vector<float>& vector) {
  ByteVector bytes;
  bytes.reserve(vector.size() * sizeof(float));
  for (const float x : vector) append_le(bytes, std::bit_cast<std::uint32_t>(x));
  return to_base64(bytes);
}

}  // namespace

void Embedder::ask(const wire::Ask& ask) {
  if (auto readable = llm::check_text(shard_->encoder()->config(), ask.prompt); !readable)
    return fail_one(ask.request, readable.error());
  waiting_.push_back(ask);
  if (std::exchange(running_, true)) return;
  const auto self = shared_from_this();  // Keeps this object alive while it works.
  const auto work = [](std::shared_ptr<Embedder> kept) -> Async<> { co_await kept->run(); };
  start(work(self));
}

Async<> Embedder::run() {
  while (!ended_ && !waiting_.empty()) {
    std::vector<wire::Ask> asks;
    std::vector<std::vector<llm::Token>> texts;
    std::size_t tokens = 0;
    const std::size_t tokens_max = shard_->encoder()->rows_together();
    while (!waiting_.empty() && asks.size() < texts_max &&
           (asks.empty() || tokens + waiting_.front().prompt.size() <= tokens_max)) {
      tokens += waiting_.front().prompt.size();
      asks.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
      texts.push_back(asks.back().prompt);
      under_way_.insert(asks.back().request);
    }
    shard_->meter().work(true, host_.now());
    const auto vectors = co_await shard_->encoder()->embed(std::move(texts));
    shard_->meter().work(false, host_.now());
    for (std::size_t i = 0; i < asks.size(); ++i) {
      if (under_way_.erase(asks[i].request) == 0) continue;
      vectors ? tell_one(asks[i], (*vectors)[i]) : fail_one(asks[i].request, vectors.error());
    }
  }
  running_ = false;
  if (const auto done = std::exchange(on_end_, nullptr)) done();
}

void Embedder::fail_one(std::uint32_t request, const Error& error) {
  if (!ended_)
    tell_(wire::Answered{.request = request,
                         .epoch = epoch_,
                         .reason = "failed",
                         .code = std::string(to_string(error.code)),
                         .message = error.message});
}

void Embedder::tell_one(const wire::Ask& ask, const std::vector<float>& vector) {
  if (ended_) return;
  if (ask.audit) {
    if (const auto print = proof::fingerprint(vector))
      tell_(wire::Tokens{.request = ask.request,
                         .epoch = epoch_,
                         .prompt_tokens = static_cast<std::uint32_t>(ask.prompt.size()),
                         .prints = {{.at = 0, .data = to_base64(*print)}}});
  }
  tell_(wire::Answered{.request = ask.request,
                       .epoch = epoch_,
                       .reason = "eos",
                       .prompt_tokens = static_cast<std::uint32_t>(ask.prompt.size()),
                       .vector = ask.audit ? std::string() : packed(vector)});
}

void Embedder::drop(std::uint32_t request) {
  under_way_.erase(request);
  std::erase_if(waiting_, [&](const wire::Ask& ask) { return ask.request == request; });
}

void Embedder::end(std::function<void()> done) {
  ended_ = true;
  waiting_.clear();
  under_way_.clear();
  if (!running_) return done ? done() : void();
  on_end_ = std::move(done);
}

}  // namespace weft::worker
