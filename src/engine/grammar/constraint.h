// Constrains an answer of a model to a grammar: it tells which tokens may come next and which must.
//
//   Grammars grammars(tokenizer);                         one for a model, kept
//   WEFT_ASSIGN(auto constraint, grammars.begin(gbnf, {}));   one for an answer
//   constraint->forced(max);                              tokens that need no drawing
//   constraint->restrict(logits);  sample;  constraint->accept(token);   until is_complete()
//
// Threading: one thread for a Grammars and all its constraints. Lifetime: the tokenizer outlives
// both; a constraint may outlive its Grammars.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/grammar/matcher.h"
#include "engine/grammar/token_masks.h"
#include "engine/grammar/vocabulary_trie.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::grammar {

class Constraint {
 public:
  using Token = tokenizer::Token;
  struct Options {
    // The text after which the grammar begins to apply. Until the answer contains this text, every
    // token is allowed. If the text is empty, the grammar applies from the beginning.
    std::string after{};
    std::vector<Token> first{};  // Tokens that are forced before the grammar's text.
  };

  // A grammar with its matcher's states, which all answers with this grammar share.
  struct Compiled;

  Constraint(std::shared_ptr<Compiled> compiled, Options options);
  Constraint(const Constraint&) = delete;
  ~Constraint();

  // Returns at most `count_max` tokens that are the only way to continue; the caller accept()s them
  // one by one. Returns no token if there is a choice. The last token before a choice is not
  // forced, because a longer token may be the better beginning of the text after it.
  [[nodiscard]] std::vector<Token> forced(std::size_t count_max);
  // Returns a bit for each token that may come next, beginning with the lowest bit of the first
  // word. It is valid until the next call. Returns an empty span while every token is allowed.
  // Fails as restrict().
  [[nodiscard]] Result<std::span<const std::uint64_t>> allowed();
  // Sets the logits of forbidden tokens to -infinity. Tokens that end an answer are allowed if the
  // text may end. Fails with unsupported if no token of the vocabulary can continue the text, and
  // with invalid_argument if the grammar has too many readings of the text.
  [[nodiscard]] Result<> restrict(std::span<float> logits);
  // Adds the next token of the answer. Fails with invalid_argument if the token is forbidden. A
  // token that ends the answer changes nothing.
  [[nodiscard]] Result<> accept(Token token);

  // True if only the end of the answer can follow.
  [[nodiscard]] bool is_complete() const;
  // True if the answer may end after the text so far.
  [[nodiscard]] bool accepts() const;

 private:
  friend class Grammars;
  struct Tables;
  [[nodiscard]] Result<> renew();
  [[nodiscard]] std::unexpected<Error> ambiguous() const;
  [[nodiscard]] Result<> read(std::string_view text);

  const std::shared_ptr<Compiled> compiled_;
  std::shared_ptr<Tables> tables_;
  const std::string after_;
  std::deque<Token> first_;
  std::size_t bytes_ = 0;  // Length of the grammar's text so far.
  bool waits_ = false;
  std::string before_;  // Last bytes of the answer, while after_ is awaited.
  Matcher::State state_ = Matcher::dead;
  std::vector<std::uint64_t> allowed_;  // The result of allowed().
};

// Compiles the grammars of one model's answers, and keeps the newest grammars.
class Grammars {
 public:
  explicit Grammars(const tokenizer::Tokenizer& tokenizer);
  Grammars(const Grammars&) = delete;
  ~Grammars();

  // Begins an answer. Fails as parse_gbnf() does.
  [[nodiscard]] Result<std::unique_ptr<Constraint>> begin(std::string_view gbnf,
                                                          Constraint::Options options);

 private:
  static constexpr std::size_t kept_max = 8;

  const tokenizer::Tokenizer& tokenizer_;
  std::shared_ptr<const TokenMask> ends_;       // The tokens that end an answer.
  std::shared_ptr<const VocabularyTrie> trie_;  // ends_ and trie_ are made with the first grammar.
  // The newest grammar is last.
  std::deque<std::pair<std::string, std::shared_ptr<Constraint::Compiled>>> kept_;
};

}  // namespace weft::grammar
