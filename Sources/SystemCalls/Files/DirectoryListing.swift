/// The names of a directory's entries, in no particular order.
package func directoryNames(of path: Path) throws(SystemError) -> [Path] {
  let directory = try Descriptor.openDirectory(path)
  var names: [Path] = []
  try DirectoryReader().forEachEntry(of: directory) { name, _ in
    names.append(Path(bytes: name))
  }
  return names
}
