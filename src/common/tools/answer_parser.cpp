#include "common/tools/answer_parser.h"

#include <algorithm>
#include <utility>

#include "common/json/json.h"
#include "common/json/quote.h"
#include "common/tools/json_extent.h"

namespace weft::tools {
namespace {

constexpr std::string_view think_open = "<think>", think_close = "</think>";
constexpr std::string_view tag_open = "<tool_call>", tag_close = "</tool_call>";
constexpr std::string_view list_open = "[TOOL_CALLS]";
constexpr std::string_view python_open = "<|python_tag|>";
constexpr std::string_view block_open = "<｜tool▁calls▁begin｜>",
                           block_close = "<｜tool▁calls▁end｜>",
                           call_open = "<｜tool▁call▁begin｜>", call_close = "<｜tool▁call▁end｜>",
                           call_middle = "<｜tool▁sep｜>";
constexpr std::string_view openers[] = {tag_open, list_open, python_open, block_open};
constexpr std::pair<std::string_view, std::string_view> python_words[] = {
    {"True", "true"}, {"False", "false"}, {"None", "null"}};
constexpr std::string_view blanks = " \t\r\n";
constexpr std::size_t call_bytes_max = std::size_t{1} << 20;

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(blanks, at), text.size());
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = skip_blanks(text, 0);
  const std::size_t end = text.find_last_not_of(blanks);
  return begin == text.size() ? std::string_view() : text.substr(begin, end + 1 - begin);
}

// The text at a place where a word is expected: the word, other text, or the beginning of the word
// at the end of the text.
enum class Word : std::uint8_t { there, other, cut };
Word word_at(std::string_view text, std::size_t at, std::string_view word) {
  const std::string_view rest = text.substr(std::min(at, text.size()));
  if (rest.starts_with(word)) return Word::there;
  return word.starts_with(rest) ? Word::cut : Word::other;
}

// The offset at which `text` ends with a beginning of `word`; the size of `text` if it does not.
std::size_t partial_at(std::string_view text, std::string_view word) {
  for (std::size_t n = std::min(text.size(), word.size() - 1); n > 0; --n)
    if (text.ends_with(word.substr(0, n))) return text.size() - n;
  return text.size();
}

}  // namespace

