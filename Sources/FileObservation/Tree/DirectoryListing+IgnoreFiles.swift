import PathFiltering
import SystemCalls

extension DirectoryListing {
  /// The names that affect which entries are ignored. All of them begin with a dot.
  var ignoreFiles: IgnoreFileNames {
    var names: IgnoreFileNames = []
    forEach { names.formUnion(IgnoreFileNames.of($0.name)) }
    return names
  }
}
