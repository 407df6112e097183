// The weft program. Every command is a struct of options and a function in a file of its own;
// commands/commands.h lists the functions that describe the options of commands. This file makes
// the command line of them, and runs the command that the user chose. No other file depends on it.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include <CLI/CLI.hpp>

#include "apps/cli/command_line/completion.h"
#include "apps/cli/command_line/help.h"
#include "apps/cli/command_line/refusal.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/exit_code.h"
#include "common/base/log.h"
#include "worker/sandbox/sandbox_child.h"
#include "worker/serving_child/serving_child.h"

namespace {

// Fails if results could not be written to standard output, for example to a full disk. A reader
// that closes its pipe early is no error.
int finish(int code) {
  if ((std::fflush(stdout) == 0 && std::ferror(stdout) == 0) || errno == EPIPE) return code;
  std::fprintf(stderr, "weft: Standard output cannot be written: %s.\n", std::strerror(errno));
  return code == 0 ? 1 : code;
}

}  // namespace

int main(int argc, char** argv) {
  // Only Sandbox starts the program with this argument. sandbox_child_main() must run before this
  // process makes a thread.
  if (argc > 1 && std::string_view(argv[1]) == "sandbox-child") {
    return weft::worker::sandbox_child_main(
        std::span(argv, static_cast<std::size_t>(argc)).subspan(2));
  }
  // Only ServingProcess starts the program with this argument.
  if (argc > 1 && std::string_view(argv[1]) == "serving-child") {
    return weft::worker::serving_child_main(
        std::span(argv, static_cast<std::size_t>(argc)).subspan(2));
  }
  CLI::App app(
      "Weft weaves the GPUs of browsers and machines into one computer.\n\n"
      "  weft serve                                            a coordinator on "
      "http://127.0.0.1:7300\n"
      "  weft work --coordinator http://127.0.0.1:7300         this machine's GPU joins it\n"
      "  weft submit job.json --coordinator URL --wait         a job runs on the workers that "
      "joined\n"
      "  weft run job.json                                     the same job here, without a "
      "network",
      "weft");
  app.formatter(weft::cli::help_formatter());
  app.set_version_flag("--version", WEFT_VERSION);
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  app.fallthrough();
  bool verbose = false;
  app.add_flag("--verbose", verbose, "Log more details");

  // Runs the chosen command. Set by the command's callback and called after parsing, when the
  // options are complete.
  std::function<int()> chosen;
  weft::cli::add_job_commands(app, chosen);
  weft::cli::add_network_commands(app, chosen);
  weft::cli::add_key_commands(app, chosen);
  weft::cli::add_owner_commands(app, chosen);
  weft::cli::add_bench_commands(app, chosen);
  weft::cli::add_model_commands(app, chosen);
  weft::cli::add_text_commands(app, chosen);
  weft::cli::add_onnx_commands(app, chosen);
  weft::cli::add_chain_commands(app, chosen);
  weft::cli::add_simulate_commands(app, chosen);

  std::string shell;
  CLI::App* completion = app.add_subcommand(
      "completion", "Prints a completion script: source <(weft completion bash)");
  completion->add_option("shell", shell, "Name of the shell")
      ->required()
      ->type_name("{bash,zsh,fish}");
  completion->callback([&] {
    chosen = [&] {
      const weft::Result<std::string> script = weft::cli::completion_script(app, shell);
      if (!script) return weft::cli::report("completion", script.error());
      std::fputs(script->c_str(), stdout);
      return 0;
    };
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // CLI11 throws for errors and for --help.
    if (error.get_exit_code() == 0) return finish(app.exit(error));
    const bool lacks = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    const auto without_command = lacks ? weft::cli::missing_command(app) : std::nullopt;
    std::fprintf(stderr, "%s\n",
                 (without_command ? *without_command : weft::cli::refusal(app, error)).c_str());
    return 2;
  }
  if (verbose) weft::set_log_level(weft::LogLevel::debug);
  return finish(chosen ? chosen() : 2);
}
