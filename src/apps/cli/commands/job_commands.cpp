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
      .add_option("--data", options.data, "As the operator: the coordinator's folder, where it is")
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
  command->add_option("manifest", options->manifest, "The job's manifest, a JSON file")
      ->required()
      ->type_name("FILE");
  command->add_option("--out", options->out, "Folder for the outputs")->type_name("DIR");
  command->add_option("--png", options->png, "Draw the first two-dimensional output into this file")
      ->type_name("FILE");
  command->add_option("--device", options->device, "gpu, or cpu for the built-in kernels")
      ->check(CLI::IsMember({"gpu", "cpu"}));
  command->add_option("--tasks", options->tasks, "Only these tasks: I or I..J, both included");
  command->add_flag("--json", options->json, "One JSON document on standard output");
  command->callback([options, &chosen] { chosen = [options] { return run_command(*options); }; });
}

void add_submit(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<SubmitOptions>();
  CLI::App* command = app.add_subcommand(
      "submit",
      "Gives a job to a coordinator\n\n"
      "  weft submit job.json --coordinator http://127.0.0.1:7300 --wait --out results\n"
      "  weft submit job.json --quote --coordinator http://127.0.0.1:7300        the price first\n"
      "  weft submit job.json --max-price 2.5 --coordinator http://127.0.0.1:7300\n"
      "  weft submit --follow JOB_ID --coordinator http://127.0.0.1:7300\n"
      "  weft submit --share JOB_ID --coordinator http://127.0.0.1:7300");
  command->add_option("manifest", options->manifest, "The job's manifest, a JSON file")
      ->type_name("FILE");
  command->add_option("--follow", options->follow, "Wait for this job instead of submitting one");
  command->add_option("--show", options->show,
                      "Show where this job stands, and why it waits, instead of submitting one");
  command->add_option("--share", options->share,
                      "Print a link that shows this job of yours to each reader, instead of "
                      "submitting one");
  command->add_option("--cancel", options->cancel,
                      "Cancel this job of yours instead of submitting one");
  add_coordinator(*command, options->coordinator);
  command
      ->add_option("--wallet", options->wallet,
                   "Wallet file; made when missing (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  CLI::Option* quote =
      command->add_flag("--quote", options->quote,
                        "Show what it costs, and submit it when you agree: it costs no more");
  command->add_flag("--yes", options->yes, "With --quote: agree without being asked")->needs(quote);
  command
      ->add_option("--quoted", options->quoted, "A quote that 'weft quote' made: it costs no more")
      ->type_name("QUOTE")
      ->excludes(quote);
  command
      ->add_option("--max-price", options->max_price,
                   "The most that the job may cost, in credits (default: 1.5 times what the same "
                   "work cost before, at most its budget)")
      ->type_name("CREDITS")
      ->check(CLI::Range(0.000001, 9e12));
  command->add_flag("--wait", options->wait, "Follow the job to its end");
  command->add_option("--out", options->out, "Folder for the outputs; implies --wait")
      ->type_name("DIR");
  command
      ->add_option("--png", options->png,
                   "Draw the first two-dimensional output into this file; implies --wait")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "One JSON document on standard output");
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
      "What a job would cost at a coordinator, signed; holds for five minutes\n\n"
      "  weft quote job.json --coordinator http://127.0.0.1:7300\n"
      "  weft submit job.json --quoted QUOTE --coordinator http://127.0.0.1:7300      at that "
      "price");
  command->add_option("manifest", options->manifest, "The job's manifest, a JSON file")
      ->required()
      ->type_name("FILE");
  add_coordinator(*command, options->coordinator);
  command
      ->add_option("--wallet", options->wallet,
                   "For whom; made when missing (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "One JSON document on standard output");
  add_tls(*command, options->tls);
  command->callback([options, &chosen] { chosen = [options] { return quote_command(*options); }; });
}

