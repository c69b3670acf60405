#include "disk_tier.h"

#include <algorithm>
#include <utility>

#include "state_file.h"

namespace oi {
namespace {

// States in memory besides the host tier's budget: to be written, and read.
constexpr size_t kMaxWaiting = 4;
constexpr size_t kMaxStaged = 2;
// After this time, a state that was read and not asked for again is given up for others.
constexpr std::chrono::seconds kStale{2};
constexpr std::chrono::milliseconds kMoment{10};

}  // namespace

DiskTier::DiskTier(std::string folder, uint64_t limit, Reuse reuse)
    : folder_(std::move(folder)), limit_(limit), reuse_(reuse), files_(ScanStates(folder_)) {
  for (const StateFile& file : files_) bytes_ += file.bytes;
  Shrink();
  writer_ = std::thread([this] { WriterMain(); });
  try {
    reader_ = std::thread([this] { ReaderMain(); });
  } catch (...) {
    Stop();
    throw;
  }
}

DiskTier::~DiskTier() { Stop(); }

void DiskTier::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    waiting_.clear();
  }
  wake_writer_.notify_all();
  wake_reader_.notify_all();
  writer_.join();
  if (reader_.joinable()) reader_.join();
}

// ---- what there is ---------------------------------------------------------------

DiskTier::Match DiskTier::Find(const Wanted& wanted) const {
  std::lock_guard<std::mutex> lock(mutex_);
  Match best;
  for (const StateFile& file : files_) {
    if (file.scope != wanted.scope) continue;
    const size_t tokens = reuse_.Tokens(file.tokens, wanted.tokens, best.tokens);
    if (tokens > best.tokens) best = {file.name, tokens, file.bytes};
  }
  const bool read = std::any_of(staged_.begin(), staged_.end(), [&](const Staged& staged) {
    return staged.done && staged.file.name == best.name;
  });
  if (read) best.bytes = 0;
  return best;
}

bool DiskTier::Holds(const Wanted& state) const {
  const std::string name = StateName(state.scope, state.tokens);
  std::lock_guard<std::mutex> lock(mutex_);
  return Has(name);
}

// Needs mutex_ held, as do all functions below that do not lock it.
bool DiskTier::Has(const std::string& name) const {
  return (writing_ != nullptr && name == writing_->name) ||
         std::any_of(files_.begin(), files_.end(),
                     [&](const StateFile& file) { return file.name == name; }) ||
         std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Waiting& waiting) { return waiting.file.front().name == name; });
}

std::list<StateFile>::iterator DiskTier::FindFile(const std::string& name) {
  return std::find_if(files_.begin(), files_.end(),
                      [&](const StateFile& file) { return file.name == name; });
}

std::list<DiskTier::Staged>::iterator DiskTier::FindStaged(const std::string& name) {
  return std::find_if(staged_.begin(), staged_.end(),
                      [&](const Staged& staged) { return staged.file.name == name; });
}

// The file goes when the writer has time.
void DiskTier::Forget(const std::string& name) {
  const auto it = FindFile(name);
  if (it == files_.end()) return;
  doomed_.push_back(name);
  bytes_ -= it->bytes;
  files_.erase(it);
  wake_writer_.notify_one();
}

void DiskTier::Shrink() {
  while (bytes_ > limit_) Forget(std::string(files_.back().name));
}

void DiskTier::Keep(std::list<StateFile> file) {
  if (file.empty()) return;
  bytes_ += file.front().bytes;
  const auto place = std::find_if(files_.begin(), files_.end(), [&](const StateFile& other) {
    return other.used <= file.front().used;
  });
  files_.splice(place, file);
  Shrink();
}

uint64_t DiskTier::bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

size_t DiskTier::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return files_.size();
}

// ---- reading ---------------------------------------------------------------------

