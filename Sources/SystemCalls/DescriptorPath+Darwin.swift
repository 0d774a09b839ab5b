#if canImport(Darwin)

/// Where the file lies to which a descriptor writes; nil if it is no file, such as a terminal or a pipe, or
/// has no name any more.
package func pathOfFile(_ descriptor: Int32) -> Path? {
  var name = [CChar](repeating: 0, count: Int(PATH_MAX))
  guard fcntl(descriptor, F_GETPATH, &name) == 0 else { return nil }
  let path = Path(cString: name)
  guard let status = try? FileStatus(of: path), status.type == .file else { return nil }
  return path
}

#endif  // canImport(Darwin)
