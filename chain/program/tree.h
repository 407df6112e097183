// An epoch's tree. A leaf is SHA-256(0x00 || owner || u32 index || u64 amount || u64 units), and
// its sum is the owner's cumulative amount. A place without an owner has the hash 0 and the sum 0.
// A node is SHA-256(0x01 || left hash || u64 left sum || right hash || u64 right sum), and its sum
// is that of both children. Leaves are sorted by owner, followed by empty places.
#pragma once

#include "calls.h"

struct Leaf {
  const Key* owner;
  u64 index, amount, units;
};
struct Node {
  Key hash;
  u64 sum;
};
static_assert(sizeof(Node) == 40);

FAR void leaf_hash(const Leaf& leaf, Key& out) {
  u8 bytes[64];
  bytes[0] = 0;
  store<Key>(bytes + 1, *leaf.owner);
  store<u32>(bytes + 33, u32(leaf.index));
  store<u64>(bytes + 37, leaf.amount);
  store<u64>(bytes + 45, leaf.units);
  const Slice slice = {bytes, 53};
  sol_sha256(&slice, 1, reinterpret_cast<u8*>(&out));
}

// Goes from a node up to the root. `position` is the node's place on its level. Returns false if a
// sum overflows; `node` is then undefined.
struct Climb {
  u64 position;
  const u8* siblings;  // 40 bytes each.
  u64 count;
};
FAR bool climb(const Climb& way, Node& node) {
  // 7 bytes of padding, the prefix, then two nodes at addresses that are multiples of eight bytes.
  struct {
    u8 room[7];
    u8 prefix;
    Node children[2];
  } pair;
  pair.prefix = 1;
  u64 position = way.position, sum = node.sum;
  Key hash = node.hash;
  const u8* sibling = way.siblings;
  const Slice slice = {&pair.prefix, 81};
  for (u64 i = 0; i < way.count; ++i) {
    const u64 side = position & 1;
    Node& own = pair.children[side];
    own.hash = hash;
    own.sum = sum;
    const Node& other = *reinterpret_cast<const Node*>(sibling);
    pair.children[1 - side] = other;
    if (__builtin_add_overflow(sum, other.sum, &sum)) return false;
    sol_sha256(&slice, 1, reinterpret_cast<u8*>(&hash));
    sibling += sizeof(Node);
    position >>= 1;
  }
  node.hash = hash;
  node.sum = sum;
  return position == 0;
}
