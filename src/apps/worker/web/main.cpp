// The module's entry points, called by api_web.js: one Engine, and the calls that it answers later.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <emscripten/emscripten.h>

#include "apps/worker/web/engine.h"
#include "apps/worker/web/imports.h"

namespace {

using weft::worker::web::Engine;

Engine& engine() {
  static Engine made([](const std::string& json) { weft_emit(json.data(), static_cast<std::uint32_t>(json.size())); });
  return made;
}

void answer(std::uint32_t call, const weft::Result<std::string>& result) {
  const std::string& text = result ? *result : result.error().message;
  weft_answer(call, result ? 1 : 0, text.data(), static_cast<std::uint32_t>(text.size()));
}

void answer_later(std::uint32_t call, weft::Async<weft::Result<std::string>> work) {
  weft::start<weft::Result<std::string>>(std::move(work), [call](const weft::Result<std::string>& result) { answer(call, result); });
}

}  // namespace

extern "C" {
EMSCRIPTEN_KEEPALIVE void weft_engine_start(const char* coordinator, std::uint32_t size, int cpu, std::uint32_t slots) {
  engine().start({.coordinator = std::string(coordinator, size),
                  .device = cpu != 0 ? weft::protocol::DeviceKind::cpu : weft::protocol::DeviceKind::gpu,
                  .slots = std::clamp<std::uint32_t>(slots, 1, 64)});
}
EMSCRIPTEN_KEEPALIVE void weft_engine_stop() { engine().stop(); }
EMSCRIPTEN_KEEPALIVE void weft_engine_pause() { engine().pause(); }
EMSCRIPTEN_KEEPALIVE void weft_engine_resume() { engine().resume(); }
EMSCRIPTEN_KEEPALIVE void weft_engine_throttle(double share) { engine().throttle(std::isfinite(share) ? share : 1); }
EMSCRIPTEN_KEEPALIVE void weft_engine_wake() { engine().wake(); }
EMSCRIPTEN_KEEPALIVE const char* weft_engine_stats() {
  static std::string text;  // Until the next call.
  text = engine().stats();
  return text.c_str();
}
EMSCRIPTEN_KEEPALIVE void weft_engine_wallet(std::uint32_t call) { answer_later(call, engine().wallet()); }
EMSCRIPTEN_KEEPALIVE void weft_engine_export_wallet(std::uint32_t call) { answer_later(call, engine().export_wallet()); }
EMSCRIPTEN_KEEPALIVE void weft_engine_import_wallet(std::uint32_t call, const char* text, std::uint32_t size) {
  answer_later(call, engine().import_wallet(std::string(text, size)));
}
}

int main() { return 0; }