DiskTier::Reading DiskTier::Read(const std::string& name) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto now = Clock::now();
  if (const auto it = FindStaged(name); it != staged_.end()) {
    it->asked = now;
    if (!it->done) return {.state = nullptr, .pending = true};
    if (it->state) return {.state = it->state};
    staged_.erase(it);
    return {};
  }
  const auto file = FindFile(name);
  if (file == files_.end()) return {};
  staged_.remove_if(
      [&](const Staged& staged) { return staged.done && now - staged.asked > kStale; });
  if (staged_.size() < kMaxStaged) {
    staged_.push_back({.file = *file, .asked = now});
    wake_reader_.notify_one();
  }
  return {.state = nullptr, .pending = true};
}

void DiskTier::Taken(const std::string& name) {
  std::lock_guard<std::mutex> lock(mutex_);
  staged_.remove_if([&](const Staged& staged) { return staged.done && staged.file.name == name; });
}

void DiskTier::Refuse(const std::string& name) {
  Taken(name);
  std::lock_guard<std::mutex> lock(mutex_);
  Forget(name);
}

bool DiskTier::AwaitRead() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (staged_.empty()) return false;
  read_.wait_for(lock, kMoment);
  return true;
}

void DiskTier::ReaderMain() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    const auto next = [this] {
      return std::find_if(staged_.begin(), staged_.end(),
                          [](const Staged& staged) { return !staged.done; });
    };
    wake_reader_.wait(lock, [&] { return stop_ || next() != staged_.end(); });
    if (stop_) return;
    Staged& staged = *next();  // stays where it is until it is done
    lock.unlock();

    const auto start = Clock::now();
    bool damaged = false;
    State state = ReadStateFile(folder_, staged.file, damaged);
    const std::chrono::duration<double> seconds = Clock::now() - start;

    lock.lock();
    if (damaged) Forget(staged.file.name);
    if (state)
      read_rate_ = static_cast<double>(staged.file.bytes) / std::max(1e-6, seconds.count());
    if (const auto it = FindFile(staged.file.name); state && it != files_.end()) {
      it->used = StateTime::clock::now();
      files_.splice(files_.begin(), files_, it);
    }
    staged.state = std::move(state);
    staged.done = true;
    read_.notify_all();
  }
}

// ---- writing ---------------------------------------------------------------------

void DiskTier::Put(State state, StateTime used, bool wait) {
  // What keeping the file will take is made here, where running out of memory can be told.
  Waiting waiting{.state = std::move(state), .file = std::list<StateFile>(1)};
  StateFile& file = waiting.file.front();
  const SavedState& saved = *waiting.state;
  file = {StateName(saved.scope, saved.tokens), saved.scope, saved.tokens, StateFileBytes(saved),
          used};
  {
    std::unique_lock<std::mutex> lock(mutex_);
    uint64_t bytes = file.bytes;
    for (const StateFile& other : files_) {
      if (other.used >= used) bytes += other.bytes;
    }
    if (bytes > limit_ || Has(file.name)) return;
    const auto room = [this] { return waiting_.size() < kMaxWaiting; };
    if (wait) written_.wait(lock, room);
    if (!room()) return;
    waiting_.push_back(std::move(waiting));
  }
  wake_writer_.notify_one();
}

void DiskTier::Flush() {
  std::unique_lock<std::mutex> lock(mutex_);
  written_.wait(lock,
                [this] { return waiting_.empty() && writing_ == nullptr && doomed_.empty(); });
}

void DiskTier::WriterMain() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_writer_.wait(lock, [this] { return stop_ || !waiting_.empty() || !doomed_.empty(); });
    // First, as a file of the same name may be waiting to be written.
    if (!doomed_.empty()) {
      const std::string& name = doomed_.front();  // nobody else takes it
      lock.unlock();
      RemoveStateFile(folder_, name);
      lock.lock();
      doomed_.pop_front();
    } else if (stop_) {
      return;
    } else {
      Waiting waiting = std::move(waiting_.front());
      waiting_.pop_front();
      writing_ = &waiting.file.front();
      lock.unlock();
      const bool written = WriteStateFile(*waiting.state, folder_, *writing_);
      waiting.state.reset();  // its memory goes without the lock
      lock.lock();
      writing_ = nullptr;
      if (written) Keep(std::move(waiting.file));
    }
    written_.notify_all();
  }
}

}  // namespace oi
