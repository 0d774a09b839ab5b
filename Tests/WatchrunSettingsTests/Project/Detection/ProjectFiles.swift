import SystemCalls
import TestSupport

@testable import WatchrunSettings

extension TemporaryDirectory {
  /// The directory for detection, on a computer without programs.
  var project: ProjectDirectory { ProjectDirectory(path: path) { _ in false } }
}
