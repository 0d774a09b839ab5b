import Dispatch

extension DispatchSourceProtocol {
  /// Activates the source with an event handler that retains it until the handler cancels it.
  package func activateRetained(
    _ handler: @escaping @Sendable (_ cancel: () -> Void) -> Void
  ) {
    // Dispatch documents that sources may be used on any thread, but their types are not Sendable.
    nonisolated(unsafe) let retained = self
    setEventHandler { @Sendable in handler { retained.cancel() } }
    activate()
  }
}
