#include <CLI/CLI.hpp>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/coordinator_options.h"
#include "apps/cli/commands/owners.h"

namespace weft::cli {
namespace {

void add_pay(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<OwnerOptions>();
  CLI::App* command = app.add_subcommand(
      "pay",
      "Pays free credits to another owner\n\n"
      "  weft pay OWNER 5 --coordinator URL\n"
      "  weft pay OWNER 100 --issue --data DIR --coordinator URL      by the operator: new "
      "credits, "
      "which it was paid for\n\n"
      "Granted credits, and what was earned from them, are spent on jobs and answers only.");
  command->add_option("owner", options->key, "Its key, or that of one of its devices")->required();
  command->add_option("credits", options->credits, "How many")
      ->required()
      ->check(CLI::PositiveNumber);
  command->add_flag("--issue", options->issue,
                    "New credits instead of the wallet's; the operator's");
  command
      ->add_option("--data", options->data,
                   "With --issue: the coordinator's folder, which has the operator's wallet")
      ->check(CLI::ExistingDirectory);
  add_wallet_at_coordinator(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return pay_command(*options); }; });
}

void add_device_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* device = app.add_subcommand(
      "device",
      "The wallets that act for one owner: a phone and a laptop with one balance\n\n"
      "  weft device request OWNER --coordinator URL           on the new device: prints a code\n"
      "  weft device add CODE --name phone --coordinator URL   on a device of the owner\n"
      "  weft device list --coordinator URL                    balances and devices\n"
      "  weft device revoke KEY --coordinator URL              that one acts for the owner no "
      "more\n\n"
      "An owner is named by the key of its first device (`weft wallet show`). A key that was added "
      "stays this\nowner's permanently. A recovery key (request --recovery) manages devices and "
      "does "
      "nothing else; only a\nrecovery key revokes it.");
  device->require_subcommand(1);
  auto options = std::make_shared<OwnerOptions>();
  const auto add = [&](const char* name, const char* text, int (*run)(const OwnerOptions&)) {
    CLI::App* command = device->add_subcommand(name, text);
    add_wallet_at_coordinator(*command, *options);
    command->callback(
        [options, run, &chosen] { chosen = [options, run] { return run(*options); }; });
    return command;
  };
  CLI::App* request = add("request", "Agrees to belong to an owner, and prints a code for it",
                          device_request_command);
  request->add_option("owner", options->key, "Its key")->required();
  request->add_flag("--recovery", options->recovery, "As a recovery key");
  CLI::App* adds = add("add", "Adds the device that printed the code", device_add_command);
  adds->add_option("code", options->code, "What `weft device request` printed")->required();
  adds->add_option("--name", options->name, "What people call it");
  add("list", "Balances and devices of the wallet's owner", device_list_command);
  CLI::App* revoke =
      add("revoke", "It acts for the owner no more, permanently", device_revoke_command);
  revoke->add_option("key", options->key, "As the list has it")->required();
}

}  // namespace

void add_owner_commands(CLI::App& app, std::function<int()>& chosen) {
  add_pay(app, chosen);
  add_device_commands(app, chosen);
  CLI::App* const wallet = app.get_subcommand("wallet");
  auto options = std::make_shared<OwnerOptions>();
  CLI::App* redeem = wallet->add_subcommand(
      "redeem",
      "Has the wallet granted the credits that an operator's invitation brings, once\n\n"
      "  weft wallet redeem CODE --coordinator URL       the operator prints CODE: weft invite "
      "--client");
  redeem->add_option("code", options->code, "The invitation")->required()->envname("WEFT_INVITE");
  add_wallet_at_coordinator(*redeem, *options);
  redeem->callback([options, &chosen] { chosen = [options] { return redeem_command(*options); }; });
  CLI::App* statement = wallet->add_subcommand(
      "statement",
      "All that ever moved on the accounts of the wallet's owner, oldest first\n\n"
      "  weft wallet statement --csv --coordinator URL > statement.csv");
  add_wallet_at_coordinator(*statement, *options);
  statement->add_flag("--csv", options->csv, "For a spreadsheet")->excludes("--json");
  statement->callback(
      [options, &chosen] { chosen = [options] { return statement_command(*options); }; });
  CLI::App* data = wallet->add_subcommand(
      "data",
      "All that the coordinator holds of the wallet's owner, as lines of JSON\n\n"
      "  weft wallet data --coordinator URL > data.jsonl");
  add_wallet_at_coordinator(*data, *options);
  data->callback(
      [options, &chosen] { chosen = [options] { return owner_data_command(*options); }; });
  CLI::App* forget = wallet->add_subcommand(
      "forget",
      "Deletes what the coordinator holds of the wallet's owner, except money and its evidence\n\n"
      "  weft wallet forget --yes --coordinator URL");
  add_wallet_at_coordinator(*forget, *options);
  forget->add_flag("--yes", options->yes, "Without it, what would be deleted is told only");
  forget->callback([options, &chosen] { chosen = [options] { return forget_command(*options); }; });
}

}  // namespace weft::cli
