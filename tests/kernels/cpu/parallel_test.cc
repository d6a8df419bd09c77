#include "kernels/cpu/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace proofmill::kernels {
namespace {

// Waits until `count` threads have arrived, or gives up after ten seconds.
bool Meet(std::atomic<size_t>& arrived, size_t count) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  arrived.fetch_add(1);
  while (arrived.load() < count) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(ParallelForTest, CoversTheRangeOnceInChunksOfTheGrain) {
  for (const size_t threads : {1u, 2u, 3u, 5u, 17u}) {
    for (const size_t size : {1u, 2u, 7u, 100u, 1000u}) {
      for (const size_t grain : {1u, 3u, 100u, 5000u}) {
        std::mutex mutex;
        std::set<std::pair<size_t, size_t>> chunks;
        ThreadArena arena(threads);

        arena.Execute([&] {
          ParallelFor(10, 10 + size, grain, [&](size_t begin, size_t end) {
            const std::lock_guard<std::mutex> lock(mutex);
            EXPECT_TRUE(chunks.emplace(begin, end).second);
          });
        });

        size_t next = 10;
        for (const auto& [begin, end] : chunks) {
          EXPECT_EQ(begin, next);
          EXPECT_EQ(end, std::min(begin + grain, 10 + size));
          next = end;
        }
        EXPECT_EQ(next, 10 + size);
      }
    }
  }
}

TEST(ParallelForTest, AnEmptyRangeCallsNothing) {
  ParallelFor(5, 5, 1, [](size_t, size_t) { ADD_FAILURE(); });
  ParallelFor(5, 4, 1, [](size_t, size_t) { ADD_FAILURE(); });
}

TEST(ParallelForTest, WritesOfBodiesAreVisibleAfterwards) {
  std::vector<uint64_t> squares(100000);

  ParallelFor(0, squares.size(), 1000, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) squares[i] = i * i;
  });

  for (size_t i = 0; i < squares.size(); ++i) ASSERT_EQ(squares[i], i * i);
}

TEST(ParallelForTest, NestsToAnyDepth) {
  std::atomic<int> calls{0};
  ThreadArena arena(3);

  arena.Execute([&] {
    ParallelFor(0, 4, 1, [&](size_t, size_t) {
      ParallelFor(0, 4, 1, [&](size_t, size_t) {
        ParallelInvoke([&] { ++calls; }, [&] { ParallelFor(0, 3, 1, [&](size_t, size_t) { ++calls; }); });
      });
    });
  });

  EXPECT_EQ(calls.load(), 4 * 4 * (1 + 3));
}

TEST(ParallelForTest, ABodysExceptionReachesTheCallerAndTheArenaStaysUsable) {
  ThreadArena arena(2);
  const auto fail_at = [&](size_t bad) {
    arena.Execute([&] {
      ParallelFor(0, 100, 1, [&](size_t begin, size_t) {
        if (begin == bad) throw std::runtime_error("chunk " + std::to_string(begin));
      });
    });
  };
  for (const size_t bad : {0u, 50u, 99u}) {
    try {
      fail_at(bad);
      ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "chunk " + std::to_string(bad));
    }
  }

  std::atomic<int> calls{0};
  arena.Execute([&] { ParallelFor(0, 10, 1, [&](size_t, size_t) { ++calls; }); });
  EXPECT_EQ(calls.load(), 10);
}

TEST(ParallelForTest, WhenAllBodiesThrowOneExceptionIsRethrown) {
  EXPECT_THROW(ParallelFor(0, 100, 1, [](size_t, size_t) { throw std::logic_error("each"); }),
               std::logic_error);
}

TEST(ParallelForTest, AnExceptionPassesThroughNestedCalls) {
  EXPECT_THROW(
      ParallelFor(0, 4, 1,
                  [](size_t, size_t) {
                    ParallelInvoke(
                        [] {}, [] { ParallelFor(0, 4, 1, [](size_t, size_t) { throw std::bad_alloc(); }); });
                  }),
      std::bad_alloc);
}

