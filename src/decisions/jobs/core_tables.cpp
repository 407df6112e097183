#include "decisions/jobs/core_tables.h"

#include <utility>

namespace weft::jobs {

CoreTables::CoreTables(World& the_world, Book& the_book, CoreSettings chosen)
    : world(the_world), book(the_book), settings(std::move(chosen)) {
  trust.standing().admissions().set_owners(
      [this](const PublicKey& worker) { return PublicKey{{accounts.owner_of(worker).bytes}}; });
  trust.standing().set_root_at_hand([this] { return world.verifies(); });
}

trust::Level CoreTables::counted_level(const PublicKey& worker, UnixMillis now) const {
  return settings.referee.defences.newcomers_decide_nothing ? trust.level(worker, now)
                                                            : trust::Level::established;
}

void CoreTables::bar_server(const PublicKey& worker) {
  book.bar(worker, trust.book().record(worker).suspended_until);
  outbox.effect([this, worker] { world.bar_server(worker); });
}

void CoreTables::send_verdict(const TaskId& task, std::uint32_t attempt, const PublicKey& worker,
                              std::optional<MicroCredits> paid, std::string reason) {
  workers.send(worker, protocol::Verdict{.task = task,
                                         .attempt = attempt,
                                         .accepted = paid.has_value(),
                                         .paid = paid.value_or(0),
                                         .balance = accounts.spendable(worker),
                                         .reason = std::move(reason)});
}

}  // namespace weft::jobs
