#include <CLI/CLI.hpp>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/coordinator_options.h"
#include "apps/cli/commands/ledger.h"
#include "apps/cli/commands/run.h"
#include "apps/cli/commands/submit.h"
#include "apps/cli/commands/verdict.h"
#include "apps/cli/commands/wallet.h"
#include "apps/cli/demo/demo.h"

namespace weft::cli {
namespace {

// Adds the options for the reader of a command: an owner, by its wallet, or the operator.
template <class Options>
void add_reader(CLI::App& command, Options& options, const std::string& whose) {
  auto* const wallet =
      command
          .add_option("--wallet", options.wallet, whose + " (default: ~/.config/weft/wallet.json)")
          ->type_name("FILE");
  command
      .add_option("--data", options.data, "The coordinator's data folder, to read as the operator")
      ->type_name("DIR")
      ->excludes(wallet);
}

void add_run(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<RunCommand>();
  CLI::App* command =
      app.add_subcommand("run",
                         "Runs a job on this machine, without a coordinator\n\n"
                         "  weft run job.json --out results --png picture.png\n"
                         "  weft run job.json --tasks 0..3       only some of its tasks");
  command->add_option("manifest", options->manifest, "File with the job's manifest (JSON)")
      ->required()
      ->type_name("FILE");
  command->add_option("--out", options->out, "Folder to write the outputs to")->type_name("DIR");
  command
      ->add_option("--png", options->png,
                   "Picture file (PNG) to draw the first two-dimensional output into")
      ->type_name("FILE");
  command
      ->add_option("--device", options->device,
                   "Device to use: gpu, or cpu for the built-in kernels")
      ->check(CLI::IsMember({"gpu", "cpu"}));
  command->add_option("--tasks", options->tasks, "Run only these tasks: I or I..J, both included");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback([options, &chosen] { chosen = [options] { return run_command(*options); }; });
}

void add_submit(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<SubmitOptions>();
  CLI::App* command = app.add_subcommand(
      "submit",
      "Submits a job to a coordinator, or follows, shows, shares or cancels one\n\n"
      "  weft submit job.json --coordinator http://127.0.0.1:7300 --wait --out results\n"
      "  weft submit job.json --quote --coordinator http://127.0.0.1:7300        the price first\n"
      "  weft submit job.json --max-price 2.5 --coordinator http://127.0.0.1:7300\n"
      "  weft submit --follow JOB_ID --coordinator http://127.0.0.1:7300\n"
      "  weft submit --share JOB_ID --coordinator http://127.0.0.1:7300");
  command->add_option("manifest", options->manifest, "File with the job's manifest (JSON)")
      ->type_name("FILE");
  command->add_option("--follow", options->follow,
                      "Wait for the job with this id instead of submitting one");
  command->add_option(
      "--show", options->show,
      "Show the state of the job with this id, and why it waits, instead of submitting one");
  command->add_option(
      "--share", options->share,
      "Print a link by which any reader can see your job with this id, instead of submitting one");
  command->add_option("--cancel", options->cancel,
                      "Cancel your job with this id instead of submitting one");
  add_coordinator(*command, options->coordinator);
  command
      ->add_option("--wallet", options->wallet,
                   "Wallet file; created if missing (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  CLI::Option* quote = command->add_flag(
      "--quote", options->quote,
      "Show the price and submit the job if you agree; the job costs no more than that");
  command->add_flag("--yes", options->yes, "Agree to the price of --quote without being asked")
      ->needs(quote);
  command
      ->add_option("--quoted", options->quoted,
                   "Quote from 'weft quote'; the job costs no more than that")
      ->type_name("QUOTE")
      ->excludes(quote);
  command
      ->add_option("--max-price", options->max_price,
                   "Most credits that the job may cost (default: 1.5 times what the same work cost "
                   "before, at most its budget)")
      ->type_name("CREDITS")
      ->check(CLI::Range(0.000001, 9e12));
  command->add_flag("--wait", options->wait, "Follow the job to its end");
  command->add_option("--out", options->out, "Folder to write the outputs to; implies --wait")
      ->type_name("DIR");
  command
      ->add_option(
          "--png", options->png,
          "Picture file (PNG) to draw the first two-dimensional output into; implies --wait")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  add_tls(*command, options->tls);
  command->callback([options, &chosen] {
    const int named = (options->manifest.empty() ? 0 : 1) + (options->follow.empty() ? 0 : 1) +
                      (options->show.empty() ? 0 : 1) + (options->share.empty() ? 0 : 1) +
                      (options->cancel.empty() ? 0 : 1);
    if (named != 1)
      throw CLI::ValidationError(
          "submit",
          "name one of: a manifest, --follow JOB, --show JOB, --share JOB, --cancel "
          "JOB");
    chosen = [options] { return submit_command(*options); };
  });
}

void add_quote(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<QuoteOptions>();
  CLI::App* command = app.add_subcommand(
      "quote",
      "Asks a coordinator for a job's price: a signed quote that is valid for five minutes\n\n"
      "  weft quote job.json --coordinator http://127.0.0.1:7300\n"
      "  weft submit job.json --quoted QUOTE --coordinator http://127.0.0.1:7300      at that "
      "price");
  command->add_option("manifest", options->manifest, "File with the job's manifest (JSON)")
      ->required()
      ->type_name("FILE");
  add_coordinator(*command, options->coordinator);
  command
      ->add_option(
          "--wallet", options->wallet,
          "Wallet file of the client; created if missing (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  add_tls(*command, options->tls);
  command->callback([options, &chosen] { chosen = [options] { return quote_command(*options); }; });
}

void add_wallet(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* wallet = app.add_subcommand(
      "wallet", "Manages the wallet, the key by which this machine earns and pays");
  wallet->require_subcommand(1);
  auto options = std::make_shared<WalletOptions>();
  CLI::App* create = wallet->add_subcommand("new", "Creates a wallet file that only you can read");
  create
      ->add_option("--file", options->file,
                   "Wallet file to create (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  create->add_flag("--json", options->json, "Print one JSON document on standard output");
  create->callback(
      [options, &chosen] { chosen = [options] { return wallet_new_command(*options); }; });
  CLI::App* show = wallet->add_subcommand(
      "show", "Shows the public key, and the balances that a coordinator keeps for it");
  show->add_option("--file", options->file, "Wallet file (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  show->add_option("--coordinator", options->coordinator,
                   "URL of the coordinator to ask for the balances");
  show->add_flag("--json", options->json, "Print one JSON document on standard output");
  add_tls(*show, options->tls);
  show->callback(
      [options, &chosen] { chosen = [options] { return wallet_show_command(*options); }; });
}

void add_ledger(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<LedgerOptions>();
  CLI::App* command = app.add_subcommand(
      "ledger",
      "Shows the accounts of a coordinator's ledger and their transactions. A wallet sees its "
      "owner's accounts and jobs, the operator (--data) all\n\n"
      "  weft ledger --coordinator http://127.0.0.1:7300                  each kind of account, "
      "and their sum: 0\n"
      "  weft ledger --data DIR ...                                       every account, for the "
      "operator\n"
      "  weft ledger --job JOB_ID ...                                     a job's money, from "
      "escrow to pay\n"
      "  weft ledger --account owner:KEY --limit 0 --json ...             all that a wallet ever "
      "earned and spent\n\n"
      "Accounts: mint (what was ever granted and issued), owner:KEY (free credits), granted:KEY, "
      "held:KEY, stake:KEY, escrow:JOB_ID, verification, platform; and held-granted, "
      "escrow-granted, verification-granted, platform-granted for what came from granted credits.");
  add_coordinator(*command, options->coordinator);
  auto* const account = command->add_option(
      "--account", options->account,
      "Account whose transactions are shown, newest first, with the balance after each");
  command
      ->add_option(
          "--job", options->job,
          "Id of a job whose transactions are shown, oldest first, with all movements of each")
      ->excludes(account);
  command->add_option("--limit", options->limit, "Most transactions to show (0: all)");
  add_reader(*command, *options, "Wallet file of the owner whose accounts and jobs are shown");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  add_tls(*command, options->tls);
  command->callback(
      [options, &chosen] { chosen = [options] { return ledger_command(*options); }; });
}

void add_verdict(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<VerdictOptions>();
  CLI::App* command = app.add_subcommand(
      "verdict",
      "Shows how results were decided, with the evidence: which parts were computed again, by "
      "which workers, and with what result. The evidence is kept for 30 days\n\n"
      "  weft verdict JOB_ID --coordinator http://127.0.0.1:7300      of a job\n"
      "  weft verdict JOB_ID/3 --coordinator http://127.0.0.1:7300    of one task, with its "
      "receipts\n"
      "  weft verdict KEY --coordinator http://127.0.0.1:7300         of a worker's results, for "
      "its owner");
  command->add_option("id", options->id, "Id of a job, JOB_ID/INDEX of a task, or key of a worker")
      ->required()
      ->type_name("ID");
  add_coordinator(*command, options->coordinator);
  add_reader(*command, *options, "Wallet file of the owner of the job or worker");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  add_tls(*command, options->tls);
  command->callback(
      [options, &chosen] { chosen = [options] { return verdict_command(*options); }; });
}

void add_demo(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand(
      "demo",
      "Runs a whole network on this machine and shows what happened\n\n"
      "  weft demo           a coordinator, two native workers, a browser tab; one worker is "
      "killed half way.\n"
      "                      Then a language model served by three tabs, one of which is closed in "
      "mid-answer\n"
      "  weft demo --stay    keeps the network up, so that you can try its page");
  command->add_option("--listen", options->listen,
                      "ADDRESS:PORT of the coordinator (port 0: a free one)");
  command
      ->add_option("--out", options->out,
                   "Folder to write the picture to (default: the current folder)")
      ->type_name("DIR");
  command
      ->add_option("--examples", options->examples, "Folder with mandelbrot.json and matmul.json")
      ->type_name("DIR");
  command->add_flag("--stay,--keep", options->stay, "Keep the network up until Ctrl-C");
  command->add_flag("--json", options->json, "Print one line of JSON at the end");
  command->add_flag("!--no-browser", options->browser,
                    "Use three native workers instead of two and a tab, and no chat");
  command->add_flag("!--no-chat", options->chat, "Leave out the language model");
  command->callback([options, &chosen] { chosen = [options] { return demo_command(*options); }; });
}

}  // namespace

void add_job_commands(CLI::App& app, std::function<int()>& chosen) {
  add_run(app, chosen);
  add_submit(app, chosen);
  add_quote(app, chosen);
  add_verdict(app, chosen);
  add_demo(app, chosen);
  add_wallet(app, chosen);
  add_ledger(app, chosen);
}

}  // namespace weft::cli
