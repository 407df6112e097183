// The models that were added, as the store has them.
//
// Threading: one thread.
#pragma once

#include <filesystem>
#include <vector>

#include "decisions/inference/model_card.h"
#include "platform/store/group_commit.h"

namespace weft::coordinator {

class ModelRegistry {
 public:
  // `commits` outlives it. data_loss if a card breaks the rules of read_model_card().
  [[nodiscard]] static Result<ModelRegistry> open(store::GroupCommit& commits,
                                                  std::vector<inference::ModelCard> cards);

  [[nodiscard]] const std::vector<inference::ModelCard>& cards() const { return cards_; }
  [[nodiscard]] const inference::ModelCard* find(std::string_view name) const;
  // Replaces the one of that name. Durable when it returns.
  [[nodiscard]] Result<> put(inference::ModelCard card);
  // not_found if no model has that name. The removal is durable when this returns.
  [[nodiscard]] Result<> remove(std::string_view name);

 private:
  ModelRegistry(store::GroupCommit& commits, std::vector<inference::ModelCard> cards)
      : commits_(&commits), cards_(std::move(cards)) {}
  [[nodiscard]] Result<> commit(const inference::ModelCard& card, store::Change change);

  store::GroupCommit* commits_;
  std::vector<inference::ModelCard> cards_;
};

// Earlier versions kept the models in a file beside the store, a card a line: it is put into the
// store in one commit and then removed, so that a crash between the two repeats the same. Nothing
// without such a file. data_loss if it cannot be read, permission_denied if it cannot be removed.
[[nodiscard]] Result<> take_models_file(const std::filesystem::path& file, store::Store& store);

}  // namespace weft::coordinator
