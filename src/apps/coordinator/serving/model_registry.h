// The models that were added, in a file beside the store; replaced as a whole and synced, so that a crash leaves the old list or the
// new one.
//
// Threading: one thread.
#pragma once

#include <filesystem>
#include <vector>

#include "apps/coordinator/serving/model_card.h"

namespace weft::coordinator {

class ModelRegistry {
 public:
  // data_loss where the file is there and cannot be read.
  [[nodiscard]] static Result<ModelRegistry> open(std::filesystem::path file);

  [[nodiscard]] const std::vector<ModelCard>& cards() const { return cards_; }
  [[nodiscard]] const ModelCard* find(std::string_view name) const;
  // Replaces the one of that name. Durable when it returns.
  [[nodiscard]] Result<> put(ModelCard card);
  // not_found where there is none.
  [[nodiscard]] Result<> remove(std::string_view name);

 private:
  explicit ModelRegistry(std::filesystem::path file) : file_(std::move(file)) {}
  [[nodiscard]] Result<> save(const std::vector<ModelCard>& cards) const;

  std::filesystem::path file_;
  std::vector<ModelCard> cards_;
};

}  // namespace weft::coordinator
