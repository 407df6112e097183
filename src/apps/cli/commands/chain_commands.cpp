// `weft chain`: the command line of settlement (apps/cli/settlement).
#include <CLI/CLI.hpp>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/coordinator_options.h"
#include "apps/cli/settlement/options.h"

namespace weft::cli {
namespace {

using Options = std::shared_ptr<SettlementOptions>;
using Command = int (*)(const SettlementOptions&);

class ChainCommands {
 public:
  ChainCommands(CLI::App* parent, std::function<int()>& chosen)
      : parent_(parent), chosen_(chosen) {}

  // Adds a command that only reads from the chain.
  CLI::App* reading(const char* name, const char* text, Command run, const Options& options) {
    CLI::App* command = parent_->add_subcommand(name, text);
    command
        ->add_option("--network", options->network,
                     "Network file with the node, the program and the mint, from `weft chain init`")
        ->envname("WEFT_CHAIN")
        ->check(CLI::ExistingFile);
    node(command, options);
    command->add_option("--program", options->program, "Address of the program");
    command->add_option("--mint", options->mint, "Address of the network's mint");
    ends(command, run, options);
    return command;
  }
  // Adds a command that signs, for an existing network.
  CLI::App* signing(const char* name, const char* text, Command run, const Options& options) {
    CLI::App* command = reading(name, text, run, options);
    signs(command, options);
    return command;
  }
  // Adds a command that signs for a coordinator and needs no chain.
  CLI::App* settling(const char* name, const char* text, Command run, const Options& options) {
    CLI::App* command = parent_->add_subcommand(name, text);
    command
        ->add_option("--wallet", options->wallet,
                     "Wallet file that signs (default: ~/.config/weft/wallet.json)")
        ->type_name("FILE");
    ends(command, run, options);
    return command;
  }
  // Adds a command that signs before the network exists.
  CLI::App* founding(const char* name, const char* text, Command run, const Options& options) {
    CLI::App* command = parent_->add_subcommand(name, text);
    node(command, options)->required();
    ends(command, run, options);
    signs(command, options);
    return command;
  }

 private:
  static CLI::Option* node(CLI::App* command, const Options& options) {
    command
        ->add_option("--ca-cert", options->tls.ca_cert,
                     "File with the certificate (PEM) that must have issued the node's")
        ->check(CLI::ExistingFile);
    return command->add_option("--rpc", options->rpc, "URL of a Solana node");
  }
  void ends(CLI::App* command, Command run, const Options& options) {
    command->add_flag("--json", options->json, "Print one JSON document on standard output");
    command->callback(
        [options, run, chosen = &chosen_] { *chosen = [options, run] { return run(*options); }; });
  }
  static void signs(CLI::App* command, const Options& options) {
    command
        ->add_option("--wallet", options->wallet,
                     "Wallet file that signs and pays (default: ~/.config/weft/wallet.json)")
        ->type_name("FILE");
    command->add_flag("--yes", options->yes, "Agree to the costs without being asked");
    command->add_flag("--dry-run", options->dry_run, "Show the costs and sign nothing")
        ->excludes("--yes");
    command->add_option("--level", options->level, "Commitment level that the command waits for")
        ->check(CLI::IsMember({"processed", "confirmed", "finalized"}));
    command->add_option("--priority", options->micro_lamports,
                        "Micro-lamports for a compute unit (default: what others paid recently)");
  }

