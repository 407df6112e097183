// Events for the page, as the JSON that README.md lists.
#pragma once

#include <string>
#include <string_view>

#include "common/protocol/capabilities.h"
#include "worker/inference/serving.h"
#include "worker/tasks/events.h"
#include "worker/tasks/session.h"

namespace weft::worker::web {

// Empty for events that the page does not get: parts and checkpoints of tasks, and event::Refused,
// which it gets as `failed`.
[[nodiscard]] std::string event_json(const Event& event);

[[nodiscard]] std::string measuring_json();
[[nodiscard]] std::string wallet_json(std::string_view address);
[[nodiscard]] std::string device_json(const protocol::Capabilities& capabilities);
[[nodiscard]] std::string device_lost_json(std::string_view message);
// `code` is "wallet", "refused" or "device".
[[nodiscard]] std::string failed_json(std::string_view code, std::string_view message);
[[nodiscard]] std::string stats_json(const Session::Stats& stats, const Serving::Stats& serving);

}  // namespace weft::worker::web
