#include "apps/coordinator/http/model_texts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/log.h"

namespace weft::coordinator {

namespace {

// Turns failures of the reader's process (a deadline, a crash) into unavailable, because they are
// not the request's fault.
template <class T>
Result<T> now_or_later(Result<T> result) {
  if (result) return result;
  Error& error = result.error();
  const bool later = error.code == ErrorCode::deadline_exceeded ||
                     error.code == ErrorCode::internal || error.code == ErrorCode::data_loss;
  if (later) {
    log_warning("A model's texts cannot be read: {}", error.message);
    error = {ErrorCode::unavailable, "The prompt could not be read in time; try again later."};
  }
  return result;
}

}  // namespace

void ModelTexts::read(TextRequest request, Done done) {
  const std::uint64_t key = std::hash<Hash>()(request.file);
  const auto shared = std::make_shared<Done>(std::move(done));
  const bool queued = pool_.post(
      key, [this, shared, request = std::move(request)] { (*shared)(read_now(request)); });
  if (!queued)
    (*shared)(fail(ErrorCode::unavailable, "Too many prompts wait to be read; try again later."));
}

void ModelTexts::end_idle(Instant now) {
  std::list<std::shared_ptr<Model>> ended;  // Destroyed after the lock is released.
  const std::lock_guard lock(mutex_);
  for (auto each = models_.begin(); each != models_.end();) {
    const auto next = std::next(each);
    if (now - (*each)->used >= idle_max) ended.splice(ended.end(), models_, each);
    each = next;
  }
}

void ModelTexts::watch(const std::stop_token& stop) {
  std::unique_lock lock(waits_);
  while (!stop.stop_requested()) {
    ends_.wait_for(lock, stop, idle_max / 6, [] { return false; });
    if (!stop.stop_requested()) end_idle(now());
  }
}

Result<std::shared_ptr<ModelTexts::Model>> ModelTexts::model(const TextRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(models_, request.file, &Model::file);
    if (known != models_.end() && (*known)->reader->alive()) {
      models_.splice(models_.begin(), models_, known);
      models_.front()->used = now();
      return models_.front();
    }
    if (known != models_.end()) models_.erase(known);
  }
  if (!make_)
    return fail(ErrorCode::unavailable,
                "This coordinator cannot convert texts into tokens of models.");
  auto made = std::make_shared<Model>();
  made->file = request.file;
  made->reader = make_();
  WEFT_ASSIGN(const ByteVector head, blobs_.read(request.file, 0, request.head_bytes));
  auto tokens = made->reader->open(request.file_bytes, head);
  if (!tokens) {
    log_info("The texts of the model {} cannot be read: {}", request.file.text(),
             tokens.error().message);
    return pass(std::move(tokens));
  }
  made->tokens = std::make_shared<const TokenTexts>(std::move(*tokens));
  const std::lock_guard lock(mutex_);
  made->used = now();
  models_.push_front(made);
  if (models_.size() > models_max) models_.pop_back();
  return made;
}

Result<ModelTexts::Read> ModelTexts::read_now(const TextRequest& request) {
  WEFT_ASSIGN(const std::shared_ptr<Model> found, model(request));
  Read out{.tokens = found->tokens};
  if (request.look.kind != TextLook::Kind::none) {
    WEFT_ASSIGN(out.told, now_or_later(found->reader->look(request)));
    if (out.told.text.size() > look_bytes_max)
      return fail(ErrorCode::invalid_argument, "The text has {} bytes; at most {} are returned.",
                  out.told.text.size(), look_bytes_max);
    return out;
  }
  for (const std::string& prompt : request.prompts) {
    WEFT_ASSIGN(ReadPrompt read, now_or_later(found->reader->prompt(request, prompt)));
    out.prompts.push_back(std::move(read));
  }
  return out;
}

}  // namespace weft::coordinator
