#include "apps/coordinator/http/token_texts.h"

namespace weft::coordinator {

Result<> TokenTexts::add(std::string_view text, Kind kind) {
  if (size() >= count_max || text.size() > bytes_max - bytes_.size())
    return fail(ErrorCode::resource_exhausted,
                "The model has more than {} tokens, or {} bytes of them.", count_max, bytes_max);
  bytes_ += text;
  ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  kinds_.push_back(kind);
  return {};
}

std::string_view TokenTexts::text(std::int32_t token) const {
  if (!has(token)) return {};
  const auto at = static_cast<std::size_t>(token);
  const std::size_t begin = at == 0 ? 0 : ends_[at - 1];
  return std::string_view(bytes_).substr(begin, ends_[at] - begin);
}

TokenTexts::Kind TokenTexts::kind(std::int32_t token) const {
  return has(token) ? kinds_[static_cast<std::size_t>(token)] : Kind{.is_control = true};
}

}  // namespace weft::coordinator
