#include "apps/coordinator/http/completions.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/coordinator/http/completion_checks.h"
#include "apps/coordinator/http/embeddings.h"
#include "common/crypto/keys.h"
#include "decisions/inference/arithmetic.h"

namespace weft::coordinator {

namespace {

Error stopping_error() { return {ErrorCode::unavailable, "The coordinator is being stopped."}; }

// The end of an answer that had to be verified and is withheld from the client.
inference::AnswerEnd withheld(billing::AnswerFate fate) {
  const bool refuted = fate == billing::AnswerFate::refuted;
  return {.reason = "failed",
          .error = {ErrorCode::unavailable,
                    refuted ? "The request wants a verified answer, and an audit refuted the "
                              "answer: it is withheld and costs nothing; ask again."
                            : "The request wants a verified answer, and no other worker could "
                              "audit the answer: it is withheld and costs nothing."},
          .trust = refuted ? "refuted" : "pending"};
}

}  // namespace

void Completions::answer(OpenAiRequest request, const net::IncomingRequest& from,
                         net::Respond respond, ChargedAnswers charged) {
  auto reply = std::make_shared<CompletionReply>(
      request,
      CompletionReply::Client{.connected = from.connected,
                              .respond = std::move(respond),
                              .headers = std::move(charged.headers)},
      unix_now() / 1000);
  const auto asked = std::make_shared<Request>(Request{
      .reply = std::move(reply), .ids = std::move(charged.answers), .request = std::move(request)});
  const bool queued =
      parts_.thread.post([this, asked](inference::Desk&, Instant) { read_prompts(asked); });
  if (!queued) refuse(*asked, busy_error());
}

// Ends a request for which no worker was asked.
void Completions::refuse(const Request& request, const Error& error) {
  for (const billing::AnswerId& id : request.ids) parts_.records.report_unasked(id, "failed");
  (void)request.reply->end(0, {.reason = "failed", .error = error});
}

void Completions::read_prompts(const SharedRequest& request) {
  const OpenAiRequest& asked = request->request;
  const inference::ModelCard* const card = parts_.models.find(asked.model);
  if (card == nullptr) return refuse(*request, no_model_error(asked.model));
  if (auto fits = check_modality(asked, *card); !fits) return refuse(*request, fits.error());
  if (texts_ == nullptr)
    return refuse(*request, {ErrorCode::unavailable,
                             "This coordinator cannot convert texts into tokens of models."});
  texts_->read({.file = card->file_hash(),
                .file_bytes = card->bytes,
                .head_bytes = card->header_bytes,
                .chat = asked.chat,
                .prompts = asked.prompts,
                .now = unix_now() / 1000,
                .format = asked.ask.format,
                .rule = asked.ask.rule,
                .look = asked.look},
               [this, request](Result<ModelTexts::Read> read) {
                 const auto shared = std::make_shared<Result<ModelTexts::Read>>(std::move(read));
                 const bool queued = parts_.thread.post(
                     [this, request, shared](inference::Desk& desk, Instant now) {
                       if (!*shared) return refuse(*request, shared->error());
                       begin(request, **shared, desk, now);
                     });
                 if (!queued) refuse(*request, busy_error());
               });
}

void Completions::begin(const SharedRequest& request, const ModelTexts::Read& read,
                        inference::Desk& desk, Instant now) {
  if (request->request.look.kind != TextLook::Kind::none) return tell_look(*request, read.told);
  if (auto checked = check(*request, read, desk); !checked)
    return refuse(*request, checked.error());
  request->begun = now;
  const std::size_t at_once =
      request->request.embedding ? EmbeddingRequest::under_way_max : request->count();
  while (request->next < std::min(request->count(), at_once)) ask_next(request, desk, now);
}

void Completions::tell_look(const Request& request, const Told& told) {
  for (const billing::AnswerId& id : request.ids) parts_.records.report_unasked(id, "told");
  request.reply->tell(told);
  (void)request.reply->end(0, {.reason = "told"});
}

// Looks up the model again, because it may have been removed since the prompts were read.
Result<> Completions::check(Request& request, const ModelTexts::Read& read,
                            const inference::Desk& desk) const {
  const OpenAiRequest& asked = request.request;
  const inference::ModelCard* const card = parts_.models.find(asked.model);
  if (card == nullptr) return std::unexpected(no_model_error(asked.model));
  WEFT_ASSIGN(request.trust, trust_of(asked, parts_.newcomers_answer));
  request.read = read;
  if (asked.embedding) {
    for (const auto& tokens : asked.embedding->tokens)
      request.read.prompts.push_back({.tokens = tokens});
  }
  WEFT_OK(check_tokens(asked, request.read.prompts,
                       {.context = desk.context_of(*card), .vocabulary = read.tokens->size()}));
  if (asked.otherwise) WEFT_OK(check_served(asked, request.trust, desk.models()));
  return {};
}

// Reports the answers of an ended request that were not asked yet.
void Completions::give_up(Request& request) {
  for (; request.next < request.ids.size(); ++request.next)
    parts_.records.report_unasked(request.ids[request.next], "failed");
  request.next = request.count();
}

void Completions::ask_next(const SharedRequest& request, inference::Desk& desk, Instant now) {
  if (request->next >= request->count()) return;
  const OpenAiRequest& asked = request->request;
  const inference::ModelCard* const card = parts_.models.find(asked.model);
  if (card == nullptr || !request->reply->is_wanted()) return give_up(*request);
  const std::size_t choice = request->next++;
  const std::size_t at = choice / asked.choices;
  const ReadPrompt& prompt = request->read.prompts[at];
  inference::AnswerRequest one{.model = asked.model,
                               .conversation = asked.conversation,
                               .asker = asked.asker,
                               .ask = asked.ask,
                               .patience = asked.patience,
                               .for_newcomers = request->trust == AnswerTrust::all};
  if (one.patience) *one.patience -= std::min(*one.patience, now - request->begun);
  one.ask.prompt = prompt.tokens;
  if (one.ask.format.starts_with("tool")) one.ask.calls = asked.prompts[at];
  one.ask.seed += choice % asked.choices;
  one.ask.prints = true;
  CompletionRecords::Asked record{
      .answer = {},
      .model = asked.model,
      .file = card->file_hash(),
      .embedding = card->embedding,
      .rounded = !asked.embedding && inference::activations_of(*card, parts_.activations) != "f32",
      .ask = one.ask,
      .must_audit = request->trust == AnswerTrust::verified};
  if (choice < request->ids.size()) record.answer = request->ids[choice];
  if (request->ids.empty()) crypto::random_bytes(record.answer.bytes);
  const inference::RequestId id = parts_.records.add(std::move(record));
  one.id = id;
  open_[id] = {.request = request,
               .choice = choice,
               .writer = std::make_shared<AnswerWriter>(
                   request->read.tokens,
                   AnswerWriter::Options{.stop = asked.ask.stop,
                                         .shows_calls = asked.shows_calls,
                                         .begins_in_thought = prompt.begins_in_thought})};
  if (auto begun = desk.ask(std::move(one), now); !begun)
    ended(id, {.reason = "failed", .error = begun.error()});
}

void Completions::drop_gone(inference::Desk& desk, Instant now) {
  std::vector<inference::RequestId> gone;
  for (const auto& [id, open] : open_) {
    if (!open.request->reply->is_wanted()) gone.push_back(id);
  }
  for (const inference::RequestId id : gone) desk.drop(id, now);
}

void Completions::tokens(inference::RequestId request,
                         const std::vector<protocol::serving::Token>& tokens) {
  const auto found = open_.find(request);
  if (found == open_.end()) return;
  Open& open = found->second;
  std::vector<SaidToken> said = open.writer->write(tokens);
  if (open.request->trust != AnswerTrust::verified)
    return open.request->reply->tokens(open.choice, said);
  std::ranges::move(said, std::back_inserter(open.held));
}

// An answer whose grammar is complete may end without an end token.
bool Completions::ends_so(inference::RequestId request, std::string_view reason) const {
  const auto found = open_.find(request);
  const CompletionRecords::Asked* const asked = parts_.records.find(request);
  if (found == open_.end() || asked == nullptr) return true;
  const AnswerWriter& writer = *found->second.writer;
  if (reason == "stop") return writer.may_have_stopped();
  return writer.at_end() || !asked->ask.format.empty();
}

void Completions::ended(inference::RequestId request, const inference::AnswerEnd& end) {
  auto node = open_.extract(request);
  if (node.empty()) return parts_.records.report(request, end);
  Open& open = node.mapped();
  const AnswerTrust trust = open.request->trust;
  inference::AnswerEnd told = end;
  if (end.reason != "failed") told.trust = trust == AnswerTrust::all ? "anyone" : "pending";
  const CompletionRecords::Asked* const asked = parts_.records.find(request);
  if (asked != nullptr) told.seed = asked->ask.seed;
  // A verified answer is held back until the core has settled it.
  if (trust == AnswerTrust::verified && end.reason != "failed" && asked != nullptr &&
      parts_.records.is_listened_to()) {
    open.end = std::move(told);
    held_[asked->answer] = std::move(open);
    return parts_.records.report(request, end);
  }
  parts_.records.report(request, end);
  finish(std::move(open), told);
}

void Completions::settled(const billing::AnswerId& answer, billing::AnswerFate fate) {
  auto node = held_.extract(answer);
  if (node.empty()) return;
  Open& open = node.mapped();
  inference::AnswerEnd end = std::move(open.end);
  if (fate == billing::AnswerFate::verified) {
    end.trust = "verified";
  } else {
    open.held.clear();
    end = withheld(fate);
  }
  finish(std::move(open), end);
}

// Sends the rest of an answer to its client.
void Completions::finish(Open open, const inference::AnswerEnd& end) {
  const std::shared_ptr<CompletionReply> reply = open.request->reply;
  if (!open.held.empty()) reply->tokens(open.choice, open.held);
  inference::AnswerEnd told = end;
  const bool whole = end.reason == "eos" || end.reason == "stop" || end.reason == "length";
  if (whole) {
    if (std::string rest = open.writer->finish(); !rest.empty())
      reply->tokens(open.choice, {{.text = std::move(rest)}});
    if (open.writer->stopped()) told.reason = "stop";
  }
  if (!reply->end(open.choice, told)) {
    if (open.request->next < open.request->count()) {
      (void)parts_.thread.post([this, request = open.request](inference::Desk& desk, Instant now) {
        ask_next(request, desk, now);
      });
    }
    return;
  }
  give_up(*open.request);
  // The client no longer waits for other choices, so they are dropped.
  std::vector<inference::RequestId> others;
  for (const auto& [id, other] : open_) {
    if (other.request == open.request) others.push_back(id);
  }
  for (const inference::RequestId id : others) open_.erase(id);
  if (!others.empty()) {
    (void)parts_.thread.post([others](inference::Desk& desk, Instant now) {
      for (const inference::RequestId id : others) desk.drop(id, now);
    });
  }
}

void Completions::end_all() {
  while (!open_.empty()) {
    const inference::RequestId id = open_.begin()->first;
    ended(id, {.reason = "failed", .error = stopping_error()});
  }
  while (!held_.empty()) {
    auto node = held_.extract(held_.begin());
    finish(std::move(node.mapped()), {.reason = "failed", .error = stopping_error()});
  }
  parts_.records.fail_all();
}

}  // namespace weft::coordinator
