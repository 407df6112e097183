// Roots are RFC 9162's: held against its published values and against a second, recursive reading
// of its definition.
#include "common/proof/merkle.h"

#include <gtest/gtest.h>

#include "common/crypto/sha256.h"

namespace weft::proof {
namespace {

// RFC 9162, section 2.1.1, word for word: MTH(D[n]) = HASH(0x01 || MTH(D[0:k]) || MTH(D[k:n])), k
// the largest power of two below n.
Hash naive_root(std::span<const ByteVector> leaves) {
  if (leaves.empty()) return crypto::sha256({});
  ByteVector message;
  if (leaves.size() == 1) {
    message.push_back(0);
    append(message, leaves[0]);
  } else {
    std::size_t k = 1;
    while (2 * k < leaves.size()) k *= 2;
    message.push_back(1);
    append(message, naive_root(leaves.first(k)).span());
    append(message, naive_root(leaves.subspan(k)).span());
  }
  return crypto::sha256(message);
}

ByteVector bytes_of(std::size_t size) {
  ByteVector bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 31 + i / 977);
  return bytes;
}

std::vector<ByteVector> chunks_of(const ByteVector& bytes) {
  std::vector<ByteVector> chunks;
  for (std::size_t at = 0; at < bytes.size(); at += chunk_bytes) {
    chunks.emplace_back(
        bytes.begin() + static_cast<std::ptrdiff_t>(at),
        bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + chunk_bytes, bytes.size())));
  }
  return chunks;
}

TEST(OutputRoot, OfNothingIsTheHashOfNothing) {
  EXPECT_EQ(output_root({}).text(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(OutputRoot, OfOneByteIsItsLeaf) {
  // The leaf of the single byte 0x00 from Certificate Transparency's reference tests: SHA-256(00
  // 00).
  EXPECT_EQ(output_root(ByteVector{0}).text(),
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7");
}

TEST(OutputRoot, AgreesWithTheRecursiveDefinitionAtEveryShape) {
  for (const std::size_t size :
       {std::size_t{1}, chunk_bytes - 1, chunk_bytes, chunk_bytes + 1, 2 * chunk_bytes,
        3 * chunk_bytes, 5 * chunk_bytes - 7, 7 * chunk_bytes + 1, 11 * chunk_bytes}) {
    const ByteVector bytes = bytes_of(size);
    EXPECT_EQ(output_root(bytes), naive_root(chunks_of(bytes))) << size;
  }
}

TEST(RootOfRoots, AgreesWithTheRecursiveDefinitionForEveryCount) {
  std::vector<Hash> roots;
  std::vector<ByteVector> leaves;
  for (std::uint8_t count = 0; count < 40; ++count) {
    EXPECT_EQ(root_of_roots(roots), naive_root(leaves)) << int{count};
    roots.push_back(crypto::sha256({&count, 1}));
    leaves.emplace_back(roots.back().bytes.begin(), roots.back().bytes.end());
  }
}

TEST(TaskRoot, DependsOnTheOrderAndTheBorderOfOutputs) {
  const std::vector<ByteVector> ab = {{1}, {2}};
  const std::vector<ByteVector> ba = {{2}, {1}};
  const std::vector<ByteVector> joined = {{1, 2}};
  const std::vector<ByteVector> padded = {{1}, {2}, {}};

  EXPECT_NE(task_root(ab), task_root(ba));
  EXPECT_NE(task_root(ab), task_root(joined));
  EXPECT_NE(task_root(ab), task_root(padded));
  const std::vector<Hash> roots = {output_root(ab[0]), output_root(ab[1])};
  EXPECT_EQ(task_root(ab), root_of_roots(roots));
}

TEST(Inclusion, EveryChunkOfEveryShapeShowsThatItBelongs) {
  for (std::size_t chunks = 1; chunks <= 9; ++chunks) {
    const ByteVector output = bytes_of(chunks * chunk_bytes - 5);
    const Hash root = output_root(output);
    const auto parts = chunks_of(output);
    for (std::size_t i = 0; i < chunks; ++i) {
      const InclusionPath path = inclusion_path(output, i).value();
      for (std::size_t other = 0; other < chunks; ++other) {
        EXPECT_EQ(verify_inclusion(root, parts[other], path), other == i)
            << other << " for " << i << " of " << chunks;
      }
    }
  }
  EXPECT_FALSE(inclusion_path(bytes_of(10), 1).has_value());
  EXPECT_FALSE(inclusion_path({}, 0).has_value());
}

TEST(Inclusion, RefusesAnyOtherPathOrChunk) {
  const ByteVector output = bytes_of(6 * chunk_bytes);
  const Hash root = output_root(output);
  const ByteVector chunk = chunks_of(output)[4];
  const InclusionPath path = inclusion_path(output, 4).value();
  ASSERT_TRUE(verify_inclusion(root, chunk, path));

  ByteVector changed = chunk;
  changed[100] ^= 1;
  EXPECT_FALSE(verify_inclusion(root, changed, path));
  EXPECT_FALSE(verify_inclusion(root, ByteSpan(chunk).first(chunk_bytes - 1), path));
  EXPECT_FALSE(verify_inclusion(root, {}, path));
  for (std::size_t i = 0; i < path.siblings.size(); ++i) {
    InclusionPath wrong = path;
    wrong.siblings[i].bytes[0] ^= 1;
    EXPECT_FALSE(verify_inclusion(root, chunk, wrong));
  }
  InclusionPath shorter = path;
  shorter.siblings.pop_back();
  EXPECT_FALSE(verify_inclusion(root, chunk, shorter));
  InclusionPath longer = path;
  longer.siblings.push_back(root);
  EXPECT_FALSE(verify_inclusion(root, chunk, longer));
  InclusionPath outside = path;
  outside.index = 6;
  EXPECT_FALSE(verify_inclusion(root, chunk, outside));
}

TEST(Inclusion, LeadsFromEveryRootToTheRootOfRoots) {
  std::vector<Hash> roots;
  for (std::uint8_t count = 1; count <= 9; ++count) {
    roots.push_back(output_root(bytes_of(count)));
    const Hash root = root_of_roots(roots);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const InclusionPath path = inclusion_path_of_roots(roots, i).value();

      EXPECT_TRUE(verify_inclusion_of_root(root, roots[i], path)) << i << " of " << roots.size();
      EXPECT_FALSE(verify_inclusion_of_root(root, output_root(bytes_of(100)), path));
    }
    EXPECT_FALSE(inclusion_path_of_roots(roots, roots.size()).has_value());
  }
}

TEST(Inclusion, ANodeIsNeverTakenForAChunk) {
  const ByteVector output = bytes_of(2 * chunk_bytes);
  const auto parts = chunks_of(output);
  // The bytes that the root hashes must not pass as a chunk of a one-chunk output.
  ByteVector forged;
  for (const ByteVector& part : parts) append(forged, output_root(part).span());

  EXPECT_FALSE(
      verify_inclusion(output_root(output), forged, {.index = 0, .chunks = 1, .siblings = {}}));
}

}  // namespace
}  // namespace weft::proof
