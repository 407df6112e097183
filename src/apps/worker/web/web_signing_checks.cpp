// The browser's memory of what it has signed, in a Worker of a real browser: one root for an
// attempt, over objects and bounds.
#include <coroutine>
#include <cstdio>

#include <emscripten/emscripten.h>

#include "apps/worker/web/web_signing.h"
#include "common/base/async.h"

namespace weft::worker::web {
namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  std::printf("%s %s\n", holds ? "ok     " : "FAILED ", what);
  failures += holds ? 0 : 1;
}

struct Admitted {
  WebSigning& memory;
  std::uint8_t coordinator;
  std::uint32_t index;
  std::uint8_t root;
  Result<> answer;

  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> resumed) {
    PublicKey who;
    who.bytes.fill(coordinator);
    Hash bytes;
    bytes.bytes.fill(root);
    const TaskKey key{.task = {.job = {}, .index = index}, .attempt = 1};
    memory.admit(who, key, bytes, [this, resumed](const Result<>& result) {
      answer = result;
      resumed.resume();
    });
  }
  [[nodiscard]] bool await_resume() const { return answer.has_value(); }
};

Async<> check_all() {
  WebSigning one(8);
  const auto admit = [](WebSigning& memory, std::uint8_t coordinator, std::uint32_t index,
                        std::uint8_t root) {
    return Admitted{memory, coordinator, index, root, {}};
  };
  expect(co_await admit(one, 1, 5, 1), "a first root is admitted");
  expect(co_await admit(one, 1, 5, 1), "and again");
  expect(!co_await admit(one, 1, 5, 2), "another one is not");
  WebSigning again(8);
  expect(!co_await admit(again, 1, 5, 2), "nor by another object");
  expect(co_await admit(again, 2, 5, 2), "another coordinator's task is");
  bool all = true;
  bool none = false;
  for (std::uint32_t index = 6; index < 100; ++index) {
    all = co_await admit(one, 1, index, 1) && all;
    none = co_await admit(again, 1, index, 2) || none;
    none = co_await admit(again, 1, 5 + (index - 6) / 3, 2) || none;
  }
  expect(all, "beyond the bound roots are admitted");
  expect(!none, "and none is contradicted, forgotten or not");
  expect(!co_await admit(one, 1, 6, 1), "what is forgotten is not signed again");
  expect(co_await admit(one, 1, 99, 1), "what is not forgotten is");
  expect(co_await admit(one, 2, 5, 2), "another coordinator's is untouched");
}

}  // namespace
}  // namespace weft::worker::web

int main() {
  weft::start<bool>(
      []() -> weft::Async<bool> {
        co_await weft::worker::web::check_all();
        co_return weft::worker::web::failures == 0;
      }(),
      [](bool passed) { emscripten_force_exit(passed ? 0 : 1); });
}
