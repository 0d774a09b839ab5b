import FileObservation
import Testing

/// A backend, and how an observer is told to use it.
struct BackendUnderTest: Sendable, CustomTestStringConvertible {
  let name: String
  /// Which part of the stress is enough for it; 1 is all.
  var effort = 1.0
  /// True if the kernel keeps a queue for it, which may overflow.
  var hasKernelQueue = false
  let configure: @Sendable (inout ObserverOptions) -> Void

  var testDescription: String { name }
}

/// The backends for which each script, stress and random test is run. A line more is a backend more.
let backendsUnderTest: [BackendUnderTest] = [
  BackendUnderTest(name: "inotify", hasKernelQueue: true) { _ in },
  BackendUnderTest(name: "polling") {
    $0.polling = Polling(.always, interval: .milliseconds(20) ... .milliseconds(100))
  },
]
