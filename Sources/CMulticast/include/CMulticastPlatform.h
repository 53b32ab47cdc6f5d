// The platforms on which the library does not compile, and what it lacks there. Elsewhere this defines
// `CMULTICAST_IS_SUPPORTED`.

#ifndef CMULTICAST_PLATFORM_H
#define CMULTICAST_PLATFORM_H

#if defined(_WIN32)
#error "Multicast does not support Windows: it needs POSIX threads (pthread.h)"
#elif defined(__wasm__)
#error "Multicast does not support WebAssembly: it needs POSIX threads and Dispatch"
#elif __SIZEOF_POINTER__ < 8
#error "Multicast needs 64-bit pointers: its entries and counters are laid out for them"
#else
#define CMULTICAST_IS_SUPPORTED
#endif

#endif
