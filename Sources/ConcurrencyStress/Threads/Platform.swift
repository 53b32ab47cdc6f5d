// The platforms on which the stress kit does not compile, and what it lacks there.

#if os(Windows)
  #error("ConcurrencyStress does not support Windows: it needs POSIX threads (pthread.h)")
#elseif arch(wasm32)
  #error("ConcurrencyStress does not support WebAssembly: it needs POSIX threads and Dispatch")
#endif
