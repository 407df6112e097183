// `weft demo`: a whole network on this machine. Starts a coordinator, two native workers and a
// headless Chromium tab, submits a picture and a matrix product, kills one native worker half way,
// has a question answered by a chain of three tabs (demo_chat.h), and says what happened.
#pragma once

#include <filesystem>
#include <string>

namespace weft::cli {

struct DemoOptions {
  std::string listen = "127.0.0.1:0";
  std::filesystem::path examples;  // Where mandelbrot.json and matmul.json are.
  std::filesystem::path out;       // Where the picture goes; empty: the current folder.
  bool stay = false;               // Keep the network up until Ctrl-C.
  bool json = false;  // One JSON line on standard output at the end, nothing else there.
  bool browser = true;
  bool chat = true;  // Where there is a browser.
};

// Exit code: 0 when both jobs were accepted, the question was answered and the ledger sums to zero.
// What the chat needs and is not here (demo_chat.h) is said in a line; the demo goes on without it.
[[nodiscard]] int demo_command(const DemoOptions& options);

}  // namespace weft::cli
