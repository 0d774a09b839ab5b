import Testing

@testable import FileObservation

/// A backend, and the options with which an observer uses it.
struct BackendUnderTest: Sendable, CustomTestStringConvertible {
  let name: String
  /// The part of the stress tests that is run with it; 1 for all.
  var effort = 1.0
  /// Whether the kernel keeps a queue for it, which may overflow.
  var hasKernelQueue = false
  /// Whether it scans one directory after the other, so that a renamed entry may be found twice or
  /// not at all, and be reported as created and removed.
  var mayMissRenames = false
  var makeBackend: @Sendable (BackendConfiguration, Polling) -> any Backend = {
    CombinedBackend($0, polling: $1)
  }
  var configure: @Sendable (inout ObserverOptions) -> Void = { _ in }

  var testDescription: String { name }
}

/// The backends with which each script, stress and random test is run.
let backendsUnderTest: [BackendUnderTest] = [
  BackendUnderTest(name: "inotify", hasKernelQueue: true),
  BackendUnderTest(
    name: "polling", effort: 0.4, mayMissRenames: true,
    configure: { $0.polling = Polling(.always, interval: .milliseconds(20) ... .milliseconds(100)) }
  ),
  BackendUnderTest(
    name: "vnode", effort: 0.4, mayMissRenames: true,
    makeBackend: { configuration, _ in
      TreeBackend(
        configuration, source: VnodeHints(capacity: .max, watchVnode: KqueueLikeSource().watch))
    }),
]
