// The only import of the C library in this package. All other targets use the wrappers of this one.
@_exported import CSystem

#if canImport(Glibc)
@_exported import Glibc
#else
@_exported import Darwin
#endif
