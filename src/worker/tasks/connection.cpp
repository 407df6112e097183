#include "worker/tasks/connection.h"

#include <algorithm>
#include <array>

#include "common/base/format.h"
#include "common/proof/receipt.h"
#include "common/protocol/codec.h"
#include "common/protocol/digests.h"
#include "common/protocol/receipt_claims.h"
#include "common/protocol/versions.h"

namespace weft::worker {
namespace {

// True for refusals that trying again does not change.
bool is_final(ErrorCode code) {
  return code == ErrorCode::unsupported || code == ErrorCode::unauthenticated ||
         code == ErrorCode::permission_denied || code == ErrorCode::invalid_argument;
}

}  // namespace

Connection::Connection(Host& host, crypto::Signer& signer, Options options, Handlers handlers)
    : host_(host), signer_(signer), options_(std::move(options)), handlers_(std::move(handlers)) {}

// Wraps a callback so that it runs only while the socket for which it was made is the current one.
template <class Function>
auto Connection::while_this_socket(Function function) {
  return alive_.guard(
      [this, epoch = epoch_, function = std::move(function)](auto&&... arguments) mutable {
        if (epoch == epoch_) function(std::forward<decltype(arguments)>(arguments)...);
      });
}

void Connection::open() {
  ++epoch_;
  state_ = State::connecting;
  challenged_ = false;
  spoken_ = protocol::spoken_versions.first;
  place_ = {};  // Empty until the coordinator has proved its key.
  handlers_.connecting();
  host_.connect(
      {.open = while_this_socket([this] { say_hello(); }),
       .text = while_this_socket([this](const std::string& text) { on_text(text); }),
       .binary = while_this_socket([this](const ByteVector&) {
         nonsense({ErrorCode::invalid_argument,
                   "The coordinator sends no binary frames in this version."});
       }),
       .closed = while_this_socket([this](std::string reason) { lose(std::move(reason)); })});
  host_.after(options_.join_max, while_this_socket([this] {
                if (state_ == State::ready) return;
                host_.close();
                lose("The coordinator did not finish the greeting in time.");
              }));
}

void Connection::close() {
  ++epoch_;
  if (state_ != State::closed && state_ != State::waiting) host_.close();
  state_ = State::closed;
}

void Connection::wake() {
  if (state_ == State::waiting) open();
  // A machine that slept may hold a socket whose other end has closed long ago: sending a message
  // shows that.
  if (state_ == State::ready) send(protocol::Beat{});
}

void Connection::send(const protocol::WorkerMessage& message) {
  const bool unknown =
      spoken_ < protocol::step_roots_version && std::holds_alternative<protocol::States>(message);
  if (ready() && !unknown) host_.send_text(protocol::encode(message, spoken_));
}

bool Connection::send(const protocol::ResultFrame& frame) {
  // The result may be for a coordinator that was newer, and is older since it was started again.
  if (spoken_ < protocol::step_roots_version && !frame.result.step_roots.empty()) {
    protocol::ResultFrame older = frame;
    older.result.step_roots.clear();
    return send(older);
  }
  auto bytes = protocol::encode_frame(frame, spoken_);
  if (!bytes) return false;
  if (ready()) host_.send_binary(std::move(*bytes));
  return true;
}

void Connection::send_receipt(std::vector<protocol::ReceiptItem> items,
                              std::function<void()> sent) {
  const Hash digest = proof::receipt_digest(place_, protocol::claims_of(items));
  start<Result<Signature>>(
      signer_.sign({digest.bytes.begin(), digest.bytes.end()}),
      alive_.guard([this, epoch = epoch_, items = std::move(items),
                    sent = std::move(sent)](Result<Signature> signature) mutable {
        if (epoch == epoch_ && signature)
          send(protocol::Receipt{.items = std::move(items), .signature = *signature});
        if (epoch == epoch_ && !signature) refuse(signature.error());
        sent();
      }));
}

void Connection::set_slots(std::uint32_t slots) {
  if (slots == options_.slots) return;
  options_.slots = slots;
  send(protocol::Slots{.slots = slots});
}

void Connection::say_hello() {
  state_ = State::joining;
  crypto::random_bytes(place_.worker.bytes);
  host_.send_text(protocol::encode(
      protocol::WorkerMessage(protocol::Hello{.versions = protocol::version_list(),
                                              .key = signer_.public_key(),
                                              .nonce = place_.worker,
                                              .kind = options_.kind,
                                              .software = options_.software,
                                              .slots = options_.slots,
                                              .capabilities = options_.capabilities,
                                              .slice_memory_bytes = options_.slice_memory_bytes,
                                              .price_min = options_.price_min}),
      spoken_));
}

void Connection::on_text(const std::string& text) {
  const auto message = protocol::decode_coordinator_message(text);
  if (!message && message.error().code == ErrorCode::unsupported && state_ == State::joining) {
    if (const auto head = protocol::read_head(text))
      return other_version(head->version, head->version);
  }
  if (!message) return nonsense(message.error());
  if (const auto* error = std::get_if<protocol::ErrorMessage>(&*message)) return on_error(*error);
  if (const auto* challenge = std::get_if<protocol::Challenge>(&*message))
    return on_challenge(*challenge);
  if (const auto* welcome = std::get_if<protocol::Welcome>(&*message)) return on_welcome(*welcome);
  if (!ready())
    return nonsense(
        {ErrorCode::invalid_argument, "The coordinator sends work before its welcome."});
  spoke_nonsense_ = false;
  if (const auto* lease = std::get_if<protocol::Lease>(&*message)) handlers_.lease(*lease);
  if (const auto* verdict = std::get_if<protocol::Verdict>(&*message)) handlers_.verdict(*verdict);
  if (const auto* cancel = std::get_if<protocol::Cancel>(&*message)) handlers_.cancel(*cancel);
  if (const auto* asked = std::get_if<protocol::OpenChunks>(&*message)) handlers_.open(*asked);
  if (const auto* asked = std::get_if<protocol::OpenStates>(&*message))
    handlers_.open_states(*asked);
  if (const auto* yield = std::get_if<protocol::Yield>(&*message)) handlers_.yield(*yield);
}

void Connection::on_challenge(const protocol::Challenge& challenge) {
  if (state_ != State::joining || challenged_)
    return nonsense(
        {ErrorCode::invalid_argument, "The coordinator sends a challenge out of turn."});
  if (!protocol::common_version(std::array{challenge.version}))
    return other_version(challenge.version, spoken_);
  challenged_ = true;
  spoken_ = challenge.version;
  const protocol::ChallengeProof proof{.coordinator = challenge.coordinator,
                                       .worker_nonce = place_.worker,
                                       .worker = signer_.public_key(),
                                       .nonce = challenge.nonce,
                                       .genesis = challenge.genesis,
                                       .program = challenge.program,
                                       .host = options_.host};
  start<Result<bool>>(
      crypto::verify(challenge.coordinator, protocol::challenge_digest(proof), challenge.signature),
      while_this_socket([this, challenge](const Result<bool>& fits) {
        if (!fits) return refuse(fits.error());
        if (!*fits && options_.wants_proof)
          return refuse(
              {ErrorCode::unauthenticated,
               weft::format(
                   "The server at {} does not prove that it holds the key {} of a coordinator of "
                   "that name: it may be a relay, or a proxy that changes the Host header.",
                   options_.host, challenge.coordinator.text())});
        if (const auto accepted =
                options_.accept ? options_.accept(challenge.coordinator) : Result<>();
            !accepted)
          return refuse(accepted.error());
        prove(challenge);
      }));
}

void Connection::prove(const protocol::Challenge& challenge) {
  place_ = {.genesis = challenge.genesis,
            .program = challenge.program,
            .coordinator = challenge.coordinator,
            .session = challenge.nonce,
            .worker = place_.worker};
  start<Result<Signature>>(
      signer_.sign(
          protocol::hello_digest(place_.coordinator, place_.session, signer_.public_key())),
      while_this_socket([this, invite = options_.invite ? options_.invite(challenge)
                                                        : ""](Result<Signature> signature) {
        if (!signature) return refuse(signature.error());
        host_.send_text(protocol::encode(
            protocol::WorkerMessage(protocol::Prove{.signature = *signature, .invite = invite}),
            spoken_));
      }));
}

void Connection::on_welcome(const protocol::Welcome& welcome) {
  if (state_ != State::joining || place_.coordinator == PublicKey())
    return nonsense({ErrorCode::invalid_argument, "The coordinator sends a welcome out of turn."});
  state_ = State::ready;
  if (!spoke_nonsense_) failures_ = 0;
  handlers_.ready(welcome);
}

void Connection::on_error(const protocol::ErrorMessage& message) {
  const Error error{error_code_from(message.code), message.message};
  // Two workers with one wallet would otherwise replace each other's connection without end.
  if ((state_ == State::joining && is_final(error.code)) || error.code == ErrorCode::already_exists)
    return refuse(error);
  host_.close();
  lose(error.message);
}

// Only an update of the program helps, so that the connection is not tried again.
void Connection::other_version(std::uint32_t coordinator, std::uint32_t frames) {
  Error error{
      ErrorCode::unsupported,
      protocol::update_sentence(options_.kind, protocol::version_list(), std::array{coordinator})};
  host_.send_text(protocol::encode_error(
      {.code = std::string(to_string(error.code)), .message = error.message}, frames));
  refuse(std::move(error));
}

void Connection::refuse(Error error) {
  close();
  handlers_.refused(std::move(error));
}

void Connection::nonsense(const Error& error) {
  spoke_nonsense_ = true;
  host_.send_text(
      protocol::encode(protocol::WorkerMessage(protocol::ErrorMessage{
                           .code = std::string(to_string(error.code)), .message = error.message}),
                       spoken_));
  host_.close();
  lose("The coordinator sent something that is not a message: " + error.message);
}

void Connection::lose(std::string reason) {
  ++epoch_;
  state_ = State::waiting;
  // 0.25 s, 0.5 s, 1 s ... 30 s, minus a random part of up to a half, so that a thousand workers do
  // not reconnect at once.
  const double whole =
      std::min(seconds(options_.backoff_first) *
                   static_cast<double>(std::uint64_t{1} << std::min(failures_, 20)),
               seconds(options_.backoff_max));
  const auto retry = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(whole * (0.5 + 0.5 * host_.random())));
  ++failures_;
  handlers_.lost(std::move(reason), retry);
  // The handler may have closed the connection permanently.
  if (state_ == State::waiting) host_.after(retry, while_this_socket([this] { wake(); }));
}

}  // namespace weft::worker
