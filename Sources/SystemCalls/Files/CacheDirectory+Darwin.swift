#if canImport(Darwin)

/// The user's directory for caches, relative to the home directory.
package let cacheDirectoryName = "Library/Caches"

#endif
