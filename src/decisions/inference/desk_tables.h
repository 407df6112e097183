// The desk's tables, which its parts share. Each table is a class that keeps its own invariant.
// State that only one part needs (requests that wait, audits that run) is private to that part.
#pragma once

#include <utility>

#include "decisions/inference/chain_table.h"
#include "decisions/inference/desk_settings.h"
#include "decisions/inference/desk_world.h"
#include "decisions/inference/frame_roots.h"
#include "decisions/inference/line_map.h"
#include "decisions/inference/serving_views.h"
#include "decisions/inference/serving_workers.h"
#include "decisions/inference/shard_table.h"

namespace weft::inference {

struct DeskTables {
  DeskTables(DeskWorld& the_world, DeskSettings the_settings)
      : world(the_world), settings(std::move(the_settings)) {}
  DeskTables(const DeskTables&) = delete;

  DeskWorld& world;
  const DeskSettings settings;
  ModelCards models;
  ServingWorkers workers{world};
  ShardTable shards{world, settings, models, workers};
  ChainTable chains{settings, models, workers, shards};
  LineMap lines{settings, workers};
  FrameRoots roots;
  ServingCounters counters;
};

}  // namespace weft::inference
