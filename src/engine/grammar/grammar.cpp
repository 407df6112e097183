#include "engine/grammar/grammar.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace weft::grammar {
namespace {

constexpr std::uint32_t endless = std::numeric_limits<std::uint32_t>::max();

std::uint32_t sum_of(std::uint32_t a, std::uint32_t b) {
  // The sum does not overflow, because a and b are at most 2^30.
  return std::min(a + b, Grammar::least_bytes_max);
}

}  // namespace

RuleId GrammarBuilder::add_rule(std::string name) {
  rules_.push_back({.name = std::move(name), .alternatives = {}});
  return static_cast<RuleId>(rules_.size() - 1);
}

Result<> GrammarBuilder::add_alternative(RuleId rule, std::vector<Symbol> symbols) {
  symbols_ += symbols.size() + 1;
  if (symbols_ > Grammar::symbols_max)
    return fail(ErrorCode::resource_exhausted,
                "The grammar has more than {} symbols once its repetitions are written out; write "
                "fewer or shorter ones.",
                Grammar::symbols_max);
  rules_[rule].alternatives.push_back(std::move(symbols));
  return {};
}

Symbol GrammarBuilder::bytes(const ByteSet& set) {
  const auto [place, is_new] = set_ids_.try_emplace(set, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(set);
  return {Symbol::Kind::bytes, place->second};
}

Result<Symbol> GrammarBuilder::character(const CharacterSet& set) {
  if (const auto known = characters_.find(set); known != characters_.end()) return known->second;
  ByteSet single;
  std::vector<std::vector<Symbol>> longer;
  for (const ByteSequence& sequence : utf8_sequences(set)) {
    if (sequence.size() == 1) {
      single.add(sequence[0].first, sequence[0].last);
      continue;
    }
    auto& symbols = longer.emplace_back();
    for (const ByteRange& range : sequence) symbols.push_back(bytes({range.first, range.last}));
  }
  Symbol out;
  if (longer.empty()) {
    out = bytes(single);
  } else {
    const RuleId id = add_rule("a character");
    if (single.count() > 0) WEFT_OK(add_alternative(id, {bytes(single)}));
    for (auto& symbols : longer) WEFT_OK(add_alternative(id, std::move(symbols)));
    out = rule(id);
  }
  characters_.emplace(set, out);
  return out;
}

void GrammarBuilder::append_text(std::string_view text, std::vector<Symbol>& out) {
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    out.push_back(bytes({byte, byte}));
  }
}

