#include <algorithm>
#include <array>

#include "decisions/trust/attacks/strategy.h"

namespace weft::trust::attacks {
namespace {

Plan fresh(std::uint32_t wallets) {
  Plan plan;
  plan.wallets = wallets;
  plan.start = 0;
  plan.stake = 0;
  return plan;
}
Plan established(double task_share, std::uint32_t slices) {
  Plan plan;
  plan.task_share = task_share;
  plan.slices = slices;
  return plan;
}

// The worker is wrong from its first task on.
class Zeros final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& sight, Random& random) override { return cheats(sight, random); }
};

// The worker is honest until it is believed.
class Sleeper final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& sight, Random& random) override {
    return sight.reputation < 0.9 ? Deed{} : cheats(sight, random);
  }
};

// The worker is wrong in the jobs of one client only.
class Targeted final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& sight, Random& random) override {
    return sight.client == 1 ? cheats(sight, random) : Deed{};
  }
};

// Only one value of one slice is wrong, so the worker saves no work.
class OneValue final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& sight, Random& random) override {
    Deed deed = cheats(sight, random);
    deed.one_value = deed.wrong > 0;
    return deed;
  }
};

// The worker reports as an auditor that every right answer is wrong.
class Slander final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& /*sight*/, Random& /*random*/) override { return {}; }
  bool confirms(bool accomplice, bool /*is_right*/) override { return accomplice; }
};

// The worker is right in jobs of others. Its own jobs, whose right answer differs by vendor, are
// meant to convict honest workers: it answers them as the verifier does, and claims that its device
// is of the honest workers' vendor.
class Bait final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& /*sight*/, Random& /*random*/) override { return {}; }
};

// The worker reports every shader as wrong.
class CanaryKiller final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& /*sight*/, Random& /*random*/) override {
    return {.kind = Deed::Kind::fails};
  }
};

// The worker is right, but claims a thousand times the seconds that it took.
class PricePump final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& /*sight*/, Random& /*random*/) override { return {.claims = 1000}; }
};

// The worker takes leases and never answers.
class Silence final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& /*sight*/, Random& /*random*/) override {
    return {.kind = Deed::Kind::silent};
  }
};

// Fresh wallets that are wrong in one slice and leave after the first refusal. A new wallet
// replaces each of them, and its first result is checked whole; the attack is meant to exhaust the
// verifier.
class Exhaustion final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& sight, Random& random) override { return cheats(sight, random); }
  bool leaves(double /*hours*/, std::uint32_t wrong) override { return wrong > 0; }
};

// The worker is wrong for some hours, and then leaves with its stake.
class Exit final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& sight, Random& random) override { return cheats(sight, random); }
  bool leaves(double hours, std::uint32_t /*wrong*/) override {
    return plan_.exit_hours > 0 && hours >= plan_.exit_hours;
  }
};

// The worker leaves as soon as one of its results was refused.
class OneStrike final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& sight, Random& random) override { return cheats(sight, random); }
  bool leaves(double /*hours*/, std::uint32_t wrong) override { return wrong > 0; }
};

// The worker earns standing in its own jobs, and then cheats.
class Laundering final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& sight, Random& random) override {
    return sight.own || !sight.established ? Deed{} : cheats(sight, random);
  }
};

// The worker computes nothing: it hands in an accomplice's right result over invented states.
class InventedSteps final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& sight, Random& random) override {
    return {.invented = cheats(sight, random).wrong > 0};
  }
};

// One third of the workers cheat, one third give no answer, and one third report shaders as wrong.
class Mixture final : public Strategy {
 public:
  using Strategy::Strategy;
  Deed on_task(const Sight& sight, Random& random) override {
    switch (sight.number % 3) {
      case 0:
        return cheats(sight, random);
      case 1:
        return {.kind = Deed::Kind::silent};
      default:
        return {.kind = Deed::Kind::fails};
    }
  }
};

template <class T>
std::unique_ptr<Strategy> make(const Plan& plan) {
  return std::make_unique<T>(plan);
}

Plan with_own_jobs(Plan plan, double share, bool devices_differ) {
  plan.own_jobs = share;
  plan.devices_differ = devices_differ;
  return plan;
}

