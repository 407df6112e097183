// The model cards as the store has them.
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
  // `commits` must outlive the registry. Fails with data_loss if a card breaks the rules of
  // read_model_card().
  [[nodiscard]] static Result<ModelRegistry> open(store::GroupCommit& commits,
                                                  std::vector<inference::ModelCard> cards);

  [[nodiscard]] const std::vector<inference::ModelCard>& cards() const { return cards_; }
  [[nodiscard]] const inference::ModelCard* find(std::string_view name) const;
  // Adds a card or replaces the card with its name. The change is durable when this returns.
  [[nodiscard]] Result<> put(inference::ModelCard card);
  // Removes a card; the removal is durable when this returns. Fails with not_found if no model has
  // this name.
  [[nodiscard]] Result<> remove(std::string_view name);

 private:
  ModelRegistry(store::GroupCommit& commits, std::vector<inference::ModelCard> cards)
      : commits_(&commits), cards_(std::move(cards)) {}
  [[nodiscard]] Result<> commit(const inference::ModelCard& card, store::Change change);

  store::GroupCommit* commits_;
  std::vector<inference::ModelCard> cards_;
};

// Moves models from the file of earlier versions (one card a line) into the store, in one commit,
// and then removes the file. A crash between the commit and the removal makes the next start repeat
// the move. Does nothing if the file does not exist. Fails with data_loss if the file cannot be
// read, and with permission_denied if it cannot be removed.
[[nodiscard]] Result<> take_models_file(const std::filesystem::path& file, store::Store& store);

}  // namespace weft::coordinator
