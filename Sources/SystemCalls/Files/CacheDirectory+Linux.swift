#if os(Linux)

/// The user's directory for caches, relative to the home directory.
package let cacheDirectoryName = ".cache"

#endif
