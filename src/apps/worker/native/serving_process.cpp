#include "apps/worker/native/serving_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <future>
#include <unistd.h>
#include <utility>

#include <sys/socket.h>
#include <sys/wait.h>

#include "apps/worker/native/blob_requests.h"
#include "common/base/format.h"
#include "common/base/log.h"

namespace weft::worker {
namespace {

// Bounds of the child's requests.
constexpr std::uint64_t frame_bytes_max = std::uint64_t{64} << 20;
constexpr std::uint64_t untaken_bytes_max = std::uint64_t{128} << 20;
// Maximum size of a blob: a list of digests of 2 million chunks.
constexpr std::uint64_t blob_bytes_max = std::uint64_t{64} << 20;
constexpr std::uint64_t range_bytes_max = std::uint64_t{32} << 20;
constexpr std::size_t asked_max = 64;
constexpr std::size_t chains_max = 1024;
constexpr std::size_t lines_per_second = 20;  // Maximum rate of the child's log.
constexpr std::size_t said_bytes_max = 4096;
constexpr int socket_buffer_bytes = 4 << 20;
// A child that receives nothing for this time hangs. The time includes compiling a large model's
// kernels.
constexpr auto send_max = std::chrono::minutes(2);
constexpr auto start_max = std::chrono::seconds(60);

// Writes a frame with an open file attached to its first byte.
Result<> write_with_file(int socket, ServingFrame kind, ByteSpan payload, int file) {
  ByteVector bytes;
  append_le(bytes, static_cast<std::uint32_t>(kind));
  append_le(bytes, static_cast<std::uint64_t>(payload.size()));
  append(bytes, payload);
  iovec part{.iov_base = bytes.data(), .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  const Instant deadline = now() + send_max;
  for (;;) {
    const ssize_t count = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (count == 1) break;
    if (count < 0 && errno == EINTR && now() < deadline) continue;
    return fail(ErrorCode::unavailable,
                "The file cannot be passed to the process that serves models: {}.",
                std::strerror(errno));
  }
  return write_bytes(socket, ByteSpan(bytes).subspan(1), deadline);
}

}  // namespace

ServingProcess::ServingProcess(net::Client& client, PeerLines* lines, Options options)
    : client_(client),
      lines_(lines),
      options_(std::move(options)),
      chunks_(options_.models, options_.models_bytes_max) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run_children(stop); });
}

ServingProcess::~ServingProcess() {
  thread_.request_stop();
  {
    const std::lock_guard lock(ending_);
    if (pid_ > 0) ::kill(pid_, SIGKILL);
  }
  thread_.join();
  // The client's thread runs this event after all events of the process that were posted earlier,
  // so that no event of the process follows it.
  std::promise<void> over;
  client_.post([&] {
    ended(child_);
    alive_.reset();
    host_.reset();
    over.set_value();
  });
  over.get_future().wait();
}

void ServingProcess::join(std::string token) {
  client_.post(alive_->guard([this, token = std::move(token)]() mutable {
    token_ = std::move(token);
    if (socket_ >= 0) send(ServingFrame::join, Packer().text(token_).take());
  }));
}

// --- Functions of the child's own thread.

void ServingProcess::run_children(const std::stop_token& stop) {
  Duration retry = options_.retry_min;
  std::mutex mutex;
  std::condition_variable_any wake;
  while (!stop.stop_requested()) {
    const Instant begun_at = now();
    if (!run_child(stop) || stop.stop_requested()) return;
    if (now() - begun_at > options_.retry_max) retry = options_.retry_min;
    log_info("Models are served again in {:.1f} s.", seconds(retry));
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, retry, [] { return false; });
    retry = std::min(2 * retry, options_.retry_max);
  }
}

// Logs the child's output line by line. A stranger's model may have made the output, so log_info()
// escapes control characters.
void ServingProcess::say_errors(int errors) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(errors, buffer.data(), buffer.size());
    if (count <= 0) break;
    said_.append(buffer.data(), static_cast<std::size_t>(count));
    for (auto end = said_.find('\n'); end != std::string::npos; end = said_.find('\n')) {
      if (now() - said_since_ > std::chrono::seconds(1)) {
        said_since_ = now();
        lines_said_ = 0;
      }
      if (end > 0 && ++lines_said_ <= lines_per_second)
        log_info("models: {}", std::string_view(said_).substr(0, end));
      said_.erase(0, end + 1);
    }
    if (said_.size() > said_bytes_max) said_.erase(0, said_.size() - said_bytes_max);
  }
}

