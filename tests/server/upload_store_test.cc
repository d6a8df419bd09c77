#include "server/upload_store.h"

#include <openssl/sha.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;
using std::chrono::seconds;

std::string Sha256(const std::string& data) {
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(data.data()), data.size(),
         reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

class UploadStoreTest : public ::testing::Test {
 protected:
  std::string Create(uint64_t size, const std::string& sha256 = "", const std::string& circuit = "c") {
    auto info = store_.Create(
        {.tenant = "t", .circuit = circuit, .size_bytes = size, .sha256 = sha256, .reservation = {}});
    EXPECT_TRUE(info.ok()) << info.status();
    return info.ok() ? info->name : "";
  }
  // The number of bytes after the piece, or the reason of the refusal.
  uint64_t Write(const std::string& name, uint64_t offset, const std::string& data) {
    auto info = store_.Write("t", name, offset, {data});
    EXPECT_TRUE(info.ok()) << info.status();
    return info.ok() ? info->committed_bytes : UINT64_MAX;
  }
  ErrorReason WriteError(const std::string& name, uint64_t offset, const std::string& data) {
    const auto info = store_.Write("t", name, offset, {data});
    EXPECT_FALSE(info.ok());
    return engine::GetReason(info.status()).value_or(ErrorReason::kInternal);
  }
  std::string TakeBytes(const std::string& name) {
    auto taken = store_.Take("t", name, "c");
    EXPECT_TRUE(taken.ok()) << taken.status();
    if (!taken.ok()) return "";
    std::string bytes(taken->bytes.size(), '\0');
    taken->bytes.Read(0, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()});
    return bytes;
  }

  engine::FakeClock clock_;
  std::atomic<int> count_{0};
  std::atomic<int64_t> bytes_{0};
  UploadStore store_{{.count_max = 3, .bytes_max = 100, .idle_timeout = seconds(60)},
                     clock_,
                     [this](int count, int64_t bytes) {
                       count_ += count;
                       bytes_ += bytes;
                     }};
};

TEST_F(UploadStoreTest, PiecesMakeTheWhole) {
  const std::string name = Create(10, Sha256("0123456789"));
  EXPECT_EQ(Write(name, 0, "0123"), 4u);
  EXPECT_EQ(Write(name, 4, "456789"), 10u);

  EXPECT_EQ(TakeBytes(name), "0123456789");
  EXPECT_EQ(store_.usage().count, 0u);
  EXPECT_EQ(count_, 0);
  EXPECT_EQ(bytes_, 0);
}

TEST_F(UploadStoreTest, ARepeatedOrOverlappingPieceIsFineAndNeverChangesWhatWasThere) {
  const std::string name = Create(6);
  EXPECT_EQ(Write(name, 0, "abc"), 3u);
  EXPECT_EQ(Write(name, 0, "abc"), 3u);
  EXPECT_EQ(Write(name, 1, "x"), 3u);
  EXPECT_EQ(Write(name, 2, "zde"), 5u);
  EXPECT_EQ(Write(name, 5, "f"), 6u);
  EXPECT_EQ(Write(name, 5, "f"), 6u) << "also when it was the last";

  EXPECT_EQ(TakeBytes(name), "abcdef");
}

TEST_F(UploadStoreTest, GapsAndBytesPastTheEndAreRefusedAndChangeNothing) {
  const std::string name = Create(4);
  EXPECT_EQ(Write(name, 0, "ab"), 2u);
  EXPECT_EQ(WriteError(name, 3, "d"), ErrorReason::kUploadOffset);
  EXPECT_EQ(WriteError(name, 2, "cde"), ErrorReason::kUploadOffset);
  EXPECT_EQ(WriteError(name, UINT64_MAX, "c"), ErrorReason::kUploadOffset);
  EXPECT_EQ(WriteError(name, 0, std::string(1000, 'x')), ErrorReason::kUploadOffset);
  EXPECT_EQ(store_.Get("t", name)->committed_bytes, 2u);
}

TEST_F(UploadStoreTest, AWrongHashEndsTheUpload) {
  const std::string name = Create(3, Sha256("abc"));
  EXPECT_EQ(WriteError(name, 0, "abd"), ErrorReason::kUploadChecksum);
  EXPECT_EQ(WriteError(name, 0, "abc"), ErrorReason::kUploadUnknown);
  EXPECT_EQ(store_.usage().count, 0u);
}

