#include "engine/dispatch/admission.h"

#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "gtest/gtest.h"
#include "tests/engine/base/fake_clock.h"

namespace proofmill::engine {
namespace {

TEST(AdmissionTest, TheReservationThatWouldExceedTheJobsIsRefused) {
  Admission admission({.jobs_max = 2, .witness_bytes_max = 100});
  auto first = admission.Reserve(1, true), second = admission.Reserve(1, true);
  ASSERT_TRUE(first.ok() && second.ok());

  const auto third = admission.Reserve(1, true);

  EXPECT_TRUE(absl::IsResourceExhausted(third.status()));
  EXPECT_EQ(GetReason(third.status()), ErrorReason::kQueueFull);
  EXPECT_EQ(admission.usage().witness_bytes, 2u) << "a refusal takes nothing";
}

TEST(AdmissionTest, TheReservationThatWouldExceedTheBytesIsRefusedWithTheFigures) {
  Admission admission({.jobs_max = 10, .witness_bytes_max = 100});
  auto first = admission.Reserve(60, true);
  ASSERT_TRUE(first.ok());

  const auto second = admission.Reserve(41, true);

  EXPECT_EQ(GetReason(second.status()), ErrorReason::kQueueFull);
  EXPECT_NE(second.status().message().find("60 of 100"), std::string::npos) << second.status();
  EXPECT_EQ(admission.usage().jobs, 1u) << "a refusal takes nothing";
  EXPECT_TRUE(admission.Reserve(40, true).ok());
}

TEST(AdmissionTest, AWitnessAboveTheWholeLimitIsToldThatWaitingIsInVain) {
  Admission admission({.jobs_max = 10, .witness_bytes_max = 100});

  EXPECT_EQ(GetReason(admission.Reserve(101, true).status()), ErrorReason::kMessageTooLarge);
  EXPECT_EQ(GetReason(admission.Reserve(UINT64_MAX, true).status()), ErrorReason::kMessageTooLarge);
}

TEST(AdmissionTest, WhatIsGivenBackCanBeTakenAgain) {
  Admission admission({.jobs_max = 1, .witness_bytes_max = 100});
  auto reservation = admission.Reserve(100, true);
  ASSERT_TRUE(reservation.ok());

  reservation->ReleaseJobSlot();
  EXPECT_EQ(admission.usage().jobs, 0u);
  EXPECT_EQ(admission.usage().witness_bytes, 100u) << "a running job keeps its bytes";
  reservation->Release();
  reservation->Release();

  EXPECT_EQ(admission.usage().witness_bytes, 0u);
  EXPECT_TRUE(admission.Reserve(100, true).ok());
}

TEST(AdmissionTest, AReservationMovesAndIsGivenBackOnce) {
  Admission admission({.jobs_max = 5, .witness_bytes_max = 100});
  {
    Reservation first = *admission.Reserve(10, true);
    Reservation second = *admission.Reserve(20, true);

    second = std::move(first);
    EXPECT_EQ(admission.usage().witness_bytes, 10u);
    const Reservation third = std::move(second);
    EXPECT_EQ(third.witness_bytes(), 10u);
    EXPECT_EQ(second.witness_bytes(), 0u);
  }
  EXPECT_EQ(admission.usage().jobs, 0u);
  EXPECT_EQ(admission.usage().witness_bytes, 0u);
}

TEST(AdmissionTest, AnUploadCanTakeItsPlaceInTheQueueLater) {
  Admission admission({.jobs_max = 1, .witness_bytes_max = 100});
  Reservation upload = *admission.Reserve(10, false);
  EXPECT_EQ(admission.usage().jobs, 0u);

  EXPECT_TRUE(admission.AddJobSlot(upload).ok());
  EXPECT_TRUE(admission.AddJobSlot(upload).ok()) << "it has one already";
  EXPECT_EQ(admission.usage().jobs, 1u);

  Reservation other = *admission.Reserve(10, false);
  EXPECT_EQ(GetReason(admission.AddJobSlot(other)), ErrorReason::kQueueFull);
}

TEST(AdmissionTest, AfterCloseNothingIsReservedAndWhatWasStays) {
  Admission admission({.jobs_max = 5, .witness_bytes_max = 100});
  Reservation with_slot = *admission.Reserve(10, true);
  Reservation without_slot = *admission.Reserve(10, false);

  admission.Close();

  const absl::Status refused = admission.Reserve(1, true).status();
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_EQ(GetReason(refused), ErrorReason::kDraining);
  EXPECT_EQ(GetReason(admission.Reserve(1, false).status()), ErrorReason::kDraining);
  EXPECT_EQ(GetReason(admission.AddJobSlot(without_slot)), ErrorReason::kDraining);
  EXPECT_TRUE(admission.AddJobSlot(with_slot).ok());
  EXPECT_EQ(admission.usage().witness_bytes, 20u);
}

TEST(AdmissionTest, TheListenerHearsOfEveryChangeOfBytes) {
  int64_t bytes = 0;
  Admission admission({.jobs_max = 5, .witness_bytes_max = 100}, [&](int64_t change) { bytes += change; });
  {
    Reservation reservation = *admission.Reserve(30, true);
    EXPECT_EQ(bytes, 30);
    EXPECT_FALSE(admission.Reserve(90, true).ok());
    EXPECT_EQ(bytes, 30);
  }
  EXPECT_EQ(bytes, 0);
}

TEST(AdmissionTest, AReservationMayOutliveItsGate) {
  auto admission = std::make_unique<Admission>(Admission::Limits{.jobs_max = 1, .witness_bytes_max = 1});
  Reservation reservation = *admission->Reserve(1, true);

  admission.reset();
  reservation.Release();

  EXPECT_EQ(reservation.witness_bytes(), 0u);
}

TEST(AdmissionTest, WaitingForNoJobsEndsWithTheLastOrWithTheDeadline) {
  FakeClock clock;
  Admission admission({.jobs_max = 5, .witness_bytes_max = 100});
  Reservation reservation = *admission.Reserve(1, true);
  EXPECT_FALSE(admission.WaitUntilNoJobs(clock, clock.Now()));
  std::thread other([&] { reservation.ReleaseJobSlot(); });

  EXPECT_TRUE(admission.WaitUntilNoJobs(clock, clock.Now() + std::chrono::hours(1)));
  other.join();
}

TEST(AdmissionTest, ManyThreadsNeverExceedTheLimitsAndLeaveNothingBehind) {
  Admission admission({.jobs_max = 3, .witness_bytes_max = 50});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        auto reservation = admission.Reserve(20, i % 2 == 0);
        const Admission::Usage usage = admission.usage();
        EXPECT_LE(usage.jobs, 3u);
        EXPECT_LE(usage.witness_bytes, 50u);
        if (reservation.ok() && i % 3 == 0) reservation->ReleaseJobSlot();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(admission.usage().jobs, 0u);
  EXPECT_EQ(admission.usage().witness_bytes, 0u);
}

TEST(AdmissionTest, OneTenantLeavesAFifthToOthersAndTwoANinth) {
  Admission admission({.jobs_max = 90, .witness_bytes_max = 9000});
  std::vector<Reservation> held;
  const auto fill = [&](std::string_view tenant) {
    int taken = 0;
    while (true) {
      auto reservation = admission.Reserve(10, true, {.name = tenant});
      if (!reservation.ok()) {
        EXPECT_EQ(GetReason(reservation.status()),
                  admission.usage().jobs < 90 ? ErrorReason::kQuotaExceeded : ErrorReason::kQueueFull);
        return taken;
      }
      held.push_back(*std::move(reservation));
      ++taken;
    }
  };

  EXPECT_NEAR(fill("greedy"), 72, 1);
  EXPECT_NEAR(fill("second"), 15, 1) << "four fifths of what the first has left";
  EXPECT_GE(fill("third"), 1);
  held.clear();
  EXPECT_EQ(admission.usage().jobs, 0u);
  EXPECT_NEAR(fill("greedy"), 72, 1) << "what was given back is free again";
}

TEST(AdmissionTest, WithoutNamesTheWholeQueueIsForAll) {
  Admission admission({.jobs_max = 5, .witness_bytes_max = 100});
  std::vector<Reservation> held;
  for (int i = 0; i < 5; ++i) held.push_back(*admission.Reserve(20, true));

  EXPECT_EQ(GetReason(admission.Reserve(1, true).status()), ErrorReason::kQueueFull);
}

TEST(AdmissionTest, ATenantThatHoldsNothingGetsWhateverFits) {
  Admission admission({.jobs_max = 2, .witness_bytes_max = 100});

  auto all_bytes = admission.Reserve(100, true, {.name = "t"});
  EXPECT_TRUE(all_bytes.ok()) << all_bytes.status();
  EXPECT_EQ(GetReason(admission.Reserve(1, true, {.name = "u"}).status()), ErrorReason::kQueueFull);
}

TEST(AdmissionTest, ATenantHasLimitsOfItsOwn) {
  Admission admission({.jobs_max = 10, .witness_bytes_max = 1000});
  const TenantLimits small{.name = "t", .jobs_max = 2, .witness_bytes_max = 50};
  auto first = admission.Reserve(20, true, small), second = admission.Reserve(20, true, small);
  ASSERT_TRUE(first.ok() && second.ok());

  const auto jobs = admission.Reserve(1, true, small), bytes = admission.Reserve(11, false, small);
  EXPECT_EQ(GetReason(jobs.status()), ErrorReason::kQuotaExceeded);
  EXPECT_EQ(GetReason(bytes.status()), ErrorReason::kQuotaExceeded);
  EXPECT_TRUE(admission.Reserve(500, true, {.name = "u"}).ok());
  first->ReleaseJobSlot();
  auto upload = admission.Reserve(10, false, small);
  EXPECT_TRUE(upload.ok()) << upload.status();
  EXPECT_TRUE(admission.AddJobSlot(*upload, small).ok());
}

}  // namespace
}  // namespace proofmill::engine
