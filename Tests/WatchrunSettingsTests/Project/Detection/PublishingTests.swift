import TestSupport
import Testing

@testable import WatchrunSettings

@Suite struct PublishingTests {
  private func obstacle(_ line: String) -> String? {
    ProjectDetection.Script(line, in: ProjectDirectory(path: "/nowhere")).obstacle
  }

  @Test(arguments: [
    "gcloud builds submit", "npx prisma migrate deploy", "prisma db push", "prisma migrate reset",
    "npx convex deploy", "hexo g -d", "hexo deploy", "electron-builder -p always",
    "electron-builder --publish=always", "ko build ./cmd/app", "ko apply -f k8s", "clasp push",
    "skaffold build", "sshpass -p x rsync -a . host:", "drizzle-kit push", "drizzle-kit migrate",
    "sst deploy", "amplify push", "railway up", "copilot deploy", "supabase db push",
    "supabase functions deploy x", "az acr build -t x .", "pack build x --publish",
    "crane push a b", "oras push x", "nerdctl push x", "sf project deploy start",
    "sfdx force:source:push", "maturin publish", "maturin upload a.whl", "rye publish",
    "conan upload x", "anaconda upload x", "python3 setup.py sdist upload", "eas build -p ios",
    "eas update", "docker push x", "twine upload dist/a", "hugo deploy", "lerna version", "vercel",
    "vercel --yes", "quarto publish", "ghp-import -p site", "mike deploy --push", "kamal deploy",
    "pod trunk push", "flutter pub publish", "dart pub publish", "cabal upload x", "lein deploy",
    "docker images -q | xargs -n1 docker push", "ls | xargs -I {} docker push {}",
    "until docker push x; do sleep 1; done", "if x; then y; elif docker push x; then z; fi",
    "cp -r dist /var/www/html", "rsync -a dist/ /srv/site", "cargo --locked publish", "git push",
    "cargo +nightly --locked publish", "git -C x --no-pager push", "git subtree push -P x y z",
  ])
  func `a command that changes what others see is known`(line: String) {
    #expect(obstacle(line) != nil)
  }

  @Test(arguments: [
    "gcloud config list", "prisma generate", "prisma migrate dev", "hexo generate",
    "electron-builder --publish never", "electron-builder -p=never", "electron-builder --dir",
    "ko build --local .", "ko build --push=false .", "skaffold render",
    "skaffold build --push=false",
    "drizzle-kit generate", "supabase db push --local", "supabase start", "az bicep build -f x",
    "pack build x", "nerdctl build .", "sf project generate", "maturin build", "conan install .",
    "python3 setup.py build", "eas build --local", "cargo build --profile release",
    "git stash push -m x", "dotnet publish", "vercel build", "mkdir deploy",
    "cp -r deploy x", "cd upload && make", "cp x /var/tmp/y", "cp -r x /var/tmp", "rsync -a a/ b/",
    "grep publish x", "echo deploy", "rm -rf publish", "eslint deploy",
  ])
  func `a command that only builds is no publisher`(line: String) {
    #expect(obstacle(line) == nil)
  }
}
