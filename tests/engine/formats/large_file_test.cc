// Files beyond 4 GiB, as sparse files and as sources that invent their zeros: lengths and offsets are kept in
// 64 bits everywhere.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/formats/r1cs.h"
#include "engine/formats/wtns.h"
#include "engine/formats/zkey.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;

// A file of zeros, save for a few parts.
class SparseSource final : public ByteSource {
 public:
  SparseSource() : ByteSource("sparse") {}

  void Append(const Bytes& bytes) {
    parts_.emplace_back(size_, bytes);
    size_ += bytes.size();
  }
  void AppendZeros(uint64_t count) { size_ += count; }
  void AppendSectionHeader(uint32_t id, uint64_t length) {
    Bytes header;
    AppendLittleEndian(header, id, 4);
    AppendLittleEndian(header, length, 8);
    Append(header);
  }

  uint64_t size() const override { return size_; }
  absl::Status ReadAt(uint64_t offset, absl::Span<uint8_t> out) const override {
    if (absl::Status status = CheckRange(offset, out.size()); !status.ok()) return status;
    std::fill(out.begin(), out.end(), uint8_t{0});
    for (const auto& [start, bytes] : parts_) {
      for (size_t i = 0; i < bytes.size(); ++i) {
        const uint64_t at = start + i;
        if (at >= offset && at - offset < out.size()) out[at - offset] = bytes[i];
      }
    }
    return absl::OkStatus();
  }
  absl::Status CheckUnchanged() const override { return absl::OkStatus(); }

  // The same as a file on disk with holes.
  void WriteTo(const std::string& path) const {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(ftruncate(fd, static_cast<off_t>(size_)), 0);
    for (const auto& [start, bytes] : parts_) {
      EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(start)),
                static_cast<ssize_t>(bytes.size()));
    }
    close(fd);
  }

 private:
  std::vector<std::pair<uint64_t, Bytes>> parts_;
  uint64_t size_ = 0;
};

// A key with these counts and every point at infinity, sections in ascending order.
std::unique_ptr<SparseSource> BigKey(uint32_t n_vars, uint32_t n_public, uint32_t domain_size,
                                     uint32_t n_coefs) {
  Container small = Container::FromFile(CasePath("mul3", "circuit.zkey"));
  Bytes header = small[2];
  SetU32(header, 72, n_vars);
  SetU32(header, 76, n_public);
  SetU32(header, 80, domain_size);
  auto key = std::make_unique<SparseSource>();
  Bytes start = {'z', 'k', 'e', 'y'};
  AppendLittleEndian(start, 1, 4);
  AppendLittleEndian(start, 9, 4);
  key->Append(start);
  key->AppendSectionHeader(1, 4);
  key->Append(small[1]);
  key->AppendSectionHeader(2, header.size());
  key->Append(header);
  key->AppendSectionHeader(3, uint64_t{64} * (n_public + 1));
  key->AppendZeros(uint64_t{64} * (n_public + 1));
  key->AppendSectionHeader(4, 4 + uint64_t{44} * n_coefs);
  Bytes count;
  AppendLittleEndian(count, n_coefs, 4);
  key->Append(count);
  key->AppendZeros(uint64_t{44} * n_coefs);
  const std::pair<uint32_t, uint64_t> rest[] = {{5, uint64_t{64} * n_vars},
                                                {6, uint64_t{64} * n_vars},
                                                {7, uint64_t{128} * n_vars},
                                                {8, uint64_t{64} * (n_vars - n_public - 1)},
                                                {9, uint64_t{64} * domain_size}};
  for (const auto& [id, length] : rest) {
    key->AppendSectionHeader(id, length);
    key->AppendZeros(length);
  }
  return key;
}

TEST(LargeFileTest, AKeyWhoseB2SectionIsAbove4GibIsOutlined) {
  const uint32_t n_vars = (1u << 25) + 1000;  // section 7: 4 GiB + 128,000 bytes
  const TestFolder folder;
  BigKey(n_vars, 3, 1u << 25, 1u << 27)->WriteTo(folder.Path("big.zkey"));
  const auto file = RandomAccessFile::Open(folder.Path("big.zkey"));
  ASSERT_OK(file);
  EXPECT_GT((*file)->size(), uint64_t{17} << 30);

  const auto header = ReadZkeyHeader(**file);
  ASSERT_OK(header);
  EXPECT_EQ(header->n_vars, n_vars);
  EXPECT_EQ(header->n_coefs, uint64_t{1} << 27);
}

