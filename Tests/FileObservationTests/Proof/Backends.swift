import FileObservation
import Testing

/// A backend, and how an observer is told to use it.
struct BackendUnderTest: Sendable, CustomTestStringConvertible {
  let name: String
  /// Which part of the stress is enough for it; 1 is all.
  var effort = 1.0
  /// True if the kernel keeps a queue for it, which may overflow.
  var hasKernelQueue = false
  /// True if it looks at one place after the other, so that what is renamed in between may be met
  /// twice or not at all, and be told of as created and removed.
  var mayMissRenames = false
  var makeBackend: @Sendable (BackendConfiguration, Polling) -> any Backend = {
    CombinedBackend($0, polling: $1)
  }
  var configure: @Sendable (inout ObserverOptions) -> Void = { _ in }

  var testDescription: String { name }
}

/// The backends for which each script, stress and random test is run. A line more is a backend more.
let backendsUnderTest: [BackendUnderTest] = [
  BackendUnderTest(name: "inotify", hasKernelQueue: true),
  BackendUnderTest(
    name: "polling", effort: 0.4, mayMissRenames: true,
    configure: { $0.polling = Polling(.always, interval: .milliseconds(20) ... .milliseconds(100)) }
  ),
  BackendUnderTest(
    name: "vnode", effort: 0.4, mayMissRenames: true,
    makeBackend: { configuration, _ in
      TreeBackend(configuration, source: VnodeHints(KqueueLikeSource()))
    }),
]
