/// Returns bytes that wait in a pipe without consuming them; `nil` if it is not a pipe, or if the system
/// cannot do that.
package func peekPipe(_ descriptor: Int32, atMost limit: Int) -> [UInt8]? {
  guard let copy = try? makePipe() else { return nil }
  defer { close(copy.output) }
  let count = csystem_copy_pipe(descriptor, copy.input.number, UInt(limit))
  if count < 0 && errno != EAGAIN { return nil }
  guard count > 0, case .bytes(let bytes) = readAvailable(copy.output, atMost: limit) else {
    return []
  }
  return bytes
}
