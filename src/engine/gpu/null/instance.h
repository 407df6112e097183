// A null GPU for tests of the code above the device. It records its commands and runs no shader;
// writes, copies and clears move bytes, at the submit, so that rings and uploads can be tested. The
// test chooses adapter, limits and failures.
//
//   auto instance = null::create_instance();
//   auto device = run(*instance, instance->create_device({})).value();
//   ...
//   EXPECT_EQ(instance->count(null::Command::Kind::dispatch), 3);
//
// Operations complete at the next poll(), never inside the call. Threading: one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/gpu/backend.h"
#include "engine/gpu/run.h"

namespace weft::gpu::null {

// One command that the device was given. Commands are kept in order: passes and copies appear when
// they are recorded; submit marks the end.
struct Command {
  enum class Kind {
    create_buffer,
    create_pipeline,
    create_bind_group,
    create_timestamps,
    release,
    begin_pass,
    dispatch,
    set_immediates,
    end_pass,
    copy,
    clear,
    resolve,
    submit,
    write,
    read,
    idle,
  } kind;
  Handle object = 0;  // The object that was made or used: buffer, pass, encoder and so on.
  // The pipeline of a dispatch (also if an earlier dispatch set it), or the destination of a copy
  // or resolve.
  Handle other = 0;
  // All bind groups that are set for a dispatch.
  std::array<Handle, Dispatch::groups_max> groups{};
  Workgroups workgroups = {};
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string label = {};
};

struct BoundRange {
  std::uint32_t binding = 0;
  Handle buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// The failures that happen from now on; all are off at the start.
struct Failures {
  bool no_device = false;                 // Makes create_device() fail with unavailable.
  std::optional<CompileMessage> compile;  // If set, every shader gets this compiler message.
  // The most bytes of all buffers together; beyond it the innermost scope gets an out-of-memory
  // error.
  std::uint64_t buffer_bytes_max = ~0ULL;
  std::optional<std::string> submit_error;  // The next submit fails validation.
};

struct Options {
  // If the list is empty, the only adapter is default_adapter().
  std::vector<AdapterInfo> adapters = {};
};

// An adapter with WebGPU's default limits, every known feature, and subgroups of 8.
[[nodiscard]] AdapterInfo default_adapter();

struct State;

class NullInstance final : public PumpedInstance {
 public:
  explicit NullInstance(Options options);

  Async<Result<std::vector<AdapterInfo>>> adapters() override;
  Async<Result<std::unique_ptr<Device>>> create_device(
      DeviceOptions options, std::optional<std::size_t> index = {}) override;
  bool poll(std::chrono::nanoseconds timeout) override;

  [[nodiscard]] Failures& failures();
  // Loses all devices that exist; their operations under way end with device_lost.
  void lose(std::string reason);
  // Keeps operations under way until release(); polls complete none of them meanwhile.
  void hold();
  void release();
  [[nodiscard]] std::size_t under_way() const;

  // The commands since the last forget_commands(), at most a million.
  [[nodiscard]] const std::vector<Command>& commands() const;
  [[nodiscard]] std::size_t count(Command::Kind kind) const;
  void forget_commands();
  [[nodiscard]] std::vector<BoundRange> bound(Handle bind_group) const;
  // The current bytes of a buffer; zeros if none were written.
  [[nodiscard]] ByteVector bytes(const Buffer& buffer) const;
  // Sets a function that is called for each dispatch of a submit, in order, and can do a kernel's
  // writes.
  void on_dispatch(std::function<void(const Command&)> kernel);
  // Writes to a buffer as a kernel would do.
  void poke(Handle buffer, std::uint64_t offset, ByteSpan bytes);

 private:
  std::shared_ptr<State> state_;
};

[[nodiscard]] std::unique_ptr<NullInstance> create_instance(Options options = {});

}  // namespace weft::gpu::null
