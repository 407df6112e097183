#include "apps/coordinator/http/model_registry.h"

#include <algorithm>
#include <fstream>

#include "common/base/log.h"

namespace weft::coordinator {

namespace {

constexpr std::size_t models_max = 1024;

}  // namespace

Result<ModelRegistry> ModelRegistry::open(store::GroupCommit& commits,
                                          std::vector<inference::ModelCard> cards) {
  for (const inference::ModelCard& card : cards) {
    if (const auto read = inference::read_model_card(inference::to_json(card)); !read)
      return fail(ErrorCode::data_loss, "The stored model {} cannot be read: {}", card.name,
                  read.error().message);
  }
  return ModelRegistry(commits, std::move(cards));
}

const inference::ModelCard* ModelRegistry::find(std::string_view name) const {
  const auto found = std::ranges::find(cards_, name, &inference::ModelCard::name);
  return found == cards_.end() ? nullptr : &*found;
}

Result<> ModelRegistry::commit(const inference::ModelCard& card, store::Change change) {
  store::Batch batch;
  batch.models.push_back({.row = card, .change = change});
  return commits_->commit(std::move(batch));
}

Result<> ModelRegistry::put(inference::ModelCard card) {
  const auto before = std::ranges::find(cards_, card.name, &inference::ModelCard::name);
  if (before == cards_.end() && cards_.size() >= models_max)
    return fail(ErrorCode::resource_exhausted,
                "The coordinator has {} models already and takes no more; remove one (`weft model "
                "remove`).",
                cards_.size());
  WEFT_OK(commit(card, store::Change::put));
  if (before != cards_.end()) cards_.erase(before);
  cards_.push_back(std::move(card));
  return {};
}

Result<> ModelRegistry::remove(std::string_view name) {
  const auto before = std::ranges::find(cards_, name, &inference::ModelCard::name);
  if (before == cards_.end())
    return fail(ErrorCode::not_found, "The coordinator has no model {}.", name);
  WEFT_OK(commit(*before, store::Change::remove));
  cards_.erase(before);
  return {};
}

Result<> take_models_file(const std::filesystem::path& file, store::Store& store) {
  std::ifstream in(file);
  if (!in) return {};
  store::Batch batch;
  for (std::string line; std::getline(in, line);) {
    auto card = inference::read_model_card(line);
    if (!card)
      return fail(ErrorCode::data_loss, "{} cannot be read: {}", file.string(),
                  card.error().message);
    batch.models.push_back({.row = std::move(*card)});
  }
  const std::size_t count = batch.models.size();
  WEFT_OK(store.commit(batch));
  std::error_code error;
  std::filesystem::remove(file, error);
  if (error)
    return fail(ErrorCode::permission_denied,
                "{} cannot be removed, although its models are in the database now: {}.",
                file.string(), error.message());
  log_info("The {} models of {} are in the database now.", count, file.string());
  return {};
}

}  // namespace weft::coordinator
