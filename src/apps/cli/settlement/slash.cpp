// `weft chain slash`: slashes a device that signed two results of one attempt of a task.
#include <array>

#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/settlement/act.h"
#include "common/crypto/sha256.h"
#include "common/json/json.h"
#include "common/solana/instructions.h"

namespace weft::cli {
namespace {

constexpr std::size_t levels_most = 8;

// One of the two results that contradict each other, with its path to the root that the device
// signed.
struct SignedResult {
  Hash result, session, worker;
  std::vector<Hash> siblings;
  std::uint64_t sides = 0;  // One bit a level; set if the node on the path is the right child.
  Signature signature;
};
struct TwoResults {
  PublicKey owner, device;
  JobId job;
  std::uint64_t task = 0, attempt = 0;
  SignedResult first, second;
};

template <class T>
Result<> read_as(const json::Object& object, std::string_view name, T& out) {
  WEFT_ASSIGN(const json::Value value, object.get(name));
  WEFT_ASSIGN(const std::string text, value.string());
  WEFT_ASSIGN(out, T::parse(text));
  return {};
}
Result<> read_number(const json::Object& object, std::string_view name, std::uint64_t most,
                     std::uint64_t& out) {
  WEFT_ASSIGN(const json::Value value, object.get(name));
  WEFT_ASSIGN(out, value.unsigned_integer(most));
  return {};
}

Result<SignedResult> read_result(const json::Value& value) {
  WEFT_ASSIGN(const json::Object object,
              value.object({"result", "session", "worker", "siblings", "sides", "signature"}));
  SignedResult out;
  WEFT_OK(read_as(object, "result", out.result));
  WEFT_OK(read_as(object, "session", out.session));
  WEFT_OK(read_as(object, "worker", out.worker));
  WEFT_OK(read_as(object, "signature", out.signature));
  WEFT_OK(read_number(object, "sides", 255, out.sides));
  WEFT_ASSIGN(const json::Value siblings, object.get("siblings"));
  WEFT_ASSIGN(const auto rows, siblings.array());
  if (rows.size() > levels_most)
    return fail(ErrorCode::invalid_argument,
                "The path in the receipt's tree has {} levels; evidence may have at most {}.",
                rows.size(), levels_most);
  for (const json::Value& row : rows) {
    WEFT_ASSIGN(const std::string text, row.string());
    WEFT_ASSIGN(out.siblings.emplace_back(), Hash::parse(text));
  }
  return out;
}

Result<TwoResults> read_evidence(const std::filesystem::path& path) {
  WEFT_ASSIGN(const ByteVector text, read_file(path));
  WEFT_ASSIGN(const json::Value root,
              json::parse(as_text(text), {.bytes_max = 65536, .depth_max = 6}));
  WEFT_ASSIGN(const json::Object object,
              root.object({"owner", "device", "job", "task", "attempt", "first", "second"}));
  TwoResults out;
  WEFT_OK(read_as(object, "owner", out.owner));
  WEFT_OK(read_as(object, "device", out.device));
  WEFT_OK(read_as(object, "job", out.job));
  WEFT_OK(read_number(object, "task", UINT32_MAX, out.task));
  WEFT_OK(read_number(object, "attempt", UINT32_MAX, out.attempt));
  WEFT_ASSIGN(const json::Value first, object.get("first"));
  WEFT_ASSIGN(const json::Value second, object.get("second"));
  WEFT_ASSIGN(out.first, read_result(first));
  WEFT_ASSIGN(out.second, read_result(second));
  return out;
}

// The digest that the device signed: that of the receipt with the root of its claims.
Hash signed_digest(const WalletLine& own, const TwoResults& both, const SignedResult& one) {
  ByteVector numbers;
  append_le(numbers, static_cast<std::uint32_t>(both.task));
  append_le(numbers, static_cast<std::uint32_t>(both.attempt));
  const Hash claim = crypto::Sha256()
                         .update(as_bytes(std::string_view("weft-claim-2")))
                         .update(both.job.span())
                         .update(numbers)
                         .update(one.result.span())
                         .finish();
  const std::array<std::uint8_t, 1> leaf = {0}, inner = {1};
  Hash root = crypto::Sha256().update(leaf).update(claim.span()).finish();
  for (std::size_t i = 0; i < one.siblings.size(); ++i) {
    const bool right = (one.sides >> i & 1U) != 0;
    root = crypto::Sha256()
               .update(inner)
               .update((right ? one.siblings[i] : root).span())
               .update((right ? root : one.siblings[i]).span())
               .finish();
  }
  return solana::receipt_digest(own.line.signing_place(),
                                {.coordinator = own.line.config.key("coordinator"),
                                 .session = one.session,
                                 .worker = one.worker,
                                 .root = root});
}

PublicKey as_key(const Hash& hash) {
  PublicKey out;
  out.bytes = hash.bytes;
  return out;
}

Result<> slash(const SettlementOptions& options) {
  auto read = read_evidence(options.message);
  if (!read) return pass(std::move(read), "while reading {}", options.message.string());
  const TwoResults& both = *read;
  if (both.first.result == both.second.result)
    return fail(
        ErrorCode::invalid_argument,
        "Both results of the evidence are the same, {}; a device may sign one result twice.",
        both.first.result.text());
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  std::vector<solana::SignedDigest> proofs;
  for (const SignedResult* one : {&both.first, &both.second}) {
    const Hash digest = signed_digest(own, both, *one);
    if (!crypto::verify_now(both.device, digest.span(), one->signature))
      return fail(
          ErrorCode::invalid_argument,
          "The result {} is not signed by the device {} for this network, task and attempt.",
          one->result.text(), both.device.text());
    proofs.push_back({.key = both.device, .signature = one->signature, .digest = digest});
  }
  const PublicKey stake = own.line.network.stake(both.owner);
  WEFT_ASSIGN(const auto held, own.line.state("stake", stake));
  if (!held)
    return fail(ErrorCode::not_found, "The owner {} has no stake in this network.",
                both.owner.text());
  OneCall more{.what =
                   weft::format("Takes the stake of {}, whose device {} signed two results of task "
                                "{} of job {}: {}.",
                                both.owner.text(), both.device.text(), both.task, both.job.text(),
                                credits_text(held->number("amount") + held->number("unbonding")))};
  WEFT_OK(make_own_tokens(own, more));
  more.before.push_back(solana::check_signatures(proofs));
  solana::ProgramCall call = own.line.call("slash");
  call.key("device", own.line.network.device(both.owner, both.device))
      .key("stake", stake)
      .key("bounty_to", own.own_tokens())
      .number("levels_a", both.first.siblings.size())
      .number("levels_b", both.second.siblings.size())
      .number("sides_a", both.first.sides)
      .number("sides_b", both.second.sides)
      .number("index", both.task)
      .number("attempt", both.attempt)
      .data_key("result_a", as_key(both.first.result))
      .data_key("result_b", as_key(both.second.result))
      .data_key("session_a", as_key(both.first.session))
      .data_key("worker_a", as_key(both.first.worker))
      .data_key("session_b", as_key(both.second.session))
      .data_key("worker_b", as_key(both.second.worker));
  for (std::size_t half = 0; half < 2; ++half) {
    std::uint64_t number = 0;
    for (std::size_t i = 8; i-- > 0;) number = number << 8 | both.job.bytes[8 * half + i];
    call.number("job", number, half);
  }
  ByteVector tail;
  for (const SignedResult* one : {&both.first, &both.second})
    for (const Hash& sibling : one->siblings) append(tail, sibling.span());
  call.tail(tail);
  return call_once(options, own, call, std::move(more));
}

}  // namespace

int chain_slash_command(const SettlementOptions& options) {
  const auto done = slash(options);
  return done ? 0 : report("chain slash", done.error());
}

}  // namespace weft::cli
