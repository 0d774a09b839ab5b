/// The number of files that this process may have open.
package func openFileLimit() -> Int {
  var limit = rlimit()
  return getrlimit(descriptorLimit, &limit) == 0 ? Int(clamping: limit.rlim_cur) : 256
}

/// Raises the limit of open files as far as this process may, and returns it.
package func raiseDescriptorLimit() -> Int {
  var limit = rlimit()
  guard getrlimit(descriptorLimit, &limit) == 0 else { return 256 }
  if limit.rlim_cur < limit.rlim_max {
    var raised = limit
    raised.rlim_cur = min(limit.rlim_max, highestDescriptorLimit)
    if raised.rlim_cur > limit.rlim_cur, setrlimit(descriptorLimit, &raised) == 0 { limit = raised }
  }
  return Int(clamping: limit.rlim_cur)
}

/// The highest limit that the system accepts when there is none.
private let highestDescriptorLimit = rlim_t(1 << 20)

/// The number of processors that are online, at least one.
package func processorCount() -> Int {
  max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}

/// The processor time of the calling thread.
package func processorTimeOfThread() -> Duration {
  .nanoseconds(time(of: CLOCK_THREAD_CPUTIME_ID))
}
