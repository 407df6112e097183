// Messages on the WebSocket /v1/serve, over which a worker serves language models: whole models, or
// a range of layers in a chain with other workers.
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
//
// Binary frames are hops: bytes from one member of a chain to another (HopFrame). The coordinator
// relays them if the two members have no direct line. On direct lines, members also measure the
// time between them (PingFrame).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::protocol::serving {

// The version of these messages, in which all frames are written. Every change of serving_fields.h
// raises this version, except a new optional field. The version stayed at 7 when the other messages
// became version 8 (hello.h), so that sides with either version serve together.
inline constexpr std::uint32_t serving_version = 7;

inline constexpr std::size_t text_bytes_max = std::size_t{512} << 10;  // The bound of Ask::calls.
inline constexpr std::size_t prompt_tokens_max = 32768;                // The bound of Ask::prompt.
inline constexpr std::size_t rule_bytes_max = std::size_t{256} << 10;  // The bound of Ask::rule.
inline constexpr std::size_t biases_max = 1024;                        // The bound of Ask::bias.
inline constexpr std::size_t reopened_max = 65536;        // The bound of Reopen::numbers.
inline constexpr std::size_t vector_numbers_max = 16384;  // The bound of Answered::vector.

// --- Messages of the worker.
struct Offer {
  std::string token{};             // The token from the worker's Welcome message.
  std::uint64_t memory_bytes = 0;  // Memory for weights and caches.
  double gb_per_s = 0;  // Measured copy bandwidth, which decides how fast tokens are drawn.
  std::vector<std::string>
      lines{};  // How others reach it: "webrtc", "tcp://HOST:PORT#SHA-256 of its certificate".
  // The key that signs the worker's Frames. Zero: the worker commits to no frames.
  PublicKey key{};
  bool weighs = false;  // True if the worker understands Load::beside.
};
struct Loaded {
  std::uint32_t shard = 0;
  double seconds = 0;
  std::uint64_t memory_bytes = 0;  // The memory that the shard takes.
  std::string device{};
  std::uint32_t sequences = 0;  // Requests at a time; 0: the number that Load gave.
};
struct Unloaded {
  std::uint32_t shard = 0;
  std::string code{};  // The word of the weft::ErrorCode.
  std::string message{};
};
// The member is ready for hops of this epoch. `line` is its way to the next member: "relay",
// "webrtc", "tcp" or "self".
struct Linked {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::string line{};
  // Members to which this member should have a line but has none.
  std::vector<std::uint32_t> unreached{};
};
// An open line broke, and the data on it may be lost.
struct Parted {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t member = 0;  // The member at the other end.
};
// The chain has a fault that the member cannot repair.
struct Broken {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t member = 0;  // The member that is to blame, as far as the sender knows.
  std::string message{};
};
// A root over the frames that a member sent or received on a line, if Link::commits is set
// (common/proof/frame_block.h). The sender of a line and its receiver each report their own.
struct Frames {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t line = 0;   // The index of the member that sends on the line.
  std::uint32_t first = 0;  // The number of the first frame, and the count of frames.
  std::uint32_t count = 0;
  Hash root{};
  Signature signature{};  // Signs frame_block_digest() with Offer::key.
};
// After a Reopen: the member has sent all the requested frames that it keeps.
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
// The fingerprint (common/proof/fingerprint.h) of the hidden state after the prompt and `at` tokens
// of the answer.
struct Print {
  std::uint32_t at = 0;
  std::string data{};  // The fingerprint in base64.
};
struct Tokens {
  std::uint32_t request = 0;
  std::uint32_t epoch = 0;
  std::uint32_t first = 0;  // The number of tokens[0] in the answer, from 0.
  std::vector<Token> tokens{};
  std::uint32_t prompt_tokens = 0;
  std::vector<Print>
      // If Ask::prints is set: one after every 32 tokens, from 0 on, and one after the last token.
      prints{};
  // In an audit on a shard with Load::beside: the fingerprints of the reading with these weights.
  std::vector<Print> beside{};
};
struct Answered {
  std::uint32_t request = 0;
  std::uint32_t epoch = 0;
  // "eos", "length", "stop", "cancelled", or "failed" with a code and a message for the log.
  std::string reason{};
  std::string code{};
  std::string message{};
  std::uint32_t prompt_tokens = 0;
  std::uint32_t reused_tokens = 0;
  double prefill_s = 0;
  double decode_s = 0;
  std::uint32_t sequence = 0;  // The number by which the chain's frames name the answer.
  // The vector that an encoder makes of the prompt: f32 in base64, little-endian, of length 1.
  std::string vector{};
  // After an audit with Ask::redraw: the number of tokens that were drawn
  // again, and those of them that the settings do not give (numbers in the
  // answer, ascending; the first 64).
  std::uint32_t redrawn = 0;
  std::vector<std::uint32_t> doubtful{};
};
struct PeerLatency {
  PublicKey worker{};
  double ms = 0;  // One-way time of the fastest message since the last pulse.
};
struct ShardPace {
  std::uint32_t shard = 0;
  double ms = 0;  // The fastest recent time of a token in the shard's layers.
};
struct Pulse {
  std::uint32_t running = 0;  // Requests that are running.
  std::uint64_t memory_free = 0;
  // The share of the time since the last pulse in which the worker's engines worked, in [0, 1].
  double load = 0;
  std::uint64_t direct_hops = 0;   // Hops that the worker sent on direct lines since it joined.
  std::uint64_t direct_bytes = 0;  // Bytes of the hops on direct lines.
  std::vector<PeerLatency> peers{};
  std::vector<ShardPace> paces{};
};

