#if canImport(Darwin)

/// A descriptor that becomes readable when the last reader of a pipe, or the peer of a socket, has closed it.
/// Not available here, where a write notices it.
package struct ReaderHangUp: ~Copyable {
  package init(of descriptor: Int32) throws(SystemError) {
    throw SystemError(call: "kqueue", code: ENOTSUP)
  }

  package consuming func release() -> Int32 { -1 }
}

#endif  // canImport(Darwin)
