// Messages on the WebSocket /v1/serve, over which a worker serves language models: whole ones, or a
// range of layers in a chain with others.
//
//   worker                                    coordinator
//   Offer{token, memory...}               ->  the token of its /v1/worker session
//                                         <-  Serving{pulse_ms}
//                                         <-  Load{shard, model, layers...}
//   Loaded{shard} / Unloaded{shard, why}  ->
//                                         <-  Link{chain, epoch, members}: forms a pipeline
//                                         <-  Ask{request, chain, prompt}: to the first stage; the
//                                             prompt as tokens, which the coordinator reads
//   Tokens{request...}                    ->  as they are sampled, few at a time: numbers alone.
//                                             The coordinator writes their text
//   Answered{request, reason}             ->
//   Frames{chain, line, root}             ->  a root over 32 frames that it sent or received
//                                         <-  Reopen{chain, line, sequence}: shows them
//   Pulse{running, load, peers...}        ->  every pulse_ms
//   Parted{chain, member}                 ->  the link between two stages broke
// Binary frames are hops: bytes from one member of a chain to another (HopFrame), which the
// coordinator passes on where the two have no line of their own. On lines of their own members also
// measure how far they are from each other (PingFrame).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::protocol::serving {

inline constexpr std::size_t text_bytes_max = std::size_t{512} << 10;  // Ask::calls.
inline constexpr std::size_t prompt_tokens_max = 32768;                // Ask::prompt.
inline constexpr std::size_t rule_bytes_max = std::size_t{256} << 10;  // Ask::rule.
inline constexpr std::size_t biases_max = 1024;                        // Ask::bias.
inline constexpr std::size_t reopened_max = 65536;                     // Reopen::numbers.
inline constexpr std::size_t vector_numbers_max = 16384;               // Answered::vector.

// --- From the worker.
struct Offer {
  std::string token{};             // The token of its Welcome.
  std::uint64_t memory_bytes = 0;  // For weights and caches.
  double gb_per_s = 0;  // Measured copy bandwidth, which decides how fast tokens are drawn.
  std::vector<std::string>
      lines{};      // How others reach it: "webrtc", "tcp://HOST:PORT#SHA-256 of its certificate".
  PublicKey key{};  // The session's: signs its Frames. Zero: it commits to no frames.
};
struct Loaded {
  std::uint32_t shard = 0;
  double seconds = 0;
  std::uint64_t memory_bytes = 0;  // What it takes.
  std::string device{};
  std::uint32_t sequences = 0;  // Requests that it answers at a time; 0: as many as it was told.
};
struct Unloaded {
  std::uint32_t shard = 0;
  std::string code{};  // weft::ErrorCode as a word.
  std::string message{};
};
// The member is ready for hops of this epoch; `line` is how it reaches the next one: "relay",
// "webrtc", "tcp", "self".
struct Linked {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::string line{};
  std::vector<std::uint32_t> unreached{};  // Members to whom it was to have a line, and has none.
};
// A line that was open is no more, and what was on it may be lost.
struct Parted {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t member = 0;  // The other end.
};
// Something with the chain went wrong that the member cannot mend.
struct Broken {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t member = 0;  // The member to blame, as far as the sender can see.
  std::string message{};
};
// What a member of a chain sent or received on a line, where Link::commits
// (common/proof/frame_block.h). The sender of a line and its receiver each tell theirs.
struct Frames {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t line = 0;   // The number of the member that sends on it.
  std::uint32_t first = 0;  // Number of the first frame, and how many there are.
  std::uint32_t count = 0;
  Hash root{};
  Signature signature{};  // By Offer::key, over frame_block_digest().
};
// After a Reopen: all that is kept was sent.
struct Reopened {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t line = 0;
};
struct TopToken {
  std::int32_t id = 0;
  double logprob = 0;
};
struct Token {
  std::int32_t id = 0;
  double logprob = 0;
  std::vector<TopToken> top{};
};
// common/proof/fingerprint.h of the hidden state behind the prompt and `at` tokens of the answer.
struct Print {
  std::uint32_t at = 0;
  std::string data{};  // base64.
};
struct Tokens {
  std::uint32_t request = 0;
  std::uint32_t epoch = 0;
  std::uint32_t first = 0;  // The number of tokens[0] in the answer, from 0.
  std::vector<Token> tokens{};
  std::uint32_t prompt_tokens = 0;
  std::vector<Print>
      prints{};  // Where Ask::prints: behind every 32 tokens, from 0 on, and behind the last.
};
struct Answered {
  std::uint32_t request = 0;
  std::uint32_t epoch = 0;
  // "eos", "length", "stop", "cancelled"; "failed" with code and message, which is for the log.
  std::string reason{};
  std::string code{};
  std::string message{};
  std::uint32_t prompt_tokens = 0;
  std::uint32_t reused_tokens = 0;
  double prefill_s = 0;
  double decode_s = 0;
  std::uint32_t sequence = 0;  // By which the frames of its chain name it.
  std::string vector{};  // What an encoder makes of the prompt: f32 in base64, little-endian, of
                         // length 1.
  // After an audit with Ask::redraw: how many tokens were drawn again, and which of them the
  // settings do not give (numbers in the answer, ascending; the first 64).
  std::uint32_t redrawn = 0;
  std::vector<std::uint32_t> doubtful{};
};
struct PeerLatency {
  PublicKey worker{};
  double ms = 0;  // One way, of the quickest message since the last pulse.
};
struct ShardPace {
  std::uint32_t shard = 0;
  double ms = 0;  // A token's way through its layers, the quickest recent one.
};
struct Pulse {
  std::uint32_t running = 0;  // Requests.
  std::uint64_t memory_free = 0;
  double load = 0;  // Share of the time since the last pulse in which its engines worked, [0, 1].
  std::uint64_t direct_hops = 0;   // That it sent on lines of its own since it joined,
  std::uint64_t direct_bytes = 0;  // and their bytes.
  std::vector<PeerLatency> peers{};
  std::vector<ShardPace> paces{};
};

