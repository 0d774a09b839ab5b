#if canImport(Darwin)

/// The path of the file that a descriptor refers to; `nil` if it is not a regular file, or was unlinked.
package func pathOfFile(_ descriptor: Int32) -> Path? {
  var name = [CChar](repeating: 0, count: Int(PATH_MAX))
  guard fcntl(descriptor, F_GETPATH, &name) == 0 else { return nil }
  let path = Path(cString: name)
  guard let status = try? FileStatus(of: path), status.type == .file else { return nil }
  return path
}

#endif  // canImport(Darwin)
