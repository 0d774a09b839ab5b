import SystemCalls
import Testing

struct SystemErrorTests {
  @Test func `names the path, the reason and the call`() {
    let error = SystemError(call: "open", code: ENOENT, path: "/a\nb")
    #expect(error.description == "/a\\nb: No such file or directory (open)")
    #expect(
      SystemError(call: "fork", code: EAGAIN).description
        == "Resource temporarily unavailable (fork)")
  }

  @Test(arguments: [(ENOENT, true), (ENOTDIR, true), (ELOOP, true), (EACCES, false), (EIO, false)])
  func `a missing path differs from a failure`(code: Int32, isNotFound: Bool) {
    #expect(SystemError(call: "open", code: code).isNotFound == isNotFound)
  }
}

struct RetryTests {
  @Test func `makes a call again that a signal interrupted`() {
    var calls = 0
    let result = retryingOnInterrupt { () -> Int32 in
      calls += 1
      errno = EINTR
      return calls < 3 ? -1 : 7
    }
    #expect(result == 7)
    #expect(calls == 3)
  }

  @Test func `makes a call that fails otherwise once`() {
    var calls = 0
    let error = #expect(throws: SystemError.self) {
      try checked("write", path: "f") { () -> Int in
        calls += 1
        errno = ENOSPC
        return -1
      }
    }
    #expect(error == SystemError(call: "write", code: ENOSPC, path: "f"))
    #expect(calls == 1)
  }

  @Test func `takes the answer of calls that answer with the error itself`() throws {
    try checkedCode("posix_spawn") { 0 }
    #expect(throws: SystemError(call: "posix_spawn", code: E2BIG)) {
      try checkedCode("posix_spawn") { E2BIG }
    }
  }
}
