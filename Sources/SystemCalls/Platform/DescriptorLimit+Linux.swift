#if os(Linux)

let descriptorLimit = RLIMIT_NOFILE.rawValueOfResource

extension __rlimit_resource {
  fileprivate var rawValueOfResource: __rlimit_resource_t { __rlimit_resource_t(rawValue) }
}

#endif  // os(Linux)
