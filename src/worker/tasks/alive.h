// Callbacks that may run after their owner is destroyed: guard(f) calls f until the Alive is
// destroyed, and does nothing after that.
#pragma once

#include <memory>
#include <utility>

namespace weft::worker {

class Alive {
 public:
  Alive() = default;
  Alive(const Alive&) = delete;

  template <class Function>
  [[nodiscard]] auto guard(Function function) const {
    return [weak = std::weak_ptr<const char>(token_),
            function = std::move(function)](auto&&... arguments) mutable {
      if (weak.lock()) function(std::forward<decltype(arguments)>(arguments)...);
    };
  }

 private:
  std::shared_ptr<const char> token_ = std::make_shared<const char>('x');
};

}  // namespace weft::worker
