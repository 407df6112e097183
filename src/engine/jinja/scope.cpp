#include "engine/jinja/scope.h"

namespace weft::jinja {

const Value* Scope::find(std::string_view name) const {
  for (const auto& [key, value] : names)
    if (key == name) return &value;
  return nullptr;
}

void Scope::set(std::string_view name, Value value) {
  for (auto& [key, held] : names) {
    if (key == name) {
      held = value;
      return;
    }
  }
  names.emplace_back(name, value);
}

const Value* find_name(const Scope& scope, std::string_view name) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent)
    if (const Value* value = at->find(name)) return value;
  return nullptr;
}

Result<Scope*> Scopes::add(Scope* parent) {
  heap_.charge(sizeof(Scope));
  WEFT_OK(meter_.charge(0));
  return &scopes_.emplace_back(parent);
}

}  // namespace weft::jinja
