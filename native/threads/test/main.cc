// `oi-threads-test`: the barrier, the choice of a number of threads and the shares of the cores,
// each by itself; prints TAP.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../barrier.h"
#include "../core_shares.h"
#include "../thread_choice.h"

namespace oi {
namespace {

int checks = 0;
int failures = 0;

void Check(bool ok, const char* name, const std::string& detail) {
  if (!ok) ++failures;
  std::printf("%s %d - %s: %s\n", ok ? "ok" : "not ok", ++checks, name, detail.c_str());
}

// Threads count up, each in its own place, and read their neighbour's behind every barrier.
void CheckMeeting() {
  constexpr uint32_t kThreads = 8;
  constexpr int kRounds = 2000;
  Barrier barrier;
  barrier.Start(kThreads, 1'000);
  std::vector<int> counts(kThreads, 0);
  std::vector<int> wrong(kThreads, 0);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 1; round <= kRounds; ++round) {
        counts[i] = round;
        barrier.Wait();
        if (counts[(i + 1) % kThreads] != round) ++wrong[i];
        barrier.Wait();
      }
    });
  }
  int all_wrong = 0;
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads[i].join();
    all_wrong += wrong[i];
  }
  Check(all_wrong == 0, "behind the barrier each thread sees what the others wrote before it",
        std::to_string(all_wrong) + " wrong");
}

// The processor time of a thread that waits .2 s for another.
void CheckSleep() {
  Barrier barrier;
  barrier.Start(2, 100'000);
  double used_ms = 0;
  std::thread waits([&] {
    barrier.Wait();
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    used_ms = static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  barrier.Wait();
  waits.join();
  Check(used_ms < 20, "who waits for long gives its core away",
        std::to_string(used_ms) + " ms of processor time in 200");
  Check(barrier.slept_ns() > 100'000'000, "and how long it slept is known",
        std::to_string(barrier.slept_ns()) + " ns");
}

// Graphs of `graph_ms` on one core; two threads are as fast as `speed` says, and sleep as `slept`.
struct Machine {
  double speed;
  double slept;
};

// How much is done in `ms`, in milliseconds of one thread.
double WorkDone(ThreadChoice& choice, const Machine& machine, double graph_ms, double ms) {
  double done = 0;
  for (double now = 0; now < ms;) {
    const uint32_t threads = choice.threads();
    const double takes = threads == 1 ? graph_ms : graph_ms / machine.speed;
    choice.Done({threads, choice.measures() ? graph_ms : 0, takes,
                 threads == 1 ? 0 : takes * machine.slept});
    now += takes;
    done += graph_ms;
  }
  return done;
}

void CheckChoice() {
  constexpr Machine kIdle{1.9, 0.02};
  constexpr Machine kContended{0.3, 0.8};
  for (const double graph_ms : {2.0, 400.0}) {
    const std::string size = std::to_string(static_cast<int>(graph_ms)) + " ms";
    ThreadChoice choice(2);
    const double idle = WorkDone(choice, kIdle, graph_ms, 20'000) / 20'000;
    Check(idle > 0.999 * kIdle.speed, "on an idle machine all threads compute all the time",
          size + " graphs, rate " + std::to_string(idle));
    WorkDone(choice, kContended, graph_ms, 10'000);  // the change
    const double contended = WorkDone(choice, kContended, graph_ms, 60'000) / 60'000;
    Check(contended > 0.9, "where two threads hold each other up one computes",
          size + " graphs, rate " + std::to_string(contended));
    WorkDone(choice, kIdle, graph_ms, 10'000);
    const double again = WorkDone(choice, kIdle, graph_ms, 60'000) / 60'000;
    Check(again > 0.95 * kIdle.speed, "and two again when the others have gone",
          size + " graphs, rate " + std::to_string(again));
  }
  ThreadChoice many(16);
  // A graph of 10 ms lasts 2 s on threads that all wait for one another.
  const double held_up = WorkDone(many, {0.005, 0.95}, 10, 20'000) / 20'000;
  Check(held_up > 0.8, "of many threads that hold each other up few are left at once",
        std::to_string(held_up));
  ThreadChoice choice(2);
  // Sleeping at the barrier, and faster all the same.
  const double rate = WorkDone(choice, {1.4, 0.3}, 5, 60'000) / 60'000;
  Check(rate > 0.97 * 1.4, "threads that sleep and are faster stay", std::to_string(rate));
}

void CheckShares() {
  using std::chrono::milliseconds;
  const CoreShares::Clock::time_point start{};
  CoreShares shares(8);
  CoreShares::Claim first(shares);
  CoreShares::Claim second(shares);
  const uint32_t alone = first.Take(8, start);
  Check(alone == 8, "an engine alone has all cores", std::to_string(alone));
  const uint32_t beside = second.Take(8, start);
  Check(beside == 4, "one beside it has its part", std::to_string(beside));
  first.Return(start);
  const uint32_t next = first.Take(8, start + milliseconds(1));
  Check(next == 4, "and so has the first for its next graph", std::to_string(next));
  second.Return(start + milliseconds(2));
  first.Return(start + milliseconds(3));
  const uint32_t pause = first.Take(8, start + milliseconds(5));
  Check(pause == 4, "between two graphs nobody loses its part", std::to_string(pause));
  first.Return(start + milliseconds(6));
  const uint32_t later = first.Take(8, start + milliseconds(100));
  Check(later == 8, "what is not used falls to the others", std::to_string(later));
  second.Take(2, start + milliseconds(100));
  first.Return(start + milliseconds(101));
  const uint32_t rest = first.Take(8, start + milliseconds(102));
  Check(rest == 6, "a small engine leaves the rest of its part", std::to_string(rest));
  std::vector<std::unique_ptr<CoreShares::Claim>> many;
  uint32_t least = 8;
  for (int i = 0; i < 20; ++i) {
    many.push_back(std::make_unique<CoreShares::Claim>(shares));
    least = std::min(least, many.back()->Take(8, start + milliseconds(103)));
  }
  Check(least == 1, "everybody has a thread", std::to_string(least));
}

// Another process computes, says so through a pipe, and is killed in the middle of its graph.
void CheckProcesses() {
  void* memory = mmap(nullptr, sizeof(CoreShares::Table), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* table = static_cast<CoreShares::Table*>(memory);
  int ends[2];
  if (memory == MAP_FAILED || pipe(ends) != 0)
    return Check(false, "shared memory", "there is none");
  const pid_t other = fork();
  CoreShares shares(8, table);
  CoreShares::Claim claim(shares);
  if (other == 0) {
    const auto taken = static_cast<uint8_t>(claim.Take(8));
    if (write(ends[1], &taken, 1) != 1) _exit(1);
    for (;;) pause();
  }
  uint8_t taken = 0;
  if (read(ends[0], &taken, 1) != 1) taken = 0;
  Check(taken == 8, "a process that computes alone has all cores", std::to_string(taken));
  const uint32_t beside = claim.Take(8);
  Check(beside == 4, "one beside it has its part", std::to_string(beside));
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  const uint32_t alone = claim.Take(8);
  Check(alone == 8, "what a process had falls to the others when it ends", std::to_string(alone));
  const CoreShares::Claim next(shares);
  Check(table->used == 2, "and its place to whoever comes", std::to_string(table->used));
}

}  // namespace
}  // namespace oi

int main() {
  oi::CheckMeeting();
  oi::CheckSleep();
  oi::CheckChoice();
  oi::CheckShares();
  oi::CheckProcesses();
  std::printf("1..%d\n", oi::checks);
  return oi::failures == 0 ? 0 : 1;
}
