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
      "  weft pay OWNER 100 --issue --data DIR --coordinator URL      new credits that were paid "
      "for, by the operator\n\n"
      "Granted credits, and what was earned from them, are spent on jobs and answers only.");
  command->add_option("owner", options->key, "Key of the owner, or of one of its devices")
      ->required();
  command->add_option("credits", options->credits, "Credits to pay")
      ->required()
      ->check(CLI::PositiveNumber);
  command->add_flag("--issue", options->issue,
                    "Issue new credits instead of paying from the wallet (operator)");
  command
      ->add_option("--data", options->data,
                   "The coordinator's data folder, which has the operator's wallet; for --issue")
      ->check(CLI::ExistingDirectory);
  add_wallet_at_coordinator(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return pay_command(*options); }; });
}

void add_device_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* device = app.add_subcommand(
      "device",
      "Manages the wallets that act for one owner, such as a phone and a laptop with one "
      "balance\n\n"
      "  weft device request OWNER --coordinator URL           on the new device: prints a code\n"
      "  weft device add CODE --name phone --coordinator URL   on a device of the owner\n"
      "  weft device list --coordinator URL                    balances and devices\n"
      "  weft device revoke KEY --coordinator URL              that device no longer acts for the "
      "owner\n\n"
      "An owner is named by the key of its first device (`weft wallet show`). A key that was added "
      "stays this\n"
      "owner's permanently. A recovery key (request --recovery) manages devices and does nothing "
      "else; only a\n"
      "recovery key revokes it.");
  device->require_subcommand(1);
  auto options = std::make_shared<OwnerOptions>();
  const auto add = [&](const char* name, const char* text, int (*run)(const OwnerOptions&)) {
    CLI::App* command = device->add_subcommand(name, text);
    add_wallet_at_coordinator(*command, *options);
    command->callback(
        [options, run, &chosen] { chosen = [options, run] { return run(*options); }; });
    return command;
  };
  CLI::App* request =
      add("request", "Agrees to belong to an owner, and prints a code for 'weft device add'",
          device_request_command);
  request->add_option("owner", options->key, "Key of the owner")->required();
  request->add_flag("--recovery", options->recovery, "Ask to be added as a recovery key");
  CLI::App* adds = add("add", "Adds the device that printed the code", device_add_command);
  adds->add_option("code", options->code, "Code that 'weft device request' printed")->required();
  adds->add_option("--name", options->name, "Name of the device, shown in lists");
  add("list", "Lists the balances and devices of the wallet's owner", device_list_command);
  CLI::App* revoke = add("revoke", "Revokes a device permanently: it no longer acts for the owner",
                         device_revoke_command);
  revoke->add_option("key", options->key, "Key of the device, as 'weft device list' shows it")
      ->required();
}

}  // namespace

void add_owner_commands(CLI::App& app, std::function<int()>& chosen) {
  add_pay(app, chosen);
  add_device_commands(app, chosen);
  CLI::App* const wallet = app.get_subcommand("wallet");
  auto options = std::make_shared<OwnerOptions>();
  CLI::App* redeem = wallet->add_subcommand(
      "redeem",
      "Redeems an operator's invitation: grants its credits to the wallet, once\n\n"
      "  weft wallet redeem CODE --coordinator URL       the operator prints CODE: weft invite "
      "--client");
  redeem->add_option("code", options->code, "Code of the invitation")
      ->required()
      ->envname("WEFT_INVITE");
  add_wallet_at_coordinator(*redeem, *options);
  redeem->callback([options, &chosen] { chosen = [options] { return redeem_command(*options); }; });
  CLI::App* statement = wallet->add_subcommand(
      "statement",
      "Shows all movements on the accounts of the wallet's owner, oldest first\n\n"
      "  weft wallet statement --csv --coordinator URL > statement.csv");
  add_wallet_at_coordinator(*statement, *options);
  statement->add_flag("--csv", options->csv, "Print comma-separated values for a spreadsheet")
      ->excludes("--json");
  statement->callback(
      [options, &chosen] { chosen = [options] { return statement_command(*options); }; });
  CLI::App* data = wallet->add_subcommand(
      "data",
      "Prints all data that the coordinator holds of the wallet's owner, as lines of JSON\n\n"
      "  weft wallet data --coordinator URL > data.jsonl");
  add_wallet_at_coordinator(*data, *options);
  data->callback(
      [options, &chosen] { chosen = [options] { return owner_data_command(*options); }; });
  CLI::App* forget = wallet->add_subcommand("forget",
                                            "Deletes the data that the coordinator holds of the "
                                            "wallet's owner, except money and its evidence\n\n"
                                            "  weft wallet forget --yes --coordinator URL");
  add_wallet_at_coordinator(*forget, *options);
  forget->add_flag(
      "--yes", options->yes,
      "Delete the data; without this option, the command only tells what would be deleted");
  forget->callback([options, &chosen] { chosen = [options] { return forget_command(*options); }; });
}

}  // namespace weft::cli
