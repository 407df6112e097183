#include "decisions/trust/attacks/corrections.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "decisions/trust/attacks/simulated_answer.h"

namespace weft::trust::attacks {

std::size_t Corrections::add_wrong() {
  wrong_.push_back({.time = context_.time(), .corrected = false});
  return wrong_.size() - 1;
}

void Corrections::suspect(const Suspected& suspected) {
  if (suspects_.suspect(suspected.worker, suspected.client, context_.unix()))
    checking_.push_back(number_of(suspected.worker));
  // Computes the tasks of suspects again, connected or not, until the client's limit is reached.
  while (!checking_.empty()) {
    SimulatedWorker& worker = roster_.at(checking_.front());
    checking_.pop_front();
    const Rechecked done = recheck(worker);
    rechecked_ += done.tasks;
    for (const auto& next :
         suspects_.computed(worker.key, done.tasks, done.wrong > 0, context_.unix()))
      checking_.push_back(number_of(next.worker));
  }
}

void Corrections::convicted(SimulatedWorker& worker) {
  suspects_.convicted(worker.key);
  recheck(worker);
}

Corrections::Rechecked Corrections::recheck(SimulatedWorker& worker) {
  Rechecked done;
  const double since = context_.time() - context_.setup.correction_hours * 3600;
  for (const Timed& each : worker.paid) {
    if (each.time >= since) done.tasks += static_cast<std::uint32_t>(each.amount);
  }
  worker.paid.clear();
  for (const std::size_t each : worker.wrong) {
    if (wrong_[each].time < since || std::exchange(wrong_[each].corrected, true)) continue;
    ++corrected_;
    ++done.wrong;
  }
  worker.wrong.clear();
  return done;
}

double Corrections::uncorrected(double found) const {
  const double time = context_.time();
  std::vector<double> stays(wrong_.size(), 1);
  for (const SimulatedWorker& worker : roster_.all()) {
    if (!worker.connected || worker.convicted) continue;
    const double hours = std::max((time - worker.joined) / 3600, 0.01);
    const double cheats_per_hour = worker.cheated / hours;
    for (const std::size_t each : worker.wrong) {
      const double left =
          std::max(0.0, context_.setup.correction_hours - (time - wrong_[each].time) / 3600);
      stays[each] *= std::pow(1 - std::min(found, 1.0), cheats_per_hour * left);
    }
  }
  double sum = 0;
  for (std::size_t i = 0; i < wrong_.size(); ++i) sum += wrong_[i].corrected ? 0 : stays[i];
  return sum;
}

}  // namespace weft::trust::attacks
