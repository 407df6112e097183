#include "engine/tokenizer/clean_spaces.h"

#include <string_view>

namespace weft::tokenizer {
namespace {

// Removes each space whose following text makes `drops` return true.
template <class Drops>
void drop_spaces(std::string& text, Drops drops) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && text[i - 1] == ' ' && drops(std::string_view(text).substr(i))) out.pop_back();
    out.push_back(text[i]);
  }
  text = std::move(out);
}

}  // namespace

void clean_spaces(std::string& text) {
  drop_spaces(text, [](std::string_view rest) {
    return rest[0] == '?' || rest[0] == '!' || rest[0] == '.' || rest[0] == ',';
  });

  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool lone =
        i > 0 && i + 1 < text.size() && text[i] == '\'' && text[i - 1] == ' ' && text[i + 1] == ' ';
    if (lone) out.pop_back();
    out.push_back(text[i]);
    // Replaces the space after the quote by '\0', so that the next character is not taken for one
    // after a space.
    if (lone) text[++i] = '\0';
  }
  text = std::move(out);

  drop_spaces(text, [](std::string_view rest) {
    return rest.starts_with("'s") || rest.starts_with("'m") || rest.starts_with("'re") ||
           rest.starts_with("'ve");
  });
}

}  // namespace weft::tokenizer