  CLI::App* parent_;
  std::function<int()>& chosen_;
};

CLI::Option* rows_of(CLI::App* command, const Options& options, const char* text) {
  return command->add_option("--rows", options->rows, text)->required()->check(CLI::ExistingFile);
}

// Adds the options that name the coordinator whose ledger is used.
void ledger_of(CLI::App* command, const Options& options) {
  add_coordinator(*command, options->coordinator);
  add_ca_cert(*command, options->coordinator_tls, "--coordinator-ca-cert");
}

void operators_folder(CLI::App* command, const Options& options) {
  command
      ->add_option("--data", options->data,
                   "The coordinator's data folder, which has the operator's wallet")
      ->required()
      ->check(CLI::ExistingDirectory);
}

void add_founding(ChainCommands& commands, const Options& options) {
  CLI::App* deploy = commands.founding(
      "deploy",
      "Deploys the program on the chain\n\n"
      "  weft chain deploy --rpc URL --program-key program.json --elf build/chain/weft.so\n\n"
      "About 60 transactions. A deployment that was cut short continues if the command is run "
      "again.",
      chain_deploy_command, options);
  deploy
      ->add_option("--elf", options->elf,
                   "File with the program, as `scripts/build chain` makes it")
      ->required()
      ->check(CLI::ExistingFile);
  deploy
      ->add_option("--program-key", options->program_key,
                   "Key file of the program's address; created if missing")
      ->required()
      ->type_name("FILE");
  deploy->add_flag("--final", options->final,
                   "Make the program final: no key can change it after this");

  CLI::App* init =
      commands.founding("init",
                        "Creates a network: its mint, vaults and parameters\n\n"
                        "  weft chain init --rpc URL --program KEY --mint-key mint.json --guardian "
                        "KEY --out chain.json\n"
                        "  weft chain init ... --guardian A --guardian B --guardian C "
                        "--guardian-quorum 2 --set fee_bps=50\n\n"
                        "The mint's key signs this once and is worth nothing after that. What "
                        "--set may change, stakers may change later by vote.",
                        chain_init_command, options);
  init->add_option("--program", options->program, "Address of the program")->required();
  init->add_option("--mint-key", options->mint_key,
                   "Key file of the mint's address; created if missing")
      ->required()
      ->type_name("FILE");
  init->add_option("--out", options->out,
                   "Network file to write, for the option --network of other commands")
      ->required()
      ->type_name("FILE");
  init->add_option("--guardian", options->guardians, "Key of a guardian (repeatable, up to five)")
      ->required();
  init->add_option("--guardian-quorum", options->guardian_quorum,
                   "Number of guardians that must sign a decision");
  init->add_option("--poster", options->poster, "Key that posts epochs (default: the wallet's)");
  init->add_option("--coordinator", options->coordinator,
                   "Key that signs withdrawals and statements (default: the wallet's)");
  init->add_option("--epoch-hours", options->epoch_hours, "Length of an epoch, in hours")
      ->check(CLI::Range(1.0, 8760.0));
  init->add_option("--genesis-time", options->genesis_time,
                   "Start of epoch 0, in seconds since 1970 (default: now)");
  init->add_option("--emission", options->emission,
                   "Most credits that each epoch may emit before the first halving");
  init->add_option("--halving", options->halving_epochs,
                   "Number of epochs after which the emission halves")
      ->check(CLI::Range(1, 1000000));
  init->add_option("--cap", options->cap, "Most credits that can ever exist");
  init->add_option("--initial", options->initial, "Credits that exist at the start");
  init->add_option("--founders-amount", options->founders_amount,
                   "Part of the initial credits that the founders get; the treasury gets the rest");
  init->add_option("--founders", options->founders, "Key of the founders (default: the wallet's)");
  init->add_option("--set", options->parameters,
                   "Value of a parameter, as NAME=NUMBER (repeatable)");
}

void add_money(ChainCommands& commands, const Options& options) {
  CLI::App* deposit = commands.signing("deposit",
                                       "Deposits tokens of the wallet into the vault\n\n"
                                       "  weft chain deposit 25 --network chain.json",
                                       chain_deposit_command, options);
  deposit->add_option("credits", options->amount, "Credits to deposit")->required();
  CLI::App* withdraw = commands.signing("withdraw",
                                        "Withdraws the unspent part of a deposit\n\n"
                                        "  weft chain withdraw 10 --coordinator-wallet "
                                        "coordinator.json --network chain.json   at once\n"
                                        "  weft chain withdraw 10 --network chain.json            "
                                        "requests it, without the coordinator\n"
                                        "  weft chain withdraw --finish --network chain.json      "
                                        "is paid what was requested, after the time-out",
                                        chain_withdraw_command, options);
  withdraw->add_option("credits", options->amount, "Credits to withdraw");
  withdraw->add_flag("--finish", options->finish, "Pay out what was requested, after the time-out");
  withdraw
      ->add_option("--coordinator-wallet", options->coordinator_wallet,
                   "Wallet file of the coordinator, which signs too")
      ->check(CLI::ExistingFile);
  CLI::App* voucher = commands.signing(
      "voucher",
      "Signs, off the chain, how much of the deposit may be charged in all since the start\n\n"
      "  weft chain voucher 5 --network chain.json > voucher.json",
      chain_voucher_command, options);
  voucher
      ->add_option("credits", options->amount, "Credits that may be charged in all since the start")
      ->required();
  CLI::App* charge = commands.signing("charge",
                                      "Charges a deposit by its owner's voucher\n\n"
                                      "  weft chain charge voucher.json --network chain.json",
                                      chain_charge_command, options);
  charge->add_option("voucher", options->message, "File with the voucher")
      ->required()
      ->check(CLI::ExistingFile);
  CLI::App* credit = commands.reading(
      "credit",
      "Grants credits at a coordinator for final charges of vouchers, once each (operator)\n\n"
      "  weft chain credit --coordinator URL --data DIR --network chain.json\n\n"
      "Run it again and again, such as once a minute. What was begun is written into "
      "DIR/chain-credits.txt: keep it, or charges are credited twice.",
      chain_credit_command, options);
  ledger_of(credit, options);
  operators_folder(credit, options);
  CLI::App* stakes = commands.reading(
      "stakes",
      "Tells a coordinator what owners have finally staked on the chain (operator)\n\n"
      "  weft chain stakes --coordinator URL --data DIR --network chain.json\n\n"
      "Run it again and again, such as once a minute: what was told counts for ten minutes.",
      chain_stakes_command, options);
  ledger_of(stakes, options);
  operators_folder(stakes, options);
  CLI::App* stake = commands.signing(
      "stake",
      "Stakes tokens: collateral for the wallet's devices, weight in votes, a share of fees\n\n"
      "  weft chain stake 100 --network chain.json",
      chain_stake_command, options);
  stake->add_option("credits", options->amount, "Credits to stake")->required();
  CLI::App* unstake = commands.signing("unstake",
                                       "Begins to unbond a stake, or pays out what has unbonded\n\n"
                                       "  weft chain unstake 40 --network chain.json\n"
                                       "  weft chain unstake --finish --network chain.json",
                                       chain_unstake_command, options);
  unstake->add_option("credits", options->amount, "Credits to unbond");
  unstake->add_flag("--finish", options->finish, "Pay out what has unbonded");
  commands.signing("rewards",
                   "Pays the rewards of the wallet's stake\n\n"
                   "  weft chain rewards --network chain.json",
                   chain_rewards_command, options);
}

void add_epochs(ChainCommands& commands, const Options& options) {
  const char* rows = "File with the epoch's rows, from `weft chain rows`";
  CLI::App* settle = commands.settling(
      "settle",
      "Moves free credits of the wallet's owner out of a coordinator's ledger into the next "
      "epoch\n\n"
      "  weft chain settle 25 --coordinator URL\n\n"
      "The next epoch pays them to the key that names the owner. What is settled is public, and "
      "does not come back. Granted credits, and what was earned from them, stay in the ledger.",
      chain_settle_command, options);
  settle->add_option("credits", options->amount, "Credits to settle, at least one")->required();
  ledger_of(settle, options);
  CLI::App* made = commands.reading(
      "rows",
      "Makes the next epoch's rows from what owners have settled, as far as vouchers have charged "
      "it\n\n"
      "  weft chain rows --coordinator URL --out epoch-1.csv --network chain.json\n"
      "  weft chain rows --coordinator URL --epoch 2 --previous epoch-1.csv --out epoch-2.csv "
      "--network chain.json\n\n"
      "With --epoch the rows share that epoch's emission by the compute units of verified work "
      "since the previous rows. Any reader can make and compare them, because all data is public.",
      chain_rows_command, options);
  ledger_of(made, options);
  made->add_option("--previous", options->previous,
                   "Rows of the last posted epoch; not needed for the first epoch")
      ->check(CLI::ExistingFile);
  made->add_option("--epoch", options->epoch,
                   "Epoch whose emission the rows share (default: no emission)");
  made->add_option("--relays", options->relays,
                   "DIR/chain-relays.txt of `weft chain relay`: the cost of relayed claims is "
                   "subtracted from their owners' units")
      ->check(CLI::ExistingFile);
  made->add_option("--out", options->out, "File to write the rows to")
      ->required()
      ->type_name("FILE");
  CLI::App* post = commands.signing(
      "post",
      "Posts an epoch's root against a bond, with the poster's wallet\n\n"
      "  weft chain post 12 --rows epoch-12.csv --wallet poster.json --network chain.json\n"
      "  weft chain post 12 --rows epoch-12.csv --emission 250 --network chain.json   250 credits "
      "of the growth are new tokens, whatever the rows say",
      chain_post_command, options);
  post->add_option("epoch", options->number, "Number of the epoch")->required();
  post->add_option("--emission", options->new_tokens,
                   "Credits of the growth that are minted (default: as the rows say); vouchers "
                   "have charged the rest");
  rows_of(post, options, rows);
  commands.signing("finalise",
                   "Makes the posted epoch final after its challenge window\n\n"
                   "  weft chain finalise --network chain.json",
                   chain_finalise_command, options);
  CLI::App* claim =
      commands.signing("claim",
                       "Pays an owner what it is due by the rows of the newest final epoch\n\n"
                       "  weft chain claim --rows epoch-12.csv --network chain.json\n"
                       "  weft chain claim OWNER --rows epoch-12.csv --network chain.json      for "
                       "another owner, at the wallet's cost",
                       chain_claim_command, options);
  claim->add_option("owner", options->owner, "Key of the owner (default: the wallet's)");
  rows_of(claim, options, rows);
  CLI::App* relay = commands.signing(
      "relay",
      "Claims for owners what they are due by an epoch's rows, at the wallet's cost (operator)\n\n"
      "  weft chain relay --rows epoch-12.csv --data DIR --units-per-sol 5000 --network "
      "chain.json\n\n"
      "The cost of each claim is written into DIR/chain-relays.txt, and `weft chain rows --relays` "
      "subtracts it from the owner's units, once. Keep that file, and publish it with the rows. "
      "Owners without a token account are left out.",
      chain_relay_command, options);
  rows_of(relay, options, rows);
  operators_folder(relay, options);
  relay
      ->add_option("--units-per-sol", options->units_a_sol,
                   "Compute units that one SOL of fees costs an owner; must be the same for all "
                   "time of a network")
      ->required()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  relay->add_option("--owner", options->owner, "Claim for this owner only");
  relay->add_option("--at-least", options->at_least, "Least credits that an owner must be due");
  relay->add_option("--most", options->most, "Most claims of one run");
  CLI::App* statement =
      commands.signing("statement",
                       "Signs what an epoch's rows give an owner, so that a root that gives less "
                       "can be voided (coordinator)\n\n"
                       "  weft chain statement OWNER 12 --rows epoch-12.csv --wallet "
                       "DIR/coordinator.json --network chain.json > said.json",
                       chain_sign_statement_command, options);
  statement->add_option("owner", options->owner, "Key of the owner")->required();
  statement->add_option("epoch", options->number, "Number of the epoch")->required();
  rows_of(statement, options, rows);
  CLI::App* verify = commands.reading(
      "verify",
      "Computes an epoch's root again from its public rows, and names the first difference (exit "
      "code 1)\n\n"
      "  weft chain verify 12 --rows epoch-12.csv --network chain.json\n"
      "  weft chain verify 12 --rows epoch-12.csv --previous epoch-11.csv --network chain.json\n"
      "  weft chain verify 12 --rows mine.csv --against published.csv --network chain.json",
      chain_verify_command, options);
  verify->add_option("epoch", options->number, "Number of the epoch")->required();
  rows_of(verify, options, rows);
  verify
      ->add_option("--previous", options->previous,
                   "Rows of the previous epoch, to check that no owner has less now")
      ->check(CLI::ExistingFile);
  verify
      ->add_option("--against", options->against,
                   "Other rows of this epoch, to name the first owner that differs")
      ->check(CLI::ExistingFile);
}

void add_challenges(CLI::App* chain, std::function<int()>& chosen, const Options& options) {
  CLI::App* challenge = chain->add_subcommand(
      "challenge",
      "Proves a root wrong in its challenge window, which voids the root and pays a bounty\n\n"
      "  weft chain challenge demand OWNER --network chain.json                demands that its "
      "path is shown\n"
      "  weft chain challenge answer OWNER --rows epoch.csv --network chain.json\n"
      "  weft chain challenge void OWNER --network chain.json                  the path was not "
      "shown in time\n"
      "  weft chain challenge order --rows epoch.csv --network chain.json      owners out of "
      "order, or twice\n"
      "  weft chain challenge sum --rows epoch.csv --network chain.json        more in all than "
      "the rows give\n"
      "  weft chain challenge fell --rows epoch.csv --previous before.csv --network chain.json   "
      "less than before\n"
      "  weft chain challenge statement said.json --rows epoch.csv --network chain.json   less "
      "than was signed");
  challenge->require_subcommand(1);
  ChainCommands commands(challenge, chosen);
  const char* rows = "File with the rows of the root, as its operator published them";
  CLI::App* demand =
      commands.signing("demand",
                       "Demands that an owner's path is shown, and pays for the answer\n\n"
                       "  weft chain challenge demand OWNER --network chain.json",
                       chain_demand_command, options);
  demand->add_option("owner", options->owner, "Key of the owner")->required();
  CLI::App* answer =
      commands.signing("answer",
                       "Shows a path that was demanded\n\n"
                       "  weft chain challenge answer OWNER --rows epoch.csv --network chain.json",
                       chain_answer_command, options);
  answer->add_option("owner", options->owner, "Key of the owner")->required();
  rows_of(answer, options, rows);
  CLI::App* voids = commands.signing(
      "void",
      "Voids a root whose demanded path was not shown, or closes a demand whose root is gone\n\n"
      "  weft chain challenge void OWNER --network chain.json",
      chain_void_command, options);
  voids->add_option("owner", options->owner, "Key of the owner")->required();
  voids->add_option(
      "--post", options->number,
      "Number of the post that the demand was made against (default: the pending post)");
  CLI::App* order = commands.signing(
      "order",
      "Proves that two leaves are out of order, or that an owner or an index occurs twice\n\n"
      "  weft chain challenge order --rows epoch.csv --network chain.json",
      chain_order_command, options);
  rows_of(order, options, rows);
  CLI::App* sum =
      commands.signing("sum",
                       "Proves that a node's sum is not that of its children\n\n"
                       "  weft chain challenge sum --rows epoch.csv --network chain.json\n\n"
                       "The rows are the published ones; the command finds the node.",
                       chain_sum_command, options);
  rows_of(sum, options, rows);
  CLI::App* fell = commands.signing("fell",
                                    "Proves that an owner has less than in the last final epoch, "
                                    "has another index, or is missing\n\n"
                                    "  weft chain challenge fell --rows epoch-13.csv --previous "
                                    "epoch-12.csv --network chain.json",
                                    chain_fell_command, options);
  rows_of(fell, options, rows);
  fell->add_option("--previous", options->previous, "File with the rows of the last final epoch")
      ->required()
      ->check(CLI::ExistingFile);
  CLI::App* statement = commands.signing(
      "statement",
      "Proves that an owner gets less than the coordinator signed, or nothing\n\n"
      "  weft chain challenge statement said.json --rows epoch.csv --network chain.json",
      chain_statement_command, options);
  statement
      ->add_option(
          "statement", options->message,
          "File with the statement: {\"owner\", \"epoch\", \"amount\", \"units\", \"signature\"}")
      ->required()
      ->check(CLI::ExistingFile);
  rows_of(statement, options, rows);
}

void add_governance(ChainCommands& commands, const Options& options) {
  commands.signing("freeze",
                   "Stops posts and the clock of the challenge window, with a guardian's wallet\n\n"
                   "  weft chain freeze --wallet guardian.json --network chain.json",
                   chain_freeze_command, options);
  CLI::App* decide =
      commands.signing("decide",
                       "Voids the pending root, allows posts again or names another poster, with a "
                       "quorum of guardians\n\n"
                       "  weft chain decide --void --thaw --poster KEY --guardian-wallet a.json "
                       "--guardian-wallet b.json --network chain.json",
                       chain_decide_command, options);
  decide->add_flag("--void", options->voids, "Void the pending root");
  decide->add_flag("--thaw", options->thaws, "Allow posts again");
  decide->add_option("--poster", options->poster, "Key that posts from now on");
  decide
      ->add_option("--guardian-wallet", options->guardian_wallets,
                   "Wallet file of a guardian (repeatable)")
      ->required()
      ->check(CLI::ExistingFile);
  CLI::App* propose = commands.signing(
      "propose",
      "Proposes a change, with the wallet's stake\n\n"
      "  weft chain propose set fee_bps 50 --network chain.json\n"
      "  weft chain propose pay 1000 OWNER --network chain.json            out of the treasury\n"
      "  weft chain propose poster KEY --network chain.json\n"
      "  weft chain propose coordinator KEY --network chain.json\n"
      "  weft chain propose guardian 0 KEY --network chain.json",
      chain_propose_command, options);
  propose->add_option("what", options->word, "Kind of change")
      ->required()
      ->check(CLI::IsMember({"set", "pay", "poster", "coordinator", "guardian"}));
  propose
      ->add_option("first", options->owner,
                   "Name of the parameter, credits, number of the guardian, or key")
      ->required();
  propose->add_option("second", options->target,
                      "Value of the parameter, or key that is paid or becomes guardian");
  CLI::App* vote =
      commands.signing("vote",
                       "Votes with the whole stake, which is locked until the vote ends\n\n"
                       "  weft chain vote 3 yes --network chain.json",
                       chain_vote_command, options);
  vote->add_option("proposal", options->number, "Number of the proposal")->required();
  vote->add_option("vote", options->word, "The vote: yes or no")
      ->required()
      ->check(CLI::IsMember({"yes", "no"}));
  CLI::App* execute = commands.signing("execute",
                                       "Executes a proposal after its vote and delay\n\n"
                                       "  weft chain execute 3 --network chain.json",
                                       chain_execute_command, options);
  execute->add_option("proposal", options->number, "Number of the proposal")->required();
}

void add_receipts(CLI::App* chain, ChainCommands& commands, std::function<int()>& chosen,
                  const Options& options) {
  CLI::App* device = commands.signing(
      "device",
      "Registers a device whose receipts the wallet's stake answers for, or ends a registration\n\n"
      "  weft chain device KEY --network chain.json\n"
      "  weft chain device KEY --end --network chain.json",
      chain_device_command, options);
  device->add_option("key", options->target, "Key of the device")->required();
  device->add_flag("--end", options->finish,
                   "End the registration: the device no longer signs for the wallet");
  CLI::App* slash = commands.signing(
      "slash",
      "Proves that a device signed two results of one task and attempt, so that its owner loses "
      "its stake\n\n"
      "  weft chain slash two-results.json --network chain.json\n\n"
      "A tenth of the stake is paid to the wallet, the rest is burned. The file: {\"owner\", "
      "\"device\", \"job\", \"task\", \"attempt\", \"first\", \"second\"}, and each of the two "
      "{\"result\", \"session\", \"worker\", \"siblings\", \"sides\", \"signature\"}: the claim's "
      "result, both nonces, and the claim's path in the receipt's tree.",
      chain_slash_command, options);
  slash->add_option("evidence", options->message, "File with both signed results")
      ->required()
      ->check(CLI::ExistingFile);
  CLI::App* receipt =
      chain->add_subcommand("receipt",
                            "Records, lists and closes receipts of devices: proof of compute, "
                            "which pays nothing by itself\n\n"
                            "  weft chain receipt record OWNER DEVICE SIGNATURE --session HEX "
                            "--worker HEX --root HEX --network chain.json\n"
                            "  weft chain receipt list --network chain.json\n"
                            "  weft chain receipt close ACCOUNT --network chain.json");
  receipt->require_subcommand(1);
  ChainCommands receipts(receipt, chosen);
  CLI::App* record = receipts.signing("record", "Records a device's receipt on the chain",
                                      chain_receipt_command, options);
  record->add_option("owner", options->owner, "Key of the device's owner")->required();
  record->add_option("device", options->target, "Key of the device")->required();
  record->add_option("signature", options->word, "Signature of the device, in base58")->required();
  record->add_option("--session", options->session, "The coordinator's nonce, in hexadecimal")
      ->required();
  record->add_option("--worker", options->worker, "The worker's nonce, in hexadecimal")->required();
  record->add_option("--root", options->root, "Merkle root of the claims, in hexadecimal")
      ->required();
  CLI::App* close = receipts.signing(
      "close", "Closes a receipt's account after the evidence window, and takes back its rent",
      chain_close_receipt_command, options);
  close
      ->add_option("account", options->target,
                   "Account of the receipt, as `weft chain receipt list` shows it")
      ->required();
  CLI::App* list =
      receipts.reading("list",
                       "Lists the recorded receipts of an owner's devices\n\n"
                       "  weft chain receipt list --network chain.json\n"
                       "  weft chain receipt list --owner KEY --network chain.json --json",
                       chain_receipt_list_command, options);
  list->add_option("--owner", options->owner, "Key of the owner (default: the wallet's)");
  list->add_option("--wallet", options->wallet, "Wallet file (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
}

}  // namespace

void add_chain_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* chain = app.add_subcommand(
      "chain",
      "Settles on Solana: deposits, earnings and stakes that no operator can take back\n\n"
      "  weft chain status --network chain.json --owner KEY\n"
      "  weft chain deposit 25 --network chain.json\n"
      "  weft chain claim --rows epoch-12.csv --network chain.json\n"
      "  weft chain verify 12 --rows epoch-12.csv --network chain.json\n"
      "  weft chain challenge order --rows epoch-12.csv --network chain.json\n"
      "  weft chain slash two-results.json --network chain.json\n\n"
      "Settlement is off until a node is named. Costs are shown before anything is signed. The "
      "program has run in the real virtual machine, and on no public cluster.");
  chain->require_subcommand(1);
  auto options = std::make_shared<SettlementOptions>();
  ChainCommands commands(chain, chosen);
  add_founding(commands, options);
  CLI::App* status =
      commands.reading("status",
                       "Shows a network's accounts and parameters, and what an owner has in it\n\n"
                       "  weft chain status --network chain.json --owner KEY",
                       chain_status_command, options);
  status->add_option("--owner", options->owner,
                     "Key of an owner whose balance, deposit and stake are shown too");
  status->add_option("--wallet", options->wallet, "Wallet file of the owner, instead of --owner")
      ->check(CLI::ExistingFile);
  add_money(commands, options);
  add_epochs(commands, options);
  add_challenges(chain, chosen, options);
  add_governance(commands, options);
  add_receipts(chain, commands, chosen, options);
}

}  // namespace weft::cli