// --- From the coordinator.
struct Serving {
  std::uint32_t pulse_ms = 500;
};
struct Load {
  std::uint32_t shard = 0;
  std::string name{};
  Hash model{};  // SHA-256 of the file.
  std::uint64_t bytes = 0;
  std::uint64_t header_bytes = 0;  // All before the tensors' data.
  std::uint32_t chunk_bytes = 0;
  Hash chunks{};  // Blob: the SHA-256 of each chunk, one behind the other.
  std::uint32_t first_layer = 0;
  std::uint32_t end_layer = 0;  // 0: to the last.
  std::uint32_t context = 0;
  std::uint32_t sequences = 1;    // At most; one that takes them one after the other takes fewer.
  std::uint64_t cache_bytes = 0;  // For keys and values of all; 0: as many as that many take.
  std::string activations{};      // "f32" or "int8"; empty: "f32".
};
struct Unload {
  std::uint32_t shard = 0;
};
struct Member {
  PublicKey worker{};
  std::uint32_t shard = 0;
  std::vector<std::string> lines{};
  std::string token{};  // 64 hex digits by which this member and the receiver know each other for
                        // this epoch; empty: they take the relay.
};
// Where a tab asks for its own address, or for a relay of packets (RTCIceServer).
struct IceServer {
  std::vector<std::string> urls{};
  std::string username{};
  std::string credential{};
};
struct Link {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;  // Grows; hops and answers of an earlier one are discarded.
  std::uint32_t index = 0;  // The receiver's place among the members.
  std::string wire{};       // How hidden states travel: "f32", "f16" or "i8".
  bool exact = false;  // All members' numbers are the same however many positions they take at a
                       // time, as on processors.
  std::vector<Member> members{};
  bool commits = false;  // Members tell of their Frames.
  // That the first member may have open at a time: what the member with the fewest has. 0: as many
  // as it has itself.
  std::uint32_t sequences = 0;
  std::vector<IceServer>
      ice{};  // For those whose lines are "webrtc"; credentials are good for some hours.
};
struct Unlink {
  std::uint32_t chain = 0;
};
// A member is to show frames that it keeps of a line, with their ways to the roots that it told of:
// hops to hop_to_coordinator, each message a frame opening (common/proof/frame_block.h); then
// Reopened.
struct Reopen {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t line = 0;
  // Those of a sequence, or those with these numbers; all where there is neither.
  bool by_sequence = false;
  std::uint32_t sequence = 0;
  std::vector<std::uint32_t> numbers{};
};
struct Bias {
  std::int32_t token = 0;
  double bias = 0;  // Added to its logit.
};
struct Ask {
  std::uint32_t request = 0;
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::vector<std::int32_t> prompt{};
  std::uint32_t tokens_max = 0;
  double temperature = 0;
  double top_p = 1;
  std::uint32_t top_k = 0;
  double min_p = 0;
  double repetition_penalty = 1;
  double presence_penalty = 0;
  double frequency_penalty = 0;
  std::uint64_t seed = 0;
  std::uint32_t top = 0;
  std::vector<std::string> stop{};
  std::vector<std::int32_t> answered{};  // The tokens of an answer that another chain began.
  bool prints = false;
  bool audit = false;  // Draws nothing: reads what was answered and tells of its fingerprints
                       // (Tokens without tokens).
  double redraw = 0;   // In an audit: each token is drawn again, where hidden states of honest
                       // engines are at most so far apart (common/proof/fingerprint.h); 0: none.
  // What the answer is held to: "" nothing, "json" any JSON object, "schema" the JSON schema in
  // `rule`, "gbnf" the grammar in `rule`, "tool" one call of the prompt's tools, "tools" one or
  // more (of the tool that `rule` names; of any where it is empty).
  std::string format{};
  std::string rule{};
  std::string calls{};  // For "tool" and "tools": what the chat template was rendered with (JSON).
  std::vector<Bias> bias{};
};
struct Drop {
  std::uint32_t request = 0;
};