TEST_F(UploadStoreTest, OnlyACompleteUploadOfThatCircuitIsTakenAndOnlyOnce) {
  const std::string name = Create(3);
  Write(name, 0, "ab");
  EXPECT_EQ(engine::GetReason(store_.Take("t", name, "c").status()), ErrorReason::kUploadIncomplete);
  Write(name, 2, "c");
  EXPECT_EQ(engine::GetReason(store_.Take("t", name, "other").status()), ErrorReason::kRequestInvalid);
  EXPECT_TRUE(store_.Take("t", name, "c").ok());
  EXPECT_EQ(engine::GetReason(store_.Take("t", name, "c").status()), ErrorReason::kUploadUnknown);
  EXPECT_EQ(WriteError(name, 0, "a"), ErrorReason::kUploadUnknown);
}

TEST_F(UploadStoreTest, WhatIsPutBackIsThereUnderItsName) {
  const std::string name = Create(3, Sha256("abc"));
  Write(name, 0, "abc");
  auto taken = store_.Take("t", name, "c");
  ASSERT_TRUE(taken.ok());
  store_.PutBack(*std::move(taken));

  EXPECT_EQ(store_.Get("t", name)->committed_bytes, 3u);
  EXPECT_EQ(TakeBytes(name), "abc");
}

TEST_F(UploadStoreTest, WhatIsPutBackIsWipedIfThereIsNoRoomByNow) {
  const std::string name = Create(60);
  Write(name, 0, std::string(60, 'x'));
  auto taken = store_.Take("t", name, "c");
  ASSERT_TRUE(taken.ok());
  Create(90);
  store_.PutBack(*std::move(taken));

  EXPECT_EQ(engine::GetReason(store_.Get("t", name).status()), ErrorReason::kUploadUnknown);
  EXPECT_EQ(store_.usage().bytes, 90u);
}

TEST_F(UploadStoreTest, BothBoundsHoldAndTellWhenToComeBack) {
  Create(50);
  Create(50);
  const auto too_many_bytes =
      store_.Create({.tenant = "t", .circuit = "c", .size_bytes = 1, .sha256 = "", .reservation = {}})
          .status();
  EXPECT_TRUE(absl::IsResourceExhausted(too_many_bytes));
  EXPECT_EQ(engine::GetReason(too_many_bytes), ErrorReason::kQueueFull);
  EXPECT_TRUE(engine::GetRetryDelay(too_many_bytes).has_value());

  UploadStore few({.count_max = 1, .bytes_max = 100, .idle_timeout = seconds(60)}, clock_);
  ASSERT_TRUE(
      few.Create({.tenant = "t", .circuit = "c", .size_bytes = 1, .sha256 = "", .reservation = {}}).ok());
  EXPECT_EQ(engine::GetReason(
                few.Create({.tenant = "t", .circuit = "c", .size_bytes = 1, .sha256 = "", .reservation = {}})
                    .status()),
            ErrorReason::kQueueFull);
}

TEST_F(UploadStoreTest, OneTenantLeavesAFifthOfTheUploadsToOthersAndTwoANinth) {
  UploadStore store({.count_max = 90, .bytes_max = 1000, .idle_timeout = seconds(60)}, clock_);
  std::vector<std::pair<std::string, std::string>> held;  // tenant, name
  // Begins uploads until one is refused, and says how many.
  const auto fill = [&](const std::string& tenant, uint64_t size) {
    int taken = 0;
    while (true) {
      const auto info = store.Create(
          {.tenant = tenant, .circuit = "c", .size_bytes = size, .sha256 = "", .reservation = {}});
      if (!info.ok()) {
        const bool full = store.usage().count == 90 || store.usage().bytes + size > 1000;
        EXPECT_EQ(engine::GetReason(info.status()),
                  full ? ErrorReason::kQueueFull : ErrorReason::kQuotaExceeded);
        EXPECT_TRUE(absl::IsResourceExhausted(info.status()));
        EXPECT_TRUE(engine::GetRetryDelay(info.status()).has_value());
        return taken;
      }
      held.emplace_back(tenant, info->name);
      ++taken;
    }
  };
  const auto end_all = [&] {
    for (const auto& [tenant, name] : held) EXPECT_TRUE(store.Delete(tenant, name).ok());
    held.clear();
    EXPECT_EQ(store.usage().count, 0u);
  };

  EXPECT_NEAR(fill("greedy", 1), 72, 1);
  EXPECT_NEAR(fill("second", 1), 15, 1) << "four fifths of what the first has left";
  EXPECT_GE(fill("third", 1), 1);
  end_all();
  EXPECT_NEAR(fill("greedy", 20), 40, 1) << "four fifths of the bytes, of what was given back too";
  EXPECT_NEAR(fill("second", 20), 8, 1);
  end_all();
  EXPECT_EQ(fill("greedy", 1000), 1) << "one that holds nothing gets whatever fits";
  end_all();
  EXPECT_EQ(fill("", 1), 90) << "where nobody has a name, all is for all";
}

