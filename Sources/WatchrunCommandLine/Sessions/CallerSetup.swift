import SystemCalls

/// What the caller of this process has set up for it and the commands, captured before anything changes it.
struct CallerSetup: Sendable {
  /// The signals that this process was started to ignore, as by `nohup`. Commands ignore them as well.
  let ignoredSignals = SystemCalls.ignoredSignals()
  /// The descriptors besides the standard ones that were passed, in ascending order. Commands inherit them.
  let descriptors = inheritableDescriptors()
}

extension Session {
  var ignoredSignals: Set<Signal> { caller.ignoredSignals }
}