Result<Tools> read_tools(std::string_view text) {
  Tools out;
  WEFT_ASSIGN(const json::Value root,
              json::parse(text, {.bytes_max = std::size_t{4} << 20, .depth_max = 64}));
  WEFT_OK(root.for_each({.count_max = 256}, [&](const json::Value& one) -> Result<> {
    const auto member = [](const json::Value& value,
                           std::string_view key) -> Result<std::optional<json::Value>> {
      WEFT_ASSIGN(const auto members, value.members());
      for (const auto& [name, inner] : members)
        if (name == key && inner.kind() != json::Kind::null) return inner;
      return std::nullopt;
    };
    WEFT_ASSIGN(const auto type, member(one, "type"));
    if (type && type->text() != "\"function\"")
      return type->error("must be \"function\"; other tools are not supported here");
    WEFT_ASSIGN(const auto function, member(one, "function"));
    if (!function) return one.error("lacks the key \"function\"");
    WEFT_ASSIGN(const auto name, member(*function, "name"));
    if (!name) return function->error("lacks the key \"name\"");
    WEFT_ASSIGN(const std::string key, name->string({.bytes_max = 128}));
    if (key.empty() || key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-.") != std::string::npos)
      return name->error("must be of letters, digits, '_', '-' and '.'");
    if (out.contains(key)) return name->error("is given twice");
    Tool tool;
    WEFT_ASSIGN(const auto parameters, member(*function, "parameters"));
    if (parameters) {
      WEFT_ASSIGN(const auto properties, member(*parameters, "properties"));
      if (properties) {
        WEFT_ASSIGN(const auto list, properties->members());
        for (const auto& [parameter, schema] : list) {
          if (schema.kind() != json::Kind::object) continue;
          WEFT_ASSIGN(const auto kind, member(schema, "type"));
          tool.texts[parameter] = kind && kind->text() == "\"string\"";
        }
      }
    }
    out.emplace(key, std::move(tool));
    return {};
  }));
  return out;
}

std::vector<Piece> AnswerParser::push(std::string_view text) {
  std::vector<Piece> out;
  held_ += text;
  step(out, false, false);
  return out;
}

std::vector<Piece> AnswerParser::finish(bool whole) {
  std::vector<Piece> out;
  step(out, true, whole);
  return out;
}

void AnswerParser::step(std::vector<Piece>& out, bool ended, bool whole) {
  while (!held_.empty()) {
    const bool went_on = where_ == Where::begin || where_ == Where::thought
                             ? step_thought(out, ended)
                             : step_text(out, ended, whole);
    if (!went_on) return;
  }
}

// Takes one step before or within a thought. Returns false if more text is needed.
bool AnswerParser::step_thought(std::vector<Piece>& out, bool ended) {
  if (where_ == Where::begin) {
    const std::size_t at = skip_blanks(held_, 0);
    const Word word = word_at(held_, at, think_open);
    if (word == Word::cut && !ended) return false;
    if (word != Word::there) {
      where_ = Where::text;
      return true;
    }
    const std::size_t bytes = at + think_open.size();
    out.push_back({.kind = Piece::Kind::thought, .raw = held_.substr(0, bytes)});
    held_.erase(0, bytes);
    where_ = Where::thought;
    return true;
  }
  std::size_t bytes = held_.find(think_close);
  const bool closes = bytes != std::string::npos;
  if (!closes) bytes = ended ? held_.size() : partial_at(held_, think_close);
  const std::size_t raw = closes ? bytes + think_close.size() : bytes;
  if (raw == 0) return false;
  out.push_back(
      {.kind = Piece::Kind::thought, .raw = held_.substr(0, raw), .text = held_.substr(0, bytes)});
  held_.erase(0, raw);
  if (closes) where_ = Where::after_thought;
  return closes;
}

void AnswerParser::say(std::vector<Piece>& out, std::size_t bytes) {
  if (bytes == 0) return;
  Piece piece{.kind = Piece::Kind::text, .raw = held_.substr(0, bytes)};
  held_.erase(0, bytes);
  std::string_view text = piece.raw;
  // Blanks after a thought, and around calls, do not belong to the reader's text.
  if (!said_ && (where_ == Where::after_thought || called_))
    text.remove_prefix(skip_blanks(text, 0));
  said_ = said_ || !text.empty();
  piece.text = text;
  out.push_back(std::move(piece));
}

// The offset at which a call begins or may begin; the size of the held text if none does.
std::size_t AnswerParser::find_call() const {
  if (!said_) {
    const std::size_t at = skip_blanks(held_, 0);
    if (at < held_.size() && held_[at] == '{') return at;
  }
  std::size_t best = held_.size();
  for (const std::string_view opener : openers)
    best = std::min({best, held_.find(opener), partial_at(held_, opener)});
  return best;
}

bool AnswerParser::step_text(std::vector<Piece>& out, bool ended, bool whole) {
  if (tools_.empty()) {
    say(out, held_.size());
    return false;
  }
  std::size_t at = find_call();
  // Semicolons may separate objects that are calls.
  bool parted = false;
  if (const std::size_t mark = skip_blanks(held_, 0);
      !said_ && called_ && mark < held_.size() && held_[mark] == ';') {
    const std::size_t next = skip_blanks(held_, mark + 1);
    if (next == held_.size() && !ended) return false;
    parted = next < held_.size() && held_[next] == '{';
    if (parted) at = next;
  }
  if (at > 0 && !parted) {
    // Blanks are held back until more text comes, because blanks before a call do not belong to the
    // reader's text.
    const std::size_t last = std::string_view(held_).substr(0, at).find_last_not_of(blanks);
    std::size_t bytes = last == std::string_view::npos ? 0 : last + 1;
    if (ended && at == held_.size()) bytes = at;
    if (bytes > 0) {
      say(out, bytes);
      return true;
    }
    if (at == held_.size()) return false;
  }
  Found found = read_call(std::string_view(held_).substr(at), ended && whole);
  const bool too_long = held_.size() > call_bytes_max;
  if (found.kind == Found::Kind::more && !ended && !too_long) return false;
  if (found.kind == Found::Kind::calls) {
    const std::size_t bytes = at + found.bytes;
    found.calls.front().raw = held_.substr(0, bytes);
    held_.erase(0, bytes);
    out.insert(out.end(), std::make_move_iterator(found.calls.begin()),
               std::make_move_iterator(found.calls.end()));
    called_ = true;
    said_ = false;
    return true;
  }
  const auto is_mark = [&](std::string_view opener) {
    return std::string_view(held_).substr(at).starts_with(opener);
  };
  const bool marked = held_[at] == '{' || std::ranges::any_of(openers, is_mark);
  if (found.kind == Found::Kind::more && ended && marked) {
    out.push_back({.kind = Piece::Kind::cut, .raw = held_, .text = held_});
    held_.clear();
    return false;
  }
  // The text only looked like a call: its first byte is text, and the rest is parsed again.
  say(out, at + 1);
  return true;
}

// Adds the call if the JSON is one: an object with an offered name, and arguments.
bool AnswerParser::add_call(std::string_view text, std::vector<Piece>& calls) const {
  const auto root = json::parse(text, {.bytes_max = call_bytes_max, .depth_max = 64});
  if (!root || root->kind() != json::Kind::object) return false;
  const auto members = root->members({.count_max = 64});
  if (!members) return false;
  Piece call{.kind = Piece::Kind::call, .raw = {}, .text = {}, .name = {}, .arguments = "{}"};
  for (const auto& [key, value] : *members) {
    if (key == "name") {
      call.name = value.string().value_or("");
    } else if (key == "arguments" || key == "parameters") {
      if (value.kind() == json::Kind::object) {
        call.arguments = value.text();
        // The arguments of a call may be a string that contains JSON, as in OpenAI's documents.
      } else if (value.kind() == json::Kind::string) {
        call.arguments = value.string({.bytes_max = call_bytes_max}).value_or("");
        const auto inner = json::parse(call.arguments, {.depth_max = 64});
        if (!inner || inner->kind() != json::Kind::object) return false;
      } else if (value.kind() != json::Kind::null) {
        return false;
      }
    }
  }
  if (!tools_.contains(call.name)) return false;
  calls.push_back(std::move(call));
  return true;
}

AnswerParser::Found AnswerParser::read_call(std::string_view text, bool whole) const {
  if (text.starts_with('{')) return read_bare(text);
  if (text.starts_with(tag_open)) return read_tagged(text, whole);
  if (text.starts_with(list_open)) return read_list(text);
  if (text.starts_with(block_open)) return read_deepseek(text);
  if (text.starts_with(python_open)) {
    const std::size_t at = skip_blanks(text, python_open.size());
    if (at == text.size()) return {.kind = Found::Kind::more};
    if (text[at] != '{') return {};
    Found found = read_bare(text.substr(at));
    found.bytes += at;
    return found;
  }
  return {.kind = Found::Kind::more};  // The text is the beginning of a mark.
}

AnswerParser::Found AnswerParser::read_tagged(std::string_view text, bool whole) const {
  const std::size_t body = skip_blanks(text, tag_open.size());
  if (body == text.size()) return {.kind = Found::Kind::more};
  if (text[body] != '{') return read_functions(text, whole);
  const Extent extent = json_extent(text.substr(body));
  if (extent.kind != Extent::Kind::whole) return {.kind = Found::Kind::more};
  Found out;
  if (!add_call(text.substr(body, extent.bytes), out.calls)) return {};
  const std::size_t end = skip_blanks(text, body + extent.bytes);
  const Word word = word_at(text, end, tag_close);
  if (word == Word::other) return {};
  // A model may end its answer with the object, without a closing mark.
  if (word == Word::cut && !(whole && end == text.size())) return {.kind = Found::Kind::more};
  out.kind = Found::Kind::calls;
  out.bytes = word == Word::there ? end + tag_close.size() : end;
  return out;
}

// Reads calls whose values are written without quotes, on one line or several. The value of a
// parameter that does not take a string is JSON.
AnswerParser::Found AnswerParser::read_functions(std::string_view text, bool whole) const {
  constexpr std::string_view function_open = "<function=", function_close = "</function>",
                             value_open = "<parameter=", value_close = "</parameter>";
  constexpr auto more = [] { return Found{.kind = Found::Kind::more}; };
  std::size_t at = skip_blanks(text, tag_open.size());
  if (const Word word = word_at(text, at, function_open); word != Word::there)
    return word == Word::cut ? more() : Found{};
  at += function_open.size();
  const std::size_t name_end = text.find('>', at);
  if (name_end == std::string_view::npos) return more();
  Piece call{.kind = Piece::Kind::call,
             .raw = {},
             .text = {},
             .name = std::string(trimmed(text.substr(at, name_end - at))),
             .arguments = {}};
  const auto tool = tools_.find(call.name);
  if (tool == tools_.end()) return {};
  at = name_end + 1;
  while (true) {
    at = skip_blanks(text, at);
    const Word closes = word_at(text, at, function_close);
    if (closes == Word::there) break;
    const Word opens = word_at(text, at, value_open);
    if (opens != Word::there) return closes == Word::cut || opens == Word::cut ? more() : Found{};
    at += value_open.size();
    const std::size_t key_end = text.find('>', at);
    if (key_end == std::string_view::npos) return more();
    const std::string key(trimmed(text.substr(at, key_end - at)));
    std::size_t begin = key_end + 1;
    if (text.substr(begin).starts_with('\n')) ++begin;
    // A value may contain the closing mark itself: the value ends at the mark that another
    // parameter or the end follows.
    std::size_t end = begin, behind = 0;
    for (;; ++end) {
      end = text.find(value_close, end);
      if (end == std::string_view::npos) return more();
      behind = skip_blanks(text, end + value_close.size());
      const Word next = word_at(text, behind, value_open),
                 last = word_at(text, behind, function_close);
      if (next == Word::there || last == Word::there) break;
      if (next == Word::cut || last == Word::cut) return more();
    }
    std::string_view value = text.substr(begin, end - begin);
    if (value.ends_with('\n')) value.remove_suffix(1);
    const auto known = tool->second.texts.find(key);
    const bool is_text = known != tool->second.texts.end() && known->second;
    // Some templates show models Python's words (True, False, None).
    const auto word = std::ranges::find(python_words, trimmed(value),
                                        &std::pair<std::string_view, std::string_view>::first);
    const std::string_view plain = word == std::end(python_words) ? trimmed(value) : word->second;
    const auto parsed = json::parse(plain, {.bytes_max = call_bytes_max, .depth_max = 64});
    call.arguments += (call.arguments.empty() ? "" : ", ") + json::quote(key) + ": " +
                      (!is_text && parsed ? std::string(plain) : json::quote(value));
    at = behind;
  }
  call.arguments = "{" + call.arguments + "}";
  // Arguments with a duplicate key are not an object.
  if (const auto object =
          json::parse(call.arguments, {.bytes_max = 4 * call_bytes_max, .depth_max = 64});
      !object || !object->members())
    return {};
  at = skip_blanks(text, at + function_close.size());
  const Word word = word_at(text, at, tag_close);
  if (word == Word::other) return {};
  if (word == Word::cut && !(whole && at == text.size())) return more();
  return {.kind = Found::Kind::calls,
          .bytes = word == Word::there ? at + tag_close.size() : at,
          .calls = {std::move(call)}};
}

AnswerParser::Found AnswerParser::read_list(std::string_view text) const {
  const std::size_t at = skip_blanks(text, list_open.size());
  if (at == text.size()) return {.kind = Found::Kind::more};
  if (text[at] != '[') return {};
  const Extent extent = json_extent(text.substr(at));
  if (extent.kind != Extent::Kind::whole) return {.kind = Found::Kind::more};
  const auto list =
      json::parse(text.substr(at, extent.bytes), {.bytes_max = call_bytes_max, .depth_max = 64});
  if (!list) return {};
  Found out{.kind = Found::Kind::calls, .bytes = at + extent.bytes};
  const auto added = list->for_each({.count_max = 256}, [&](const json::Value& one) -> Result<> {
    if (!add_call(one.text(), out.calls)) return one.error("is not a call");
    return {};
  });
  if (!added || out.calls.empty()) return {};
  return out;
}

AnswerParser::Found AnswerParser::read_deepseek(std::string_view text) const {
  constexpr std::string_view fence_open = "```json", fence_close = "```";
  constexpr auto more = [] { return Found{.kind = Found::Kind::more}; };
  Found out{.kind = Found::Kind::calls};
  std::size_t at = block_open.size();
  while (true) {
    at = skip_blanks(text, at);
    const Word closes = word_at(text, at, block_close), opens = word_at(text, at, call_open);
    if (closes == Word::there) break;
    if (opens != Word::there) return closes == Word::cut || opens == Word::cut ? more() : Found{};
    const std::size_t middle = text.find(call_middle, at);
    if (middle == std::string_view::npos) return more();
    const std::size_t name = middle + call_middle.size();
    const std::size_t line = text.find('\n', name);
    if (line == std::string_view::npos) return more();
    at = skip_blanks(text, line);
    if (const Word word = word_at(text, at, fence_open); word != Word::there)
      return word == Word::cut ? more() : Found{};
    at = skip_blanks(text, at + fence_open.size());
    const Extent extent = json_extent(text.substr(at));
    if (extent.kind == Extent::Kind::none) return {};
    if (extent.kind == Extent::Kind::open) return more();
    if (!add_call("{\"name\":" + json::quote(trimmed(text.substr(name, line - name))) +
                      ",\"arguments\":" + std::string(text.substr(at, extent.bytes)) + "}",
                  out.calls))
      return {};
    at += extent.bytes;
    for (const std::string_view word : {fence_close, call_close}) {
      at = skip_blanks(text, at);
      if (const Word found = word_at(text, at, word); found != Word::there)
        return found == Word::cut ? more() : Found{};
      at += word.size();
    }
  }
  if (out.calls.empty()) return {};
  out.bytes = at + block_close.size();
  return out;
}

// Reads an object that is the whole answer. The parser waits for its end only if it begins with the
// name of an offered tool.
AnswerParser::Found AnswerParser::read_bare(std::string_view text) const {
  const std::size_t key = skip_blanks(text, 1);
  const Word name = word_at(text, key, "\"name\"");
  const Word type = word_at(text, key, "\"type\"");
  if (name != Word::there && type != Word::there)
    return name == Word::cut || type == Word::cut ? Found{.kind = Found::Kind::more} : Found{};
  const Extent extent = json_extent(text);
  if (extent.kind != Extent::Kind::whole) return {.kind = Found::Kind::more};
  Found out{.kind = Found::Kind::calls, .bytes = extent.bytes};
  if (!add_call(text.substr(0, extent.bytes), out.calls)) return {};
  return out;
}

}  // namespace weft::tools
