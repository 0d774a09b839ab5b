/// A server to which a page passes requests, with what notices that it has changed. Confined to the
/// loop's queue.
final class ProxiedServer {
  let upstream: Upstream
  let answers: AnswerMonitor
  /// `nil` for a server on another machine.
  private let monitor: ServerMonitor?

  /// - Parameters:
  ///   - monitor: The monitor of the server's port.
  ///   - willAsk: Called before each request that is made to compare answers.
  ///   - changed: Called when the page must reload because the server answers differently.
  init(
    _ upstream: Upstream, monitor: ServerMonitor?, willAsk: @escaping () -> Void,
    changed: @escaping () -> Void
  ) {
    self.upstream = upstream
    self.monitor = monitor
    answers = AnswerMonitor(
      of: upstream, isFresh: { [weak monitor] in monitor?.isFresh == true },
      willAsk: willAsk, changed: changed)
  }

  /// The server has answered a request.
  func answered() {
    if !upstream.isRestarting { monitor?.answered() }
  }
}
