// Decides the number of chains of a model, which is at least one. It grows if requests wait and all
// chains are full, and shrinks if fewer chains would be enough. Growing and shrinking have
// different thresholds of time and load, so that short changes of demand change nothing. Newcomers
// form chains for shadow requests beside chains of trusted workers.
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
  // Call it when the model's file has changed: its chain is planned again at once.
  void model_changed(const std::string& model);
  // Forms no chain of the model from now on.
  void stop(const std::string& model);
  void remove_model(const std::string& model);

  void form_where_needed(const std::string& model, Instant now);
  // Retires the chain with the fewest requests if, for shrink_after, the model had fewer requests
  // than shrink_share of the capacity that would remain without one chain. A retiring chain gets no
  // more requests and is dissolved when it has none.
  void shrink(const std::string& model, Instant now);

  // Call it when memory became free: all models may be planned again.
  void room_was_made();
  // Call it when a worker could not load its part of the model.
  void refused(const std::string& model, const std::string& why, Instant now);
  // Call it when a chain of the model is ready.
  void served(const std::string& model);
  // The reason why the last chain could not be formed; empty if it could.
  [[nodiscard]] const std::string& trouble(const std::string& model) const;

 private:
  struct Plan {
    std::string trouble{};
    Instant retry{};         // The earliest time of a new chain.
    Instant shadow_retry{};  // The earliest time of a new chain of newcomers.
    PlanBackoff backoff{};   // Times the tries of the model's first chain.
    Instant busy{};          // The last time when all chains were needed.
  };
  // The chains that serve a model's requests, or only its requests for trusted workers.
  struct Serving {
    bool has_chain = false;
    bool has_room = false;  // True if one of the chains takes, or soon will take, another request.
    ChainId retiring{};
  };
  [[nodiscard]] Serving serving(const std::string& model, bool trusted_only) const;
  // Forms chains for the requests that wait. If there is no room, returns false and sets
  // Plan::trouble.
  [[nodiscard]] bool form(const std::string& model, Whom whom, Instant now);
  [[nodiscard]] std::string trouble_of(const std::string& model, Whom whom) const;
  // Forms chains of newcomers beside a chain of trusted workers. Newcomers repeat its answers,
  // which shows how well they work.
  void form_shadow_chains(const std::string& model, Instant now);

  DeskTables& tables_;
  ChainKeeper& keeper_;
  RequestQueue& requests_;
  std::map<std::string, Plan> plans_;
};

}  // namespace weft::inference
