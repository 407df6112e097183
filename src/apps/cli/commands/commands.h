// The commands of the program. Each function describes a group of them to CLI11; if one is chosen,
// it sets `chosen` to a function that runs it.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace weft::cli {

void add_job_commands(CLI::App& app,
                      std::function<int()>& chosen);  // run, submit, demo, wallet, ledger
void add_network_commands(
    // serve, work, model, plan, and commands that they start
    CLI::App& app, std::function<int()>& chosen);
void add_bench_commands(CLI::App& app, std::function<int()>& chosen);  // bench
void add_model_commands(CLI::App& app, std::function<int()>& chosen);  // generate, chat
void add_text_commands(CLI::App& app, std::function<int()>& chosen);   // tokenize, render, inspect
void add_key_commands(CLI::App& app, std::function<int()>& chosen);    // key, stake, client
// pay, device; called after the job commands
void add_owner_commands(CLI::App& app, std::function<int()>& chosen);
void add_onnx_commands(CLI::App& app, std::function<int()>& chosen);      // onnx, detect
void add_chain_commands(CLI::App& app, std::function<int()>& chosen);     // chain
void add_simulate_commands(CLI::App& app, std::function<int()>& chosen);  // simulate

}  // namespace weft::cli
