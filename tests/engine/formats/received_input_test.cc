#include "engine/formats/received_input.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/error_reason.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

ReceivedInput InPieces(const Bytes& bytes, size_t piece) {
  ReceivedInput input(bytes.size());
  for (size_t at = 0; at < bytes.size(); at += piece) {
    input.Write(at, absl::MakeConstSpan(bytes).subspan(at, piece));
  }
  return input;
}

Bytes ReadAll(const ReceivedInput& input) {
  Bytes out(input.size());
  input.Read(0, absl::MakeSpan(out));
  return out;
}

Bytes Numbers(size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 11 + i / 256 + 1);
  return bytes;
}

TEST(ReceivedInputTest, WhatWasWrittenInPiecesIsReadFromAnyPlace) {
  for (const size_t size : {0u, 1u, 75u, 76u, 77u, 107u, 108u, 109u, 500u}) {
    const Bytes bytes = Numbers(size);
    for (const size_t piece : {1u, 7u, 76u, 77u, 1000u}) {
      const ReceivedInput input = InPieces(bytes, piece);
      EXPECT_EQ(input.size(), size);
      EXPECT_EQ(ReadAll(input), bytes) << size << " by " << piece;
      const InputSource source("input", input);
      for (size_t at = 0; at < size; at += 5) {
        Bytes part(std::min<size_t>(90, size - at));
        ASSERT_OK(source.ReadAt(at, absl::MakeSpan(part)));
        EXPECT_TRUE(std::equal(part.begin(), part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at)));
      }
      Bytes beyond(2);
      EXPECT_EQ(source.ReadAt(size - std::min<size_t>(size, 1), absl::MakeSpan(beyond)).code(),
                absl::StatusCode::kOutOfRange);
    }
  }
}

TEST(ReceivedInputTest, AWitnessOfSnarkjsIsTakenAndGivenBack) {
  const Bytes bytes = ReadBytes(CasePath("mul3", "witness.wtns"));
  const auto expected = ReadWtns(SourceOf(bytes), 7);
  ASSERT_OK(expected);
  ReceivedInput input = InPieces(bytes, 100);
  auto witness = TakeWtns(input, 7);
  ASSERT_OK(witness);
  EXPECT_TRUE(input.values_taken());
  EXPECT_TRUE(std::equal(witness->values.begin(), witness->values.end(), expected->values.begin(),
                         expected->values.end()));

  input.GiveBack(std::move(witness->values));
  EXPECT_FALSE(input.values_taken());
  EXPECT_EQ(ReadAll(input), bytes);
  EXPECT_OK(TakeWtns(input, 7));
}

TEST(ReceivedInputTest, AWitnessWithMoreAroundItsValuesIsCopied) {
  Bytes bytes = ReadBytes(CasePath("mul3", "witness.wtns"));
  const auto expected = ReadWtns(SourceOf(bytes), 7);
  // A third section, of 5 bytes.
  bytes[8] = 3;
  for (const int byte : {9, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5}) {
    bytes.push_back(static_cast<uint8_t>(byte));
  }
  ReceivedInput input = InPieces(bytes, 64);
  const auto witness = TakeWtns(input, 7);
  ASSERT_OK(witness);
  EXPECT_FALSE(input.values_taken());
  EXPECT_TRUE(std::equal(witness->values.begin(), witness->values.end(), expected->values.begin(),
                         expected->values.end()));
  EXPECT_EQ(ReadAll(input), bytes);
}

TEST(ReceivedInputTest, FaultsAreThoseOfAFile) {
  const Bytes good = ReadBytes(CasePath("mul3", "witness.wtns"));
  for (size_t size = 0; size < good.size(); ++size) {
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    ReceivedInput input = InPieces(cut, 50);
    const auto witness = TakeWtns(input, 7);
    ASSERT_FALSE(witness.ok()) << size;
    EXPECT_EQ(GetReason(witness.status()), GetReason(ReadWtns(SourceOf(cut), 7).status())) << size;
    EXPECT_FALSE(input.values_taken());
  }
  ReceivedInput input = InPieces(good, 50);
  EXPECT_EQ(GetReason(TakeWtns(input, 8).status()), ErrorReason::kWitnessLength);
}

}  // namespace
}  // namespace proofmill::engine