// What comes after the loop may rely on it, as long as the loop itself does not throw.
TEST(ParallelInvokeTest, ALoopBesideAFunctionThatThrowsRunsToItsEnd) {
  if (HardwareThreads() < 2) GTEST_SKIP() << "one hardware thread";
  constexpr size_t kBodies = 2000;
  std::atomic<size_t> arrived{0};
  std::atomic<size_t> bodies{0};
  size_t bodies_at_the_end = 0;
  bool met = false;
  ThreadArena arena(2);

  EXPECT_THROW(arena.Execute([&] {
    ParallelInvoke(
        [&] {
          met = Meet(arrived, 2);
          throw std::bad_alloc();
        },
        [&] {
          ParallelFor(0, kBodies, 1, [&](size_t begin, size_t) {
            if (begin == 0) Meet(arrived, 2);
            std::this_thread::sleep_for(std::chrono::microseconds(10));
            ++bodies;
          });
          bodies_at_the_end = bodies;
        });
  }),
               std::bad_alloc);

  ASSERT_TRUE(met) << "no second thread came within ten seconds";
  EXPECT_EQ(bodies_at_the_end, kBodies);
}

TEST(ParallelInvokeTest, CallsEveryFunctionOnce) {
  int a = 0, b = 0, c = 0;

  ParallelInvoke([&] { ++a; }, [&] { ++b; }, [&] { ++c; });

  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 1);
  EXPECT_EQ(c, 1);
}

TEST(ThreadArenaTest, RunsAsManyBodiesAtOnceAsItHasThreads) {
  if (HardwareThreads() < 2) GTEST_SKIP() << "one hardware thread";
  ThreadArena arena(2);
  std::atomic<size_t> arrived{0};
  std::atomic<int> met{0};

  arena.Execute([&] {
    ParallelFor(0, 2, 1, [&](size_t, size_t) {
      if (Meet(arrived, 2)) ++met;
    });
  });

  EXPECT_EQ(met.load(), 2);
}

TEST(ThreadArenaTest, NeverRunsMoreBodiesAtOnceThanItHasThreads) {
  for (const size_t threads : {1u, 2u, 4u}) {
    ThreadArena arena(threads);
    std::atomic<size_t> running{0}, most{0};

    arena.Execute([&] {
      ParallelFor(0, 8, 1, [&](size_t, size_t) {
        ParallelFor(0, 8, 1, [&](size_t, size_t) {
          const size_t now = ++running;
          for (size_t seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          --running;
        });
      });
    });

    EXPECT_LE(most.load(), threads);
  }
}

TEST(ThreadArenaTest, TellsItsSizeToCodeInside) {
  for (const size_t threads : {1u, 2u, 7u}) {
    ThreadArena arena(threads);
    EXPECT_EQ(arena.threads(), threads);
    size_t inside = 0, in_body = 0;

    arena.Execute([&] {
      inside = CurrentThreads();
      ParallelFor(0, 1, 1, [&](size_t, size_t) { in_body = CurrentThreads(); });
    });

    EXPECT_EQ(inside, threads);
    EXPECT_EQ(in_body, threads);
  }
  EXPECT_EQ(CurrentThreads(), HardwareThreads());
  EXPECT_GE(HardwareThreads(), 1u);
}

TEST(ThreadArenaTest, ServesSeveralCallersAtOnce) {
  ThreadArena arena(2);
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        arena.Execute([&] { ParallelFor(0, 20, 1, [&](size_t, size_t) { ++calls; }); });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();

  EXPECT_EQ(calls.load(), 4 * 10 * 20);
}

TEST(ThreadArenaTest, ArenasNest) {
  ThreadArena outer(3), inner(2);
  size_t inside = 0, after = 0;

  outer.Execute([&] {
    inner.Execute([&] { inside = CurrentThreads(); });
    after = CurrentThreads();
  });

  EXPECT_EQ(inside, 2u);
  EXPECT_EQ(after, 3u);
}

}  // namespace
}  // namespace proofmill::kernels
