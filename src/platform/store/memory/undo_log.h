// Undoes a batch if a part of it is refused: a list of steps that run in reverse order.
//
// Not safe to share between threads. The tables that a step changes outlive the log.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "common/records/records.h"

namespace weft::store::memory {

class UndoLog {
 public:
  void later(std::function<void()> step) { steps_.push_back(std::move(step)); }
  // Keeps all changes since the last call: they can no longer be undone.
  void clear() { steps_.clear(); }
  void undo() {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) (*step)();
    steps_.clear();
  }

  // Changes a map of rows, and records the step that undoes the change.
  template <class Map, class Key, class Row>
  void put(Map& map, const Key& key, const Row& row) {
    remove(map, key);
    later([&map, key] { map.erase(key); });
    map.emplace(key, row);
  }
  template <class Map, class Key>
  void remove(Map& map, const Key& key) {
    const auto before = map.find(key);
    if (before == map.end()) return;
    later([&map, key, old = before->second] { map.insert_or_assign(key, old); });
    map.erase(before);
  }
  template <class Map, class Key, class Row>
  void change(Map& map, const Key& key, const Changed<Row>& changed) {
    changed.change == Change::put ? put(map, key, changed.row) : remove(map, key);
  }

 private:
  std::vector<std::function<void()>> steps_;
};

}  // namespace weft::store::memory