bool ServingProcess::run_child(const std::stop_token& stop) {
  std::vector<std::string> words = options_.words;
  words.insert(words.end(),
               {std::to_string(child_socket), std::to_string(options_.setup.memory_bytes),
                std::to_string(::getpid())});
  if (!options_.gpu) {
    words.emplace_back("cpu");
  } else {
    words.push_back(options_.adapter ? weft::format("gpu:{}", *options_.adapter) : "gpu");
  }
  const auto child = spawn_child(options_.program, words);
  if (!child) {
    log_warning("Models are not served: {}", child.error().message);
    return true;
  }
  {
    const std::lock_guard lock(ending_);
    pid_ = child->pid;
    if (stop.stop_requested()) ::kill(child->pid, SIGKILL);
  }
  ::setsockopt(child->socket, SOL_SOCKET, SO_SNDBUF, &socket_buffer_bytes,
               sizeof socket_buffer_bytes);
  const auto listen = [&] { say_errors(child->errors); };
  const std::uint64_t number = ++children_;

  // The child's first frame lists the missing parts of its confinement.
  bool again = true;
  std::string why;
  auto first = read_frame(child->socket, frame_bytes_max, now() + start_max, listen);
  auto missing =
      first && first->kind == FrameKind::ready
          ? unpack_missing(first->payload)
          : Result<std::vector<MissingPart>>(
                fail(ErrorCode::unavailable, "The process does not report that it is ready."));
  bool good = missing.has_value();
  if (!good) why = missing.error().message;
  for (std::size_t i = 0; good && i < missing->size(); ++i) {
    const MissingPart& part = (*missing)[i];
    if (part.need == MissingPart::Need::required && !options_.unsafe) {
      log_warning(
          "Models are not served: this machine cannot confine strangers' models: {}. "
          "--unsafe-sandbox serves them without that protection.",
          part.what);
      good = again = false;
    } else if (number == 1) {
      log_info("Models are served in a confined process that lacks one protection: {}.", part.what);
    }
  }
  if (good) {
    client_.post([this, number, socket = child->socket] { begun(number, socket); });
    for (;;) {
      auto frame = read_frame(child->socket, frame_bytes_max, Instant::max(), listen);
      if (!frame) {
        why = frame.error().message;
        break;
      }
      const std::uint64_t bytes = sizeof(Frame) + frame->payload.size();
      untaken_bytes_ += bytes;
      client_.post([this, number, bytes, frame = std::move(*frame)] {
        untaken_bytes_ -= bytes;
        take(number, frame);
      });
      // A child that sends more than the client's thread handles must wait.
      while (untaken_bytes_ > untaken_bytes_max && pid_ > 0 && !stop.stop_requested())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // The child is killed before waitpid() frees its pid for another process.
  siginfo_t ignored;
  ::kill(child->pid, SIGKILL);
  while (::waitid(P_PID, static_cast<id_t>(child->pid), &ignored, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  int status = 0;
  {
    const std::lock_guard lock(ending_);
    ::waitpid(child->pid, &status, 0);
    pid_ = 0;
  }
  say_errors(child->errors);
  ::close(child->errors);
  std::promise<void> over;
  client_.post([&] {
    ended(number);
    over.set_value();
  });
  over.get_future().wait();
  ::close(child->socket);
  if (again && !stop.stop_requested())
    log_warning("The process that serves models {}. {}", describe_end(status), why);
  return again;
}

// --- Functions that run on the client's thread.

void ServingProcess::begun(std::uint64_t child, int socket) {
  child_ = child;
  socket_ = socket;
  asked_ = 0;
  condemned_ = false;
  if (!host_) host_ = std::make_unique<NativeHost>(client_, "/v1/serve");
  send(ServingFrame::begin, pack(options_.setup));
  if (!token_.empty()) send(ServingFrame::join, Packer().text(token_).take());
}

void ServingProcess::ended(std::uint64_t child) {
  if (child != child_ || socket_ < 0) return;
  socket_ = -1;
  if (host_) host_->close();
  for (const std::uint32_t chain : std::exchange(chains_, {})) lines_->close(chain);
}

void ServingProcess::send(ServingFrame kind, ByteSpan payload) {
  if (socket_ < 0) return;
  const auto sent = write_frame(socket_, kind_of(kind), payload, now() + send_max, [] {});
  if (sent) return;
  // The thread that reads from the child notices the child's end.
  const std::lock_guard lock(ending_);
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

void ServingProcess::reply(std::uint64_t child, std::uint64_t ask, Result<ByteVector> result) {
  if (child != child_) return;
  send(ServingFrame::reply, pack(Reply{.ask = ask, .result = std::move(result)}));
}

void ServingProcess::take(std::uint64_t child, const Frame& frame) {
  if (child != child_ || socket_ < 0 || condemned_) return;
  const auto acted = act(frame);
  if (acted) return;
  condemned_ = true;
  log_warning("The process that serves models is ended: {}", acted.error().message);
  const std::lock_guard lock(ending_);
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

Result<> ServingProcess::act(const Frame& frame) {
  Unpacker in(frame.payload);
  switch (const auto kind = static_cast<ServingFrame>(frame.kind); kind) {
    case ServingFrame::connect: {
      WEFT_ASSIGN(const std::uint64_t connection, in.number());
      connect(connection);
      return {};
    }
    case ServingFrame::send_text: {
      WEFT_ASSIGN(std::string text, in.text());
      host_->send_text(std::move(text));
      return {};
    }
    case ServingFrame::send_binary: {
      WEFT_ASSIGN(const ByteSpan bytes, in.bytes());
      host_->send_binary(ByteVector(bytes.begin(), bytes.end()));
      return {};
    }
    case ServingFrame::close_socket:
      host_->close();
      return {};
    case ServingFrame::lines_open: {
      WEFT_ASSIGN(const PeerLines::Chain chain, unpack_chain(frame.payload));
      if (lines_ == nullptr || chains_.size() >= chains_max)
        return fail(ErrorCode::resource_exhausted, "The process opens more chains than it may.");
      open_lines(chain);
      return {};
    }
    case ServingFrame::lines_send: {
      WEFT_ASSIGN(const std::uint32_t chain, unpack_small(in));
      WEFT_ASSIGN(const std::uint32_t member, unpack_small(in));
      WEFT_ASSIGN(const ByteSpan bytes, in.bytes());
      // A link that has closed reports its end by its `closed` event, not by the result of send().
      if (lines_ != nullptr) (void)lines_->send(chain, member, bytes);
      return {};
    }
    case ServingFrame::lines_close: {
      WEFT_ASSIGN(const std::uint32_t chain, unpack_small(in));
      if (lines_ != nullptr && std::erase(chains_, chain) > 0) lines_->close(chain);
      return {};
    }
    default:
      return answer(kind, in);
  }
}

Result<> ServingProcess::answer(ServingFrame kind, Unpacker& in) {
  WEFT_ASSIGN(const std::uint64_t ask, in.number());
  if (kind == ServingFrame::read_chunk || kind == ServingFrame::write_chunk ||
      kind == ServingFrame::open_file) {
    answer_file(kind, ask, in);
    return {};
  }
  if (kind != ServingFrame::fetch_blob && kind != ServingFrame::fetch_range)
    return fail(ErrorCode::invalid_argument, "The process sends a frame of the unknown kind {}.",
                std::to_underlying(kind));
  if (asked_ >= asked_max)
    return fail(ErrorCode::resource_exhausted, "The process has more than {} open requests.",
                asked_max);
  WEFT_ASSIGN(const Hash hash, unpack_hash(in));
  WEFT_ASSIGN(const std::uint64_t first, in.number());
  const std::function<void(Result<ByteVector>)> done =
      alive_->guard([this, child = child_, ask](Result<ByteVector> bytes) {
        if (child == child_) --asked_;
        reply(child, ask, std::move(bytes));
      });
  if (kind == ServingFrame::fetch_blob) {
    ++asked_;
    host_->fetch_blob(hash, std::min(first, blob_bytes_max), token_, done);
    return {};
  }
  WEFT_ASSIGN(const std::uint64_t count, in.number());
  if (count > range_bytes_max || first + count < first)
    return fail(ErrorCode::invalid_argument,
                "The process asks for {} bytes at {} of a blob, more than a request may read.",
                count, first);
  ++asked_;
  net::Request request =
      net::with_bearer(net::get_range("/v1/blobs/" + hash.text(), first, count), token_);
  request.timeout = std::chrono::minutes(5);
  send_for_blob(client_, std::move(request), [count, done](Result<net::Response> answer) {
    if (!answer) return done(std::unexpected(std::move(answer).error()));
    if (!answer->ok()) return done(std::unexpected(net::error_of(*answer)));
    if (answer->body.size() != count)
      return done(fail(ErrorCode::data_loss,
                       "The coordinator sends {} bytes of a blob; {} were asked for.",
                       answer->body.size(), count));
    const ByteSpan bytes = as_bytes(std::string_view(answer->body));
    done(ByteVector(bytes.begin(), bytes.end()));
  });
  return {};
}

// Chunks are on this machine's disk; the child checks the bytes that it reads.
void ServingProcess::answer_file(ServingFrame kind, std::uint64_t ask, Unpacker& in) {
  const auto answered = [&]() -> Result<ByteVector> {
    WEFT_ASSIGN(const ModelFile file, unpack_file(in));
    if (kind == ServingFrame::open_file) {
      WEFT_ASSIGN(const int opened, chunks_.open_descriptor(file));
      const auto sent = write_with_file(socket_, ServingFrame::reply,
                                        pack(Reply{.ask = ask, .result = ByteVector()}), opened);
      ::close(opened);
      if (!sent) log_warning("{}", sent.error().message);
      return ByteVector();
    }
    WEFT_ASSIGN(const std::uint32_t chunk, unpack_chunk(in, file));
    if (kind == ServingFrame::read_chunk) {
      auto bytes = chunks_.read(file, chunk);
      if (!bytes)
        return fail(ErrorCode::not_found, "The chunk of the model is not stored on this machine.");
      return std::move(*bytes);
    }
    WEFT_ASSIGN(const ByteSpan bytes, in.bytes());
    if (bytes.size() != file.chunk_size(chunk))
      return fail(ErrorCode::invalid_argument, "A chunk of {} bytes cannot be written as {} bytes.",
                  file.chunk_size(chunk), bytes.size());
    WEFT_OK(chunks_.write(file, chunk, bytes));
    return ByteVector();
  }();
  if (kind != ServingFrame::open_file || !answered) reply(child_, ask, answered);
}

void ServingProcess::connect(std::uint64_t connection) {
  const auto say = [this, child = child_, connection](ServingFrame kind,
                                                      std::optional<ByteSpan> bytes) {
    if (child != child_) return;
    Packer packer;
    packer.number(connection);
    if (bytes) packer.bytes(*bytes);
    send(kind, packer.take());
  };
  host_->connect(
      {.open = [say] { say(ServingFrame::socket_open, {}); },
       .text = [say](const std::string& text) { say(ServingFrame::socket_text, as_bytes(text)); },
       .binary =
           [say](const ByteVector& bytes) { say(ServingFrame::socket_binary, ByteSpan(bytes)); },
       .closed =
           [say](const std::string& reason) {
             say(ServingFrame::socket_closed, as_bytes(reason));
           }});
}

void ServingProcess::open_lines(const PeerLines::Chain& chain) {
  const auto say = [this, child = child_, of = chain.chain, epoch = chain.epoch](
                       ServingFrame kind, std::uint32_t member, ByteSpan bytes) {
    if (child == child_)
      send(kind, pack(LineEvent{.chain = of, .epoch = epoch, .member = member}, bytes));
  };
  if (!std::ranges::contains(chains_, chain.chain)) chains_.push_back(chain.chain);
  lines_->open(chain, {.signal = [](std::uint32_t, const std::string&) {},
                       .frame =
                           [say](std::uint32_t member, const ByteVector& frame) mutable {
                             say(ServingFrame::line_frame, member, frame);
                           },
                       .open =
                           [say](std::uint32_t member, std::string_view line) mutable {
                             say(ServingFrame::line_open, member, as_bytes(line));
                           },
                       .closed =
                           [say](std::uint32_t member) mutable {
                             say(ServingFrame::line_closed, member, {});
                           }});
}

}  // namespace weft::worker
