// The commands of the program. Each function describes a group of commands to CLI11; if the user
// chose one of them, it sets `chosen` to a function that runs that command.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace weft::cli {

void add_job_commands(CLI::App& app,
                      // The commands run, submit, demo, wallet, ledger.
                      std::function<int()>& chosen);
void add_network_commands(
    // The commands serve, work, model, plan, and commands that they start.
    CLI::App& app, std::function<int()>& chosen);
void add_bench_commands(CLI::App& app, std::function<int()>& chosen);  // The command bench.
// The commands generate and chat.
void add_model_commands(CLI::App& app, std::function<int()>& chosen);
// The commands tokenize, render, inspect.
void add_text_commands(CLI::App& app, std::function<int()>& chosen);
// The commands key, stake, client.
void add_key_commands(CLI::App& app, std::function<int()>& chosen);
// The commands pay and device, and more commands of wallet. Call after add_job_commands(), which
// adds the command wallet.
void add_owner_commands(CLI::App& app, std::function<int()>& chosen);
// The commands onnx, detect and vision.
void add_onnx_commands(CLI::App& app, std::function<int()>& chosen);
void add_chain_commands(CLI::App& app, std::function<int()>& chosen);     // The command chain.
void add_simulate_commands(CLI::App& app, std::function<int()>& chosen);  // The command simulate.

}  // namespace weft::cli
