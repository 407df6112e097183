// `weft demo`: runs a whole network on this machine. It starts a coordinator, two native workers
// and a headless Chromium tab, submits a picture and a matrix product, kills one native worker half
// way, lets a chain of three tabs answer a question (demo_chat.h), and reports the results.
#pragma once

#include <filesystem>
#include <string>

namespace weft::cli {

struct DemoOptions {
  std::string listen = "127.0.0.1:0";
  std::filesystem::path examples;  // Folder that has mandelbrot.json and matmul.json.
  std::filesystem::path out;       // Folder for the picture; empty: the current folder.
  bool stay = false;               // Keeps the network running until Ctrl-C.
  bool json = false;               // Prints only one JSON line on standard output, at the end.
  bool browser = true;
  bool chat = true;  // Also shows a chat; used only with `browser`.
};

// Returns exit code 0 if both jobs were accepted, the question was answered and the ledger sums to
// zero. If the chat lacks something (demo_chat.h), the demo reports it in a line and continues
// without the chat.
[[nodiscard]] int demo_command(const DemoOptions& options);

}  // namespace weft::cli
