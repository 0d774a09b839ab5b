/// The processes that listen at a TCP port, as far as the system shows them to this user.
package struct ListeningProcesses: Hashable, Sendable {
  /// The names of the sockets that listen.
  package var sockets: Set<Path> = []
  /// The processes that have them open.
  package let processes: Set<pid_t>
  /// The processes with their ancestors and the leaders of their groups.
  package let lineage: Set<pid_t>
  /// The processes that existed, which need not be searched again for the same sockets.
  var searched: Set<pid_t> = []

  /// Whether others listen here than there.
  package func differs(from former: Self) -> Bool {
    sockets != former.sockets || processes != former.processes
  }
}
