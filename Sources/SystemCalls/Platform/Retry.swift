/// Repeats a call that was interrupted by a signal (`EINTR`).
package func retryingOnInterrupt<Result: SignedInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result != -1 || errno != EINTR { return result }
  }
}

/// The result of a call that returns -1 on failure; its `errno` is thrown as a `SystemError`.
package func checked<Result: SignedInteger>(
  _ name: String, path: Path? = nil, _ call: () -> Result
) throws(SystemError) -> Result {
  let result = retryingOnInterrupt(call)
  if result == -1 { throw .last(name, path: path) }
  return result
}

/// Checks a call of the `posix_spawn` family, which returns the error code.
package func checkedCode(
  _ name: String, path: Path? = nil, _ call: () -> Int32
) throws(SystemError) {
  let code = call()
  if code != 0 { throw SystemError(call: name, code: code, path: path) }
}
