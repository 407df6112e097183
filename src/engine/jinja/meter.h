// Counts the steps, the memory and the depth of one rendering against its limits. Every node that
// runs is a step, and so is every 64 bytes of text or elements that a node makes.
//
// Errors: resource_exhausted with the name of the bound in RenderLimits. Threading: one thread.
#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "engine/jinja/template.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

class Meter {
 public:
  // `heap` holds the values of the rendering; its bytes count as memory.
  Meter(const RenderLimits& limits, const Heap& heap) : limits_(limits), heap_(heap) {}

  [[nodiscard]] Result<> step();
  // Counts work of `bytes` bytes beyond the step of the node. Call it before making anything of
  // that size.
  [[nodiscard]] Result<> charge(std::uint64_t bytes);

  // Counts one more level of nested nodes while this object lives. The next step() fails if the
  // nodes are nested too deep.
  class Level {
   public:
    explicit Level(Meter& meter) : meter_(meter) { ++meter_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --meter_.depth_; }

   private:
    Meter& meter_;
  };

  // The template's line that runs now, counted from 1, for error messages.
  [[nodiscard]] std::uint32_t line() const { return line_; }
  void at_line(std::uint32_t line) { line_ = line; }

 private:
  const RenderLimits limits_;
  const Heap& heap_;
  std::uint64_t steps_ = 0;
  int depth_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace weft::jinja
