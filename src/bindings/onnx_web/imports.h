// What onnx_web.js does for the models' Worker. Text is pointer and length, valid during the call.
#pragma once

#include <cstdint>

extern "C" {
// The answer to call number `call`: `code` is empty for success, else an ErrorCode as a word and
// `text` its message.
void weft_onnx_answer(std::uint32_t call, const char* code, std::uint32_t code_size,
                      const char* text, std::uint32_t text_size);
// Before the answer, for each of its parts: bytes, which are copied, or a buffer of web.js's table.
void weft_onnx_part(std::uint32_t call, const void* bytes, double size);
void weft_onnx_buffer_part(std::uint32_t call, std::uint32_t buffer);
}
