extension ActionQueue {
  /// From now on changes start nothing, and are collected. What runs goes on.
  public func pause() {}

  /// Ends a pause: what was collected leads to one run.
  public func resume() {}

  /// Stops what runs, as planned, without ending the queue.
  public func stopCommand() {
    send(.terminate)
  }
}
