#include "apps/coordinator/serving/model_registry.h"

#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace weft::coordinator {

namespace {

constexpr std::size_t models_max = 1024;

bool write_synced(const std::filesystem::path& path, std::string_view text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return false;
  bool good = true;
  while (good && !text.empty()) {
    const ssize_t put = ::write(descriptor, text.data(), text.size());
    good = put > 0;
    if (good) text.remove_prefix(static_cast<std::size_t>(put));
  }
  good = ::fsync(descriptor) == 0 && good;
  return ::close(descriptor) == 0 && good;
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

Result<ModelRegistry> ModelRegistry::open(std::filesystem::path file) {
  ModelRegistry out(std::move(file));
  std::ifstream in(out.file_);
  // A card a line.
  for (std::string line; std::getline(in, line);) {
    auto card = read_model_card(line);
    if (!card) return fail(ErrorCode::data_loss, "{} cannot be read: {}", out.file_.string(), card.error().message);
    out.cards_.push_back(std::move(*card));
  }
  return out;
}

const ModelCard* ModelRegistry::find(std::string_view name) const {
  const auto found = std::ranges::find(cards_, name, &ModelCard::name);
  return found == cards_.end() ? nullptr : &*found;
}

Result<> ModelRegistry::save(const std::vector<ModelCard>& cards) const {
  std::string text;
  for (const ModelCard& card : cards) text += to_json(card) + "\n";
  auto fresh = file_;
  fresh += ".new";
  std::error_code error;
  if (write_synced(fresh, text)) std::filesystem::rename(fresh, file_, error);
  if (error || !std::filesystem::exists(file_)) return fail(ErrorCode::unavailable, "{} cannot be written.", file_.string());
  sync_folder(file_.parent_path());
  return {};
}

Result<> ModelRegistry::put(ModelCard card) {
  std::vector<ModelCard> cards = cards_;
  std::erase_if(cards, [&](const ModelCard& other) { return other.name == card.name; });
  if (cards.size() >= models_max) return fail(ErrorCode::resource_exhausted, "There are {} models already.", cards.size());
  cards.push_back(std::move(card));
  WEFT_OK(save(cards));
  cards_ = std::move(cards);
  return {};
}

Result<> ModelRegistry::remove(std::string_view name) {
  std::vector<ModelCard> cards = cards_;
  if (std::erase_if(cards, [&](const ModelCard& card) { return card.name == name; }) == 0)
    return fail(ErrorCode::not_found, "There is no model {}.", name);
  WEFT_OK(save(cards));
  cards_ = std::move(cards);
  return {};
}

}  // namespace weft::coordinator
