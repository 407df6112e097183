#include "worker/sandbox/sandboxed_detector.h"

#include <limits>
#include <utility>

namespace weft::worker {
namespace {

constexpr std::uint64_t boxes_max = 1000;
constexpr std::uint64_t label_bytes_max = 256;
constexpr std::uint64_t reply_bytes_max = std::uint64_t{1} << 20;

}  // namespace

Result<std::unique_ptr<SandboxedDetector>> SandboxedDetector::start(const Options& options) {
  WEFT_ASSIGN(auto sandbox,
              Sandbox::start({.program = options.program,
                              .arguments = options.arguments,
                              .adapter = options.adapter,
                              .unsafe = options.unsafe,
                              .duty = options.gpu ? Sandbox::Duty::detector
                                                  : Sandbox::Duty::detector_on_processor}));
  WEFT_ASSIGN(std::vector<std::string> missing, sandbox->wait_ready());
  return std::unique_ptr<SandboxedDetector>(
      new SandboxedDetector(options, std::move(sandbox), std::move(missing)));
}

Result<SandboxedDetector::Facts> SandboxedDetector::open(ByteSpan file,
                                                         std::uint64_t held_bytes_max) {
  WEFT_ASSIGN(const ByteVector reply,
              sandbox_->ask_service(FrameKind::open_detector,
                                    Packer().number(held_bytes_max).bytes(file).take(),
                                    options_.open_max, reply_bytes_max));
  Unpacker in(reply);
  WEFT_ASSIGN(const std::uint64_t width, in.number());
  WEFT_ASSIGN(const std::uint64_t height, in.number());
  WEFT_ASSIGN(const std::uint64_t gpu, in.number());
  Facts out{.gpu = gpu != 0};
  WEFT_ASSIGN(out.device, in.text());
  constexpr std::uint64_t most = std::numeric_limits<std::uint16_t>::max();
  if (width == 0 || height == 0 || width > most || height > most)
    return fail(ErrorCode::data_loss, "The process of the model sends a size of {} x {} pixels.",
                width, height);
  out.width = static_cast<std::uint32_t>(width);
  out.height = static_cast<std::uint32_t>(height);
  return out;
}

Result<std::vector<SandboxedDetector::Box>> SandboxedDetector::find(ByteSpan levels,
                                                                    const Placed& placed) {
  Packer packer;
  packer.real(placed.left).real(placed.top).real(placed.scale_x).real(placed.scale_y);
  packer.bytes(levels);
  WEFT_ASSIGN(const ByteVector reply, sandbox_->ask_service(FrameKind::find_boxes, packer.take(),
                                                            options_.find_max, reply_bytes_max));
  Unpacker in(reply);
  WEFT_ASSIGN(const std::uint64_t count, in.number());
  if (count > boxes_max)
    return fail(ErrorCode::data_loss,
                "The process of the model sends {} boxes; at most {} are read.", count, boxes_max);
  std::vector<Box> out(static_cast<std::size_t>(count));
  for (Box& box : out) {
    WEFT_ASSIGN(const std::uint64_t class_id, in.number());
    box.class_id = static_cast<std::int64_t>(class_id);
    WEFT_ASSIGN(box.score, in.real());
    for (double& side : box.sides) {
      WEFT_ASSIGN(side, in.real());
    }
    WEFT_ASSIGN(box.label, in.text());
    if (box.label.size() > label_bytes_max) box.label.resize(label_bytes_max);
  }
  return out;
}

}  // namespace weft::worker