TEST_F(UploadStoreTest, WhatIsPutBackNeedsRoomInTheTenantsShare) {
  UploadStore store({.count_max = 5, .bytes_max = 100, .idle_timeout = seconds(60)}, clock_);
  const auto create = [&] {
    const auto info =
        store.Create({.tenant = "t", .circuit = "c", .size_bytes = 1, .sha256 = "", .reservation = {}});
    EXPECT_TRUE(info.ok()) << info.status();
    return info.ok() ? info->name : "";
  };
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i) names.push_back(create());
  for (const std::string& name : {names[0], names[1]}) ASSERT_TRUE(store.Write("t", name, 0, {"w"}).ok());
  auto first = store.Take("t", names[0], "c"), second = store.Take("t", names[1], "c");
  ASSERT_TRUE(first.ok() && second.ok());
  store.PutBack(*std::move(first));
  EXPECT_EQ(store.Get("t", names[0])->committed_bytes, 1u);
  create();

  store.PutBack(*std::move(second));

  EXPECT_EQ(engine::GetReason(store.Get("t", names[1]).status()), ErrorReason::kUploadUnknown);
  EXPECT_EQ(store.usage().count, 4u);
}

TEST_F(UploadStoreTest, WhatCanNeverFitIsRefusedForGood) {
  const auto status =
      store_.Create({.tenant = "t", .circuit = "c", .size_bytes = 101, .sha256 = "", .reservation = {}})
          .status();
  EXPECT_EQ(engine::GetReason(status), ErrorReason::kMessageTooLarge);
  EXPECT_FALSE(engine::GetRetryDelay(status).has_value());
}

TEST_F(UploadStoreTest, AnIdleUploadEndsAndABusyOneStays) {
  const std::string idle = Create(10);
  const std::string busy = Create(10);
  clock_.Advance(seconds(40));
  Write(busy, 0, "a");
  clock_.Advance(seconds(20));
  store_.EndIdle(clock_.Now());

  EXPECT_EQ(engine::GetReason(store_.Get("t", idle).status()), ErrorReason::kUploadUnknown);
  EXPECT_TRUE(store_.Get("t", busy).ok());
  EXPECT_EQ(store_.Get("t", busy)->expiry, clock_.Now() + seconds(40));
  EXPECT_EQ(count_, 1);
  EXPECT_EQ(bytes_, 10);
}

TEST_F(UploadStoreTest, AnUploadThatGetsNothingNewIsIdle) {
  const std::string name = Create(10);
  Write(name, 0, "ab");
  const auto expiry = clock_.Now() + seconds(60);
  clock_.Advance(seconds(59));
  EXPECT_EQ(Write(name, 0, "a"), 2u);
  EXPECT_EQ(Write(name, 1, "b"), 2u);
  EXPECT_EQ(WriteError(name, 3, "d"), ErrorReason::kUploadOffset);
  EXPECT_EQ(store_.Get("t", name)->expiry, expiry);
  store_.EndIdle(clock_.Now());
  EXPECT_EQ(Write(name, 1, "bc"), 3u) << "its last byte is new";
  clock_.Advance(seconds(59));
  store_.EndIdle(clock_.Now());
  EXPECT_EQ(Write(name, 0, "abc"), 3u);
  clock_.Advance(seconds(1));
  store_.EndIdle(clock_.Now());

  EXPECT_EQ(WriteError(name, 3, "d"), ErrorReason::kUploadUnknown);
  EXPECT_EQ(count_, 0);
}

TEST_F(UploadStoreTest, ADeletedUploadIsGone) {
  const std::string name = Create(10);
  EXPECT_TRUE(store_.Delete("t", name).ok());
  EXPECT_EQ(engine::GetReason(store_.Delete("t", name)), ErrorReason::kUploadUnknown);
  EXPECT_EQ(store_.usage().count, 0u);
}

TEST_F(UploadStoreTest, NamesCannotBeGuessed) {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) {
    const std::string name = Create(1);
    EXPECT_EQ(name.size(), std::string("uploads/").size() + 32);
    names.insert(name);
    ASSERT_TRUE(store_.Delete("t", name).ok());
  }
  EXPECT_EQ(names.size(), 100u);
  EXPECT_EQ(engine::GetReason(store_.Get("t", "").status()), ErrorReason::kUploadUnknown);
}

TEST_F(UploadStoreTest, AnotherTenantsUploadDoesNotExist) {
  const std::string name = Create(3);
  EXPECT_EQ(engine::GetReason(store_.Get("other", name).status()), ErrorReason::kUploadUnknown);
  EXPECT_EQ(engine::GetReason(store_.Write("other", name, 0, {"abc"}).status()), ErrorReason::kUploadUnknown);
  EXPECT_EQ(engine::GetReason(store_.Delete("", name)), ErrorReason::kUploadUnknown);
  Write(name, 0, "abc");
  EXPECT_EQ(engine::GetReason(store_.Take("other", name, "c").status()), ErrorReason::kUploadUnknown);
  EXPECT_EQ(TakeBytes(name), "abc");
}

