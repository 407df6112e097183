#include "apps/cli/settlement/simulated_chain.h"

#include <mutex>
#include <thread>

#include "apps/cli/installation.h"
#include "common/crypto/wallet.h"
#include "common/json/json.h"

namespace weft::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t lamports_given = 1'000'000'000'000;

// The lines of a child process, which arrive on a thread of their own.
class Said {
 public:
  void line(std::string_view text) {
    const std::lock_guard lock(mutex_);
    text_ += text;
    text_ += '\n';
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

struct Node {
  std::unique_ptr<ChildProcess> process;
  std::string url;
};
Result<Node> start_node() {
  const auto tests = installation_folder() / "chain" / "tests";
  if (!std::filesystem::exists(tests / "node_modules" / "litesvm"))
    return fail(ErrorCode::not_found,
                "The simulation's virtual machine is not installed: {} is missing. `scripts/build "
                "chain` installs it, in a checkout of Weft.",
                (tests / "node_modules" / "litesvm").string());
  const auto said = std::make_shared<Said>();
  WEFT_ASSIGN(auto process, ChildProcess::start(
                                {.arguments = {"node", (tests / "rpc.mjs").string()},
                                 .environment = {},
                                 .on_line = [said](std::string_view text) { said->line(text); }}));
  constexpr std::string_view word = "listening on ";
  for (int i = 0; i < 1'000 && process->running(); ++i) {
    const std::string text = said->text();
    const std::size_t at = text.find(word), end = text.find('\n', at);
    if (at != std::string::npos && end != std::string::npos)
      return Node{.process = std::move(process),
                  .url = "http://" + text.substr(at + word.size(), end - at - word.size())};
    std::this_thread::sleep_for(20ms);
  }
  return fail(ErrorCode::unavailable, "The node of the virtual machine did not start: {}.",
              said->text());
}

// Runs a command of this program to its end.
Result<> run_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), own_executable().string());
  const std::string name = arguments[1] + " " + arguments[2];
  const auto said = std::make_shared<Said>();
  WEFT_ASSIGN(auto process, ChildProcess::start(
                                {.arguments = std::move(arguments),
                                 .environment = {},
                                 .on_line = [said](std::string_view text) { said->line(text); }}));
  while (process->running()) std::this_thread::sleep_for(20ms);
  if (process->stop(0ms) != 0)
    return fail(ErrorCode::internal, "`weft {}` failed: {}", name, said->text());
  return {};
}

}  // namespace

Result<std::unique_ptr<SimulatedChain>> SimulatedChain::start(const Founding& founding) {
  if (!std::filesystem::exists(founding.elf))
    return fail(ErrorCode::not_found,
                "The on-chain program {} is missing; `scripts/build chain` makes it.",
                founding.elf.string());
  WEFT_ASSIGN(Node node, start_node());
  auto folder = std::make_unique<ScratchFolder>("simulate-settlement");
  const auto file = [&](const char* name) { return (folder->path() / name).string(); };
  WEFT_ASSIGN(crypto::KeyPair founder, crypto::load_or_create_wallet(file("founder.json")));
  WEFT_ASSIGN(const crypto::KeyPair program, crypto::load_or_create_wallet(file("program.json")));
  WEFT_ASSIGN(auto rpc, chain::Rpc::create({.url = node.url, .timeout = 60s}));
  WEFT_OK(rpc->call("requestAirdrop",
                    weft::format(R"(["{}",{}])", founder.public_key().text(), lamports_given)));
  const std::vector<std::string> place = {"--rpc",   node.url,    "--wallet", file("founder.json"),
                                          "--level", "processed", "--yes"};
  std::vector<std::string> deploy = {
      "chain", "deploy", "--elf", founding.elf.string(), "--program-key", file("program.json")};
  deploy.insert(deploy.end(), place.begin(), place.end());
  WEFT_OK(run_command(std::move(deploy)));
  std::vector<std::string> init = {"chain",
                                   "init",
                                   "--program",
                                   program.public_key().text(),
                                   "--mint-key",
                                   file("mint.json"),
                                   "--out",
                                   file("chain.json"),
                                   "--poster",
                                   founding.poster.text(),
                                   "--guardian-quorum",
                                   "2",
                                   "--initial",
                                   std::to_string(founding.initial),
                                   "--founders-amount",
                                   std::to_string(founding.founders),
                                   "--emission",
                                   std::to_string(founding.emission),
                                   "--halving",
                                   std::to_string(founding.halving_epochs)};
  for (const PublicKey& guardian : founding.guardians)
    init.insert(init.end(), {"--guardian", guardian.text()});
  init.insert(init.end(), place.begin(), place.end());
  WEFT_OK(run_command(std::move(init)));
  SettlementOptions options;
  options.network = file("chain.json");
  WEFT_ASSIGN(SettlementLine line, settlement_line(options));
  return std::unique_ptr<SimulatedChain>(new SimulatedChain(
      std::move(folder), std::move(node.process), std::move(founder), std::move(line)));
}

