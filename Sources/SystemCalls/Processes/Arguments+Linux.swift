#if os(Linux)

/// The arguments of this process as bytes, the name of the program first.
///
/// `CommandLine` reads them from `/proc`, and has none where that is not mounted.
package func processArguments() -> [[UInt8]] {
  var count: Int32 = 0
  let words = UnsafeBufferPointer(start: csystem_arguments(&count), count: Int(count))
  return words.map { $0.map { Path(cString: $0).bytes } ?? [] }
}

#endif  // os(Linux)
