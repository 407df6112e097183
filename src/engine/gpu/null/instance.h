// A GPU that is not there, for tests of everything above the device. It records what it is told and
// runs no shader; writes, copies and clears do move bytes, at the submit, so that rings and uploads
// can be checked. Adapter, limits and failures are the test's to choose.
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

// One thing that the device was told, in order. Passes and copies appear when they are recorded;
// submit marks the end.
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
  Handle object = 0;  // What was made or used: the buffer, pass, encoder and so on.
  // dispatch: the pipeline (also when it was set before); copy, resolve: the destination.
  Handle other = 0;
  std::array<Handle, Dispatch::groups_max> groups{};  // dispatch: all that are set.
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

// What goes wrong from now on; all off at the start.
struct Failures {
  bool no_device = false;                 // If set, create_device() fails with unavailable.
  std::optional<CompileMessage> compile;  // Every shader has this message.
  // Buffers beyond it in all: an out-of-memory error at the innermost scope.
  std::uint64_t buffer_bytes_max = ~0ULL;
  std::optional<std::string> submit_error;  // The next submit is invalid.
};

struct Options {
  std::vector<AdapterInfo> adapters = {};  // Empty: default_adapter() alone.
};

// Modest and complete: WebGPU's default limits, every known feature, subgroups of 8.
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
  // Loses all devices that exist; what is under way ends with device_lost.
  void lose(std::string reason);
  // Keeps operations under way until release() (polls complete nothing meanwhile).
  void hold();
  void release();
  [[nodiscard]] std::size_t under_way() const;

  // The last Command records, at most a million.
  [[nodiscard]] const std::vector<Command>& commands() const;
  [[nodiscard]] std::size_t count(Command::Kind kind) const;
  void forget_commands();
  [[nodiscard]] std::vector<BoundRange> bound(Handle bind_group) const;
  // A buffer's bytes as they are now; zeros if nothing was written.
  [[nodiscard]] ByteVector bytes(const Buffer& buffer) const;
  // Called for each dispatch of a submit, in order: a place to play the kernel.
  void on_dispatch(std::function<void(const Command&)> kernel);
  // Writes into a buffer as a kernel would.
  void poke(Handle buffer, std::uint64_t offset, ByteSpan bytes);

 private:
  std::shared_ptr<State> state_;
};

[[nodiscard]] std::unique_ptr<NullInstance> create_instance(Options options = {});

}  // namespace weft::gpu::null
