// Holds one answer of a model to a grammar: says which tokens may come next, and which must.
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
    // The grammar holds for what follows this text; until it has come, every token is allowed.
    // Empty: from the beginning.
    std::string after{};
    std::vector<Token> first{};  // Tokens before the text of the grammar; they are forced.
  };

  // A grammar with its states, which answers with the same grammar share.
  struct Compiled;

  Constraint(std::shared_ptr<Compiled> compiled, Options options);
  Constraint(const Constraint&) = delete;
  ~Constraint();

  // Tokens that are the only way to go on, at most `count_max`, to be accept()ed one by one; none
  // where there is a choice. The last token before a choice is left to be drawn, since a longer one
  // may be the better beginning of what follows.
  [[nodiscard]] std::vector<Token> forced(std::size_t count_max);
  // A bit for each token that may come next, from the lowest of the first word, until the next
  // call; none while every token is allowed. Errors are those of restrict().
  [[nodiscard]] Result<std::span<const std::uint64_t>> allowed();
  // Makes the logits of forbidden tokens -infinity. Tokens that end an answer are allowed where the
  // text may end. unsupported if no token of the vocabulary can go on; invalid_argument if
  // the grammar has too many readings of this text.
  [[nodiscard]] Result<> restrict(std::span<float> logits);
  // The next token of the answer; invalid_argument if it is forbidden. One that ends the answer
  // changes nothing.
  [[nodiscard]] Result<> accept(Token token);

  // Whether nothing but the end can follow.
  [[nodiscard]] bool is_complete() const;
  // Whether the text may end here.
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
  std::string before_;  // While it waits: the last bytes.
  Matcher::State state_ = Matcher::dead;
  std::vector<std::uint64_t> allowed_;  // What allowed() gives.
};

// The grammars of one model's answers: compiles them, and keeps the last ones.
class Grammars {
 public:
  explicit Grammars(const tokenizer::Tokenizer& tokenizer);
  Grammars(const Grammars&) = delete;
  ~Grammars();

  // Errors are those of parse_gbnf().
  [[nodiscard]] Result<std::unique_ptr<Constraint>> begin(std::string_view gbnf,
                                                          Constraint::Options options);

 private:
  static constexpr std::size_t kept_max = 8;

  const tokenizer::Tokenizer& tokenizer_;
  std::shared_ptr<const TokenMask> ends_;       // The tokens that end an answer.
  std::shared_ptr<const VocabularyTrie> trie_;  // Both are made by the first grammar.
  std::deque<std::pair<std::string, std::shared_ptr<Constraint::Compiled>>> kept_;  // Newest last.
};

}  // namespace weft::grammar
