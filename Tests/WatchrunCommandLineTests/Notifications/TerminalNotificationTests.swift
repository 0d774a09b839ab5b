import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine

import enum SystemCalls.ExitStatus

struct TerminalNotificationTests {
  private static let terminals: [([String: String], TerminalNotification?)] = [
    (["TERM_PROGRAM": "iTerm.app", "TERM": "xterm-256color"], .osc9),
    (["TERM_PROGRAM": "WezTerm"], .osc777), (["TERM": "xterm-ghostty"], .osc777),
    (["TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"], .osc9), (["TERM": "foot-extra"], .osc777),
    (["TERM": "rxvt-unicode-256color"], .osc777),
    (["TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "KITTY_WINDOW_ID": "1"], .osc9),
    (["TERM": "xterm-256color"], nil), (["TERM": "dumb"], nil), ([:], nil),
    (["TERM_PROGRAM": "vscode", "KITTY_WINDOW_ID": "1"], nil),
    (["TERM_PROGRAM": "iTerm.app", "TERM": "screen", "STY": "1.pts"], nil),
  ]

  @Test(arguments: terminals)
  func `a terminal is known by its variables`(
    variables: [String: String], expected: TerminalNotification?
  ) {
    #expect(TerminalNotification { variables[$0] } == expected)
  }

  private func notification(of command: String) throws -> Notification {
    let run = TaskReport.Run(task: "a", job: .command, number: 1, trigger: RunTrigger(.start))
    let report = TaskReport.run(run, .ended(.exited(1), duration: .seconds(1), .byItself))
    let text = TaskText(name: "a", role: .command, command: command, shownCommand: command)
    return try #require(Notification(report, of: text, in: "/p/app"))
  }

  @Test(
    arguments: [
      (.osc9, "␛]9;a;b failed: with status 1 after 1.0 s, in app␛\\"),
      (.osc777, "␛]777;notify;a,b failed;with status 1 after 1.0 s, in app␛\\"),
    ] as [(TerminalNotification, String)])
  func `the sequence has the title and the text`(
    sequence: TerminalNotification, expected: String
  ) throws {
    let bytes = sequence.bytes(for: try notification(of: "a;b"), isInTmux: false)
    let shown = String(decoding: bytes, as: UTF8.self).map { $0 == "\u{1B}" ? "␛" : $0 }
    #expect(String(shown) == expected)
  }

  @Test func `tmux is asked to pass the sequence on`() throws {
    let bytes = TerminalNotification.osc9.bytes(for: try notification(of: "a"), isInTmux: true)
    let shown = String(decoding: bytes, as: UTF8.self).map { $0 == "\u{1B}" ? "␛" : $0 }
    #expect(
      String(shown) == "␛Ptmux;␛␛]9;a failed: with status 1 after 1.0 s, in app␛␛\\␛\\")
  }

  @Test func `a program is used if it is installed and there is a display`() throws {
    let directory = try TemporaryDirectory()
    func isUsable(_ variables: [String: String]) -> Bool {
      NotifySend.isUsable({ variables[$0] }, in: [directory.path])
    }
    #expect(!isUsable(["DISPLAY": ":0"]))
    try directory.write("#!/bin/sh\n", to: "notify-send")
    try directory.setMode(0o755, of: "notify-send")
    #expect(isUsable(["DISPLAY": ":0"]) && isUsable(["WAYLAND_DISPLAY": "wayland-0"]))
    #expect(!isUsable([:]) && !isUsable(["DISPLAY": ""]))
  }

  @Test func `texts are arguments of their own, without markup`() throws {
    let notification = try notification(of: "-x <b> & $(y)")
    let words = NotifySend.arguments(for: notification).map {
      String(decoding: $0, as: UTF8.self)
    }
    #expect(
      words == [
        "notify-send", "--app-name=watchrun", "--urgency=normal", "--",
        "-x <b> & $(y) failed", "with status 1 after 1.0 s, in app",
      ])
  }
}