Result<std::vector<Symbol>> GrammarBuilder::repeat(const std::vector<Symbol>& symbols,
                                                   std::uint32_t least, const std::uint32_t* most,
                                                   const std::string& name) {
  Symbol unit;
  if (symbols.size() == 1) {
    unit = symbols[0];
  } else {
    const RuleId id = add_rule(name);
    WEFT_OK(add_alternative(id, symbols));
    unit = rule(id);
  }
  if (least > Grammar::symbols_max)
    return fail(ErrorCode::resource_exhausted,
                "A repetition of {} times has more symbols than a grammar may have, {}.", least,
                Grammar::symbols_max);
  std::vector<Symbol> out(least, unit);
  if (most == nullptr) {
    const RuleId id = add_rule(name);
    WEFT_OK(add_alternative(id, {unit, rule(id)}));
    WEFT_OK(add_alternative(id, {}));
    out.push_back(rule(id));
    return out;
  }
  // Adds a rule for each optional repetition: one more repetition and then the next rule, or the
  // end. A matcher is then in one rule at a time, not in one for each possible count.
  std::vector<Symbol> rest;
  for (std::uint32_t i = least; i < *most; ++i) {
    std::vector<Symbol> once{unit};
    once.insert(once.end(), rest.begin(), rest.end());
    const RuleId id = add_rule(name);
    WEFT_OK(add_alternative(id, std::move(once)));
    WEFT_OK(add_alternative(id, {}));
    rest = {rule(id)};
  }
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

void GrammarBuilder::drop_unreachable(RuleId root) {
  std::vector<RuleId> open{root};
  rules_[root].reached = true;
  while (!open.empty()) {
    const RuleId id = open.back();
    open.pop_back();
    for (const auto& symbols : rules_[id].alternatives) {
      for (const Symbol& symbol : symbols) {
        if (symbol.kind != Symbol::Kind::rule || rules_[symbol.value].reached) continue;
        rules_[symbol.value].reached = true;
        open.push_back(symbol.value);
      }
    }
  }
  for (Rule& one : rules_)
    if (!one.reached) one.alternatives.clear();
}

// Finds the shortest text of each rule by Knuth's generalisation of Dijkstra's algorithm: the rule
// with the smallest length is settled first, and an alternative counts when all its rules are
// settled.
std::vector<std::uint32_t> GrammarBuilder::least_of_rules() const {
  struct Waiting {
    RuleId rule;
    std::uint32_t open;  // The rules among the symbols that are not settled.
    std::uint32_t sum;
  };
  std::vector<Waiting> waiting;
  // For each rule, the indices into `waiting` of the alternatives that use the rule.
  std::vector<std::vector<std::uint32_t>> users(rules_.size());
  std::vector<std::uint32_t> least(rules_.size(), endless);
  using Entry = std::pair<std::uint32_t, RuleId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (RuleId id = 0; id < rules_.size(); ++id) {
    for (const auto& symbols : rules_[id].alternatives) {
      Waiting one{.rule = id, .open = 0, .sum = 0};
      for (const Symbol& symbol : symbols) {
        if (symbol.kind == Symbol::Kind::rule) {
          users[symbol.value].push_back(static_cast<std::uint32_t>(waiting.size()));
          ++one.open;
        } else {
          one.sum = sum_of(one.sum, 1);
        }
      }
      if (one.open == 0) queue.emplace(one.sum, id);
      waiting.push_back(one);
    }
  }
  while (!queue.empty()) {
    const auto [bytes, id] = queue.top();
    queue.pop();
    if (least[id] != endless) continue;
    least[id] = bytes;
    for (const std::uint32_t place : users[id]) {
      Waiting& one = waiting[place];
      one.sum = sum_of(one.sum, bytes);
      if (--one.open == 0) queue.emplace(one.sum, one.rule);
    }
  }
  return least;
}

// Refuses rules that can begin with themselves. If a rule begins with another rule and a symbol
// follows that rule, a matcher's stack grows without reading a byte; this must not lead back to the
// first rule. A rule that is the last symbol replaces the first rule instead, so `x*` is allowed
// even if x may be empty.
Result<> GrammarBuilder::check_beginnings(const std::vector<std::uint32_t>& least) const {
  struct Edge {
    RuleId to;
    bool deeper;
  };
  std::vector<std::vector<Edge>> edges(rules_.size());
  for (RuleId id = 0; id < rules_.size(); ++id) {
    for (const auto& symbols : rules_[id].alternatives) {
      for (std::size_t i = 0; i < symbols.size(); ++i) {
        if (symbols[i].kind != Symbol::Kind::rule) break;
        edges[id].push_back({symbols[i].value, i + 1 < symbols.size()});
        if (least[symbols[i].value] > 0) break;
      }
    }
  }
  // Tarjan's algorithm for strongly connected components, without recursion because chains of rules
  // may be long.
  constexpr std::uint32_t none = endless;
  std::vector<std::uint32_t> order(rules_.size(), none), low(rules_.size()),
      component(rules_.size(), none);
  std::vector<RuleId> open;
  std::vector<std::pair<RuleId, std::size_t>> path;  // A rule and the index of its next edge.
  std::uint32_t count = 0, components = 0;
  const auto enter = [&](RuleId id) {
    order[id] = low[id] = count++;
    open.push_back(id);
    path.emplace_back(id, 0);
  };
  for (RuleId start = 0; start < rules_.size(); ++start) {
    if (order[start] != none) continue;
    enter(start);
    while (!path.empty()) {
      const RuleId id = path.back().first;
      if (const std::size_t next = path.back().second; next < edges[id].size()) {
        ++path.back().second;
        const RuleId to = edges[id][next].to;
        if (order[to] == none) {
          enter(to);
        } else if (component[to] == none) {
          low[id] = std::min(low[id], order[to]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[id]);
      if (low[id] != order[id]) continue;
      for (RuleId member = none; member != id;) {
        member = open.back();
        open.pop_back();
        component[member] = components;
      }
      ++components;
    }
  }
  for (RuleId id = 0; id < rules_.size(); ++id) {
    for (const Edge& edge : edges[id]) {
      if (edge.deeper && component[id] == component[edge.to])
        return fail(
            ErrorCode::invalid_argument,
            "The rule '{}' begins with itself (left recursion); let it begin with something "
            "else, and repeat with *.",
            rules_[id].name);
    }
  }
  return {};
}

Result<Grammar> GrammarBuilder::finish(RuleId root) {
  drop_unreachable(root);
  const std::vector<std::uint32_t> least = least_of_rules();
  for (RuleId id = 0; id < rules_.size(); ++id) {
    if (rules_[id].reached && least[id] == endless)
      return fail(ErrorCode::invalid_argument,
                  "The rule '{}' never comes to an end: each of its alternatives needs it again.",
                  rules_[id].name);
  }
  WEFT_OK(check_beginnings(least));

  Grammar out;
  out.root_ = root;
  out.sets_ = sets_;
  out.symbols_.reserve(symbols_);
  for (const Rule& one : rules_) {
    out.rules_.push_back(static_cast<std::uint32_t>(out.starts_.size()));
    for (const auto& symbols : one.alternatives) {
      out.starts_.push_back(static_cast<Position>(out.symbols_.size()));
      out.symbols_.insert(out.symbols_.end(), symbols.begin(), symbols.end());
      out.symbols_.push_back({});
    }
  }
  out.rules_.push_back(static_cast<std::uint32_t>(out.starts_.size()));
  out.least_.resize(out.symbols_.size());
  for (std::size_t i = out.symbols_.size(); i-- > 0;) {
    const Symbol& symbol = out.symbols_[i];
    if (symbol.kind == Symbol::Kind::end) continue;
    const std::uint32_t own = symbol.kind == Symbol::Kind::bytes ? 1 : least[symbol.value];
    out.least_[i] = sum_of(own, out.least_[i + 1]);
  }
  return out;
}

}  // namespace weft::grammar
