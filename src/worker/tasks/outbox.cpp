#include "worker/tasks/outbox.h"

#include <algorithm>
#include <utility>

namespace weft::worker {

void Outbox::add(protocol::ResultFrame frame, manifest::Range part) {
  const TaskKey key{.task = frame.result.task, .attempt = frame.result.attempt};
  bytes_ += frame.payload.size();
  entries_.push_back({.key = key, .frame = std::move(frame), .part = part, .sent = false});
  forget_oldest_sent();
}

bool Outbox::remove(const TaskKey& key) {
  const auto entry = std::ranges::find(entries_, key, &Entry::key);
  if (entry == entries_.end()) return false;
  bytes_ -= entry->frame.payload.size();
  entries_.erase(entry);
  std::erase_if(unreceipted_, [&](const auto& item) {
    return item.task == key.task && item.attempt == key.attempt;
  });
  return true;
}

void Outbox::clear() {
  entries_.clear();
  unreceipted_.clear();
  bytes_ = 0;
}

const protocol::ResultFrame* Outbox::send_next() {
  const auto entry = std::ranges::find(entries_, false, &Entry::sent);
  if (entry == entries_.end()) return nullptr;
  entry->sent = true;
  const protocol::TaskResult& result = entry->frame.result;
  unreceipted_.push_back({.task = result.task,
                          .attempt = result.attempt,
                          .root = result.root,
                          .first = entry->part.first,
                          .count = entry->part.count});
  return &entry->frame;
}

bool Outbox::send_again(const TaskKey& key) {
  const auto entry = std::ranges::find(entries_, key, &Entry::key);
  if (entry == entries_.end()) return false;
  entry->sent = false;
  std::erase_if(unreceipted_, [&](const auto& item) {
    return item.task == key.task && item.attempt == key.attempt;
  });
  return true;
}

void Outbox::send_all_again() {
  unreceipted_.clear();
  for (Entry& entry : entries_) entry.sent = false;
}

std::vector<protocol::ReceiptItem> Outbox::take_unreceipted() {
  return std::exchange(unreceipted_, {});
}

std::vector<TaskKey> Outbox::keys() const {
  std::vector<TaskKey> keys;
  for (const Entry& entry : entries_) keys.push_back(entry.key);
  return keys;
}

void Outbox::forget_oldest_sent() {
  while (full()) {
    const auto oldest = std::ranges::find(entries_, true, &Entry::sent);
    if (oldest == entries_.end()) return;
    bytes_ -= oldest->frame.payload.size();
    entries_.erase(oldest);
  }
}

}  // namespace weft::worker
