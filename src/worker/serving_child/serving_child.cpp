#include "worker/serving_child/serving_child.h"

#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>
#include <unistd.h>

#include "common/base/log.h"
#include "common/crypto/keys.h"
#include "worker/inference/serving.h"
#include "worker/sandbox/driver_files.h"
#include "worker/sandbox/spawn.h"
#include "worker/serving_child/child_host.h"
#include "worker/serving_child/child_lines.h"
#include "worker/serving_child/child_loop.h"
#include "worker/serving_child/engine_maker.h"

namespace weft::worker {
namespace {

// Memory of a driver, its compiler and a model's tables besides weights and caches. On a software
// GPU and on the CPU, weights and caches are in this memory, too, with copies while they are
// loaded.
constexpr std::uint64_t other_bytes = std::uint64_t{4} << 30;
constexpr std::uint64_t copies = 2;

// The address sanitizer maps terabytes of shadow memory, which count as data.
#ifdef __SANITIZE_ADDRESS__
constexpr bool memory_is_bounded = false;
#else
constexpr bool memory_is_bounded = true;
#endif

struct Arguments {
  int socket = -1;
  std::uint64_t memory_bytes = 0;
  pid_t parent = 0;
  EngineMaker::Options engines;
};

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size();
}

bool read_arguments(std::span<char* const> given, Arguments& arguments) {
  if (given.size() != 4 || !read_number(given[0], arguments.socket) ||
      !read_number(given[1], arguments.memory_bytes) || !read_number(given[2], arguments.parent))
    return false;
  std::string_view device = given[3];
  if (device == "cpu" || device == "gpu") {
    arguments.engines.gpu = device == "gpu";
    return true;
  }
  if (!device.starts_with("gpu:")) return false;
  return read_number(device.substr(4), arguments.engines.adapter.emplace());
}

}  // namespace

int serving_child_main(std::span<char* const> given, ConfinementOptions confinement) {
  Arguments arguments;
  if (!read_arguments(given, arguments)) {
    std::fputs("serving-child is started by weft itself.\n", stderr);
    return 2;
  }
  if (memory_is_bounded) confinement.data_bytes_max = copies * arguments.memory_bytes + other_bytes;
  confinement.receives_files = true;
  const auto drivers = driver_files();
  std::vector<MissingPart> missing;
  if (!enter_confined_child(arguments.parent, arguments.socket, confinement, missing)) return 0;
  arguments.engines.refused_driver = refused_driver(drivers);
  if (!write_frame(arguments.socket, FrameKind::ready, pack_missing(missing), Instant::max(),
                   [] {}))
    return 0;

  ChildLoop loop(arguments.socket);
  EngineMaker engines(loop, arguments.engines);
  ChildHost host(loop, engines);
  ChildLines lines(loop);
  // A key of this process alone, because only the parent has the wallet. The coordinator knows the
  // key through the session's token.
  auto key = crypto::KeyPair::generate();
  if (!key) log_warning("No frames are signed: {}", key.error().message);
  std::unique_ptr<Serving> serving;
  loop.run([&](const Frame& frame) {
    if (host.take(frame) || lines.take(frame)) return;
    if (frame.kind == kind_of(ServingFrame::begin)) {
      auto setup = unpack_setup(frame.payload);
      if (!setup || serving) return;
      Serving::Options options{.memory_bytes = setup->memory_bytes, .gb_per_s = setup->gb_per_s};
      if (!setup->lines.empty()) {
        options.lines = std::move(setup->lines);
        options.peers = &lines;
        options.line_patience = std::chrono::milliseconds(setup->line_patience_ms);
      }
      if (key) options.signer = &*key;
      serving = std::make_unique<Serving>(host, std::move(options));
    } else if (frame.kind == kind_of(ServingFrame::join) && serving) {
      if (auto token = Unpacker(frame.payload).text()) serving->join(std::move(*token));
    }
  });
  // The process ends without cleanup, because drivers' threads may still run.
  std::fflush(nullptr);
  ::_exit(0);
}

}  // namespace weft::worker
