#if canImport(Darwin)

/// The process that listens at a TCP port. Not known here.
package func listener(atPort port: UInt16) -> (process: pid_t, name: String)? { nil }

/// The processes that listen at a TCP port. Not known here.
package func listeningProcesses(
  atPort port: UInt16, after former: ListeningProcesses?
) -> ListeningProcesses {
  ListeningProcesses(processes: [], includesDescendant: false)
}

#endif  // canImport(Darwin)
