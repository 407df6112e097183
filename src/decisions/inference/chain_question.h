// The question which workers could serve a model, as placement.h asks it.
#pragma once

#include <span>

#include "decisions/inference/desk_tables.h"
#include "decisions/inference/placement.h"

namespace weft::inference {

// Lifetime: the tables and the candidates outlive the question.
[[nodiscard]] Question chain_question(const DeskTables& tables, const ModelCard& card,
                                      std::span<const Candidate> candidates);

}  // namespace weft::inference
