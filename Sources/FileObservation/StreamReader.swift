/// The task of a stream. It keeps the observer alive.
final class StreamReader: Sendable {
  let observer: FileObserver
  let buffer = EventBuffer()
  let subscription: FileObserver.Subscription

  init(_ observer: FileObserver) {
    self.observer = observer
    let buffer = buffer
    subscription = observer.subscribe(
      FileObserver.Subscriber(
        receive: { buffer.put($0) }, end: { buffer.close($0) },
        settle: { buffer.settle(for: $0, $1) }))
  }

  deinit {
    observer.unsubscribe(subscription)
    buffer.close(nil)
  }
}
