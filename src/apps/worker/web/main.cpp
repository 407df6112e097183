// The module's entry points, which api_web.js calls: one Engine, and calls that are answered later.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <emscripten/emscripten.h>

#include "apps/worker/web/engine.h"
#include "apps/worker/web/imports.h"
#include "apps/worker/web/lab.h"
#include "common/protocol/hello.h"

namespace {

using weft::worker::web::Engine;
using weft::worker::web::Lab;

Engine& engine() {
  static Engine made([](const std::string& json) {
    weft_emit(json.data(), static_cast<std::uint32_t>(json.size()));
  });
  return made;
}

Lab& lab() {
  static Lab made;
  return made;
}

void answer(std::uint32_t call, const weft::Result<std::string>& result) {
  const std::string& text = result ? *result : result.error().message;
  weft_answer(call, result ? 1 : 0, text.data(), static_cast<std::uint32_t>(text.size()));
}

void answer_later(std::uint32_t call, weft::Async<weft::Result<std::string>> work) {
  weft::start<weft::Result<std::string>>(
      std::move(work), [call](const weft::Result<std::string>& result) { answer(call, result); });
}

}  // namespace

extern "C" {
EMSCRIPTEN_KEEPALIVE void weft_engine_start(const char* coordinator, std::uint32_t size, int cpu,
                                            std::uint32_t slots, double memory_bytes,
                                            std::uint32_t slices, double price_min,
                                            const char* known_device, std::uint32_t known_size,
                                            double known_copy, double known_f32) {
  engine().start(
      {.coordinator = std::string(coordinator, size),
       .device = cpu != 0 ? weft::protocol::DeviceKind::cpu : weft::protocol::DeviceKind::gpu,
       .slots = std::clamp<std::uint32_t>(slots, 1, 64),
       .memory_bytes = memory_bytes > 0 ? static_cast<std::uint64_t>(memory_bytes) : 0,
       .slices = std::min<std::uint32_t>(slices, 8),
       .price_min = price_min > 0
                        ? static_cast<std::uint64_t>(std::min(
                              price_min, static_cast<double>(weft::protocol::price_min_max)))
                        : 0,
       .known = {.device = std::string(known_device, known_size),
                 .copy_gb_per_s = known_copy,
                 .f32_gflop_per_s = known_f32}});
}
EMSCRIPTEN_KEEPALIVE void weft_engine_stop() { engine().stop(); }
EMSCRIPTEN_KEEPALIVE void weft_engine_pause() { engine().pause(); }
EMSCRIPTEN_KEEPALIVE void weft_engine_resume() { engine().resume(); }
EMSCRIPTEN_KEEPALIVE void weft_engine_throttle(double share) {
  engine().throttle(std::isfinite(share) ? share : 1);
}
EMSCRIPTEN_KEEPALIVE void weft_engine_wake() { engine().wake(); }
EMSCRIPTEN_KEEPALIVE const char* weft_engine_stats() {
  static std::string text;  // The returned text is valid until the next call.
  text = engine().stats();
  return text.c_str();
}
EMSCRIPTEN_KEEPALIVE void weft_engine_wallet(std::uint32_t call) {
  answer_later(call, engine().wallet());
}
EMSCRIPTEN_KEEPALIVE void weft_engine_export_wallet(std::uint32_t call) {
  answer_later(call, engine().export_wallet());
}
EMSCRIPTEN_KEEPALIVE void weft_engine_import_wallet(std::uint32_t call, const char* text,
                                                    std::uint32_t size) {
  answer_later(call, engine().import_wallet(std::string(text, size)));
}
EMSCRIPTEN_KEEPALIVE void weft_engine_sign_request(std::uint32_t call, const char* text,
                                                   std::uint32_t size) {
  answer_later(call, engine().sign_request(std::string(text, size)));
}
EMSCRIPTEN_KEEPALIVE void weft_lab_open(std::uint32_t call) { answer_later(call, lab().open()); }
EMSCRIPTEN_KEEPALIVE void weft_lab_measure(std::uint32_t call) {
  answer_later(call, lab().measure());
}
EMSCRIPTEN_KEEPALIVE void weft_lab_compile(std::uint32_t call, const char* wgsl,
                                           std::uint32_t size) {
  answer_later(call, lab().compile(std::string(wgsl, size)));
}
EMSCRIPTEN_KEEPALIVE void weft_lab_check(std::uint32_t call, const char* manifest,
                                         std::uint32_t size) {
  answer_later(call, lab().check(std::string(manifest, size)));
}
EMSCRIPTEN_KEEPALIVE void weft_lab_run(std::uint32_t call, const char* manifest, std::uint32_t size,
                                       int cpu) {
  answer_later(call, lab().run(std::string(manifest, size), cpu != 0, [call](weft::ByteSpan bytes) {
    weft_answer_bytes(call, bytes.data(), static_cast<double>(bytes.size()));
  }));
}
}

int main() { return 0; }
