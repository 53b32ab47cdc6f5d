import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// One caller blocks the event loops at a time: two would wait for each other.
private let blocking = NIOLock()

/// Runs `body` while every event loop is blocked, so that no stream writes.
func blockingEventLoops<R>(_ body: () throws -> R) rethrows -> R {
  blocking.lock()
  defer { blocking.unlock() }
  let blocked = DispatchSemaphore(value: 0)
  let end = DispatchSemaphore(value: 0)
  let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
  for loop in loops {
    loop.execute {
      blocked.signal()
      end.wait()
    }
  }
  for _ in loops { blocked.wait() }
  defer { for _ in loops { end.signal() } }
  return try body()
}
