import TestSupport
import Testing

@testable import WatchrunSettings

@Suite struct OfferTests {
  private static let offers: [([String: String], String?)] = [
    (["Package.swift": ""], nil), (["Makefile": "all:\n"], nil),
    (
      ["Makefile": "all: app\n\techo\ndeploy: app\n\tscp\nrun:\n\t./app\napp: a.c\n\tcc\n"],
      "also: make run, make deploy; to run one: watchrun make run"
    ),
    (
      ["Makefile": "deploy:\n\tscp\ntest:\n\t./x\n"],
      "also: make deploy"
    ),
    (
      ["Makefile": "test:\n\t./x\nmigrate:\n\t./y\n"],
      "also: make migrate"
    ),
    (["Makefile": "test:\n\t./x\nclean:\n\trm x\ninstall:\n\tcp x\ndistclean: clean\n"], nil),
    (
      ["justfile": "test:\n  x\nrelease:\n  z\nrun:\n  y\n_a:\n[private]\nb:\nc d:\n"],
      "also: just run, just release; to run one: watchrun just run"
    ),
    (
      [
        "package.json":
          #"{"scripts": {"test": "x", "pretest": "y", "lint": "z", "dev": "v", "deploy": "w", "postinstall": "p"}}"#
      ],
      "also: npm run dev, npm run lint, npm run deploy; to run one: watchrun -r npm run dev"
    ),
    // Of files without the usual tasks, too. A recipe may have a form for each system.
    (
      ["Cargo.toml": "", "justfile": "alias d := dev\n[unix]\ndev:\n  x\n[windows]\ndev:\n  y\n"],
      "also: just dev; to run one: watchrun just dev"
    ),
    (
      ["Procfile": "web: x\nrelease: rake db:migrate\n"],
      "also: release"
    ),
    (
      ["deno.json": #"{"tasks": {"start": "x", "test": "y"}}"#],
      "also: deno task start; to run one: watchrun -r deno task start"
    ),
  ]

  @Test(arguments: offers)
  func `what a project defines beside its tasks is offered, and what publishes comes last`(
    files: [String: String], offers: String?
  ) throws {
    let directory = try projectDirectory(files)
    let found = try #require(DetectedProject(ProjectDirectory(path: directory.path)))
    #expect(found.offers == offers)
  }
}