constexpr std::array every_strategy{
    Entry{"zeros", "fresh wallets that agree on zeros", [] { return fresh(100); }, make<Zeros>},
    Entry{"one-slice", "established, wrong in one slice of 64", [] { return established(0.1, 1); },
          make<Zeros>},
    Entry{"one-value", "established, wrong in one value of one slice",
          [] { return established(0.1, 1); }, make<OneValue>},
    Entry{"slow-drip", "established, wrong in one slice of one task of a thousand",
          [] { return established(0.001, 1); }, make<Zeros>},
    Entry{"sleepers", "honest until believed, then always wrong",
          [] {
            Plan plan = established(1, 64);
            plan.start = 0.5;
            return plan;
          },
          make<Sleeper>},
    Entry{"targeted", "established, wrong for one client only", [] { return established(1, 32); },
          make<Targeted>},
    Entry{"slander", "established auditors that call right answers wrong",
          [] { return established(0, 0); }, make<Slander>},
    Entry{"bait", "own jobs whose right answer differs by device, to convict honest workers",
          [] { return with_own_jobs(established(0, 0), 0.3, true); }, make<Bait>},
    Entry{"hidden-bait", "as bait, in one task of 32, after honest workers got the others right",
          [] {
            Plan plan = with_own_jobs(established(0, 0), 0.3, true);
            plan.differ_every = 32;
            plan.own_tasks = 128;
            return plan;
          },
          make<Bait>},
    Entry{"canary-killers", "fresh wallets that call every shader wrong", [] { return fresh(100); },
          make<CanaryKiller>},
    Entry{"price-pumps", "fresh wallets that claim a thousand times their seconds",
          [] { return fresh(1000); }, make<PricePump>},
    Entry{"silence", "1,000 fresh wallets that take leases and say nothing",
          [] { return fresh(1000); }, make<Silence>},
    Entry{"exhaustion", "fresh wallets, wrong in one slice, new ones after each refusal",
          [] {
            Plan plan = fresh(200);
            plan.slices = 1;
            return plan;
          },
          make<Exhaustion>},
    Entry{"copying", "fresh wallets that copy each other's wrong answer", [] { return fresh(20); },
          make<Zeros>},
    Entry{"laundering", "fresh wallets that earn standing in their own jobs, then cheat",
          [] {
            Plan plan = with_own_jobs(fresh(20), 0.5, false);
            plan.stake = 1000;
            return plan;
          },
          make<Laundering>},
    Entry{"sybils", "1,000 wallets in 1,000 prefixes, wrong in all slices",
          [] { return fresh(1000); }, make<Zeros>},
    Entry{"sybils-one-prefix", "1,000 wallets in one prefix, wrong in all slices",
          [] {
            Plan plan = fresh(1000);
            plan.prefixes = 1;
            return plan;
          },
          make<Zeros>},
    Entry{"rich", "established with a hundred times the stake, wrong in a quarter of the slices",
          [] {
            Plan plan = established(1, 16);
            plan.stake = 100'000;
            return plan;
          },
          make<Zeros>},
    Entry{"exit", "established, cheat for an hour and leave with the stake",
          [] {
            Plan plan = established(0.1, 1);
            plan.exit_hours = 0.05;
            return plan;
          },
          make<Exit>},
    Entry{"one-strike", "established, cheat until the first refusal and leave with the stake",
          [] { return established(0.1, 1); }, make<OneStrike>},
    Entry{"sale", "bought accounts: the highest standing, wrong in all slices at once",
          [] {
            Plan plan = established(1, 64);
            plan.start = 0.999;
            return plan;
          },
          make<Zeros>},
    Entry{"own-vendor", "established, say that their devices are of a vendor no other has",
          [] {
            Plan plan = established(0.1, 1);
            plan.own_vendor = true;
            return plan;
          },
          make<Zeros>},
    Entry{"invented-steps",
          "established, right results over invented states, in jobs of steps that cannot be cut",
          [] {
            Plan plan = established(0.5, 1);
            plan.stepped_jobs = true;
            return plan;
          },
          make<InventedSteps>},
    Entry{"mixture", "fresh wallets: cheats, silent ones and canary killers",
          [] { return fresh(300); }, make<Mixture>},
};

}  // namespace

Deed Strategy::cheats(const Sight& sight, Random& random) const {
  if (plan_.task_share < 1 && chance(random) >= plan_.task_share) return {};
  if (plan_.target == JobClass::costly && sight.price < 2) return {};
  if (plan_.target == JobClass::cheap && sight.price >= 2) return {};
  return {.wrong = std::clamp(plan_.slices * sight.slices / 64, 1U, sight.slices)};
}

std::span<const Entry> strategies() { return every_strategy; }

const Entry* find_strategy(std::string_view name) {
  const auto* found = std::ranges::find(every_strategy, name, &Entry::name);
  return found == every_strategy.end() ? nullptr : found;
}

}  // namespace weft::trust::attacks
