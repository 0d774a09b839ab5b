/// What happens to a world at which virtual time, in microseconds.
struct VirtualTimeline<World> {
  typealias Time = Int
  typealias Event = (inout World) -> Void

  private(set) var now: Time = 0
  /// The next event is the last one; those of one time stay in order.
  private var events: [(time: Time, event: Event)] = []

  mutating func add(after delay: Time, _ event: @escaping Event) {
    let time = now + max(delay, 0)
    var (low, high) = (0, events.count)
    while low < high {
      let middle = (low + high) / 2
      if events[middle].time > time { low = middle + 1 } else { high = middle }
    }
    events.insert((time, event), at: low)
  }

  /// The next event until a time, which becomes the present; `nil` if there is none.
  mutating func next(until end: Time) -> Event? {
    guard let next = events.last, next.time <= end else {
      now = end
      return nil
    }
    now = next.time
    return events.removeLast().event
  }
}
