import ActionRunning
import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

/// What foreman does with a Procfile and its `.env`.
struct ProcessFileTests {
  private func environment(_ files: [String: String]) throws -> [[String]] {
    let directory = try projectDirectory(files)
    let found = try #require(DetectedProject(directory.project))
    return try found.project.readingEnvironmentFiles(in: directory.path).tasks.map { task in
      (task.fileVariables + task.environment).map { "\($0.name.decoded)=\($0.value.decoded)" }
    }
  }

  @Test func `each process has a port of its own`() throws {
    let text = "web: x\nrelease: y\nworker: z\n"
    #expect(try environment(["Procfile": text]) == [["PORT=5000"], ["PORT=5200"]])
    for port in ["9223372036854775807", "65500", "-1", "x"] {
      let ports = try environment(["Procfile": text, ".env": "PORT=\(port)\n"]).map(\.last)
      #expect(ports == ["PORT=5000", "PORT=5200"])
    }
    #expect(
      try environment(["Procfile": text, ".env": "PORT=8330\n"]).map(\.last) == [
        "PORT=8330", "PORT=8530",
      ])
  }

  @Test func `the variables of the file beside it are set`() throws {
    #expect(
      try environment(["Procfile": "web: x", ".env": "A=1\nB='a b'\n"]) == [
        ["A=1", "B=a b", "PORT=5000"]
      ])
  }

  @Test func `a file that is written has the ports, and the name of .env`() throws {
    let directory = try projectDirectory(["Procfile": "web: x", ".env": "SECRET=1\n"])
    let text = ProjectText.file(try #require(DetectedProject(directory.project)).project)
    #expect(text.includes("\"PORT\": \"5000\""))
    #expect(text.includes("\"envFile\": \".env\""))
    #expect(!text.includes("SECRET"))
    #expect(try readProject(text).environmentFiles == [".env"])
  }

  @Test func `of a Procfile that was named, a file of a project is written`() throws {
    let directory = try projectDirectory([
      "Procfile.dev": "web: x", "Gemfile": "", ".rspec": "", ".env": "SECRET=1\n",
    ])
    let source = ProjectSource("Procfile.dev", directory: directory.path)
    #expect(source.writtenFile == "watchrun.json")
    let project = try #require(try source.namedProcesses())
    #expect(project.tasks.map(\.name) == ["web"])
    #expect(!ProjectText.file(project).includes("SECRET"))
    #expect(try ProjectSource(nil, directory: directory.path).namedProcesses() == nil)
    #expect(ProjectSource("other.json", directory: directory.path).writtenFile == "other.json")
  }

  @Test func `a Procfile can be named in place of a project file`() throws {
    let directory = try projectDirectory([
      "Procfile": "web: x\nworker: y", "Procfile.dev": "web: z", ".env": "A=1",
    ])
    let project = try #require(
      try ProjectSource("Procfile", directory: directory.path).read())
    #expect(project.tasks.map(\.name) == ["web", "worker"])
    #expect(project.environmentFiles == [".env"])
    try directory.write("none", to: "Procfile")
    #expect(throws: Failure.self) {
      try ProjectSource("Procfile", directory: directory.path).read()
    }
  }

  /// The files of an application with several languages.
  private static let files = [
    "config/application.rb": "", "Gemfile.lock": "",
    "bin/css": "#!/bin/sh\nexec sass --watch a:b\n",
    "bin/mailer": "#!/usr/bin/env ruby\n", "bin/serve": "#!/bin/sh\nexec node server.js\n",
    "package.json": #"""
    {"scripts": {"build": "esbuild a.js --bundle", "watch:css": "tailwindcss -i a -o b -w",
      "start": "node server.js", "dev": "run-p dev:*", "dev:a": "node a.js", "dev:b": "tsc -w",
      "all": "npm run dev", "loop": "yarn loop", "every": "run-p *"}, "workspaces": ["web"]}
    """#,
    "web/package.json": #"{"name": "web", "scripts": {"start": "vite", "serve": "node a.js"}}"#,
  ]

  @Test(
    arguments: [
      "bin/webpack-dev-server", "bin/vite dev", "yarn build --watch", "yarn watch:css",
      "npm run watch:css", "npm run dev", "yarn all", "bundle exec guard", "npx tsc -b -w",
      "bin/rails tailwindcss:watch", "bin/css", "env PORT=3000 bin/vite", "cd web && npm start",
      "yarn --cwd web start", "yarn workspace web start", "pnpm --filter web start", "pnpm -w dev",
      "yarn every", "npm start --prefix=web", "bundle exec jekyll serve", "nodemon a.js",
      "exec next dev", "npx concurrently 'node a.js' 'npm run watch:css'", "sh -c 'npx vite'",
      "python manage.py runserver", "mix phx.server", "FLASK_DEBUG=1 flask run", "make watch",
      "./gradlew bootRun --continuous", "ptw -- -q", "latexmk -pdf -pvc a.tex",
      "watchfiles 'python app.py' src", "python -m pytest_x && ptw", "grep -q x a && nodemon a.js",
      "timeout 30s nodemon a.js", "time nice -n 5 vite", "python3 -m pytest_watch",
      "(cd web; yarn start)",
      "node_modules/.bin/nodemon", "node node_modules/vite/bin/vite.js", "npx -y nodemon@3 a.js",
      "npx --package vite -- vite --port 3000", "npm exec vite", "yarn vite", "bun run vite",
      "uv run fastapi dev",
      "poetry run python manage.py runserver", "npx @tailwindcss/cli -i a -o b -w",
      "a;nodemon b.js",
      "make css&nodemon b.js", "php artisan serve", "bundle exec bin/rails tailwindcss:watch",
      "php -S x:8000",
      "CI=0 ng test", "docker compose watch", "docker compose up --watch", "npm run watch",
      "if true; then nodemon a.js; fi", "a 2>&1 | b; exec vite", "pnpm --filter x watch",
      "vite --host",
      "sudo -u me nodemon a.js", "bash -c 'cd web && npm start'", "livereload src",
      "typst watch a.typ",
      "dune build -w", "npx @11ty/eleventy --serve", "pelican -lr", "mix test.watch",
      "task -w build", "vite build --watch", "npx vite build -w", "tsc -watch -p ./",
      "cypress open", "vite-node -w a.ts", "slidev a.md",
    ])
  func `a process that watches by itself is not restarted`(_ line: String) throws {
    #expect(try watched(line) == [])
  }

  @Test(
    arguments: [
      "bin/rails server -p 3000", "bundle exec puma -C config/puma.rb", "bundle exec sidekiq",
      "env RUBY_DEBUG_OPEN=true bin/rails s", "dotenv bundle exec sidekiq", "bin/jobs",
    ])
  func `what Rails loads anew restarts no process of Rails`(_ line: String) throws {
    #expect(try watched(line) == ["config", "Gemfile.lock"])
    #expect(try watched("RAILS_ENV=production " + line) == ["."])
    #expect(try watched(line, ["a.rb": ""]) == ["."])
  }

  @Test(
    arguments: [
      "yarn start", "node server.js", "npx vite build", "yarn build", "bin/serve", "yarn loop",
      "cd web && npm run serve", "npm run serve -w web", "npm run none", "bundle exec puma -w 3",
      "flask run", "./app -w 2",
      "python manage.py runserver --noreload", "make", "", "&& ;", "FLASK_DEBUG=0 flask run",
      "grep watch guard",
    ])
  func `any other process is restarted`(_ line: String) throws {
    #expect(try watched("x " + line, Self.files.filter { !$0.key.hasPrefix("config") }) == ["."])
  }

  @Test(
    arguments: [
      "grep -rn nodemon .", "/bin/grep -rn 'next dev' src", "echo vite", "rg -- --watch src",
      "git log --grep entr", "npm install nodemon", "yarn add --dev vite", "pip install watchfiles",
      "exec grep nodemon a | tee b", "pkill -f nodemon; node server.js", "latexmk -pdf a.tex",
      "jq .nodemon package.json", "docker build -t vite .", "ssh vite uptime", "./vite.sh",
      "tail -f nodemon",
      "git commit -m 'run vite dev'", "mytool -m 'nodemon a.js'", "CI=1 ng test",
      "npm test -- guard",
      "vite build", "npx vite preview", "node server.js --watch", "echo 'a; nodemon b'",
      "npm install watch", "docker compose up", "vite build --mode watch", "npm test --watch=false",
      "cargo test watch_files", "celery -A app beat", "python -m http.server --directory vite",
      "vite-node a.ts", "npx slidev build", "slidev export --format png",
    ])
  func `a program that only reads the name of one that watches is restarted`(_ line: String) throws
  {
    #expect(try watched(line, [:]) == ["."])
  }

  private func watched(_ line: String, _ files: [String: String] = files) throws -> [String] {
    let directory = try projectDirectory(files)
    return ProjectDetection.Script(line, in: directory.project).watched
  }

  @Test(
    arguments: [
      ("bundle exec clockwork", "a.js b.tsx c.css d.py", "a.rb c.json d.yml"),
      ("bin/mailer", "a.js b.tsx c.css d.py", "a.rb c.json d.yml"),
      ("env PORT=4000 node streaming/index.js", "a.rb b.py c.gemspec", "a.js b.html c.css x"),
      ("cd web && yarn serve", "a.rb b.py", "a.js"),
      ("gunicorn app:app", "a.rb b.js", "a.py c.html"),
      ("./server", "", "a.rb b.py c.js"), ("go run .", "", "a.css b.js"),
    ])
  func `a save in another language restarts nothing`(
    _ line: String, _ ignored: String, _ counted: String
  ) throws {
    let directory = try projectDirectory(Self.files.merging(["Procfile": "x: \(line)"]) { $1 })
    let project = try #require(try ProjectSource("Procfile", directory: directory.path).read())
    let task = try #require(project.tasks.first)
    #expect(task.watched == ["."])
    let filter = PathFilter(base: directory.path, ignore: task.ignores)
    for (names, isCounted) in [(ignored, false), (counted, true)] {
      for name in names.split(separator: " ") {
        let path = directory["sub/\(name)"]
        #expect(
          filter.decision(for: path, isDirectory: false, below: directory.path).isIncluded
            == isCounted, "\(name)")
      }
    }
  }

  @Test func `what is not restarted is said, also of a Procfile that is named`() throws {
    let directory = try projectDirectory([
      "Procfile": "web: x\njs: npx vite\ncss: sass --watch a:b\n"
    ])
    for file in ["Procfile", nil] as [Path?] {
      var notes: [String] = []
      _ = try ProjectSource(file, directory: directory.path).load(Settings()) { notes.append($0) }
      #expect(notes.last == "js, css watch by themselves, and are not restarted")
    }
  }

  @Test func `a file that is written restarts the same`() throws {
    let text = "web: bundle exec clockwork\njs: yarn build --watch\nother: x\n"
    let directory = try projectDirectory(["Procfile": text, "package.json": "{}"])
    let project = try #require(try ProjectSource("Procfile", directory: directory.path).read())
    let written = ProjectText.file(project)
    let again = try ProjectReader.read(Array(written.utf8), as: "x").project
    #expect(again.tasks == project.tasks, "\(written)")
  }
}
