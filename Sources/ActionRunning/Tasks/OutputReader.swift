import Dispatch
import FileObservation
import Support
import SystemCalls

/// Reads what a run writes into a pipe, and hands it on by whole lines.
///
/// Nothing is read ahead: as long as a line is being handed on, the pipe fills up and its writers wait.
/// Others than the run itself may hold the pipe for longer than that lives, so its end is not waited
/// for.
final class OutputReader: Sendable {
  private struct State {
    var splitter = LineSplitter()
    /// Nil when nothing is read any more.
    var source: (any DispatchSourceRead)?
  }

  private static let part = 64 * 1024
  /// More than a pipe may hold, for all but the administrator.
  private static let mostAtEnd = 1024 * 1024

  private let descriptor: Int32
  private let state: Confined<State>
  private let handOn: @Sendable ([UInt8]) -> Void

  /// A reader, and the end of the pipe to write into.
  ///
  /// - Parameter line: Is called on the queue with each line, without its end.
  static func open(
    on queue: DispatchQueue, line: @escaping @Sendable ([UInt8]) -> Void
  ) throws(SystemError) -> (OutputReader, PipeInput) {
    let (output, input) = try makePipe()
    return (try OutputReader(output, queue, line), input)
  }

  private init(
    _ descriptor: Int32, _ queue: DispatchQueue, _ handOn: @escaping @Sendable ([UInt8]) -> Void
  ) throws(SystemError) {
    self.descriptor = descriptor
    self.handOn = handOn
    let source = try makeReadSource(owning: Descriptor(owning: descriptor), on: queue)
    state = Confined(State(source: source), to: queue)
    // The handlers hold the reader until the source is cancelled.
    source.setEventHandler { @Sendable [self] in _ = read() }
    source.activate()
  }

  /// The run has ended: hands on what it has written, to the last byte. What others write who hold the
  /// pipe still is handed on as it comes.
  func runHasEnded() {
    // They may write without end.
    for _ in 0..<(Self.mostAtEnd / Self.part) where !read() { break }
    if let rest = state.access({ $0.splitter.finish() }) { handOn(rest) }
  }

  /// Reads once. False if nothing was there.
  private func read() -> Bool {
    if state.access({ $0.source == nil }) { return false }
    switch readAvailable(descriptor, atMost: Self.part) {
    case .bytes(let bytes):
      for line in state.access({ $0.splitter.add(bytes) }) { handOn(line) }
      return true
    case .nothing:
      return false
    case .end:
      let rest = state.access { state in
        state.source?.cancel()
        state.source = nil
        return state.splitter.finish()
      }
      if let rest { handOn(rest) }
      return false
    }
  }
}
