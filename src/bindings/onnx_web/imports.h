// The functions of onnx_web.js for the models' Worker. A text is passed as pointer and length and
// is valid only during the call.
#pragma once

#include <cstdint>

extern "C" {
// Answers call number `call`. Success has an empty `code`, and `text` is the result. An error has
// the ErrorCode as a word in `code` and its message in `text`.
void weft_onnx_answer(std::uint32_t call, const char* code, std::uint32_t code_size,
                      const char* text, std::uint32_t text_size);
// Adds one part to the answer of a call, before the answer: bytes, which are copied, or a buffer of
// web.js's table.
void weft_onnx_part(std::uint32_t call, const void* bytes, double size);
void weft_onnx_buffer_part(std::uint32_t call, std::uint32_t buffer);
}
