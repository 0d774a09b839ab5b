#if canImport(Darwin)

/// The process that listens at a TCP port. Not known here.
package func listener(atPort port: UInt16) -> (process: pid_t, name: String)? { nil }

#endif  // canImport(Darwin)
