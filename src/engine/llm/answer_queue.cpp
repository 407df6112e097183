#include "engine/llm/answer_queue.h"

#include <utility>
#include <vector>

namespace weft::llm {

Result<> AnswerQueue::check_request(const Request& request) const {
  if (request.prompt.empty())
    return fail(ErrorCode::invalid_argument,
                "The prompt is empty; a text begins with at least one token.");
  if (const std::size_t given = request.prompt.size() + request.answered.size();
      given >= engine_.options().context)
    return fail(ErrorCode::resource_exhausted,
                "The prompt has {} tokens; at most {} fit into the context of {}, which the answer "
                "shares: shorten it.",
                given, engine_.options().context - 1, engine_.options().context);
  constexpr std::uint32_t top_max = 256;
  if (request.top > top_max)
    return fail(ErrorCode::invalid_argument,
                "{} candidates are asked for at every token; at most {} are possible.", request.top,
                top_max);
  for (const TokenBias& one : request.bias) {
    if (!tokenizer_.vocabulary().has(one.token))
      return fail(ErrorCode::invalid_argument,
                  "A bias is given for the token {}, which is not one of the model's {} tokens.",
                  one.token, tokenizer_.vocabulary().size());
  }
  return check_sampling(request.sampling);
}

Result<> AnswerQueue::add(Request request, RunningAnswer::OnText on_text,
                          RunningAnswer::OnDone on_done) {
  WEFT_OK(check_request(request));
  waiting_.push_back(std::make_unique<RunningAnswer>(std::move(request), std::move(on_text),
                                                     std::move(on_done), tokenizer_));
  return {};
}

// Ends the waiting requests that are no longer wanted.
void AnswerQueue::drop_unwanted() {
  std::vector<std::unique_ptr<RunningAnswer>> dropped;
  std::erase_if(waiting_, [&](std::unique_ptr<RunningAnswer>& answer) {
    if (answer->wanted()) return false;
    dropped.push_back(std::move(answer));
    return true;
  });
  for (const auto& answer : dropped) {
    answer->generation.stop = StopReason::cancelled;
    answer->on_done(std::move(answer->generation));
  }
}

std::unique_ptr<RunningAnswer> AnswerQueue::take_first() {
  auto answer = std::move(waiting_.front());
  waiting_.pop_front();
  return answer;
}

void AnswerQueue::begin(GeneratorSlot& slot, std::unique_ptr<RunningAnswer> answer,
                        std::uint32_t kept) {
  slot.answer = std::move(answer);
  slot.answer->begun = RunningAnswer::Clock::now();
  slot.answer->generation.reused_tokens = kept;
  engine_.set_sampling(slot.sequence, slot.answer->request.sampling);
  if (engine_.takes_masks()) engine_.set_mask(slot.sequence, {});
}

Result<> AnswerQueue::admit() {
  drop_unwanted();
  while (!waiting_.empty() && !lacks_memory_) {
    GeneratorSlot* slot = slots_.free_for(waiting_.front()->request.prompt);
    if (slot == nullptr) break;
    const std::uint32_t kept =
        slots_.begin_with_what_is_read(*slot, waiting_.front()->request.prompt);
    if (const auto reserved = slots_.reserve(*slot, waiting_.front()->request); !reserved) {
      if (reserved.error().code != ErrorCode::resource_exhausted) return reserved;
      // Memory becomes free when an answer ends.
      lacks_memory_ = slots_.any_answers();
      if (lacks_memory_) break;
      take_first()->on_done(std::unexpected(reserved.error()));
      continue;
    }
    begin(*slot, take_first(), kept);
  }
  return {};
}

void AnswerQueue::fail_all(const Error& error) {
  lacks_memory_ = false;
  while (!waiting_.empty()) take_first()->on_done(std::unexpected(error));
}

}  // namespace weft::llm