// --- Messages of the coordinator.
struct Serving {
  std::uint32_t pulse_ms = 500;
};
struct Load {
  std::uint32_t shard = 0;
  std::string name{};
  Hash model{};  // SHA-256 of the model's file.
  std::uint64_t bytes = 0;
  std::uint64_t header_bytes = 0;  // The bytes before the tensors' data.
  std::uint32_t chunk_bytes = 0;
  Hash chunks{};  // Blob of the SHA-256 hashes of all chunks, in order.
  std::uint32_t first_layer = 0;
  std::uint32_t end_layer = 0;  // 0: up to the last layer.
  std::uint32_t context = 0;
  // The most requests at a time; a worker that runs requests in turn takes fewer.
  std::uint32_t sequences = 1;
  // Memory for the keys and values of all sequences; 0: enough for sequences of full length.
  std::uint64_t cache_bytes = 0;
  std::string activations{};  // "f32" or "int8"; empty: "f32".
  // "q8_0": the shard also has the model with weights that are rounded to Q8_0, and reads each
  // answer with both. It has all layers, both with activations in f32, and gives no answers itself.
  // Empty: it has the model's own weights alone.
  std::string beside{};
};
struct Unload {
  std::uint32_t shard = 0;
};
struct Member {
  PublicKey worker{};
  std::uint32_t shard = 0;
  std::vector<std::string> lines{};
  // 64 hex digits by which this member and the receiver identify each other in this epoch; empty:
  // they use the relay.
  std::string token{};
};
// A server that tells a tab its own address, or that relays packets (RTCIceServer).
struct IceServer {
  std::vector<std::string> urls{};
  std::string username{};
  std::string credential{};
};
struct Link {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;  // Rises; hops and answers of an earlier epoch are discarded.
  std::uint32_t index = 0;  // The receiver's index among the members.
  std::string wire{};       // The type of hidden states on lines: "f32", "f16" or "i8".
  // True if the members' results do not depend on the number of positions that they compute at a
  // time, as on processors.
  bool exact = false;
  std::vector<Member> members{};
  bool commits = false;  // True if members report their Frames.
  // The number of sequences that the first member may have open at a time: that of the member with
  // the fewest. 0: the first member's own number.
  std::uint32_t sequences = 0;
  std::vector<IceServer>
      ice{};  // For members with "webrtc" lines; credentials are valid for some hours.
};
struct Unlink {
  std::uint32_t chain = 0;
};
// Asks a member to show frames that it keeps of a line, with their paths to the roots that it
// reported. The member answers with hops to hop_to_coordinator, each message a frame opening
// (common/proof/frame_block.h), and then with Reopened.
struct Reopen {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t line = 0;
  // The requested frames: those of a sequence, or those with these numbers; all if neither is set.
  bool by_sequence = false;
  std::uint32_t sequence = 0;
  std::vector<std::uint32_t> numbers{};
};
struct Bias {
  std::int32_t token = 0;
  double bias = 0;  // Added to the token's logit.
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
  std::vector<std::int32_t> answered{};  // The answer's tokens so far, if another chain began it.
  bool prints = false;
  // True: draws nothing, but reads the answered tokens and reports their fingerprints (Tokens
  // without tokens).
  bool audit = false;
  // In an audit: each token is drawn again, and this is the greatest distance of honest engines'
  // hidden states (common/proof/fingerprint.h). 0: no token is drawn again.
  double redraw = 0;
  // The format that the answer must have: "" any, "json" any JSON object,
  // "schema" the JSON schema in `rule`, "gbnf" the grammar in `rule`, "tool"
  // one call of the prompt's tools, "tools" one or more calls (of the tool
  // that `rule` names, or of any tool if it is empty).
  std::string format{};
  std::string rule{};
  std::string
      calls{};  // For "tool" and "tools": the JSON that the chat template was rendered with.
  std::vector<Bias> bias{};
};
struct Drop {
  std::uint32_t request = 0;
};

// --- Messages of both sides.
//
// The data that two members need to connect to each other (an SDP, a candidate). The coordinator
// passes it on unchanged.
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
// A JSON array in the form for RTCPeerConnection. A name and a password are written only if they
// are set.
[[nodiscard]] std::string encode(const std::vector<IceServer>& servers);
// Decode a message. An error is one sentence that names the place, as in codec.h.
[[nodiscard]] Result<ServingWorkerMessage> decode_worker(std::string_view text);
[[nodiscard]] Result<ServingCoordinatorMessage> decode_coordinator(std::string_view text);

// Bytes from one member of a chain to another. Messages that are longer than a frame travel in
// parts, in order.
struct HopFrame {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint16_t from = 0;
  std::uint16_t to = 0;
  bool more = false;  // Another part follows.
  ByteVector payload{};
};
// Stands for the coordinator in the place of a member's number: the coordinator keeps such a hop
// and relays it to no member.
inline constexpr std::uint16_t hop_to_coordinator = 0xFFFF;
inline constexpr std::size_t hop_header_bytes = 14;
inline constexpr std::size_t hop_payload_bytes_max =
    std::size_t{60} << 10;  // Fits into a message of every data channel.

[[nodiscard]] ByteVector encode(const HopFrame& frame);
[[nodiscard]] Result<HopFrame> decode_hop(ByteSpan bytes);

// Measures the time to another member, on the line between the two.
struct PingFrame {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint16_t from = 0;
  std::uint16_t to = 0;
  bool answer = false;  // True if this is the answer to a ping of this number.
  std::uint32_t number = 0;
};
[[nodiscard]] ByteVector encode(const PingFrame& frame);
[[nodiscard]] bool is_ping(ByteSpan bytes);
[[nodiscard]] Result<PingFrame> decode_ping(ByteSpan bytes);

}  // namespace weft::protocol::serving
