#include "engine/grammar/constraint.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/grammar/gbnf.h"

namespace weft::grammar {
namespace {

constexpr std::size_t forced_bytes_max = 4096;

// Returns the tokens of `text`: the tokenizer's tokens if their text is exactly `text`, else the
// longest tokens that fit, one after another.
std::vector<tokenizer::Token> tokens_of(std::string_view text,
                                        const tokenizer::Tokenizer& tokenizer,
                                        const VocabularyTrie& trie) {
  if (auto tokens = tokenizer.encode(text, {})) {
    std::string written;
    bool plain = true;
    for (const tokenizer::Token token : *tokens) {
      plain = plain && !tokenizer.vocabulary().is_control(token);
      tokenizer.append_piece(token, {}, written);
    }
    if (plain && written == text) return std::move(*tokens);
  }
  std::vector<tokenizer::Token> out;
  while (!text.empty()) {
    const auto [token, bytes] = trie.longest(text);
    if (bytes == 0) break;
    out.push_back(token);
    text.remove_prefix(bytes);
  }
  return out;
}

TokenMask ends_of(const tokenizer::Vocabulary& vocabulary) {
  TokenMask out(vocabulary.size());
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    if (vocabulary.ends_generation(static_cast<tokenizer::Token>(i)))
      out.add(static_cast<tokenizer::Token>(i));
  }
  return out;
}

}  // namespace

struct Constraint::Tables {
  Tables(const std::shared_ptr<const Grammar>& grammar, const VocabularyTrie& trie)
      : matcher(grammar), masks(matcher, trie) {}

  Matcher matcher;
  TokenMasks masks;
};

struct Constraint::Compiled {
  const tokenizer::Tokenizer& tokenizer;
  std::shared_ptr<const TokenMask> ends;
  std::shared_ptr<const VocabularyTrie> trie;
  std::shared_ptr<const Grammar> grammar;
  // Full tables are replaced; answers in progress keep the old tables.
  std::shared_ptr<Tables> tables;
};

Constraint::Constraint(std::shared_ptr<Compiled> compiled, Options options)
    : compiled_(std::move(compiled)),
      tables_(compiled_->tables),
      after_(std::move(options.after)),
      first_(options.first.begin(), options.first.end()),
      waits_(!after_.empty()),
      state_(tables_->matcher.start()) {}

Constraint::~Constraint() = default;

// Replaces full tables by new ones, and moves the answer's state to the new tables.
Result<> Constraint::renew() {
  const std::shared_ptr<Tables> old = tables_;
  if (compiled_->tables == old)
    compiled_->tables = std::make_shared<Tables>(compiled_->grammar, *compiled_->trie);
  const Matcher::State state = compiled_->tables->matcher.take_over(old->matcher, state_);
  if (state >= Matcher::full) return ambiguous();
  tables_ = compiled_->tables;
  state_ = state;
  return {};
}

std::unexpected<Error> Constraint::ambiguous() const {
  return fail(ErrorCode::invalid_argument,
              "The grammar can be read in too many ways at byte {} of the answer; make its rules "
              "less ambiguous.",
              bytes_);
}

Result<> Constraint::read(std::string_view text) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Matcher::State to = tables_->matcher.next(state_, text);
    if (to == Matcher::dead)
      return fail(ErrorCode::invalid_argument,
                  "The token at byte {} of the answer is not allowed by the grammar.", bytes_);
    if (to != Matcher::full) {
      state_ = to;
      bytes_ += text.size();
      return {};
    }
    WEFT_OK(renew());
  }
  return ambiguous();
}

std::vector<Constraint::Token> Constraint::forced(std::size_t count_max) {
  std::vector<Token> out;
  if (waits_) return out;
  if (!first_.empty()) {
    out.assign(first_.begin(), first_.end());
    out.resize(std::min(out.size(), count_max));
    return out;
  }
  if (state_ >= Matcher::full || count_max == 0) return out;
  Matcher& matcher = tables_->matcher;
  const std::string text = matcher.forced_text(state_, forced_bytes_max);
  if (text.empty()) return out;
  out = tokens_of(text, compiled_->tokenizer, *compiled_->trie);
  std::size_t bytes = 0;
  std::string written;
  for (const Token token : out) {
    written.clear();
    compiled_->tokenizer.append_piece(token, {}, written);
    bytes += written.size();
  }
  const Matcher::State end = matcher.next(state_, text);
  const bool ends = end < Matcher::full && bytes == text.size() && matcher.is_complete(end);
  if (!ends && !out.empty()) out.pop_back();
  out.resize(std::min(out.size(), count_max));
  return out;
}

