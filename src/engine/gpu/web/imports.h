// The functions that web.js implements, and the types of the functions that it calls back.
//
// Handles are u32, even with pointers of 64 bits. Sizes and offsets are passed as double (exact to
// 2^53), and so are pointers that come back from JavaScript, so that no value is a BigInt. Text is
// passed as pointer and length.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace weft::gpu::web {

// The callback of an asynchronous import. The import calls it once: with status 0 and a value, or
// with another status of StatusCode and a message. It is made with new; the operation owns it.
enum class StatusCode : int {
  ok = 0,
  invalid_argument = 1,
  out_of_memory = 2,
  internal = 3,
  unavailable = 4,
  device_lost = 5,
  cancelled = 6
};
struct Callback {
  std::function<void(StatusCode status, double value, std::string_view text)> call;
  std::function<bool()> wanted = [] { return true; };
};
// The callback for the events of a device: errors that no scope caught, and the loss. Every device
// reports a loss at its end, and the callback is then deleted.
struct Listener {
  std::function<void(bool lost, std::string_view text)> call;
};

}  // namespace weft::gpu::web

extern "C" {
void weft_gpu_adapter(void* callback);
// The callback gets the device as value and lines of KEY=VALUE as text; see parse_fields().
void weft_gpu_device(void* callback, void* listener, const char* label, std::uint32_t label_size,
                     const char* features, std::uint32_t features_size);
void weft_gpu_destroy(std::uint32_t device);
std::uint32_t weft_gpu_buffer(std::uint32_t device, double size, std::uint32_t usage,
                              const char* label, std::uint32_t label_size);
// Each binding of `bindings` has a pair of offset and size in `ranges`; a negative size stands for
// the rest of the buffer.
std::uint32_t weft_gpu_bind_group(std::uint32_t device, std::uint32_t pipeline, std::uint32_t group,
                                  std::uint32_t count, const std::uint32_t* bindings,
                                  const std::uint32_t* buffers, const double* ranges);
std::uint32_t weft_gpu_timestamps(std::uint32_t device, std::uint32_t count);
// `layout` has for each group its number of bindings and then pairs of binding and kind. `names`
// are separated by line ends.
void weft_gpu_pipeline(void* callback, std::uint32_t device, const char* wgsl,
                       std::uint32_t wgsl_size, const char* entry, std::uint32_t entry_size,
                       const char* label, std::uint32_t label_size, const std::uint32_t* layout,
                       std::uint32_t layout_count, const char* names, std::uint32_t names_size,
                       const double* values, std::uint32_t immediate_bytes);
// The callback gets the messages as text; see parse_messages().
void weft_gpu_messages(void* callback, std::uint32_t device, const char* wgsl,
                       std::uint32_t wgsl_size);
void weft_gpu_release(std::uint32_t handle, int destroy);
std::uint32_t weft_gpu_encoder(std::uint32_t device, const char* label, std::uint32_t label_size);
std::uint32_t weft_gpu_begin_pass(std::uint32_t encoder, const char* label,
                                  std::uint32_t label_size, std::uint32_t query_set,
                                  std::uint32_t begin, std::uint32_t end);
void weft_gpu_dispatch(std::uint32_t pass, std::uint32_t pipeline, std::uint32_t g0,
                       std::uint32_t g1, std::uint32_t g2, std::uint32_t g3, std::uint32_t x,
                       std::uint32_t y, std::uint32_t z);
void weft_gpu_immediates(std::uint32_t pass, const void* bytes, std::uint32_t size);
void weft_gpu_end_pass(std::uint32_t pass);
void weft_gpu_copy(std::uint32_t encoder, std::uint32_t source, double source_offset,
                   std::uint32_t destination, double destination_offset, double size);
void weft_gpu_clear(std::uint32_t encoder, std::uint32_t buffer, double offset, double size);
void weft_gpu_resolve(std::uint32_t encoder, std::uint32_t query_set, std::uint32_t first,
                      std::uint32_t count, std::uint32_t destination, double offset);
void weft_gpu_submit(std::uint32_t device, std::uint32_t encoder);
void weft_gpu_write(std::uint32_t device, std::uint32_t buffer, double offset, const void* bytes,
                    double size);
void weft_gpu_read(void* callback, std::uint32_t buffer, double offset, double size, void* out);
void weft_gpu_idle(void* callback, std::uint32_t device);
void weft_gpu_push_scope(std::uint32_t device, int filter);
void weft_gpu_pop_scope(void* callback, std::uint32_t device);
}
