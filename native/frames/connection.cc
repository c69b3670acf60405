#include "connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "fields.h"

namespace oi {
namespace {

constexpr size_t kHeadBytes = 12;
// As in src/runner/frames.ts.
constexpr size_t kMaxPayloadBytes = size_t{1} << 29;
// The buffer holds a frame of any request of text; it grows for larger ones, and shrinks again.
constexpr size_t kBufferBytes = 64 * 1024;
// Bytes of replies that the peer has not taken: some thousand answers of usual size.
constexpr size_t kMaxKeptBytes = 1 << 20;

uint32_t NumberAt(const uint8_t* bytes) {
  uint32_t number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

}  // namespace

size_t BeginFrame(std::string& out, uint32_t kind, uint32_t id) {
  const size_t begin = out.size();
  FieldWriter head(out);
  head.Unsigned(0);
  head.Unsigned(kind);
  head.Unsigned(id);
  return begin;
}

void EndFrame(std::string& out, size_t begin) {
  const auto length = static_cast<uint32_t>(out.size() - begin - kHeadBytes);
  std::memcpy(out.data() + begin, &length, sizeof length);
}

Connection::Connection(int fd)
    : fd_(fd),
      received_(std::make_unique_for_overwrite<uint8_t[]>(kBufferBytes)),
      capacity_(kBufferBytes) {}

std::optional<Frame> Connection::Receive() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait(
        lock, [this] { return closed_ || failed_ || kept_.size() - kept_begin_ <= kMaxKeptBytes; });
    if (closed_) return std::nullopt;
  }
  size_t wanted = kHeadBytes;
  for (;;) {
    if (end_ - begin_ >= kHeadBytes) {
      const uint8_t* const head = received_.get() + begin_;
      const size_t length = NumberAt(head);
      if (length > kMaxPayloadBytes) throw ProtocolError("A frame is too long");
      wanted = kHeadBytes + length;
      if (end_ - begin_ >= wanted) {
        begin_ += wanted;
        return Frame{NumberAt(head + 4), NumberAt(head + 8), {head + kHeadBytes, length}};
      }
    }
    try {
      if (!Read(wanted)) return std::nullopt;
    } catch (const std::bad_alloc&) {
      return Skip(wanted);
    }
  }
}

// Drops a frame of `wanted` bytes, whose head is here: rule 4.
std::optional<Frame> Connection::Skip(size_t wanted) {
  const uint8_t* const head = received_.get() + begin_;
  const Frame frame{NumberAt(head + 4), NumberAt(head + 8), {}, true};
  for (size_t left = wanted - (end_ - begin_); left > 0; left -= end_) {
    begin_ = end_ = 0;
    if (!Fill(std::min(left, capacity_))) return std::nullopt;
  }
  begin_ = end_ = 0;
  return frame;
}

// Reads at least one byte more of a frame of `wanted` bytes.
bool Connection::Read(size_t wanted) {
  const size_t length = end_ - begin_;
  size_t capacity = capacity_;
  if (length == 0) capacity = kBufferBytes;
  if (capacity < wanted && length == capacity) capacity = std::min(wanted, 2 * capacity);
  std::unique_ptr<uint8_t[]> other;
  if (capacity != capacity_) other.reset(new (std::nothrow) uint8_t[capacity]);
  if (!other && capacity > capacity_) throw std::bad_alloc();
  if (other) {
    if (length > 0) std::memcpy(other.get(), received_.get() + begin_, length);
    received_ = std::move(other);
    capacity_ = capacity;
  } else if (begin_ > 0 && length > 0) {
    std::memmove(received_.get(), received_.get() + begin_, length);
  }
  begin_ = 0;
  end_ = length;
  return Fill(capacity_ - end_);
}

// Reads between one and `most` bytes more.
bool Connection::Fill(size_t most) {
  for (;;) {
    // Not in recv(): a reply that the peer takes wakes whoever waits there, too.
    pollfd readable{fd_, POLLIN, 0};
    poll(&readable, 1, -1);
    const ssize_t count = recv(fd_, received_.get() + end_, most, MSG_DONTWAIT);
    if (count > 0) {
      end_ += static_cast<size_t>(count);
      return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return false;
  }
}

void Connection::Send(std::string_view frames) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (failed_) return;
  if (kept_.empty()) frames.remove_prefix(WriteNow(frames));
  if (failed_ || frames.empty()) return;
  try {
    kept_.append(frames);
  } catch (const std::bad_alloc&) {
    failed_ = true;
    shutdown(fd_, SHUT_RDWR);
  }
  wake_.notify_all();
}

bool Connection::Flush(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_ && wake_.wait_until(lock, end, [this] { return closed_ || !kept_.empty(); })) {
    if (closed_) break;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    lock.unlock();
    pollfd writable{fd_, POLLOUT, 0};
    poll(&writable, 1, static_cast<int>(left.count()));
    lock.lock();
    WriteKept();
  }
  return !closed_;
}

void Connection::Close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
  }
  wake_.notify_all();
  shutdown(fd_, SHUT_RD);
}

// With the lock.
void Connection::WriteKept() {
  kept_begin_ += WriteNow(std::string_view(kept_).substr(kept_begin_));
  if (failed_ || kept_begin_ == kept_.size()) {
    std::string().swap(kept_);
    kept_begin_ = 0;
  } else if (kept_begin_ > kept_.size() / 2) {
    kept_.erase(0, kept_begin_);
    kept_begin_ = 0;
  }
  wake_.notify_all();
}

// With the lock. Returns how many bytes the system took. Node ignores SIGPIPE.
size_t Connection::WriteNow(std::string_view bytes) {
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = send(fd_, bytes.data() + written, bytes.size() - written, MSG_DONTWAIT);
    if (count >= 0) {
      written += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      failed_ = errno != EAGAIN && errno != EWOULDBLOCK;
      break;
    }
  }
  return written;
}

}  // namespace oi
