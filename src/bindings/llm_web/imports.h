// The functions of llm_web.js for the model's Worker, and the callback that llm_web.js makes.
//
// A text is passed as pointer and length and is valid only during the call. Sizes and offsets in
// the model's file are passed as double.
#pragma once

#include <cstdint>
#include <functional>

namespace weft::llm_web {

// The caller creates the callback with new. It is called once and then deleted.
struct TurnCallback {
  std::function<void()> call;
};

}  // namespace weft::llm_web

extern "C" {
double weft_llm_source_bytes();
// Fills `out` with `size` bytes of the file. Returns null, or one sentence that describes the error
// (allocated with malloc; the caller frees it).
char* weft_llm_source_read(double offset, void* out, double size);
// Calls back after the messages that already wait in the Worker's queue.
void weft_llm_turn(void* callback);
// Answers call number `call`. Success has an empty `code`, and `text` is the result. An error has
// the ErrorCode as a word in `code` and its message in `text`.
void weft_llm_answer(std::uint32_t call, const char* code, std::uint32_t code_size,
                     const char* text, std::uint32_t text_size);
// Passes one token of the answer to call number `call`, as JSON.
void weft_llm_piece(std::uint32_t call, const char* json, std::uint32_t size);
}
