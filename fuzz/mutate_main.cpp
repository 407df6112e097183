// Replaces libFuzzer if the compiler has none: it runs the corpus unchanged, then seeded mutations
// of it. It is fast enough for every test run. After a crash it prints the seed and the number of
// the run.
//   NAME_fuzz [--runs N | --seconds T] [--seed S] CORPUS...
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
char where[96] = "the corpus";  // Static, so that the signal handler may read it.

void print_where(int signal) {
  constexpr std::string_view before = "\nThe fuzzer failed at ";
  std::fwrite(before.data(), 1, before.size(), stderr);
  std::fwrite(where, 1, std::strlen(where), stderr);
  std::fputc('\n', stderr);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Mutator {
 public:
  Mutator(const std::vector<Input>& corpus, std::uint64_t seed) : corpus_(corpus), random_(seed) {}

  Input next() {
    Input input = pick();
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(input);
    return input;
  }

 private:
  std::size_t below(std::size_t bound) {
    return bound == 0 ? 0 : static_cast<std::size_t>(random_() % bound);
  }
  const Input& pick() { return corpus_[below(corpus_.size())]; }

  void change(Input& input) {
    static constexpr std::string_view interesting[] = {
        "\"",   "\\",   "{",       "}",   "[",   "]",
        ",",    ":",    "0",       "-1",  "1e9", "18446744073709551616",
        "null", "true", "\\u0000", "\xff"};
    const std::size_t at = below(input.size() + 1);
    const auto begin = input.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t left = input.size() - at;
    switch (below(6)) {
      case 0:  // Flip a bit.
        if (left > 0) *begin ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 1:  // Replace a byte.
        if (left > 0) *begin = static_cast<std::uint8_t>(random_());
        break;
      case 2:  // Cut a piece out.
        input.erase(begin, begin + static_cast<std::ptrdiff_t>(below(left + 1) % 64));
        break;
      case 3: {  // Insert a word that parsers often handle wrongly.
        const std::string_view word = interesting[below(std::size(interesting))];
        input.insert(begin, word.begin(), word.end());
        break;
      }
      case 4: {  // Double a piece.
        const Input piece(begin, begin + static_cast<std::ptrdiff_t>(below(left + 1) % 64));
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
        break;
      }
      default: {  // Cross with another input.
        const Input& other = pick();
        const std::size_t from = below(other.size() + 1);
        input.resize(at);
        input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
        break;
      }
    }
  }

  const std::vector<Input>& corpus_;
  std::mt19937_64 random_;
};

std::vector<Input> read_corpus(const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
  }
  // The paths are sorted so that a seed gives the same run on every machine.
  std::ranges::sort(paths);
  std::vector<Input> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

int main(int count, char** arguments) {
  std::uint64_t runs = 20'000;
  std::optional<std::chrono::seconds> duration;
  std::uint64_t seed = 1;
  std::vector<std::string> folders;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--runs" && i + 1 < count) {
      runs = number(arguments[++i]);
    } else if (argument == "--seconds" && i + 1 < count) {
      duration = std::chrono::seconds(number(arguments[++i]));
    } else if (argument == "--seed" && i + 1 < count) {
      seed = number(arguments[++i]);
    } else {
      folders.emplace_back(argument);
    }
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS})
    std::signal(signal, print_where);
  const std::vector<Input> corpus = read_corpus(folders);
  if (corpus.empty()) {
    std::fputs("The corpus is empty.\n", stderr);
    return 2;
  }
  for (const Input& input : corpus) LLVMFuzzerTestOneInput(input.data(), input.size());
  Mutator mutator(corpus, seed);
  const auto begun = std::chrono::steady_clock::now();
  std::uint64_t run = 0;
  const auto goes_on = [&] {
    return duration ? std::chrono::steady_clock::now() - begun < *duration : run < runs;
  };
  for (; goes_on(); ++run) {
    std::snprintf(where, sizeof where, "run %llu of seed %llu",
                  static_cast<unsigned long long>(run), static_cast<unsigned long long>(seed));
    const Input input = mutator.next();
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%llu inputs and %llu mutations of them: no crash.\n",
              static_cast<unsigned long long>(corpus.size()), static_cast<unsigned long long>(run));
  return 0;
}
