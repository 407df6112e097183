// Vectors of many texts by llama.cpp, as `weft bench embed` measures them: random tokens, all texts in one call of the library.
//   llama_embed MODEL.gguf [TEXTS 32] [TOKENS 128] [ROUNDS 5] [WARM_UP_SECONDS 0.5]
// prints one document: "value" is the median of the rounds in tokens a second. To compile it (Debian: libllama-dev, libggml-dev):
//   g++ -O2 -std=c++17 bench/peers/llama_embed.cpp -lllama -lggml -lggml-base -o llama_embed
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <ggml-backend.h>
#include <llama.h>

int main(int count, char** words) {
  if (count < 2) {
    std::fprintf(stderr, "usage: llama_embed MODEL.gguf [TEXTS] [TOKENS] [ROUNDS] [WARM_UP_SECONDS]\n");
    return 2;
  }
  const auto number = [&](int at, double otherwise) { return count > at ? std::atof(words[at]) : otherwise; };
  const int texts = static_cast<int>(number(2, 32)), tokens = static_cast<int>(number(3, 128));
  const int rounds = static_cast<int>(number(4, 5));
  const double warm_up_s = number(5, 0.5);
  llama_log_set([](ggml_log_level level, const char* text, void*) { if (level >= GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr); }, nullptr);
  if (const char* folder = std::getenv("GGML_BACKENDS")) ggml_backend_load_all_from_path(folder);
  else ggml_backend_load_all();
  llama_backend_init();

  llama_model_params how = llama_model_default_params();
  how.n_gpu_layers = 99;
  llama_model* model = llama_model_load_from_file(words[1], how);
  if (model == nullptr) return 1;
  llama_context_params shape = llama_context_default_params();
  shape.n_ctx = shape.n_batch = shape.n_ubatch = static_cast<unsigned>(texts * tokens);
  shape.n_seq_max = static_cast<unsigned>(texts);
  shape.embeddings = true;
  shape.flash_attn_type = std::getenv("NO_FLASH") != nullptr ? LLAMA_FLASH_ATTN_TYPE_DISABLED : LLAMA_FLASH_ATTN_TYPE_AUTO;
  llama_context* context = llama_init_from_model(model, shape);
  if (context == nullptr) return 1;

  const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model)), width = llama_model_n_embd(model);
  llama_batch batch = llama_batch_init(texts * tokens, 0, 1);
  std::srand(1);
  for (int text = 0; text < texts; ++text) {
    for (int i = 0; i < tokens; ++i) {
      const int at = batch.n_tokens++;
      batch.token[at] = std::rand() % vocabulary;
      batch.pos[at] = i;
      batch.n_seq_id[at] = 1;
      batch.seq_id[at][0] = text;
      batch.logits[at] = 1;
    }
  }
  std::vector<float> vectors(static_cast<std::size_t>(texts) * static_cast<std::size_t>(width));
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); };
  const auto once = [&] {
    if (llama_encode(context, batch) != 0) return false;
    for (int text = 0; text < texts; ++text) {
      const float* vector = llama_get_embeddings_seq(context, text);
      if (vector == nullptr) return false;
      // The vector is scaled to length 1, as the server does.
      double sum = 0;
      for (int i = 0; i < width; ++i) sum += static_cast<double>(vector[i]) * vector[i];
      const float scale = static_cast<float>(1 / std::sqrt(sum));
      for (int i = 0; i < width; ++i) vectors[static_cast<std::size_t>(text) * static_cast<std::size_t>(width) + static_cast<std::size_t>(i)] = vector[i] * scale;
    }
    return true;
  };
  const Clock::time_point begun = Clock::now();
  do {
    if (!once()) return 1;
  } while (since(begun) < warm_up_s);
  std::vector<double> values;
  for (int round = 0; round < rounds; ++round) {
    const Clock::time_point round_begun = Clock::now();
    if (!once()) return 1;
    values.push_back(texts * tokens / since(round_begun));
  }
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::string device = "cpu";
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t one = ggml_backend_dev_get(i);
    if (ggml_backend_dev_type(one) != GGML_BACKEND_DEVICE_TYPE_CPU) device = ggml_backend_dev_description(one);
  }
  std::printf("{\"test\":\"%dx%d\",\"value\":%.1f,\"min\":%.1f,\"max\":%.1f,\"rounds\":%d,\"device\":\"%s\"}\n", texts, tokens, sorted[sorted.size() / 2],
              sorted.front(), sorted.back(), rounds, device.c_str());
  llama_free(context);
  llama_model_free(model);
}
