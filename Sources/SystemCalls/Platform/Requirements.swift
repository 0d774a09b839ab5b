/// The call without which this program cannot work and that the system refuses; `nil` if there is none. Call
/// this before the first use of Dispatch, which traps or waits for ever without them.
///
/// - Parameters:
///   - descriptors: How many descriptors must be available.
///   - threads: How many threads must be available.
package func missingRequirement(descriptors: Int, threads: Int) -> SystemError? {
  if let missing = attempt(descriptors, threads) {
    guard missing.code == EMFILE else { return missing }
    _ = raiseDescriptorLimit()
    return attempt(descriptors, threads)
  }
  return nil
}

private func attempt(_ descriptors: Int, _ threads: Int) -> SystemError? {
  guard let call = csystem_missing_requirement(Int32(descriptors), Int32(threads)) else {
    return nil
  }
  return .last(String(cString: call))
}
