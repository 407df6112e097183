// Checks of the browser's signing memory in a Worker of a real browser: one root for each attempt,
// across objects and bounds.
#include <coroutine>
#include <cstdio>

#include <emscripten/emscripten.h>

#include "apps/worker/web/web_signing.h"
#include "common/base/async.h"

// Stores data in the format of version 1 for coordinator 7: two roots of job 5, and one mark for
// all jobs up to which roots are forgotten.
// clang-format off
EM_JS(void, store_first_format, (), {
  const opening = indexedDB.open("weft-signed", 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore("roots");
    opening.result.createObjectStore("marks");
  };
  opening.onsuccess = () => {
    const database = opening.result;
    const transaction = database.transaction(Array.of("roots", "marks"), "readwrite");
    const key = (index) => {
      const bytes = new Uint8Array(56).fill(7, 0, 32);
      bytes[32] = 5;
      bytes[51] = index;
      bytes[55] = 1;
      return bytes;
    };
    const root = new Uint8Array(32).fill(1);
    for (const index of Array.of(5, 6)) transaction.objectStore("roots").add(root, key(index));
    const count = 2, mark = key(4).buffer;
    transaction.objectStore("marks").add({count, mark}, new Uint8Array(32).fill(7));
    transaction.oncomplete = () => database.close();
  };
});
// clang-format on

namespace weft::worker::web {
namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  std::printf("%s %s\n", holds ? "ok     " : "FAILED ", what);
  failures += holds ? 0 : 1;
}

PublicKey coordinator_of(std::uint8_t byte) {
  PublicKey who;
  who.bytes.fill(byte);
  return who;
}
TaskKey task_of(std::uint8_t job, std::uint32_t index) {
  TaskKey key{.task = {.job = {}, .index = index}, .attempt = 1};
  key.task.job.bytes[0] = job;
  return key;
}

struct Admitted {
  WebSigning& memory;
  std::uint8_t coordinator;
  std::uint8_t job;
  std::uint32_t index;
  std::uint8_t root;
  Result<> answer;

  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> resumed) {
    Hash bytes;
    bytes.bytes.fill(root);
    memory.admit(coordinator_of(coordinator), task_of(job, index), bytes,
                 [this, resumed](const Result<>& result) {
                   answer = result;
                   resumed.resume();
                 });
  }
  [[nodiscard]] bool await_resume() const { return answer.has_value(); }
};

Async<> check_first_format() {
  WebSigning memory(64);
  const auto admit = [&](std::uint8_t job, std::uint32_t index, std::uint8_t root) {
    return Admitted{memory, 7, job, index, root, {}};
  };
  expect(co_await admit(5, 5, 1), "a root of the first format is known");
  expect(memory.forgotten(coordinator_of(7), task_of(5, 4)), "and its mark is told at once");
  expect(!co_await admit(5, 6, 2), "a root other than that of the first format is not signed");
  expect(!co_await admit(5, 4, 1), "nor what it had forgotten of the job");
  expect(!co_await admit(4, 9, 1), "nor any task of an older job");
  expect(co_await admit(5, 7, 1), "a later task of the job is");
  expect(co_await admit(6, 0, 1), "and a later job");
}

// The roots of a job of many tasks are forgotten before those of a job of few tasks.
Async<> check_jobs() {
  WebSigning memory(64);
  const auto admit = [&](std::uint8_t coordinator, std::uint8_t job, std::uint32_t index,
                         std::uint8_t root) {
    return Admitted{memory, coordinator, job, index, root, {}};
  };
  const PublicKey three = coordinator_of(3), four = coordinator_of(4);
  bool all = true;
  for (std::uint32_t index = 0; index < 4; ++index) all = co_await admit(3, 1, index, 1) && all;
  for (std::uint32_t index = 0; index < 300; ++index) all = co_await admit(3, 9, index, 1) && all;
  expect(all, "two jobs are signed for");
  expect(co_await admit(3, 1, 4, 1), "a late task of the older job is, too");
  expect(!co_await admit(3, 1, 2, 2), "and what was signed of it is not contradicted");
  expect(!co_await admit(3, 9, 20, 1), "what is forgotten of the larger job is not signed again");
  expect(memory.forgotten(three, task_of(9, 20)), "which is known before it is computed");
  expect(!memory.forgotten(three, task_of(1, 5)), "as is that nothing of the older job is");
  expect(!memory.forgotten(four, task_of(9, 20)), "and of another coordinator's");

  for (std::uint8_t job = 1; job <= 40; ++job) all = co_await admit(4, job, 0, 1) && all;
  expect(all, "many jobs are signed for");
  expect(memory.forgotten(four, task_of(1, 0)) && !co_await admit(4, 1, 7, 1),
         "the oldest is dropped whole");
  expect(!memory.forgotten(four, task_of(40, 1)) && co_await admit(4, 40, 1, 1),
         "the latest is not");
}

Async<> check_all() {
  store_first_format();
  co_await check_first_format();
  co_await check_jobs();
  WebSigning one(8);
  const auto admit = [](WebSigning& memory, std::uint8_t coordinator, std::uint32_t index,
                        std::uint8_t root) {
    return Admitted{memory, coordinator, 0, index, root, {}};
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
