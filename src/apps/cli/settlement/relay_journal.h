// The journal of `weft chain relay`: the claims that the operator's wallet has sent for owners, and
// their costs. Its first line names the network and the number of units that a SOL of fees takes.
// The journal is public: `weft chain rows --relays` makes rows from it, and each `done` names a
// transaction on the chain.
//
//   sent OWNER SIGNATURE HEIGHT BASE64     a claim that is about to be sent, with its bytes
//   done OWNER SIGNATURE LAMPORTS          a claim that has landed finally, with its fee
//   expired OWNER SIGNATURE                a claim that can land no more
//
// Threading: one thread. One process at a time writes the file.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include "apps/cli/settlement/journal_file.h"
#include "decisions/settlement/relays.h"
#include "platform/chain/sender.h"

namespace weft::cli {

class RelayJournal {
 public:
  struct Place {
    PublicKey config;
    std::uint64_t units_a_sol = 0;
  };
  // Fails with the errors of JournalFile::open(), and with data_loss if a line is no row or
  // contradicts the rows before it.
  [[nodiscard]] static Result<RelayJournal> open(const std::filesystem::path& path,
                                                 const Place& place);

  [[nodiscard]] const settlement::Relays& relays() const { return relays_; }
  // The bytes of each claim that was sent and has not ended.
  [[nodiscard]] const std::map<Signature, chain::SignedTransaction>& transactions() const {
    return transactions_;
  }
  // sent() and ended() append a row, which is on the disk when they return.
  [[nodiscard]] Result<> sent(const PublicKey& owner, const chain::SignedTransaction& transaction);
  [[nodiscard]] Result<> ended(const settlement::RelayRow& row);

 private:
  explicit RelayJournal(JournalFile file) : file_(std::move(file)) {}
  JournalFile file_;
  settlement::Relays relays_;
  std::map<Signature, chain::SignedTransaction> transactions_;
};

// The contents of a journal, for a reader while another process may write it.
struct PublishedRelays {
  RelayJournal::Place place;
  settlement::Relays relays;
};
// Fails with data_loss if the file is no such journal.
[[nodiscard]] Result<PublishedRelays> read_relays(const std::filesystem::path& path);

}  // namespace weft::cli