Result<std::span<const std::uint64_t>> Constraint::allowed() {
  if (waits_) return std::span<const std::uint64_t>();
  if (!first_.empty()) {
    const auto only = static_cast<std::size_t>(first_.front());
    allowed_.assign(only / 64 + 1, 0);
    allowed_.back() = std::uint64_t{1} << (only & 63);
    return std::span<const std::uint64_t>(allowed_);
  }
  const TokenMask* mask = state_ >= Matcher::full ? nullptr : tables_->masks.allowed(state_);
  if (mask == nullptr) {
    WEFT_OK(renew());
    mask = tables_->masks.allowed(state_);
  }
  if (mask == nullptr) return ambiguous();
  const std::span<const std::uint64_t> words = mask->words();
  allowed_.assign(words.begin(), words.end());
  if (tables_->matcher.accepts(state_)) {
    const std::span<const std::uint64_t> ends = compiled_->ends->words();
    for (std::size_t i = 0; i < allowed_.size(); ++i) allowed_[i] |= ends[i];
  }
  if (std::ranges::all_of(allowed_, [](std::uint64_t word) { return word == 0; }))
    return fail(ErrorCode::unsupported,
                "No token of the model continues byte {} of the answer as the grammar demands.",
                bytes_);
  return std::span<const std::uint64_t>(allowed_);
}

Result<> Constraint::restrict(std::span<float> logits) {
  WEFT_ASSIGN(const std::span<const std::uint64_t> words, allowed());
  if (words.empty()) return {};
  constexpr float impossible = -std::numeric_limits<float>::infinity();
  // Whole words of the mask are handled at once, because most are full or empty. To handle 150,000
  // tokens one by one would take as long as a pass of a small model.
  for (std::size_t first = 0; first < logits.size(); first += 64) {
    const std::size_t count = std::min<std::size_t>(64, logits.size() - first);
    const std::uint64_t word = first / 64 < words.size() ? words[first / 64] : 0;
    if (word == ~std::uint64_t{0}) continue;
    const auto part = logits.subspan(first, count);
    if (word == 0) {
      std::ranges::fill(part, impossible);
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if ((word >> i & 1) == 0) part[i] = impossible;
    }
  }
  return {};
}

Result<> Constraint::accept(Token token) {
  const tokenizer::Vocabulary& vocabulary = compiled_->tokenizer.vocabulary();
  if (!vocabulary.has(token))
    return fail(ErrorCode::invalid_argument, "{} is not a token of the model.", token);
  if (!waits_ && !first_.empty()) {
    if (token != first_.front())
      return fail(ErrorCode::invalid_argument,
                  "The answer begins with the token {}; it must begin with the token {}.", token,
                  first_.front());
    first_.pop_front();
    return {};
  }
  if (vocabulary.ends_generation(token)) {
    if (!waits_ && !accepts())
      return fail(ErrorCode::invalid_argument,
                  "The answer ends at byte {}, before the grammar allows it.", bytes_);
    return {};
  }
  std::string piece;
  compiled_->tokenizer.append_piece(token, {}, piece);
  if (!waits_) return read(piece);
  before_ += piece;
  if (const std::size_t found = before_.find(after_); found != std::string::npos) {
    // The text of this token after `after_` counts only if the grammar accepts it.
    const std::string rest = before_.substr(found + after_.size());
    waits_ = false;
    if (!rest.empty()) (void)read(rest);
  } else if (before_.size() > after_.size()) {
    before_.erase(0, before_.size() - after_.size());
  }
  return {};
}

bool Constraint::is_complete() const {
  return !waits_ && first_.empty() && state_ < Matcher::full &&
         tables_->matcher.is_complete(state_);
}

bool Constraint::accepts() const {
  return !waits_ && first_.empty() && state_ < Matcher::full && tables_->matcher.accepts(state_);
}

Grammars::Grammars(const tokenizer::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
Grammars::~Grammars() = default;

Result<std::unique_ptr<Constraint>> Grammars::begin(std::string_view gbnf,
                                                    Constraint::Options options) {
  const auto known =
      std::ranges::find_if(kept_, [gbnf](const auto& entry) { return entry.first == gbnf; });
  std::shared_ptr<Constraint::Compiled> compiled;
  if (known != kept_.end()) {
    compiled = known->second;
    kept_.erase(known);
  } else {
    WEFT_ASSIGN(Grammar grammar, parse_gbnf(gbnf));
    if (!trie_) {
      trie_ = std::make_shared<const VocabularyTrie>(tokenizer_);
      ends_ = std::make_shared<const TokenMask>(ends_of(tokenizer_.vocabulary()));
    }
    auto shared = std::make_shared<const Grammar>(std::move(grammar));
    auto tables = std::make_shared<Constraint::Tables>(shared, *trie_);
    compiled =
        std::make_shared<Constraint::Compiled>(Constraint::Compiled{.tokenizer = tokenizer_,
                                                                    .ends = ends_,
                                                                    .trie = trie_,
                                                                    .grammar = std::move(shared),
                                                                    .tables = tables});
    if (tables->matcher.start() >= Matcher::full)
      return fail(ErrorCode::resource_exhausted,
                  "The grammar can begin in too many ways; make its rules less ambiguous.");
  }
  kept_.emplace_back(std::string(gbnf), compiled);
  if (kept_.size() > kept_max) kept_.pop_front();
  return std::make_unique<Constraint>(std::move(compiled), std::move(options));
}

}  // namespace weft::grammar
