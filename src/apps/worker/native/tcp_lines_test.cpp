// Direct links over real sockets: two members connect by the data that the coordinator gave them,
// and no other worker can.
#include "apps/worker/native/tcp_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <unistd.h>

#include "common/base/format.h"
#include "platform/net/client.h"

namespace weft::worker {
namespace {

namespace wire = protocol::serving;
using namespace std::chrono_literals;

// Records the events of one worker's links as text.
class Told {
 public:
  void add(std::string what) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(what));
    changed_.notify_all();
  }
  bool has(const std::string& what, Duration wait = 5s) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, wait, [&] { return std::ranges::contains(all_, what); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

struct Side {
  std::unique_ptr<net::Client> client =
      std::move(*net::Client::create({.url = "http://127.0.0.1:1"}));
  std::unique_ptr<TcpLines> lines;
  Told told;

  template <class Function>
  void on(Function function) {
    std::promise<void> done;
    client->post([&] {
      function();
      done.set_value();
    });
    done.get_future().get();
  }
};

class Lines : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / weft::format("weft-lines-{}", getpid());
    std::filesystem::create_directories(folder);
    for (Side* side : {&zero, &one}) begin(*side, true);
  }
  void TearDown() override {
    for (Side* side : {&zero, &one}) side->on([&] { side->lines.reset(); });
    std::filesystem::remove_all(folder);
  }
  void begin(Side& side, bool calls_loopback) {
    side.on([&] {
      auto made = TcpLines::create({.calls = {.loopback = calls_loopback},
                                    .scratch = folder,
                                    .after = [&side](Duration delay, std::function<void()> work) {
                                      side.client->after(delay, std::move(work));
                                    }});
      ASSERT_TRUE(made.has_value()) << made.error().message;
      side.lines = std::move(*made);
    });
  }
  // Opens one side of a link between two members in epoch `epoch` of chain 7.
  void open(Side& side, std::uint32_t index, const std::string& line, const std::string& of_two,
            std::uint32_t epoch = 3) {
    side.on([&] {
      side.lines->open({.chain = 7,
                        .epoch = epoch,
                        .index = index,
                        .others = {{.member = 1 - index, .line = line, .token = of_two}},
                        .ice = {}},
                       {.signal = {},
                        .frame =
                            [&side](std::uint32_t from, const ByteVector& frame) {
                              side.told.add(weft::format("{} bytes from {}", frame.size(), from));
                            },
                        .open =
                            [&side](std::uint32_t member, std::string_view word) {
                              side.told.add(weft::format("{} open to {}", word, member));
                            },
                        .closed =
                            [&side](std::uint32_t member) {
                              side.told.add(weft::format("closed to {}", member));
                            }});
    });
  }
  bool send(Side& side, std::uint32_t to, std::size_t bytes) {
    bool sent = false;
    side.on([&] { sent = side.lines->send(7, to, ByteVector(bytes, 1)); });
    return sent;
  }

  const std::string token = std::string(64, 'a');
  std::filesystem::path folder;
  Side zero, one;
};

TEST_F(Lines, OpenBetweenTwoWhoWereToldOfEachOther) {
  EXPECT_FALSE(send(zero, 1, 10));
  // The caller may connect before the listener has opened the chain.
  open(zero, 0, one.lines->line(), token);
  std::this_thread::sleep_for(50ms);
  open(one, 1, zero.lines->line(), token);
  ASSERT_TRUE(zero.told.has("tcp open to 1"));
  ASSERT_TRUE(one.told.has("tcp open to 0"));
  EXPECT_TRUE(send(zero, 1, wire::line_frame_bytes_max));
  EXPECT_TRUE(send(one, 0, 20));
  EXPECT_TRUE(one.told.has(weft::format("{} bytes from 0", wire::line_frame_bytes_max)));
  EXPECT_TRUE(zero.told.has("20 bytes from 1"));

  // The next epoch has links of its own.
  open(one, 1, zero.lines->line(), token, 4);
  EXPECT_TRUE(zero.told.has("closed to 1"));
  open(zero, 0, one.lines->line(), token, 4);
  for (int i = 0; i < 100 && !send(zero, 1, 33); ++i) std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(one.told.has("33 bytes from 0"));
}

TEST_F(Lines, TakeNoPeerWithoutTheToken) {
  open(one, 1, zero.lines->line(), token);
  open(zero, 0, one.lines->line(), std::string(64, 'b'));
  EXPECT_TRUE(zero.told.has("closed to 1"));
  EXPECT_FALSE(one.told.has("tcp open to 0", 100ms));
  EXPECT_FALSE(send(one, 0, 10));
  // A caller of another epoch is refused, too.
  open(one, 1, zero.lines->line(), token, 9);
  open(zero, 0, one.lines->line(), token, 8);
  EXPECT_FALSE(one.told.has("tcp open to 0", 200ms));
}

TEST_F(Lines, SayWhenTheOtherEndIsGone) {
  open(one, 1, zero.lines->line(), token);
  open(zero, 0, one.lines->line(), token);
  ASSERT_TRUE(zero.told.has("tcp open to 1"));
  one.on([&] { one.lines.reset(); });
  EXPECT_TRUE(zero.told.has("closed to 1"));
  EXPECT_FALSE(send(zero, 1, 10));
  // A link also closes if no worker answers, or if the offered text is invalid.
  std::string gone =
      TcpLine{.address = "127.0.0.1", .port = 1, .fingerprint = std::string(64, '0')}.text();
  for (const std::string& line : {gone, std::string("tcp://nowhere"), std::string("webrtc")}) {
    Side side;
    begin(side, true);
    open(side, 0, line, token);
    EXPECT_TRUE(side.told.has("closed to 1")) << line;
    side.on([&] { side.lines.reset(); });
  }
}

TEST_F(Lines, DoNotCallThisMachineForAPeerFarAway) {
  Side side;
  begin(side, false);
  open(side, 0, one.lines->line(), token);
  EXPECT_TRUE(side.told.has("closed to 1"));
  side.on([&] { side.lines.reset(); });
}

TEST(TcpLine, SurvivesItsText) {
  const std::string fingerprint(64, 'c');
  for (const std::string& text :
       {"tcp://192.168.1.5:7400#" + fingerprint, "tcp://[2001:db8::1]:7400#" + fingerprint}) {
    const auto read = TcpLine::parse(text);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(read->text(), text);
  }
  for (const std::string text :
       {"tcp://192.168.1.5:7400", "tcp://192.168.1.5#x", "tcp://192.168.1.5:0#x", "tcp://:7400#x",
        "tcp://a:99999#x", "udp://a:1#x"})
    EXPECT_FALSE(
        TcpLine::parse(text == "tcp://:7400#x" ? "tcp://:7400#" + fingerprint : text).has_value())
        << text;
}

}  // namespace
}  // namespace weft::worker
