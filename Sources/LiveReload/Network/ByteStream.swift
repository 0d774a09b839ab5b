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
    case bytes([UInt8], from: Int)
    case file(OpenFile, offset: Int64, count: Int)
  }

  /// A file that stays open while a part of it is sent.
  final class OpenFile {
    let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
      self.descriptor = descriptor
    }

    /// Reads the rest of the file, of which the size is expected to be this.
    func readAll(sizeHint: Int) throws(SystemError) -> [UInt8] {
      try SystemCalls.readAll(descriptor, partSize: sizeHint + 1)
    }
  }

  /// The buffer size below which more may be written.
  static let lowWater = 64 * 1024
  private static let partsInARow = 4
  /// The number of bytes of a file that are sent before other streams are served.
  private static let fileSlice = 512 * 1024

  private let loop: SocketLoop
  private var socket: Descriptor?
  private var token: UInt64 = 0
  private weak var owner: (any ByteStreamOwner)?
  private var output: [Part] = []
  /// The number of buffered bytes, not counting files.
  private(set) var pendingCount = 0
  private var canRead = false
  private var canWrite = true
  private var isPaused = false
  private var hasReadEnd = false
  private var closesWhenSent = false
  private var isDiscarding = false
  private var isConnecting: Bool
  private var patience: Int?
  /// Whether anything was sent after the deadline was set.
  private var hasProgressed = false

  /// - Parameter isConnecting: Whether the socket is still connecting; `drained` is called when it
  ///   is connected.
  init(
    _ socket: consuming Descriptor, on loop: SocketLoop, isConnecting: Bool = false
  ) throws(SystemError) {
    self.loop = loop
    self.isConnecting = isConnecting
    canWrite = !isConnecting
    let number = socket.number
    self.socket = consume socket
    token = try loop.add(self, for: number)
  }

  /// Sets the receiver of events, which is referenced weakly.
  func setOwner(_ owner: any ByteStreamOwner) {
    self.owner = owner
  }

  var isClosed: Bool { socket == nil }

  // MARK: - Writing

  /// Whether the writer should wait for `drained`.
  var isFull: Bool { pendingCount > Self.lowWater || hasFile }

  private var hasFile: Bool {
    output.contains { if case .file = $0 { true } else { false } }
  }

  func write(_ bytes: [UInt8]) {
    guard !isClosed, !bytes.isEmpty else { return }
    output.append(.bytes(bytes, from: 0))
    pendingCount += bytes.count
    flush()
  }

  /// Sends a part of a file, without reading it into memory.
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
          if slices >= Self.fileSlice, !output.isEmpty { return continueLater() }
        }
      case .nothing:
        canWrite = false
        return
      case .failed:
        return close()
      }
    }
    if closesWhenSent { finishClosing() }
  }

  private func send(_ part: Part) -> Socket.Sent {
    guard let socket = socket.borrowedNumber else { return .failed }
    switch part {
    case .bytes(let bytes, let start):
      return bytes.withUnsafeBytes {
        Socket.send(UnsafeRawBufferPointer(rebasing: $0[start...]), to: socket)
      }
    case .file(let file, var offset, let count):
      return Socket.send(
        min(count, Self.fileSlice), of: file.descriptor, from: &offset, to: socket)
    }
  }

  private func advance(by count: Int) {
    hasProgressed = true
    switch output[0] {
    case .bytes(let bytes, let start):
      pendingCount -= count
      if start + count == bytes.count {
        output.removeFirst()
      } else {
        output[0] = .bytes(bytes, from: start + count)
      }
    case .file(let file, let offset, let rest):
      if count == rest {
        output.removeFirst()
      } else {
        output[0] = .file(file, offset: offset + Int64(count), count: rest - count)
      }
    }
  }

  /// Serves other streams before sending more.
  private func continueLater() {
    loop.giveTurn(to: token)
  }

  func takeTurn() {
    let wasFull = isFull
    flush()
    if wasFull && !isFull && !isClosed { owner?.drained() }
    if canRead { readAvailableBytes() }
  }

  // MARK: - Reading

  /// Stops reading, so that the peer soon has to stop sending.
  func pause() {
    isPaused = true
  }

  func resume() {
    guard isPaused else { return }
    isPaused = false
    if canRead { continueLater() }
  }

  private func readAvailableBytes() {
    for _ in 0..<Self.partsInARow {
      guard canRead, !isPaused || isDiscarding, let socket = socket.borrowedNumber else { return }
      guard let count = Socket.receive(into: loop.readBuffer, from: socket) else {
        canRead = false
        return
      }
      if count == 0 {
        canRead = false
        hasReadEnd = true
        if isDiscarding { return close() }
        owner?.receivedEnd()
        return
      }
      if isDiscarding { continue }
      owner?.received(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
    }
    continueLater()
  }

  // MARK: - Events

  func socketChanged(isReadable: Bool, isWritable: Bool) {
    if isConnecting { return finishConnecting(isWritable: isWritable) }
    if isReadable { canRead = true }
    if isWritable && !canWrite {
      canWrite = true
      let wasFull = isFull
      flush()
      if wasFull && !isFull && !isClosed { owner?.drained() }
    }
    if canRead && !isClosed { readAvailableBytes() }
  }

  private func finishConnecting(isWritable: Bool) {
    guard isWritable, let number = socket.borrowedNumber else { return }
    if Socket.error(of: number) != nil { return close() }
    isConnecting = false
    canWrite = true
    owner?.drained()
    flush()
  }

  /// Closes the stream after this time, unless a new deadline is set before; `nil` for no deadline.
  /// It is extended while the peer receives data.
  func setDeadline(seconds: Int?) {
    guard seconds != nil || patience != nil else { return }
    patience = seconds
    hasProgressed = false
    loop.wake(token, after: seconds)
  }

  func deadlinePassed() {
    if hasProgressed && !output.isEmpty {
      setDeadline(seconds: patience)
    } else {
      close()
    }
  }

  // MARK: - Closing

  /// Closes the stream after the peer has received all output. Bytes from the peer are dropped
  /// meanwhile.
  func closeWhenSent() {
    closesWhenSent = true
    isDiscarding = true
    if output.isEmpty { finishClosing() } else { setDeadline(seconds: 60) }
  }

  private func finishClosing() {
    guard let number = socket.borrowedNumber else { return }
    if hasReadEnd { return close() }
    Socket.shutDownWriting(number)
    closesWhenSent = false
    setDeadline(seconds: 2)
    if canRead { continueLater() }
  }

  /// Closes the stream at once. Unsent output is lost.
  func close() {
    guard socket != nil else { return }
    loop.remove(token)
    socket = nil
    output = []
    pendingCount = 0
    let owner = owner
    self.owner = nil
    owner?.closed()
  }
}

extension Descriptor? {
  /// The descriptor; `nil` once the stream is closed.
  var borrowedNumber: Int32? {
    switch self {
    case .some(let descriptor): descriptor.number
    case .none: nil
    }
  }
}