void add_wallet(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* wallet = app.add_subcommand("wallet", "The key by which this machine earns and pays");
  wallet->require_subcommand(1);
  auto options = std::make_shared<WalletOptions>();
  CLI::App* create = wallet->add_subcommand("new", "Makes a wallet file that only you can read");
  create->add_option("--file", options->file, "Where (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  create->add_flag("--json", options->json, "One JSON document");
  create->callback(
      [options, &chosen] { chosen = [options] { return wallet_new_command(*options); }; });
  CLI::App* show = wallet->add_subcommand(
      "show", "Shows the public key, and the balances that a coordinator keeps for it");
  show->add_option("--file", options->file, "Which file (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  show->add_option("--coordinator", options->coordinator, "Ask this one for the balances");
  show->add_flag("--json", options->json, "One JSON document");
  add_tls(*show, options->tls);
  show->callback(
      [options, &chosen] { chosen = [options] { return wallet_show_command(*options); }; });
}

void add_ledger(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<LedgerOptions>();
  CLI::App* command =
      app.add_subcommand("ledger",
                         "Who holds what at a coordinator, and how it came to that. A wallet sees "
                         "its owner's accounts and jobs, the operator (--data) all\n\n"
                         "  weft ledger --coordinator http://127.0.0.1:7300                  each "
                         "kind of account, and their sum: 0\n"
                         "  weft ledger --data DIR ...                                       every "
                         "account, for the operator\n"
                         "  weft ledger --job JOB_ID ...                                     a "
                         "job's money, from escrow to pay\n"
                         "  weft ledger --account owner:KEY --limit 0 --json ...             all "
                         "that a wallet ever earned and spent\n\n"
                         "Accounts: mint (what was ever granted and issued), owner:KEY (free "
                         "credits), granted:KEY, held:KEY, stake:KEY, escrow:JOB_ID, verification, "
                         "platform; and held-granted, escrow-granted, verification-granted, "
                         "platform-granted for what came from granted credits.");
  add_coordinator(*command, options->coordinator);
  auto* const account =
      command->add_option("--account", options->account,
                          "Its transactions, newest first, with what it held after each");
  command
      ->add_option("--job", options->job,
                   "Its transactions, oldest first, with all that each moved")
      ->excludes(account);
  command->add_option("--limit", options->limit, "Transactions at most; 0 for all");
  add_reader(*command, *options, "Whose accounts and jobs");
  command->add_flag("--json", options->json, "One JSON document on standard output");
  add_tls(*command, options->tls);
  command->callback(
      [options, &chosen] { chosen = [options] { return ledger_command(*options); }; });
}

void add_verdict(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<VerdictOptions>();
  CLI::App* command = app.add_subcommand(
      "verdict",
      "How results were decided, and the evidence: which parts were computed again, by whom, and "
      "what came of it. Kept for 30 days\n\n"
      "  weft verdict JOB_ID --coordinator http://127.0.0.1:7300      of a job\n"
      "  weft verdict JOB_ID/3 --coordinator http://127.0.0.1:7300    of one task, with its "
      "receipts\n"
      "  weft verdict KEY --coordinator http://127.0.0.1:7300         of a worker's results, for "
      "its owner");
  command->add_option("id", options->id, "A job's id, JOB_ID/INDEX, or a worker's key")
      ->required()
      ->type_name("ID");
  add_coordinator(*command, options->coordinator);
  add_reader(*command, *options, "Whose job or worker it is");
  command->add_flag("--json", options->json, "One JSON document on standard output");
  add_tls(*command, options->tls);
  command->callback(
      [options, &chosen] { chosen = [options] { return verdict_command(*options); }; });
}

void add_demo(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command =
      app.add_subcommand("demo",
                         "Runs a whole network on this machine and shows what happened\n\n"
                         "  weft demo           a coordinator, two native workers, a browser tab; "
                         "one worker is killed half way.\n"
                         "                      Then a language model served by three tabs, one of "
                         "which is closed in mid-answer\n"
                         "  weft demo --stay    and keeps it up, to be looked at");
  command->add_option("--listen", options->listen,
                      "Where the coordinator listens; port 0 takes a free one");
  command->add_option("--out", options->out, "Folder for the picture (default: here)")
      ->type_name("DIR");
  command
      ->add_option("--examples", options->examples, "Folder with mandelbrot.json and matmul.json")
      ->type_name("DIR");
  command->add_flag("--stay,--keep", options->stay, "Keep the network up until Ctrl-C");
  command->add_flag("--json", options->json, "End with one line of JSON");
  command->add_flag("!--no-browser", options->browser,
                    "Three native workers instead of two and a tab; no chat");
  command->add_flag("!--no-chat", options->chat, "Without the language model");
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
