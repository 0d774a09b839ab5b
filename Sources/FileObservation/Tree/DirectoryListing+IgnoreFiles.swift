import PathFiltering
import SystemCalls

extension DirectoryListing {
  /// The names that affect which entries of the directory are ignored. All of them begin with a dot, except
  /// those of coverage reports.
  func ignoreFiles(in directory: Path) -> IgnoreFileNames {
    guard hasHiddenNames || DefaultIgnores.isReportDirectory(directory) else { return [] }
    var names: IgnoreFileNames = []
    forEach { names.formUnion(IgnoreFileNames.of($0.name)) }
    return names
  }
}
