#if canImport(Darwin)

import Dispatch

func makeAlarm(
  on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void
) -> any Alarm {
  DispatchAlarm(on: queue, handler)
}

#endif  // canImport(Darwin)
