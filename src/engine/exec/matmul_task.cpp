#include "engine/exec/matmul_task.h"

#include <optional>

#include "engine/exec/bounds.h"
#include "engine/exec/recording.h"

namespace weft::exec {

namespace {

using gpu::BufferUsage;
using kernels::MatmulI8;
using kernels::MatmulShape;
using manifest::Range;

MatmulShape shape_of(const Job& job, Range range) {
  return {.rows = range.count, .n = job.manifest.kernel.n, .k = job.manifest.kernel.k};
}

ByteSpan rows_of_a(const Job& job, Range range) {
  const std::size_t k = job.manifest.kernel.k;
  return ByteSpan(job.data[0]).subspan(range.first * k, range.count * k);
}

std::span<const std::int8_t> as_int8(ByteSpan bytes) {
  return {reinterpret_cast<const std::int8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

Async<Result<Output>> run_matmul(gpu::Device& device, const MatmulI8& matmul,
                                 std::shared_ptr<const Job> job, RunOptions options) {
  const Stopwatch watch;
  const std::vector<Range> pieces = manifest::pieces(
      job->manifest, options.range, piece_workgroups(*job, device, options.piece_workgroups_max));
  const MatmulShape longest = shape_of(*job, pieces.front());
  const std::uint64_t uniform_stride = round_up(16, device.limits().uniform_offset_alignment);

  ErrorScopes scopes(device);
  TaskTimer timer(device, pieces.size());
  const gpu::Buffer a =
      device.create_buffer({.size = MatmulI8::a_bytes(longest),
                            .usage = BufferUsage::storage | BufferUsage::copy_destination,
                            .label = "a"});
  const gpu::Buffer b =
      device.create_buffer({.size = MatmulI8::b_bytes(longest),
                            .usage = BufferUsage::storage | BufferUsage::copy_destination,
                            .label = "b"});
  const gpu::Buffer c =
      device.create_buffer({.size = MatmulI8::c_bytes(longest),
                            .usage = BufferUsage::storage | BufferUsage::copy_source,
                            .label = "c"});
  const gpu::Buffer shapes =
      device.create_buffer({.size = uniform_stride,
                            .usage = BufferUsage::uniform | BufferUsage::copy_destination,
                            .label = "shape"});
  Readback readback(device, MatmulI8::c_bytes(longest), pieces.size());
  device.write(b, 0, MatmulI8::pack_b(longest, job->data[1]));
  const gpu::BindGroup group = matmul.bind(device, {.shape = shapes, .a = a, .b = b, .c = c});
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const MatmulShape shape = shape_of(*job, pieces[i]);
    device.write(shapes, 0, MatmulI8::pack_shape(shape));
    device.write(a, 0, MatmulI8::pack_a(shape, rows_of_a(*job, pieces[i])));
    gpu::Encoder encoder = device.create_encoder("matmul_i8");
    {
      gpu::Pass pass = encoder.begin_pass("matmul_i8", timer.next_pass());
      matmul.run(pass, group, shape);
    }
    readback.copy(encoder, c, MatmulI8::c_bytes(shape));
    if (i + 1 == pieces.size()) timer.record(encoder);
    device.submit(std::move(encoder));
  }
  ErrorScopes::Caught caught = scopes.end();
  WEFT_CO_OK(co_await caught.result());

  Output output;
  WEFT_CO_ASSIGN(ByteVector bytes, co_await readback.join());
  output.outputs.push_back(std::move(bytes));
  output.wall_seconds = watch.seconds();
  WEFT_CO_ASSIGN(output.gpu_seconds, co_await timer.seconds());
  if (output.gpu_seconds == 0) output.gpu_seconds = output.wall_seconds;
  output.dispatches = static_cast<std::uint32_t>(pieces.size());
  co_return output;
}

Output run_matmul_on_cpu(const Job& job, const RunOptions& options) {
  const Stopwatch watch;
  const MatmulShape shape = shape_of(job, options.range);
  Output output;
  ByteVector& bytes = output.outputs.emplace_back(MatmulI8::c_bytes(shape));
  // The storage of a vector is aligned for elements of any type.
  const std::span<std::int32_t> c(reinterpret_cast<std::int32_t*>(bytes.data()),
                                  bytes.size() / sizeof(std::int32_t));
  kernels::reference::matmul_i8(shape, as_int8(rows_of_a(job, options.range)), as_int8(job.data[1]),
                                c);
  output.wall_seconds = output.gpu_seconds = watch.seconds();
  output.dispatches = 1;
  return output;
}

}  // namespace weft::exec
