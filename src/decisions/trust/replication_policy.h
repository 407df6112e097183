// The share of an established wallet's results that is checked, and the probability that the checks
// find a wrong result.
//
// Each result is replicated with probability p, otherwise a part of it is computed again by another
// worker with probability a (an audit), and each lease is a task whose answer is known with
// probability t (a trap):
//
//   p(r) = replica_floor + (1 - replica_floor) * (1 - r)^2     falls with reputation r to its floor
//   a    = max(min(1, audit_work * parts), the job's own share)    constant: the audit floor
//   t    = trap_floor                                              constant
//
// (BOINC's adaptive replication checks with probability 1 / n after n valid results in a row, which
// has no floor: a sleeper is hardly ever checked. Proof of Sampling, arXiv 2405.00295, builds its
// equilibrium on such a floor.)
//
// An audit covers one of `parts` equal parts of a task's range, so that a share s of wrong parts is
// hit with probability s. If a share c of all checkers collude with the cheat and confirm its
// answers, a result with a share s of wrong parts is found with probability
//
//   d(s) = 1 - (1 - t) * (1 - (p + (1 - p) * a * s) * (1 - c))
//
// A jury then decides which result is right (jury_lead).
#pragma once

#include <cstdint>

namespace weft::trust {

struct CheckSettings {
  double replica_floor = 0.005;
  double audit_work = 0.02;  // Mean audit work in shares of a task's work.
  std::uint32_t audit_parts_max = 32;
  double trap_floor = 0.005;
  double collusion = 0.3;  // Assumed most colluders, as a share of all.
  double error = 1e-4;     // Probability that a jury is wrong.
};

struct CheckRates {
  double replica = 1;
  double audit = 0;
  double trap = 0;
  std::uint32_t parts = 1;  // The parts that an audit chooses one of.
};

// Returns the rates for a wallet of this reputation in a job whose tasks can be cut into `parts`
// (1: a task is only checked whole) and that wants at least a share `audit` of its results audited.
[[nodiscard]] CheckRates rates_at(double reputation, std::uint32_t parts, double audit,
                                  const CheckSettings& settings);

// Returns d(s), the probability that a result with a share `wrong_share` of wrong parts is found.
[[nodiscard]] double detection(const CheckRates& rates, double wrong_share, double collusion);

// Returns the mean checking work for each useful task, in tasks.
[[nodiscard]] double extra_work(const CheckRates& rates);

// Returns the lead over every other answer, in votes, at which an answer is believed with an error
// of at most `error` if a share `collusion` < 1/2 of the voters agree on one wrong answer:
//
//   ceil(ln((1 - error) / error) / ln((1 - c) / c))
//
// (A. Wald's sequential test, 1945, of "this answer is the honest one" against "it is the
// colluders'"; the credibility of L. Sarmenta's voting, FGCS 2002, with one vote each.) 11 for 1e-4
// and 0.3.
[[nodiscard]] std::uint32_t jury_lead(double error, double collusion);

}  // namespace weft::trust
