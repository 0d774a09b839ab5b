// Keeps a copy of a directory up to date.
//
//   mirror DIRECTORY COPY

import Dispatch
import FileObservation
import Foundation

guard CommandLine.arguments.count == 3 else {
  print("usage: mirror DIRECTORY COPY")
  exit(64)
}
let paths = CommandLine.arguments.dropFirst().map(Path.init)
let current = Path(FileManager.default.currentDirectoryPath)
let mirror = try Mirror(of: paths[0].absolute(from: current), at: paths[1].absolute(from: current))
try mirror.start { error in
  print(error)
  exit(1)
}
dispatchMain()