// --- Either way: what two members need to find each other (an SDP, a candidate), passed on as it
// is.
struct Signal {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::string text{};
};

using ServingWorkerMessage = std::variant<Offer, Loaded, Unloaded, Linked, Parted, Broken, Frames,
                                          Reopened, Tokens, Answered, Pulse, Signal>;
using ServingCoordinatorMessage =
    std::variant<Serving, Load, Unload, Link, Unlink, Reopen, Ask, Drop, Signal>;

[[nodiscard]] std::string encode(const ServingWorkerMessage& message);
[[nodiscard]] std::string encode(const ServingCoordinatorMessage& message);
// A JSON array, as RTCPeerConnection takes it; a name and a password only where there are any.
[[nodiscard]] std::string encode(const std::vector<IceServer>& servers);
// One sentence that names the place, as codec.h.
[[nodiscard]] Result<ServingWorkerMessage> decode_worker(std::string_view text);
[[nodiscard]] Result<ServingCoordinatorMessage> decode_coordinator(std::string_view text);

// Bytes from one member of a chain to another. Longer messages than a frame takes travel in parts,
// in order.
struct HopFrame {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint16_t from = 0;
  std::uint16_t to = 0;
  bool more = false;  // Another part follows.
  ByteVector payload{};
};
inline constexpr std::uint16_t hop_to_coordinator = 0xFFFF;  // For itself, and not passed on.
inline constexpr std::size_t hop_header_bytes = 14;
inline constexpr std::size_t hop_payload_bytes_max =
    std::size_t{60} << 10;  // Fits into every data channel's message.

[[nodiscard]] ByteVector encode(const HopFrame& frame);
[[nodiscard]] Result<HopFrame> decode_hop(ByteSpan bytes);

// How long is the way to another member, on the line between the two.
struct PingFrame {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint16_t from = 0;
  std::uint16_t to = 0;
  bool answer = false;  // Comes back with the same number.
  std::uint32_t number = 0;
};
[[nodiscard]] ByteVector encode(const PingFrame& frame);
[[nodiscard]] bool is_ping(ByteSpan bytes);
[[nodiscard]] Result<PingFrame> decode_ping(ByteSpan bytes);

}  // namespace weft::protocol::serving
