#include "worker/camera/helper.h"

#include <utility>

#include "common/base/match.h"

namespace weft::worker::camera {
namespace {

std::unexpected<Error> does_not_belong() {
  return fail(ErrorCode::invalid_argument, "The camera sends what does not belong on this line.");
}

}  // namespace

Result<> Helper::hear(Record record) {
  return std::visit(Match{[&](const Model& model) { return hear_model(model); },
                          [&](const Frame& frame) { return hear_frame(frame); },
                          [&](const Part& part) { return hear_part(part); },
                          [](const auto&) -> Result<> { return does_not_belong(); }},
                    record);
}

Result<> Helper::hear_model(const Model& model) {
  // The camera waits until the helper has opened a model before it sends another one.
  if (file_ || opens_) return does_not_belong();
  incoming_.reset();
  to_find_.reset();
  detector_.reset();
  ++models_;
  model_ = model.name;
  file_.emplace(model.number, model.bytes);
  return {};
}

Result<> Helper::hear_frame(const Frame& frame) {
  // A camera that does not wait for answers would fill the memory of this machine.
  if (incoming_ || to_find_ || !detector_ || frame.width != detector_->width ||
      frame.height != detector_->height)
    return does_not_belong();
  incoming_.emplace(frame, Assembly(frame.number, std::size_t{3} * frame.width * frame.height));
  return {};
}

Result<> Helper::hear_part(const Part& part) {
  const bool of_model = part.of == Part::Of::model;
  if (of_model ? !file_ : !incoming_) return does_not_belong();
  Assembly& assembly = of_model ? *file_ : incoming_->levels;
  const Assembly::Taken taken = assembly.take(part);
  if (taken == Assembly::Taken::refused) return does_not_belong();
  if (taken == Assembly::Taken::more) return {};
  if (of_model) {
    to_open_ = OpenModel{.number = assembly.number(), .name = model_, .file = assembly.whole()};
    file_.reset();
    opens_ = true;
  } else {
    to_find_ = FindBoxes{.frame = incoming_->frame, .levels = assembly.whole()};
    incoming_.reset();
  }
  return {};
}

std::optional<Helper::Arriving> Helper::arriving() const {
  if (!file_) return std::nullopt;
  return Arriving{.bytes = file_->bytes(), .bytes_all = file_->bytes_all()};
}

std::optional<Helper::Work> Helper::next() {
  if (under_way_) return std::nullopt;
  if (to_open_) {
    under_way_ = {.number = to_open_->number, .is_model = true, .models = models_};
    return std::exchange(to_open_, std::nullopt);
  }
  if (to_find_) {
    under_way_ = {.number = to_find_->frame.number, .is_model = false, .models = models_};
    return std::exchange(to_find_, std::nullopt);
  }
  return std::nullopt;
}

std::optional<Helper::UnderWay> Helper::end_work() {
  const std::optional<UnderWay> ended = std::exchange(under_way_, std::nullopt);
  return ended && ended->models == models_ ? ended : std::nullopt;
}

std::optional<Record> Helper::opened(Detector detector) {
  const auto ended = end_work();
  if (!ended || !ended->is_model) return std::nullopt;
  opens_ = false;
  detector_ = std::move(detector);
  return Ready{.number = ended->number, .gpu = detector_->gpu, .device = detector_->device};
}

std::optional<Record> Helper::found(float milliseconds, std::vector<Box> boxes) {
  const auto ended = end_work();
  if (!ended || ended->is_model) return std::nullopt;
  ++frames_;
  return Answer{.number = ended->number, .milliseconds = milliseconds, .boxes = std::move(boxes)};
}

std::optional<Record> Helper::failed(std::string_view sentence) {
  const auto ended = end_work();
  if (!ended) return std::nullopt;
  return Refusal{.number = ended->is_model ? ended->number : 0, .sentence = std::string(sentence)};
}

}  // namespace weft::worker::camera
