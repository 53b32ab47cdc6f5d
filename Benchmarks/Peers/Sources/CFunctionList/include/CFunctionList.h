#pragma once

#include <stdbool.h>

// A copy-on-write list of `std::function` under a `std::shared_mutex`, for callers that do not speak C++.

#ifdef __cplusplus
extern "C" {
#endif

/// What is sent.
typedef struct {
  long value;
  /// Where a function may count. Belongs to the thread that sends.
  long *_Nonnull tally;
} FunctionListEvent;

typedef void (*FunctionListBody)(void *_Nonnull context, FunctionListEvent event);
typedef void (*FunctionListRelease)(void *_Nonnull context);

/// The list.
typedef struct FunctionList FunctionList;
/// What removes a function, and the owner of a context that the list refers to weakly.
typedef struct FunctionListToken FunctionListToken;

FunctionList *_Nonnull function_list_create(void);
void function_list_destroy(FunctionList *_Nonnull list);

/// Adds a function that calls `body` with `context`, which it owns: when no call is possible any more,
/// `release` frees it. If `weak`, the token owns `context`, and each call locks a `std::weak_ptr`.
FunctionListToken *_Nonnull function_list_add(
    FunctionList *_Nonnull list, FunctionListBody _Nonnull body, void *_Nonnull context,
    FunctionListRelease _Nonnull release, bool weak);
/// Removes the function, and frees `token`.
void function_list_remove(FunctionList *_Nonnull list, FunctionListToken *_Nonnull token);

void function_list_send(FunctionList *_Nonnull list, FunctionListEvent event);

#ifdef __cplusplus
}
#endif
