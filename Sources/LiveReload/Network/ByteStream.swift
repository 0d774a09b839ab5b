import Support
import SystemCalls

/// A receiver of the events of a byte stream.
protocol ByteStreamOwner: AnyObject {
  /// Bytes have arrived. They are valid during the call only.
  func received(_ bytes: UnsafeRawBufferPointer)
  /// The peer has closed its sending side.
  func receivedEnd()
  /// Most of the output buffer has been sent.
  func drained()
  /// The stream was closed by the peer, an error or a deadline. This is the last call.
  func closed()
}

/// A connected socket with an output buffer, confined to the loop's queue.
final class ByteStream: SocketHandler {
  private enum Part {
    case bytes(ArraySlice<UInt8>)
    case file(OpenFile, offset: Int64, count: Int)
  }

  /// A file that stays open while a part of it is sent.
  final class OpenFile {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
      self.descriptor = descriptor
    }

    /// Reads the rest of the file, of which the size is expected to be this.
    func readAll(sizeHint: Int) throws(SystemError) -> [UInt8] {
      try SystemCalls.readAll(descriptor, partSize: sizeHint + 1)
    }

    /// Sends the beginning of a part, unless the file has become shorter.
    fileprivate func send(
      from offset: Int64, count: Int, to socket: any StreamSocket
    ) -> Socket.Sent {
      let file = descriptor.number
      return withUnsafeTemporaryAllocation(byteCount: min(count, 64 * 1024), alignment: 16) {
        part in
        let count = retryingOnInterrupt { pread(file, part.baseAddress, part.count, off_t(offset)) }
        return count > 0 ? socket.send(UnsafeRawBufferPointer(rebasing: part[..<count])) : .failed
      }
    }
  }

  /// The buffer size below which more may be written.
  static let lowWater = 64 * 1024
  private static let partsInARow = 4
  /// The number of bytes of a file that are sent before other streams are served.
  private static let fileSlice = 512 * 1024

  private let loop: SocketLoop
  private let socket: any StreamSocket
  private(set) var isClosed = false
  private var token: UInt64 = 0
  private weak var owner: (any ByteStreamOwner)?
  private var output: [Part] = []
  /// The number of buffered bytes, not counting files.
  private(set) var pendingCount = 0
  private var canRead = false
  private var canWrite: Bool
  private var isPaused = false
  private var hasReadEnd = false
  /// Whether our side is ended as soon as the output has been sent.
  private var endsWhenSent = false
  private var isDiscarding = false
  /// Whether the peer, a server, takes no more, though it may have answered before.
  private var hasRefused = false
  private var isConnecting: Bool
  /// Whether a peer that takes no output is left alone.
  private let isPatient: Bool
  private var deadlines: [StreamDeadline: SocketLoop.Call] = [:]

  /// Creates the stream of a socket of a client, or of one that is still connecting to a server. `drained` is called
  /// when that is connected.
  ///
  /// A server may take a request as slowly as it likes: its client decides how long to wait.
  init(
    _ socket: any StreamSocket, isConnecting: Bool = false, on loop: SocketLoop
  ) throws(SystemError) {
    self.loop = loop
    self.socket = socket
    self.isConnecting = isConnecting
    isPatient = isConnecting
    canWrite = !isConnecting
    token = try loop.add(self, for: socket)
    if isConnecting { start(.connecting) }
  }

  /// Sets the receiver of events, which is referenced weakly.
  func setOwner(_ owner: any ByteStreamOwner) {
    self.owner = owner
  }

  // MARK: - Writing

  /// Whether the writer should wait for `drained`.
  var isFull: Bool { pendingCount > Self.lowWater || hasFile }

  /// Whether the peer has still to receive something.
  var hasOutput: Bool { !output.isEmpty }

  private var hasFile: Bool {
    output.contains { if case .file = $0 { true } else { false } }
  }

  func write(_ bytes: [UInt8]) {
    guard !isClosed, !hasRefused, !bytes.isEmpty else { return }
    output.append(.bytes(bytes[...]))
    pendingCount += bytes.count
    loop.noteBuffered(bytes.count)
    flush()
  }

  /// Sends a part of a file, of which little is in memory.
  func write(_ file: OpenFile, from offset: Int64, count: Int) {
    guard !isClosed, count > 0 else { return }
    output.append(.file(file, offset: offset, count: count))
    flush()
  }

  private func flush() {
    guard canWrite, !isClosed else { return }
    var slices = 0
    while let part = output.first {
      switch send(part) {
      case .count(let count):
        advance(by: count)
        if case .file = part {
          slices += count
          if slices >= Self.fileSlice, !output.isEmpty { return loop.giveTurn(to: token) }
        }
      case .nothing:
        canWrite = false
        if (!isPatient || endsWhenSent) && !isAwaiting(.output) { start(.output) }
        return
      case .failed:
        return isPatient ? endOutput() : close()
      }
    }
    clear(.output)
    if endsWhenSent { endSide() }
  }

  /// The server takes no more. Its answer, such as that to an upload that it refuses, may still be read.
  private func endOutput() {
    hasRefused = true
    (output, pendingCount) = ([], 0)
    canRead = true
    loop.giveTurn(to: token)
  }

  private func send(_ part: Part) -> Socket.Sent {
    switch part {
    case .bytes(let bytes): return bytes.withUnsafeBytes { socket.send($0) }
    case .file(let file, let offset, let count):
      return file.send(from: offset, count: count, to: socket)
    }
  }

  private func advance(by count: Int) {
    clear(.output)
    switch output[0] {
    case .bytes(let bytes):
      pendingCount -= count
      output[0] = .bytes(bytes.dropFirst(count))
      if count == bytes.count { output.removeFirst() }
    case .file(let file, let offset, let rest):
      output[0] = .file(file, offset: offset + Int64(count), count: rest - count)
      if count == rest { output.removeFirst() }
    }
  }

  func takeTurn() {
    continueWriting()
    if canRead { readAvailableBytes() }
  }

  private func continueWriting() {
    let wasFull = isFull
    flush()
    if wasFull && !isFull && !isClosed { owner?.drained() }
  }

  // MARK: - Reading

  /// Stops reading, so that the peer soon has to stop sending.
  func pause() {
    isPaused = true
  }

  func resume() {
    guard isPaused else { return }
    isPaused = false
    if canRead { loop.giveTurn(to: token) }
  }

  /// Whether the peer has neither sent a byte nor closed its side since the last read. Bytes that it has sent are lost.
  func isQuiet() -> Bool {
    !isClosed && !hasReadEnd && socket.receive(into: loop.readBuffer) == nil
  }

  /// Closes the stream as soon as a peer that has ended its side has gone.
  func probePeer() {
    socket.probePeer()
  }

  private func readAvailableBytes() {
    for _ in 0..<Self.partsInARow {
      guard canRead, !isClosed, !isPaused || isDiscarding else { return }
      guard let count = socket.receive(into: loop.readBuffer) else {
        canRead = false
        return hasRefused ? close() : ()
      }
      // What was cut off must not be taken for complete.
      if count < 0 { return close() }
      if count == 0 {
        canRead = false
        if isDiscarding || isAwaiting(.halfClosed) { return close() }
        // Each later event finds the same end.
        if hasReadEnd { return socket.error == nil ? () : close() }
        hasReadEnd = true
        owner?.receivedEnd()
        return
      }
      if isDiscarding { continue }
      if isAwaiting(.halfClosed) { start(.halfClosed) }
      owner?.received(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
    }
    loop.giveTurn(to: token)
  }

  // MARK: - Events

  func socketChanged(isReadable: Bool, isWritable: Bool) {
    // Once told, also while it is connecting: a server may answer before it is asked.
    if isReadable { canRead = true }
    if isConnecting {
      finishConnecting(isWritable: isWritable)
    } else if isWritable && !canWrite {
      canWrite = true
      continueWriting()
    }
    if canRead && !isConnecting && !isClosed { readAvailableBytes() }
  }

  private func finishConnecting(isWritable: Bool) {
    guard isWritable else { return }
    if socket.error != nil { return close() }
    isConnecting = false
    clear(.connecting)
    canWrite = true
    owner?.drained()
    flush()
  }

  // MARK: - Deadlines

  var now: Instant { loop.now }

  /// Sets a deadline, after which the stream is closed, or renews it.
  func start(_ reason: StreamDeadline) {
    if isClosed { return }
    clear(reason)
    deadlines[reason] = loop.call(after: reason.limit) { [weak self] in
      guard let self else { return }
      let isExcused =
        switch reason {
        // It is not a paused peer that makes no progress.
        case .body, .halfClosed: isPaused
        // A peer that receives makes progress by the deadline of the output.
        case .idle, .head: hasOutput
        default: false
        }
      if isExcused { start(reason) } else { close() }
    }
  }

  func clear(_ reason: StreamDeadline) { deadlines.removeValue(forKey: reason)?.cancel() }

  func isAwaiting(_ reason: StreamDeadline) -> Bool { deadlines[reason] != nil }

  // MARK: - Closing

  /// Closes the stream after the peer has received all output. Bytes from the peer are dropped meanwhile.
  func closeWhenSent() {
    isDiscarding = true
    for reason in deadlines.keys where reason != .output { clear(reason) }
    endWhenSent()
  }

  /// Ends our side after the peer has received all output. The peer may still send.
  func endWhenSent() {
    if isClosed { return }
    endsWhenSent = true
    if output.isEmpty { endSide() } else if !canWrite { start(.output) }
  }

  private func endSide() {
    if hasReadEnd { return close() }
    socket.shutDownWriting()
    endsWhenSent = false
    start(isDiscarding ? .draining : .halfClosed)
    if canRead { loop.giveTurn(to: token) }
  }

  /// Closes the stream at once. Unsent output is lost.
  func close() {
    if isClosed { return }
    isClosed = true
    for reason in deadlines.keys { clear(reason) }
    loop.remove(token)
    socket.close()
    output = []
    pendingCount = 0
    let owner = owner
    self.owner = nil
    owner?.closed()
  }
}
