import Dispatch
import FileObservation
import Support
import SystemCalls

/// Reads the output of a run from a pipe and delivers it line by line.
///
/// Nothing is read ahead: while a line is delivered, the pipe fills up and its writers block. Other
/// processes may keep the pipe open after the run has ended, so the reader does not wait for the
/// end of the pipe.
final class OutputReader: Sendable {
  private struct State {
    var splitter = LineSplitter()
    /// `nil` after the end of the pipe.
    var source: (any DispatchSourceRead)?
  }

  private static let part = 64 * 1024
  /// More than the capacity of a pipe, unless root has raised it.
  private static let mostAtEnd = 1024 * 1024

  private let descriptor: Int32
  private let state: Confined<State>
  private let deliver: @Sendable ([UInt8]) -> Void

  /// Creates a reader, and the write end of its pipe.
  /// - Parameter line: Called on the queue with each line, without the line feed.
  static func open(
    on queue: DispatchQueue, line: @escaping @Sendable ([UInt8]) -> Void
  ) throws(SystemError) -> (OutputReader, PipeInput) {
    let (output, input) = try makePipe()
    return (try OutputReader(output, queue, line), input)
  }

  private init(
    _ descriptor: Int32, _ queue: DispatchQueue, _ deliver: @escaping @Sendable ([UInt8]) -> Void
  ) throws(SystemError) {
    self.descriptor = descriptor
    self.deliver = deliver
    let source = try makeReadSource(owning: Descriptor(owning: descriptor), on: queue)
    state = Confined(State(source: source), to: queue)
    // The handlers retain the reader until the source is cancelled.
    source.setEventHandler { @Sendable [self] in _ = read() }
    source.activate()
  }

  /// Delivers all that the ended run has written. Output of other processes that have the pipe open
  /// is delivered as it arrives.
  func runHasEnded() {
    // Other processes may write without end.
    for _ in 0..<(Self.mostAtEnd / Self.part) where !read() { break }
    if let rest = state.access({ $0.splitter.finish() }) { deliver(rest) }
  }

  /// Reads once. Returns false if nothing was available.
  private func read() -> Bool {
    if state.access({ $0.source == nil }) { return false }
    switch readAvailable(descriptor, atMost: Self.part) {
    case .bytes(let bytes):
      for line in state.access({ $0.splitter.add(bytes) }) { deliver(line) }
      return true
    case .nothing:
      return false
    case .end:
      let rest = state.access { state in
        state.source?.cancel()
        state.source = nil
        return state.splitter.finish()
      }
      if let rest { deliver(rest) }
      return false
    }
  }
}