TEST_F(UploadStoreTest, ARepeatedRequestGetsTheSameUploadAsLongAsThatIsOpen) {
  const auto create = [this](const std::string& id, const std::string& tenant, const std::string& circuit,
                             uint64_t size, const std::string& sha256) {
    const auto info = store_.Create({.tenant = tenant,
                                     .request_id = id,
                                     .circuit = circuit,
                                     .size_bytes = size,
                                     .sha256 = sha256,
                                     .reservation = {}});
    if (!info.ok()) return std::string(engine::ReasonName(*engine::GetReason(info.status())));
    return info->name;
  };
  const std::string hash = Sha256("abc");
  const std::string first = create("r1", "t", "c", 3, hash);
  Write(first, 0, "a");
  EXPECT_EQ(create("r1", "t", "c", 3, hash), first);
  EXPECT_EQ(store_.usage().count, 1u) << "a repeated one takes no room";
  EXPECT_EQ(create("r1", "t", "d", 3, hash), "REQUEST_ID_CONFLICT");
  EXPECT_EQ(create("r1", "t", "c", 4, hash), "REQUEST_ID_CONFLICT");
  EXPECT_EQ(create("r1", "t", "c", 3, Sha256("abd")), "REQUEST_ID_CONFLICT");
  EXPECT_EQ(store_.usage().count, 1u);
  EXPECT_EQ(store_.usage().bytes, 3u);
  EXPECT_NE(create("r1", "other", "c", 3, hash), first) << "ids are those of a tenant";
  Write(first, 1, "bc");
  EXPECT_EQ(create("r1", "t", "c", 3, hash), first);

  auto taken = store_.Take("t", first, "c");
  ASSERT_TRUE(taken.ok());
  store_.PutBack(*std::move(taken));
  EXPECT_EQ(create("r1", "t", "c", 3, hash), first) << "it was put back";
  EXPECT_EQ(TakeBytes(first), "abc");
  const std::string second = create("r1", "t", "c", 3, hash);
  EXPECT_NE(second, first) << "the first one is used up";
  EXPECT_EQ(WriteError(second, 0, "abd"), ErrorReason::kUploadChecksum);
  EXPECT_NE(create("r1", "t", "c", 3, hash), second) << "that one had the wrong bytes";
}

TEST_F(UploadStoreTest, ManyRequestsWithOneIdAtOnceBeginOneUpload) {
  std::vector<std::thread> threads;
  std::vector<std::string> names(8);
  for (std::string& name : names) {
    threads.emplace_back([&] {
      const auto info = store_.Create({.tenant = "t",
                                       .request_id = "r",
                                       .circuit = "c",
                                       .size_bytes = 3,
                                       .sha256 = "",
                                       .reservation = {}});
      // Room is claimed before it is known that none is needed.
      name = info.ok() ? info->name : "";
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::string> different(names.begin(), names.end());
  different.erase("");
  EXPECT_EQ(different.size(), 1u);
  EXPECT_EQ(store_.usage().count, 1u);
  EXPECT_EQ(count_, 1);
}

TEST_F(UploadStoreTest, ItsReservationGoesWithTheUpload) {
  engine::Admission admission({.jobs_max = 1, .witness_bytes_max = 100});
  auto reservation = admission.Reserve(10, /*with_job_slot=*/true);
  ASSERT_TRUE(reservation.ok());
  const auto info = store_.Create({.tenant = "t",
                                   .circuit = "c",
                                   .size_bytes = 10,
                                   .sha256 = "",
                                   .reservation = *std::move(reservation)});
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(admission.usage().jobs, 1u);
  store_.ReleaseJobSlot(info->name);
  EXPECT_EQ(admission.usage().jobs, 0u);
  EXPECT_EQ(admission.usage().witness_bytes, 10u);
  clock_.Advance(seconds(60));
  store_.EndIdle(clock_.Now());
  EXPECT_EQ(admission.usage().witness_bytes, 0u);
}

TEST_F(UploadStoreTest, ManyThreadsFillOneUploadWithoutHarm) {
  const std::string whole(100, 'w');
  const std::string name = Create(100, Sha256(whole));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (uint64_t offset = 0; offset < 100; offset += 10) {
        while (!store_.Write("t", name, offset, {whole.substr(offset, 10)}).ok()) std::this_thread::yield();
      }
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(TakeBytes(name), whole);
}

}  // namespace
}  // namespace proofmill::server
