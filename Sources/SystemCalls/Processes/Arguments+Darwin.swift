#if canImport(Darwin)

/// The arguments of this process as bytes, the name of the program first.
package func processArguments() -> [[UInt8]] {
  let words = UnsafeBufferPointer(start: _NSGetArgv().pointee, count: Int(_NSGetArgc().pointee))
  return words.map { $0.map { Path(cString: $0).bytes } ?? [] }
}

#endif  // canImport(Darwin)
