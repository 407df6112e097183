// A session in a simulated world: the fakes together, and a record of its events.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "worker/tasks/session.h"
#include "worker/tasks/signed_roots.h"
#include "worker/tasks/test_coordinator.h"

namespace weft::worker {

inline const std::string manifest_text =
    R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"x"},"entry":"main","bindings":[{"binding":0,"role":"output","type":"u32","shape":[64],"split_dim":0}],)"
    R"("dispatch":[64],"split":{"tasks":64,"axis":"x"}})";

// The memory of a machine or a tab for the roots that it has signed, for each coordinator; outlives
// worlds.
class RememberedRoots final : public SigningMemory {
 public:
  void admit(const PublicKey& coordinator, const TaskKey& key, const Hash& root,
             std::function<void(Result<>)> done) override {
    SignedRoots& roots = of[coordinator];
    const SignedRoots::Verdict verdict = roots.look(key, root);
    if (verdict == SignedRoots::Verdict::fresh) (void)roots.add(key, root);
    const bool may =
        verdict == SignedRoots::Verdict::fresh || verdict == SignedRoots::Verdict::same;
    host->later([may, done = std::move(done)] {
      done(may ? Result<>() : fail(ErrorCode::already_exists, "signed before"));
    });
  }
  [[nodiscard]] bool forgotten(const PublicKey& coordinator, const TaskKey& key) const override {
    const auto found = of.find(coordinator);
    return found != of.end() && found->second.marks().forgotten(key);
  }
  FakeHost* host = nullptr;  // The host of the world.
  std::map<PublicKey, SignedRoots> of;

  [[nodiscard]] Session::Options options() {
    Session::Options out;
    out.work.signing = this;
    return out;
  }
};

struct World {
  explicit World(Session::Options given = {}) : options(std::move(given)) {}
  FakeHost host;
  FakeRunner runner{host};
  FakeCoordinator coordinator{host};
  crypto::KeyPair key = crypto::KeyPair::generate().value();
  Hash manifest = host.add_blob({manifest_text.begin(), manifest_text.end()});
  std::vector<Event> events;
  Session::Options options;
  Session session{host, runner, key, options,
                  [this](const Event& event) { events.push_back(event); }};

  template <class T>
  [[nodiscard]] std::vector<T> seen() const {
    std::vector<T> found;
    for (const Event& event : events) {
      if (const auto* one = std::get_if<T>(&event)) found.push_back(*one);
    }
    return found;
  }
  template <class T>
  [[nodiscard]] std::vector<T> heard() const {
    std::vector<T> found;
    for (const auto& message : coordinator.heard) {
      if (const auto* one = std::get_if<T>(&message)) found.push_back(*one);
    }
    return found;
  }
  void join() {
    session.start();
    ASSERT_TRUE(host.run_until(
        [&] { return coordinator.welcomed() && session.state() == SessionState::idle; }));
  }
  void lease(const std::vector<std::uint32_t>& indices) {
    protocol::Lease lease{.manifest = manifest, .wall_ms_max = 1000};
    for (const std::uint32_t index : indices)
      lease.tasks.push_back({.index = index, .attempt = 1, .first = index, .count = 1});
    coordinator.send(lease);
  }
};

}  // namespace weft::worker
