#include "engine/gpu/backend.h"

#include <algorithm>

#include "common/base/format.h"

namespace weft::gpu {

void Health::add_error(std::string message) {
  if (errors.size() < errors_max) {
    errors.push_back(std::move(message));
  } else {
    ++errors_dropped;
  }
}

void announce_loss(const SharedHealth& health) {
  std::function<void(std::string)> callback;
  std::string reason;
  health->with([&](Health& state) {
    if (!state.lost || !state.on_lost) return;
    callback = std::exchange(state.on_lost, {});
    reason = *state.lost;
  });
  if (callback) callback(std::move(reason));
}

void Backend::count_buffer_bytes(std::int64_t change) {
  buffer_bytes_ += static_cast<std::uint64_t>(change);
  buffer_bytes_peak_ = std::max(buffer_bytes_peak_, buffer_bytes_);
}

std::span<const std::string_view> known_features() {
  static constexpr std::array<std::string_view, 6> names = {"chromium-experimental-subgroup-matrix",
                                                            "core-features-and-limits",
                                                            "shader-f16",
                                                            "subgroup-size-control",
                                                            "subgroups",
                                                            "timestamp-query"};
  return names;
}

std::vector<std::string> wanted_features(const AdapterInfo& adapter, const DeviceOptions& options) {
  std::vector<std::string> wanted;
  if (options.features) {
    wanted = *options.features;
  } else {
    wanted.assign(known_features().begin(), known_features().end());
  }
  std::erase_if(wanted, [&](const std::string& name) {
    return std::ranges::find(adapter.features, name) == adapter.features.end();
  });
  return wanted;
}

std::optional<std::size_t> best_adapter(std::span<const AdapterInfo> adapters) {
  const auto rank = [](const AdapterInfo& adapter) {
    switch (adapter.kind) {
      case AdapterKind::discrete:
        return 0;
      case AdapterKind::integrated:
        return 1;
      case AdapterKind::unknown:
        return 2;
      case AdapterKind::cpu:
        break;
    }
    return 3;
  };
  const auto best = std::ranges::min_element(adapters, {}, rank);
  if (best == adapters.end()) return std::nullopt;
  return static_cast<std::size_t>(best - adapters.begin());
}

std::optional<std::string> first_error(std::span<const CompileMessage> messages) {
  const auto error =
      std::ranges::find(messages, CompileMessage::Kind::error, &CompileMessage::kind);
  if (error == messages.end()) return std::nullopt;
  return weft::format("{}:{}: {}", error->line, error->column, error->text);
}

}  // namespace weft::gpu
