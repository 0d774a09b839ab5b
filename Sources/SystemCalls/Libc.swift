// The package's one import of the C library. Every other file goes through the wrappers beside
// this one.
@_exported import CSystem

#if canImport(Glibc)
@_exported import Glibc
#else
@_exported import Darwin
#endif
