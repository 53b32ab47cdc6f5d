#include "CFunctionList.h"

#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace {

using Function = std::function<void(FunctionListEvent)>;

struct Entry {
  const FunctionListToken *token;
  Function function;
};

using Entries = std::vector<Entry>;

} // namespace

struct FunctionListToken {
  /// Empty, unless the list refers to the context weakly.
  std::shared_ptr<void> owner;
};

/// Senders copy the pointer under a shared lock, and call the functions without one, so that a function may
/// add and remove. Writers replace the list under an exclusive lock.
struct FunctionList {
  std::shared_mutex mutex;
  std::shared_ptr<const Entries> entries = std::make_shared<const Entries>();
};

FunctionList *function_list_create(void) { return new FunctionList; }

void function_list_destroy(FunctionList *list) { delete list; }

FunctionListToken *function_list_add(
    FunctionList *list, FunctionListBody body, void *context, FunctionListRelease release, bool weak) {
  std::shared_ptr<void> owner(context, release);
  auto token = new FunctionListToken;
  Function function;
  if (weak) {
    function = [body, target = std::weak_ptr<void>(owner)](FunctionListEvent event) {
      if (auto context = target.lock()) body(context.get(), event);
    };
    token->owner = std::move(owner);
  } else {
    function = [body, owner = std::move(owner)](FunctionListEvent event) { body(owner.get(), event); };
  }
  std::shared_ptr<const Entries> old; // Destroyed after the lock was released.
  std::unique_lock lock(list->mutex);
  auto entries = std::make_shared<Entries>();
  entries->reserve(list->entries->size() + 1);
  *entries = *list->entries;
  entries->push_back({token, std::move(function)});
  old = std::move(list->entries);
  list->entries = std::move(entries);
  return token;
}

void function_list_remove(FunctionList *list, FunctionListToken *token) {
  std::shared_ptr<const Entries> old; // Destroyed after the lock was released.
  {
    std::unique_lock lock(list->mutex);
    auto entries = std::make_shared<Entries>();
    entries->reserve(list->entries->size());
    for (const auto &entry : *list->entries) {
      if (entry.token != token) entries->push_back(entry);
    }
    old = std::move(list->entries);
    list->entries = std::move(entries);
  }
  delete token;
}

void function_list_send(FunctionList *list, FunctionListEvent event) {
  std::shared_ptr<const Entries> entries;
  {
    std::shared_lock lock(list->mutex);
    entries = list->entries;
  }
  for (const auto &entry : *entries) entry.function(event);
}
