#if canImport(Darwin)

extension ProcessGroup {
  /// True if a member is there. The first process waits for all here, so the dead do not stay.
  package var hasLivingMember: Bool { !isEmpty }
}

#endif  // canImport(Darwin)
