import Dispatch

extension DispatchQueue {
  /// A new serial queue for work beside that of other queues, which may block.
  ///
  /// Dispatch's global queues are not used: as soon as one of them has had work, Dispatch on Linux wakes up
  /// every second to count its threads, for as long as the process lives.
  package static func separate(qos: DispatchQoS = .unspecified) -> DispatchQueue {
    DispatchQueue(label: "watchrun.separate", qos: qos)
  }
}