TEST(LargeFileTest, AB2SectionCutTo32BitsOfItsLengthIsRefused) {
  // What a reader that keeps 32 bits of a length would take for whole.
  const uint32_t n_vars = (1u << 25) + 1;
  SparseSource key;
  const auto whole = BigKey(n_vars, 0, 2, 0);
  Container small = Container::FromFile(CasePath("mul3", "circuit.zkey"));
  Bytes head(12 + 16 + 672 + 76 + 16);
  ASSERT_OK(whole->ReadAt(0, absl::MakeSpan(head)));
  key.Append(head);
  for (const auto& [id, length] : {std::pair<uint32_t, uint64_t>{5, uint64_t{64} * n_vars},
                                   {6, uint64_t{64} * n_vars},
                                   {7, 128},
                                   {8, uint64_t{64} * (n_vars - 1)},
                                   {9, 128}}) {
    key.AppendSectionHeader(id, length);
    key.AppendZeros(length);
  }
  ExpectError(ReadZkeyHeader(key), StatusCode::kDataLoss,
              "section 7 (B2 points): wrong length: expected 4294967424 bytes, got 128");
}

TEST(LargeFileTest, TheLargestDomainIsOutlined) {
  const auto header = ReadZkeyHeader(*BigKey(1000, 1, 1u << 28, 10));
  ASSERT_OK(header);
  EXPECT_EQ(header->log2_domain(), 28u);
  ExpectError(ReadZkeyHeader(*BigKey(1000, 1, 1u << 29, 10)), StatusCode::kInvalidArgument,
              "power of two from 2 to 2^28, got 536870912");
}

TEST(LargeFileTest, CountsNear2To32AreNoTroubleWhenTheFileHoldsThem) {
  const auto header = ReadZkeyHeader(*BigKey(~0u, ~0u - 1, 2, ~0u));
  ASSERT_OK(header);
  EXPECT_EQ(header->n_vars, ~0u);
  EXPECT_EQ(header->n_public, ~0u - 1);
  EXPECT_EQ(header->n_coefs, uint64_t{~0u});
}

// The sections of a key lie behind 5 GiB of something else.
TEST(LargeFileTest, PointsBeyond4GibAreReadFromTheirPlace) {
  const Container small = Container::FromFile(CasePath("sj-mul3", "circuit.zkey"));
  SparseSource source;
  Bytes start = {'z', 'k', 'e', 'y'};
  AppendLittleEndian(start, 1, 4);
  AppendLittleEndian(start, small.sections.size() + 1, 4);
  source.Append(start);
  source.AppendSectionHeader(99, uint64_t{5} << 30);
  source.AppendZeros(uint64_t{5} << 30);
  for (const Container::Section& section : small.sections) {
    source.AppendSectionHeader(section.id, section.payload.size());
    source.Append(section.payload);
  }
  const TestFolder folder;
  source.WriteTo(folder.Path("far.zkey"));
  const auto file = RandomAccessFile::Open(folder.Path("far.zkey"));
  ASSERT_OK(file);

  const auto far = ReadZkey(**file, {.compute_hash = false});
  const auto near = ReadZkey(SourceOf(small.Serialize()));
  ASSERT_OK(far);
  ASSERT_OK(near);
  EXPECT_TRUE(std::equal(far->b2.begin(), far->b2.end(), near->b2.begin(), near->b2.end()));
  EXPECT_TRUE(std::equal(far->h.begin(), far->h.end(), near->h.begin(), near->h.end()));
  EXPECT_EQ(far->contributions.size(), 3u);
}

TEST(LargeFileTest, AWitnessAbove4GibIsCounted) {
  const uint32_t count = (1u << 27) + 5;
  Container small = Container::FromFile(CasePath("mul3", "witness.wtns"));
  SetU32(small[1], 36, count);
  SparseSource source;
  Bytes start = {'w', 't', 'n', 's'};
  AppendLittleEndian(start, 2, 4);
  AppendLittleEndian(start, 2, 4);
  source.Append(start);
  source.AppendSectionHeader(1, 40);
  source.Append(small[1]);
  source.AppendSectionHeader(2, uint64_t{32} * count);
  source.AppendZeros(uint64_t{32} * count);
  EXPECT_EQ(ReadWtnsCount(source).value(), count);
  // A wrong count is refused before 4 GiB are taken for the values.
  ExpectError(ReadWtns(source, 7), StatusCode::kInvalidArgument, "expected 7, got 134217733");
}

}  // namespace
}  // namespace proofmill::engine
