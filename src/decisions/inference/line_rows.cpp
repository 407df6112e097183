#include "decisions/inference/line_rows.h"

#include <algorithm>
#include <utility>

namespace weft::inference {

namespace {

bool is_pass(const proof::Activations& frame) {
  return frame.head.kind == std::to_underlying(proof::FrameKind::pass);
}
// True for the frame that an honest stage sends in place of one that it could not process.
bool is_empty(const proof::Activations& frame) {
  return is_pass(frame) && frame.tokens.empty() &&
         frame.head.want == std::to_underlying(proof::FrameWant::nothing);
}
bool same_head(const proof::Activations& a, const proof::Activations& b) {
  return a.head.kind == b.head.kind && a.head.want == b.head.want &&
         a.head.sequence == b.head.sequence && a.head.ticket == b.head.ticket &&
         a.head.at == b.head.at && a.tokens == b.tokens;
}
bool has_rows(const proof::Activations& frame, std::size_t embedding) {
  return frame.values.size() == frame.tokens.size() * embedding;
}

std::vector<float> row_of(const proof::Activations& frame, std::uint32_t row,
                          std::size_t embedding) {
  const auto from = frame.values.begin() + static_cast<std::ptrdiff_t>(row * embedding);
  return {from, from + static_cast<std::ptrdiff_t>(embedding)};
}

}  // namespace

LineFrames read_frames(const std::map<std::uint32_t, ByteVector>& frames) {
  LineFrames out;
  for (const auto& [number, bytes] : frames) {
    ByteReader in(bytes);
    proof::Activations frame = proof::read_activations(in);
    if (in.at_end()) out.emplace(number, std::move(frame));
  }
  return out;
}

AnswerPlaces find_answer(const LineFrames& frames, std::span<const std::int32_t> tokens) {
  AnswerPlaces out;
  std::vector<std::int32_t> stand;  // The tokens of the sequence; `rows` has the row of each.
  std::vector<AnswerPlaces::Row> rows;
  const auto keep_longest = [&] {
    const auto same = std::ranges::mismatch(stand, tokens).in1 - stand.begin();
    if (static_cast<std::size_t>(same) >= out.rows.size())
      out.rows.assign(rows.begin(), rows.begin() + same);
  };
  for (const auto& [number, frame] : frames) {
    if (!is_pass(frame)) continue;
    if (frame.head.at != stand.size()) keep_longest();
    // Frames are missing, because members keep only recent ones.
    if (frame.head.at > stand.size()) {
      stand.clear();
      rows.clear();
      continue;
    }
    stand.resize(frame.head.at);
    rows.resize(frame.head.at);
    for (std::uint32_t row = 0; row < frame.tokens.size(); ++row) {
      stand.push_back(frame.tokens[row]);
      rows.push_back({.number = number, .row = row});
    }
    const bool is_prefix =
        stand.size() <= tokens.size() && std::ranges::equal(stand, tokens.first(stand.size()));
    if (frame.head.want != std::to_underlying(proof::FrameWant::hidden) || !is_prefix) continue;
    const auto positions = static_cast<std::uint32_t>(stand.size());
    // The last pass over these positions counts: an earlier one may belong to an earlier answer
    // that began with the same tokens.
    std::erase_if(out.asked,
                  [&](const auto& entry) { return entry.second.positions == positions; });
    out.asked[frame.head.ticket] = {.number = number, .positions = positions};
  }
  keep_longest();
  return out;
}

StageRows stage_rows(const AnswerPlaces& places, const LineFrames* in, const LineFrames* out,
                     std::size_t embedding) {
  StageRows stage;
  const auto frame_of = [](const LineFrames* line,
                           std::uint32_t number) -> const proof::Activations* {
    if (line == nullptr) return nullptr;
    const auto found = line->find(number);
    return found == line->end() ? nullptr : &found->second;
  };
  // True if the frame can be compared. False if one of the two lines lacks it, or if the stage
  // altered it.
  const auto comes_out = [&](std::uint32_t number) {
    const proof::Activations* const came = frame_of(in, number);
    const proof::Activations* const went = frame_of(out, number);
    if ((in != nullptr && (came == nullptr || !has_rows(*came, embedding))) ||
        (out != nullptr && went == nullptr))
      return false;
    if (came == nullptr || went == nullptr) return true;
    if (is_empty(*went) && !is_empty(*came)) return false;
    stage.altered = stage.altered || !same_head(*came, *went) || !has_rows(*went, embedding);
    return !stage.altered;
  };
  for (const AnswerPlaces::Row& place : places.rows) {
    if (!comes_out(place.number)) break;
    if (in != nullptr) stage.in.push_back(row_of(in->at(place.number), place.row, embedding));
    if (out != nullptr) {
      if (!has_rows(out->at(place.number), embedding)) break;
      stage.out.push_back(row_of(out->at(place.number), place.row, embedding));
    }
  }
  for (const auto& [ticket, asked] : places.asked) {
    if (!stage.altered) (void)comes_out(asked.number);
  }
  return stage;
}

std::map<std::uint32_t, std::vector<float>> final_states(const LineFrames& frames,
                                                         std::size_t embedding) {
  std::map<std::uint32_t, std::vector<float>> out;
  for (const auto& [number, frame] : frames) {
    if (frame.head.kind == std::to_underlying(proof::FrameKind::hidden) &&
        frame.values.size() == embedding)
      out[frame.head.ticket] = frame.values;
  }
  return out;
}

}  // namespace weft::inference
