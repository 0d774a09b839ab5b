/// Lets this process open as many files as it may. How many that is.
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

/// What the system takes even where the limit is none.
private let highestDescriptorLimit = rlim_t(1 << 20)
