#include "engine/tokenizer/vocabulary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/format.h"

namespace weft::tokenizer {
namespace {

// Names of tokens that are control tokens, although files often list them as ordinary tokens.
constexpr auto control_names = std::to_array<std::string_view>(
    {"<|fim_prefix|>", "<fim-prefix>",    "<fim_prefix>",   "<｜fim▁begin｜>", "<PRE>",
     "▁<PRE>",         "<|code_prefix|>", "<|fim_suffix|>", "<fim-suffix>",    "<fim_suffix>",
     "<｜fim▁hole｜>", "<SUF>",           "▁<SUF>",         "<|code_suffix|>", "<|fim_middle|>",
     "<fim-middle>",   "<fim_middle>",    "<｜fim▁end｜>",  "<MID>",           "▁<MID>",
     "<|code_middle|>"});
// Names of tokens that are control tokens and also end a generation.
constexpr auto end_names = std::to_array<std::string_view>({"<|eot_id|>",
                                                            "<|im_end|>",
                                                            "<|end|>",
                                                            "<|return|>",
                                                            "<|call|>",
                                                            "<|flush|>",
                                                            "<|calls|>",
                                                            "<end_of_turn>",
                                                            "<turn|>",
                                                            "<|endoftext|>",
                                                            "</s>",
                                                            "<|eom_id|>",
                                                            "<EOT>",
                                                            "_<EOT>",
                                                            "[EOT]",
                                                            "[EOS]",
                                                            "<eos>",
                                                            "<|end_of_text|>",
                                                            "<end_of_utterance>",
                                                            "<｜end▁of▁sentence｜>",
                                                            "<|fim_pad|>",
                                                            "<fim-pad>",
                                                            "<fim_pad>",
                                                            "<PAD>",
                                                            "[PAD]",
                                                            "<|fim_repo|>",
                                                            "<|repo_name|>",
                                                            "<fim-repo>",
                                                            "<REPO>",
                                                            "<reponame>",
                                                            "<|file_sep|>"});

Result<std::optional<Token>> token_at(const gguf::Metadata& metadata, std::string_view key,
                                      std::size_t size, std::optional<Token> otherwise) {
  if (!metadata.has(key))
    return otherwise && static_cast<std::size_t>(*otherwise) < size ? otherwise : std::nullopt;
  WEFT_ASSIGN(const std::int64_t token, metadata.integer(key));
  // Files write these numbers for "no token".
  if (token == -1 || token == 0xFFFFFFFF) return std::nullopt;
  if (token < 0 || static_cast<std::uint64_t>(token) >= size)
    return fail(
        ErrorCode::invalid_argument,
        "The metadata '{}' is {}, which is not the id of a token: the vocabulary has {} tokens.",
        key, token, size);
  return static_cast<Token>(token);
}

}  // namespace

Result<Vocabulary> Vocabulary::create(const gguf::Metadata& metadata) {
  WEFT_ASSIGN(const std::string_view model, metadata.string_or("tokenizer.ggml.model", "no_vocab"));
  Vocabulary vocabulary;
  if (model == "gpt2") {
    vocabulary.model_ = Model::byte_pair;
  } else if (model == "llama") {
    vocabulary.model_ = Model::sentence_piece;
  } else if (model == "bert") {
    vocabulary.model_ = Model::word_piece;
  } else if (model == "no_vocab" || model == "none") {
    return fail(ErrorCode::unsupported, "The file has no tokenizer.");
  } else {
    return fail(ErrorCode::unsupported,
                "The tokenizer model '{}' is not supported; 'gpt2', 'llama' and 'bert' are.",
                model);
  }
  WEFT_OK(vocabulary.load_tokens(metadata));
  WEFT_OK(vocabulary.load_rules(metadata));
  vocabulary.mark_known_names();
  return vocabulary;
}

Result<> Vocabulary::load_tokens(const gguf::Metadata& metadata) {
  WEFT_ASSIGN(const gguf::Array* tokens,
              metadata.array("tokenizer.ggml.tokens", gguf::ValueType::string));
  // The limit is above any real vocabulary and keeps token ids below 2^32.
  constexpr std::size_t tokens_max = 1u << 24;
  if (tokens->count == 0 || tokens->count > tokens_max)
    return fail(ErrorCode::invalid_argument, "The vocabulary has {} tokens; 1 to {} are read.",
                tokens->count, tokens_max);
  texts_ = tokens->strings;
  kinds_.assign(size(), TokenKind::normal);
  ends_generation_.assign(size(), false);
  for (std::size_t i = 0; i < size(); ++i)
    text_bytes_max_ = std::max(text_bytes_max_, texts_[i].size());

  if (metadata.has("tokenizer.ggml.token_type")) {
    WEFT_ASSIGN(const gguf::Array* kinds, metadata.array("tokenizer.ggml.token_type"));
    if (kinds->count != size())
      return fail(ErrorCode::invalid_argument, "There are {} token types for {} tokens.",
                  kinds->count, size());
    for (std::size_t i = 0; i < size(); ++i) {
      const auto kind = kinds->integer(i);
      if (!kind || *kind < 0 || *kind > 6)
        return fail(ErrorCode::invalid_argument,
                    "The type of token {} is not a number from 0 to 6.", i);
      kinds_[i] = *kind == 0 ? TokenKind::normal
                             : static_cast<TokenKind>(*kind);  // Files write 0 for "undefined".
    }
  }
  if (metadata.has("tokenizer.ggml.scores")) {
    WEFT_ASSIGN(const gguf::Array* scores,
                metadata.array("tokenizer.ggml.scores", gguf::ValueType::float32));
    if (scores->count != size())
      return fail(ErrorCode::invalid_argument, "There are {} scores for {} tokens.", scores->count,
                  size());
    scores_.resize(size());
    for (std::size_t i = 0; i < size(); ++i) {
      scores_[i] = scores->scalar<float>(i);
      if (std::isnan(scores_[i]))
        return fail(ErrorCode::invalid_argument, "The score of token {} is not a number.", i);
    }
  } else if (model_ == Model::sentence_piece) {
    return fail(ErrorCode::not_found, "The metadata has no 'tokenizer.ggml.scores'.");
  }
  index_.build(size(), [this](std::size_t i) { return texts_[i]; });
  return {};
}

Result<> Vocabulary::load_rules(const gguf::Metadata& metadata) {
  const bool sentence_piece = model_ == Model::sentence_piece;
  const bool word_piece = model_ == Model::word_piece;
  // Returns the token that is used if the file names none: that of SentencePiece or of BERT's
  // vocabularies.
  const auto otherwise = [&](Token pieces, Token words) {
    return sentence_piece ? std::optional<Token>(pieces)
           : word_piece   ? std::optional<Token>(words)
                          : std::nullopt;
  };
  // BERT puts a text between [CLS] and [SEP]. Files spell the key of [SEP] with a mistake
  // ("seperator").
  const std::string_view end_key =
      word_piece ? "tokenizer.ggml.seperator_token_id" : "tokenizer.ggml.eos_token_id";
  WEFT_ASSIGN(begin_, token_at(metadata, "tokenizer.ggml.bos_token_id", size(), otherwise(1, 101)));
  WEFT_ASSIGN(end_, token_at(metadata, end_key, size(), otherwise(2, 102)));
  WEFT_ASSIGN(unknown_,
              token_at(metadata, "tokenizer.ggml.unknown_token_id", size(), otherwise(0, 100)));
  if (word_piece && (!begin_ || !end_ || !unknown_))
    return fail(ErrorCode::invalid_argument,
                "The vocabulary has no token for the begin, the end or an unknown word, which "
                "'bert' needs.");
  // Vocabularies of Llama 3 and of Mistral's Tekken begin with BOS, even if the file does not say
  // so.
  WEFT_ASSIGN(const std::string_view pre, metadata.string_or("tokenizer.ggml.pre", "default"));
  const bool begins = sentence_piece || pre == "llama-bpe" || pre == "llama3" ||
                      pre == "llama-v3" || pre == "tekken";
  WEFT_ASSIGN(adds_begin_, metadata.boolean_or("tokenizer.ggml.add_bos_token", begins));
  WEFT_ASSIGN(adds_end_, metadata.boolean_or("tokenizer.ggml.add_eos_token", false));
  WEFT_ASSIGN(adds_space_prefix_,
              metadata.boolean_or("tokenizer.ggml.add_space_prefix", sentence_piece));
  if (word_piece) adds_begin_ = adds_end_ = true;
  if (adds_begin_ && !begin_) adds_begin_ = false;
  if (adds_end_ && !end_) adds_end_ = false;

  if (end_) ends_generation_[static_cast<std::size_t>(*end_)] = true;
  for (const std::string_view key :
       {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    WEFT_ASSIGN(const auto token, token_at(metadata, key, size(), std::nullopt));
    if (token) ends_generation_[static_cast<std::size_t>(*token)] = true;
  }
  return {};
}

void Vocabulary::mark_known_names() {
  for (const std::string_view name : control_names)
    if (const auto token = find(name))
      kinds_[static_cast<std::size_t>(*token)] = TokenKind::control;
  for (const std::string_view name : end_names) {
    if (const auto token = find(name)) {
      kinds_[static_cast<std::size_t>(*token)] = TokenKind::control;
      ends_generation_[static_cast<std::size_t>(*token)] = true;
    }
  }
}

std::optional<Token> Vocabulary::find(std::string_view text) const {
  const std::uint32_t found = index_.find(text, [this](std::size_t i) { return texts_[i]; });
  if (found == TextIndex::none) return std::nullopt;
  return static_cast<Token>(found);
}

std::optional<Token> Vocabulary::find_byte(std::uint8_t byte) const {
  if (const auto token = find(weft::format("<0x{:02X}>", byte))) return token;
  const char character = static_cast<char>(byte);
  return find({&character, 1});
}

}  // namespace weft::tokenizer
