#if canImport(Darwin)

extension ProcessGroup {
  /// Whether there is a member. Here the process with ID 1 reaps all orphans, so zombies do not stay.
  package var hasLivingMember: Bool { !isEmpty }

  /// A living member, preferably one that accepts no signals from this process. Not known here.
  package var survivor: Survivor? { nil }
}

#endif  // canImport(Darwin)
