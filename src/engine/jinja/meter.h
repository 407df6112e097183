// What one rendering of a template may still use: steps, memory, depth. Every node that is run is a
// step, and so is every 64 bytes of text or elements that a node makes.
//
// Errors: resource_exhausted, naming the bound of RenderLimits. Threading: one thread.
#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "engine/jinja/template.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

class Meter {
 public:
  // `heap` holds the values of the rendering and is counted by its bytes.
  Meter(const RenderLimits& limits, const Heap& heap) : limits_(limits), heap_(heap) {}

  [[nodiscard]] Result<> step();
  // Counts work beyond one step, in bytes. Call it before anything of that size is made.
  [[nodiscard]] Result<> charge(std::uint64_t bytes);

  // One level more of nodes inside nodes, until it goes out of scope. The next step() fails if that
  // is too deep.
  class Level {
   public:
    explicit Level(Meter& meter) : meter_(meter) { ++meter_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --meter_.depth_; }

   private:
    Meter& meter_;
  };

  // The template's line that runs now, from 1; errors name it.
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
