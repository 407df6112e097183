// Which commands there are: each function describes some of them to CLI11 and, when one is chosen,
// says what to do.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace weft::cli {

void add_job_commands(CLI::App& app,
                      std::function<int()>& chosen);  // run, submit, demo, wallet, ledger
void add_network_commands(
    CLI::App& app, std::function<int()>& chosen);  // serve, work, model, plan, and what they start
void add_bench_commands(CLI::App& app, std::function<int()>& chosen);  // bench
void add_model_commands(CLI::App& app, std::function<int()>& chosen);  // generate, chat
void add_text_commands(CLI::App& app, std::function<int()>& chosen);   // tokenize, render, inspect
void add_key_commands(CLI::App& app, std::function<int()>& chosen);    // key, stake, client
void add_owner_commands(CLI::App& app, std::function<int()>& chosen);  // pay, device; after jobs
void add_onnx_commands(CLI::App& app, std::function<int()>& chosen);   // onnx, detect
void add_chain_commands(CLI::App& app, std::function<int()>& chosen);  // chain
void add_simulate_commands(CLI::App& app, std::function<int()>& chosen);  // simulate

}  // namespace weft::cli
