import PathFiltering
import SystemCalls

extension DirectoryListing {
  /// The names that affect which entries of the directory are ignored.
  var ignoreFiles: IgnoreFileNames {
    if firstBytes.isDisjoint(with: IgnoreFileNames.firstBytes) { return [] }
    var names: IgnoreFileNames = []
    forEach { names.formUnion(IgnoreFileNames.of($0.name)) }
    return names
  }
}