Result<> SimulatedChain::give_lamports(const PublicKey& to) {
  WEFT_OK(rpc().call("requestAirdrop", weft::format(R"(["{}",{}])", to.text(), lamports_given)));
  return {};
}

Result<> SimulatedChain::deliver(std::span<const solana::Instruction> instructions,
                                 std::span<const crypto::KeyPair* const> signers) {
  WEFT_ASSIGN(const chain::RecentBlockhash recent, rpc().latest_blockhash());
  WEFT_ASSIGN(solana::Message message, solana::compile({.payer = founder_.public_key(),
                                                        .instructions = instructions,
                                                        .blockhash = recent.hash}));
  const ByteVector bytes = solana::encode(message);
  solana::Transaction transaction{.signatures = {}, .message = std::move(message)};
  for (std::size_t i = 0; i < transaction.message.signers; ++i) {
    const PublicKey& key = transaction.message.keys[i];
    const crypto::KeyPair* signer = key == founder_.public_key() ? &founder_ : nullptr;
    for (const crypto::KeyPair* one : signers)
      if (one->public_key() == key) signer = one;
    if (signer == nullptr)
      return fail(ErrorCode::internal, "The simulation has no key that signs for {}.", key.text());
    transaction.signatures.push_back(signer->sign_now(bytes));
  }
  WEFT_OK(rpc().send(solana::encode(transaction)));
  const Signature& signature = transaction.signatures.front();
  WEFT_ASSIGN(const auto status, rpc().status(signature));
  if (!status)
    return fail(ErrorCode::unavailable,
                "The simulated chain does not know the transaction {} that was sent to it.",
                signature.text());
  if (status->failure)
    return fail(ErrorCode::permission_denied, "{}", chain::failure_text(*status->failure));
  return {};
}

Result<> SimulatedChain::warp(std::uint64_t seconds) {
  WEFT_OK(rpc().call("litesvm_warp", weft::format("[{}]", seconds)));
  return {};
}
Result<> SimulatedChain::advance(std::uint64_t slots) {
  WEFT_OK(rpc().call("litesvm_advance", weft::format("[{}]", slots)));
  return {};
}
Result<> SimulatedChain::fork(std::size_t transactions) {
  WEFT_OK(rpc().call("litesvm_fork", weft::format("[{}]", transactions)));
  return {};
}
Result<> SimulatedChain::patch(const PublicKey& account, std::size_t at, ByteSpan bytes) {
  WEFT_OK(rpc().call("litesvm_patch",
                     weft::format(R"(["{}",{},"{}"])", account.text(), at, to_base64(bytes))));
  return {};
}
Result<> SimulatedChain::refresh() {
  WEFT_ASSIGN(auto found, rpc().account(line_.config_address));
  if (!found)
    return fail(ErrorCode::data_loss,
                "The account of the network's parameters is no longer on the simulated chain.");
  WEFT_ASSIGN(line_.config, solana::ProgramState::read("config", std::move(found->data)));
  return {};
}

}  // namespace weft::cli
