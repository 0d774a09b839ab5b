#if canImport(Darwin)

import Dispatch

package func makeAlarm(
  on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void
) -> any Alarm {
  DispatchAlarm(on: queue, handler)
}

#endif  // canImport(Darwin)
