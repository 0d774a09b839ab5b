/// The few functions of OpenSSL that a request takes. The library is looked for when a connection is encrypted for the
/// first time, so that the program needs none.
final class TLSLibrary: Sendable {
  static let file = "libssl.so.3"
  /// `nil` without the library.
  static let shared = TLSLibrary()

  /// The outcome of a step.
  enum Step {
    case done(Int)
    case needsInput
    case needsOutput
    case ended
    case failed
  }

  private typealias Make = @convention(c) (OpaquePointer?) -> OpaquePointer?
  private typealias Method = @convention(c) () -> OpaquePointer?
  private typealias Free = @convention(c) (OpaquePointer?) -> Void
  private typealias SetNumber = @convention(c) (OpaquePointer?, Int32) -> Int32
  private typealias Control =
    @convention(c) (OpaquePointer?, Int32, Int, UnsafeMutableRawPointer?) -> Int
  private typealias Transfer =
    @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, Int32) -> Int32
  private typealias Connect = @convention(c) (OpaquePointer?) -> Int32

  private let makeSession: Make
  private let freeSession: Free
  private let setDescriptor, error: SetNumber
  private let control: Control
  private let connect: Connect
  private let readBytes, writeBytes: Transfer
  /// Lives as long as the process.
  private let context: UInt

  private init?() {
    guard let library = dlopen(Self.file, RTLD_NOW) else { return nil }
    func function<Type>(_ name: String, _: Type.Type) -> Type? {
      dlsym(library, name).map { unsafeBitCast($0, to: Type.self) }
    }
    guard let method = function("TLS_client_method", Method.self),
      let makeContext = function("SSL_CTX_new", Make.self),
      let makeSession = function("SSL_new", Make.self),
      let freeSession = function("SSL_free", Free.self),
      let setDescriptor = function("SSL_set_fd", SetNumber.self),
      let error = function("SSL_get_error", SetNumber.self),
      let control = function("SSL_ctrl", Control.self),
      let connect = function("SSL_connect", Connect.self),
      let readBytes = function("SSL_read", Transfer.self),
      let writeBytes = function("SSL_write", Transfer.self),
      let context = makeContext(method())
    else { return nil }
    (self.makeSession, self.freeSession, self.setDescriptor) = (
      makeSession, freeSession, setDescriptor
    )
    (self.error, self.control, self.connect) = (error, control, connect)
    (self.readBytes, self.writeBytes) = (readBytes, writeBytes)
    self.context = UInt(bitPattern: context)
  }

  /// An encrypted connection over a socket; `nil` without memory.
  func session(on socket: Int32, host: String) -> Session? {
    guard let handle = makeSession(OpaquePointer(bitPattern: context)) else { return nil }
    _ = setDescriptor(handle, socket)
    // SSL_set_tlsext_host_name is a macro of this.
    _ = host.withCString { control(handle, 55, 0, UnsafeMutableRawPointer(mutating: $0)) }
    return Session(self, handle)
  }

  /// Used by one thread at a time.
  final class Session {
    private let library: TLSLibrary
    private let handle: OpaquePointer

    fileprivate init(_ library: TLSLibrary, _ handle: OpaquePointer) {
      (self.library, self.handle) = (library, handle)
    }

    deinit { library.freeSession(handle) }

    func handshake() -> Step { step(library.connect(handle)) }

    func write(_ bytes: [UInt8]) -> Step {
      bytes.withUnsafeBytes { bytes in
        step(
          library.writeBytes(
            handle, UnsafeMutableRawPointer(mutating: bytes.baseAddress), Int32(bytes.count)))
      }
    }

    func read(_ bytes: inout [UInt8]) -> Step {
      bytes.withUnsafeMutableBytes { bytes in
        step(library.readBytes(handle, bytes.baseAddress, Int32(bytes.count)))
      }
    }

    /// The codes are those of `SSL_get_error`.
    private func step(_ result: Int32) -> Step {
      if result > 0 { return .done(Int(result)) }
      switch library.error(handle, result) {
      case 2: return .needsInput
      case 3: return .needsOutput
      case 6: return .ended
      default: return .failed
      }
    }
  }
}
