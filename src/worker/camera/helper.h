// A helper's side of a session with a camera: takes the records of the camera, holds the model and
// the frames that wait, and says what to compute next. It computes nothing itself and sends nothing
// itself. It holds at most one model's file, one frame that waits and one that arrives, and refuses
// a camera that sends more.
//
// Pure; not safe to share between threads.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "worker/camera/wire.h"

namespace weft::worker::camera {

// The facts about an open model.
struct Detector {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool gpu = false;
  std::string device{};
};

class Helper {
 public:
  // The work that the caller does, one at a time.
  struct OpenModel {
    std::uint32_t number = 0;
    std::string name{};
    ByteVector file{};
  };
  struct FindBoxes {
    Frame frame{};
    ByteVector levels{};  // [3][height][width]
  };
  using Work = std::variant<OpenModel, FindBoxes>;

  // Takes a record. Fails with invalid_argument if the record does not belong on this line; the
  // line then ends.
  [[nodiscard]] Result<> hear(Record record);
  // Returns the next work, or nullopt if there is none or one is under way.
  [[nodiscard]] std::optional<Work> next();

  // The end of the work. Each returns the record to send, or nullopt if another model has arrived
  // meanwhile. A refusal ends the line after it was sent.
  [[nodiscard]] std::optional<Record> opened(Detector detector);
  [[nodiscard]] std::optional<Record> found(float milliseconds, std::vector<Box> boxes);
  [[nodiscard]] std::optional<Record> failed(std::string_view sentence);

  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  // The bytes of a model that have arrived and are announced; nullopt if none arrives.
  struct Arriving {
    std::size_t bytes = 0;
    std::size_t bytes_all = 0;
  };
  [[nodiscard]] std::optional<Arriving> arriving() const;
  // The name of the latest model; empty before the first one.
  [[nodiscard]] const std::string& model() const { return model_; }

 private:
  struct Incoming {
    Frame frame;
    Assembly levels;
  };
  struct UnderWay {
    std::uint32_t number = 0;  // The number of the model or the frame.
    bool is_model = false;
    std::uint64_t models = 0;  // The value of models_ when the work began.
  };
  [[nodiscard]] Result<> hear_model(const Model& model);
  [[nodiscard]] Result<> hear_frame(const Frame& frame);
  [[nodiscard]] Result<> hear_part(const Part& part);
  // Ends the work under way. Returns nullopt if its result is not wanted any more.
  [[nodiscard]] std::optional<UnderWay> end_work();

  std::uint64_t models_ = 0;  // The number of models that were announced.
  std::string model_;
  std::optional<Assembly> file_;  // The model that arrives.
  bool opens_ = false;            // A model has arrived and is not open yet.
  std::optional<OpenModel> to_open_;
  std::optional<Detector> detector_;
  std::optional<Incoming> incoming_;
  std::optional<FindBoxes> to_find_;
  std::optional<UnderWay> under_way_;
  std::uint64_t frames_ = 0;  // Frames whose boxes were sent.
};

}  // namespace weft::worker::camera
