// A stream of frames between a runner and its front: one thread receives, any thread sends.
//
// Rules
//   1. Send() never waits, as the engine's own threads call it. What the system does not take at
//      once is kept, in order, and written by whoever calls Flush().
//   2. While much is kept, Receive() waits: a front that takes no replies is asked for no more.
//   3. Lengths that a peer announces are not trusted: memory is allocated as bytes come.
//   4. A frame for which there is no memory is read and dropped, and its head received.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace oi {

struct Frame {
  uint32_t kind;
  uint32_t id;
  std::span<const uint8_t> payload;  // until the next one is received
  bool dropped = false;              // rule 4
};

class Connection {
 public:
  // `fd`: a stream socket. It stays the caller's, and must outlive this object.
  explicit Connection(int fd);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The next frame; nothing once the stream has ended or Close() was called. Throws ProtocolError.
  std::optional<Frame> Receive();

  // Rule 1. Frames of a stream that has failed are dropped. A stream fails that would lose bytes
  // for want of memory to keep them: its peer sees its end.
  void Send(std::string_view frames) noexcept;
  // Writes what is kept as the system takes it, until the time is over. False once closed.
  bool Flush(std::chrono::milliseconds time);

  // Wakes whoever waits in Receive() or Flush(), now and ever.
  void Close();

 private:
  std::optional<Frame> Skip(size_t wanted);
  bool Read(size_t wanted);
  bool Fill(size_t most);
  void WriteKept();
  size_t WriteNow(std::string_view bytes);

  const int fd_;

  // Of the thread that receives.
  std::unique_ptr<uint8_t[]> received_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::string kept_;       // guarded by mutex_
  size_t kept_begin_ = 0;  // guarded by mutex_: of it, what has been written
  bool closed_ = false;    // guarded by mutex_
  bool failed_ = false;    // guarded by mutex_: nobody reads what is sent
};

// Adds a frame's head; its payload follows, of any length, and then EndFrame().
size_t BeginFrame(std::string& out, uint32_t kind, uint32_t id);
// `begin`: what BeginFrame() gave.
void EndFrame(std::string& out, size_t begin);

}  // namespace oi
