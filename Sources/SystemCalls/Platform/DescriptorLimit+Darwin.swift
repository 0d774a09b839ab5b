#if canImport(Darwin)

let descriptorLimit = RLIMIT_NOFILE

#endif  // canImport(Darwin)
