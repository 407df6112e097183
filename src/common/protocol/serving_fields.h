// The fields of the messages on /v1/serve; fields.h has those of /v1/worker. Private to this
// folder.
#pragma once

#include <tuple>

#include "common/protocol/serving.h"
#include "common/protocol/shape.h"

namespace weft::protocol {

inline constexpr FieldBounds line_list{.bytes_max = 256, .count_max = 8};
inline constexpr FieldBounds member_list{.count_max = 64};
inline constexpr FieldBounds calls_text{.bytes_max = serving::text_bytes_max};
inline constexpr FieldBounds token_list{.count_max = serving::prompt_tokens_max};
inline constexpr FieldBounds rule_text{.bytes_max = serving::rule_bytes_max};
inline constexpr FieldBounds vector_text{.bytes_max = (serving::vector_numbers_max * 4 + 2) / 3 * 4,
                                         .optional = true};
inline constexpr FieldBounds signal_text{.bytes_max = std::size_t{64} << 10};

template <>
struct Shape<serving::Offer> {
  using M = serving::Offer;
  static constexpr std::string_view type = "offer";
  static constexpr std::string_view name = "ServingOffer";
  static constexpr std::tuple fields{field("token", &M::token, {.bytes_max = 1024}),
                                     field("memory_bytes", &M::memory_bytes),
                                     field("gb_per_s", &M::gb_per_s),
                                     field("lines", &M::lines, line_list),
                                     field("key", &M::key, {.optional = true}),
                                     field("weighs", &M::weighs, {.optional = true})};
};
template <>
struct Shape<serving::Loaded> {
  using M = serving::Loaded;
  static constexpr std::string_view type = "loaded";
  static constexpr std::string_view name = "ServingLoaded";
  static constexpr std::tuple fields{field("shard", &M::shard), field("seconds", &M::seconds),
                                     field("memory_bytes", &M::memory_bytes),
                                     field("device", &M::device),
                                     field("sequences", &M::sequences)};
};
template <>
struct Shape<serving::Unloaded> {
  using M = serving::Unloaded;
  static constexpr std::string_view type = "unloaded";
  static constexpr std::string_view name = "ServingUnloaded";
  static constexpr std::tuple fields{field("shard", &M::shard), field("code", &M::code),
                                     field("message", &M::message, message_text)};
};
template <>
struct Shape<serving::Linked> {
  using M = serving::Linked;
  static constexpr std::string_view type = "linked";
  static constexpr std::string_view name = "ServingLinked";
  static constexpr std::tuple fields{field("chain", &M::chain), field("epoch", &M::epoch),
                                     field("line", &M::line),
                                     field("unreached", &M::unreached, member_list)};
};
template <>
struct Shape<serving::Parted> {
  using M = serving::Parted;
  static constexpr std::string_view type = "parted";
  static constexpr std::string_view name = "ServingParted";
  static constexpr std::tuple fields{field("chain", &M::chain), field("epoch", &M::epoch),
                                     field("member", &M::member)};
};
template <>
struct Shape<serving::Broken> {
  using M = serving::Broken;
  static constexpr std::string_view type = "broken";
  static constexpr std::string_view name = "ServingBroken";
  static constexpr std::tuple fields{field("chain", &M::chain), field("epoch", &M::epoch),
                                     field("member", &M::member),
                                     field("message", &M::message, message_text)};
};
template <>
struct Shape<serving::Frames> {
  using M = serving::Frames;
  static constexpr std::string_view type = "frames";
  static constexpr std::string_view name = "ServingFrames";
  static constexpr std::tuple fields{field("chain", &M::chain),        field("epoch", &M::epoch),
                                     field("line", &M::line),          field("first", &M::first),
                                     field("count", &M::count),        field("root", &M::root),
                                     field("signature", &M::signature)};
};
template <>
struct Shape<serving::Reopened> {
  using M = serving::Reopened;
  static constexpr std::string_view type = "reopened";
  static constexpr std::string_view name = "ServingReopened";
  static constexpr std::tuple fields{field("chain", &M::chain), field("epoch", &M::epoch),
                                     field("line", &M::line)};
};
template <>
struct Shape<serving::TopToken> {
  using M = serving::TopToken;
  static constexpr std::string_view name = "ServingTopToken";
  static constexpr std::tuple fields{field("id", &M::id), field("logprob", &M::logprob)};
};
template <>
struct Shape<serving::Token> {
  using M = serving::Token;
  static constexpr std::string_view name = "ServingToken";
  static constexpr std::tuple fields{field("id", &M::id), field("logprob", &M::logprob),
                                     field("top", &M::top, {.count_max = 32})};
};
template <>
struct Shape<serving::Print> {
  using M = serving::Print;
  static constexpr std::string_view name = "ServingPrint";
  static constexpr std::tuple fields{field("at", &M::at),
                                     field("data", &M::data, {.bytes_max = 344})};
};
template <>
struct Shape<serving::Tokens> {
  using M = serving::Tokens;
  static constexpr std::string_view type = "tokens";
  static constexpr std::string_view name = "ServingTokens";
  static constexpr std::tuple fields{
      field("request", &M::request),
      field("epoch", &M::epoch),
      field("first", &M::first),
      field("tokens", &M::tokens),
      field("prompt_tokens", &M::prompt_tokens),
      field("prints", &M::prints, {.count_max = 1024}),
      field("beside", &M::beside, {.count_max = 1024, .optional = true})};
};
template <>
struct Shape<serving::Answered> {
  using M = serving::Answered;
  static constexpr std::string_view type = "answered";
  static constexpr std::string_view name = "ServingAnswered";
  static constexpr std::tuple fields{
      field("request", &M::request),
      field("epoch", &M::epoch),
      field("reason", &M::reason),
      field("code", &M::code),
      field("message", &M::message, message_text),
      field("prompt_tokens", &M::prompt_tokens),
      field("reused_tokens", &M::reused_tokens),
      field("prefill_s", &M::prefill_s),
      field("decode_s", &M::decode_s),
      field("redrawn", &M::redrawn, {.optional = true}),
      field("doubtful", &M::doubtful, {.count_max = 64, .optional = true}),
      field("sequence", &M::sequence, {.optional = true}),
      field("vector", &M::vector, vector_text)};
};
template <>
struct Shape<serving::PeerLatency> {
  using M = serving::PeerLatency;
  static constexpr std::string_view name = "ServingPeerLatency";
  static constexpr std::tuple fields{field("worker", &M::worker), field("ms", &M::ms)};
};
template <>
struct Shape<serving::ShardPace> {
  using M = serving::ShardPace;
  static constexpr std::string_view name = "ServingShardPace";
  static constexpr std::tuple fields{field("shard", &M::shard), field("ms", &M::ms)};
};
template <>
struct Shape<serving::Pulse> {
  using M = serving::Pulse;
  static constexpr std::string_view type = "pulse";
  static constexpr std::string_view name = "ServingPulse";
  static constexpr std::tuple fields{field("running", &M::running),
                                     field("memory_free", &M::memory_free),
                                     field("load", &M::load),
                                     field("direct_hops", &M::direct_hops),
                                     field("direct_bytes", &M::direct_bytes),
                                     field("peers", &M::peers),
                                     field("paces", &M::paces)};
};
template <>
struct Shape<serving::Serving> {
  using M = serving::Serving;
  static constexpr std::string_view type = "serving";
  static constexpr std::string_view name = "ServingWelcome";
  static constexpr std::tuple fields{field("pulse_ms", &M::pulse_ms)};
};
template <>
struct Shape<serving::Load> {
  using M = serving::Load;
  static constexpr std::string_view type = "load";
  static constexpr std::string_view name = "ServingLoad";
  static constexpr std::tuple fields{field("shard", &M::shard),
                                     field("name", &M::name),
                                     field("model", &M::model),
                                     field("bytes", &M::bytes),
                                     field("header_bytes", &M::header_bytes),
                                     field("chunk_bytes", &M::chunk_bytes),
                                     field("chunks", &M::chunks),
                                     field("first_layer", &M::first_layer),
                                     field("end_layer", &M::end_layer),
                                     field("context", &M::context),
                                     field("sequences", &M::sequences),
                                     field("cache_bytes", &M::cache_bytes),
                                     field("activations", &M::activations),
                                     field("beside", &M::beside, {.optional = true})};
};
template <>
struct Shape<serving::Unload> {
  using M = serving::Unload;
  static constexpr std::string_view type = "unload";
  static constexpr std::string_view name = "ServingUnload";
  static constexpr std::tuple fields{field("shard", &M::shard)};
};
template <>
struct Shape<serving::Member> {
  using M = serving::Member;
  static constexpr std::string_view name = "ServingMember";
  static constexpr std::tuple fields{field("worker", &M::worker), field("shard", &M::shard),
                                     field("lines", &M::lines, line_list),
                                     field("token", &M::token, {.bytes_max = 64})};
};
template <>
struct Shape<serving::IceServer> {
  using M = serving::IceServer;
  static constexpr std::string_view name = "ServingIceServer";
  static constexpr std::tuple fields{field("urls", &M::urls, {.count_max = 16}),
                                     field("username", &M::username, {.bytes_max = 512}),
                                     field("credential", &M::credential, {.bytes_max = 512})};
};
template <>
struct Shape<serving::Link> {
  using M = serving::Link;
  static constexpr std::string_view type = "link";
  static constexpr std::string_view name = "ServingLink";
  static constexpr std::tuple fields{field("chain", &M::chain),
                                     field("epoch", &M::epoch),
                                     field("index", &M::index),
                                     field("wire", &M::wire),
                                     field("exact", &M::exact),
                                     field("members", &M::members),
                                     field("commits", &M::commits, {.optional = true}),
                                     field("sequences", &M::sequences, {.optional = true}),
                                     field("ice", &M::ice, {.count_max = 16})};
};
template <>
struct Shape<serving::Unlink> {
  using M = serving::Unlink;
  static constexpr std::string_view type = "unlink";
  static constexpr std::string_view name = "ServingUnlink";
  static constexpr std::tuple fields{field("chain", &M::chain)};
};
template <>
struct Shape<serving::Reopen> {
  using M = serving::Reopen;
  static constexpr std::string_view type = "reopen";
  static constexpr std::string_view name = "ServingReopen";
  static constexpr std::tuple fields{
      field("chain", &M::chain),
      field("epoch", &M::epoch),
      field("line", &M::line),
      field("by_sequence", &M::by_sequence),
      field("sequence", &M::sequence),
      field("numbers", &M::numbers, {.count_max = serving::reopened_max})};
};
template <>
struct Shape<serving::Bias> {
  using M = serving::Bias;
  static constexpr std::string_view name = "ServingBias";
  static constexpr std::tuple fields{field("token", &M::token), field("bias", &M::bias)};
};
template <>
struct Shape<serving::Ask> {
  using M = serving::Ask;
  static constexpr std::string_view type = "ask";
  static constexpr std::string_view name = "ServingAsk";
  static constexpr std::tuple fields{field("request", &M::request),
                                     field("chain", &M::chain),
                                     field("epoch", &M::epoch),
                                     field("prompt", &M::prompt, token_list),
                                     field("tokens_max", &M::tokens_max),
                                     field("temperature", &M::temperature),
                                     field("top_p", &M::top_p),
                                     field("top_k", &M::top_k),
                                     field("min_p", &M::min_p),
                                     field("repetition_penalty", &M::repetition_penalty),
                                     field("presence_penalty", &M::presence_penalty),
                                     field("frequency_penalty", &M::frequency_penalty),
                                     field("seed", &M::seed),
                                     field("top", &M::top),
                                     field("stop", &M::stop, {.bytes_max = 1024, .count_max = 16}),
                                     field("answered", &M::answered, token_list),
                                     field("prints", &M::prints),
                                     field("audit", &M::audit),
                                     field("redraw", &M::redraw, {.optional = true}),
                                     field("format", &M::format),
                                     field("rule", &M::rule, rule_text),
                                     field("calls", &M::calls, calls_text),
                                     field("bias", &M::bias, {.count_max = serving::biases_max})};
};
template <>
struct Shape<serving::Drop> {
  using M = serving::Drop;
  static constexpr std::string_view type = "drop";
  static constexpr std::string_view name = "ServingDrop";
  static constexpr std::tuple fields{field("request", &M::request)};
};
template <>
struct Shape<serving::Signal> {
  using M = serving::Signal;
  static constexpr std::string_view type = "signal";
  static constexpr std::string_view name = "ServingSignal";
  static constexpr std::tuple fields{field("chain", &M::chain), field("epoch", &M::epoch),
                                     field("from", &M::from), field("to", &M::to),
                                     field("text", &M::text, signal_text)};
};

}  // namespace weft::protocol
