// How many chains a model has: one at least, another if requests wait and all are full, one less if
// fewer would do. Between the two lie a time and a share, so that demand that comes and goes moves
// nothing. Beside chains of trusted workers, newcomers form some for shadow requests.
#pragma once

#include <map>
#include <string>

#include "common/base/clock.h"
#include "decisions/inference/chain_keeper.h"
#include "decisions/inference/desk_tables.h"
#include "decisions/inference/plan_backoff.h"
#include "decisions/inference/request_queue.h"

namespace weft::inference {

class ChainPlanning {
 public:
  ChainPlanning(DeskTables& tables, ChainKeeper& keeper, RequestQueue& requests)
      : tables_(tables), keeper_(keeper), requests_(requests) {}

  void add_model(const std::string& model, Instant now);
  // Its file is another one: it is planned again at once.
  void model_changed(const std::string& model);
  // No chain of it is formed from now on.
  void stop(const std::string& model);
  void remove_model(const std::string& model);

  void form_where_needed(const std::string& model, Instant now);
  // With less to do than a part of what one chain less could, for long enough, the chain with the
  // least to do gets no more requests and goes when it is done.
  void shrink(const std::string& model, Instant now);

  // There is more room: all models may be planned again.
  void room_was_made();
  // A worker could not load its part.
  void refused(const std::string& model, const std::string& why, Instant now);
  // A chain of it is ready.
  void served(const std::string& model);
  // Why the last chain could not be formed; empty if it could.
  [[nodiscard]] const std::string& trouble(const std::string& model) const;

 private:
  struct Plan {
    std::string trouble{};
    Instant retry{};         // No new chain before.
    Instant shadow_retry{};  // None of newcomers before.
    PlanBackoff backoff{};   // When its first chain is planned again.
    Instant busy{};          // When its chains were last needed, all of them.
  };
  // The chains that serve some of a model's requests.
  struct Serving {
    bool has_chain = false;
    bool has_room = false;  // One of them would take another request, or will.
    ChainId retiring{};
  };
  [[nodiscard]] Serving serving(const std::string& model, bool trusted_only) const;
  // Forms chains for the requests that wait. False, and the plan says why, if there is no room.
  [[nodiscard]] bool form(const std::string& model, Whom whom, Instant now);
  [[nodiscard]] std::string trouble_of(const std::string& model, Whom whom) const;
  // Newcomers show what they can: beside a chain of trusted workers, whose answers they repeat.
  void form_shadow_chains(const std::string& model, Instant now);

  DeskTables& tables_;
  ChainKeeper& keeper_;
  RequestQueue& requests_;
  std::map<std::string, Plan> plans_;
};

}  // namespace weft::inference
