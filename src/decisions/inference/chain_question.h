// The workers and lines that a placement chooses from, as input of placement.h.
#pragma once

#include <span>

#include "decisions/inference/desk_tables.h"
#include "decisions/inference/placement.h"

namespace weft::inference {

// Makes the question. The tables and the candidates must outlive the question.
[[nodiscard]] Question chain_question(const DeskTables& tables, const ModelCard& card,
                                      std::span<const Candidate> candidates);

}  // namespace weft::inference
