# Shared by the scripts of this directory. Sourced in bash, in the root of the repository.

# The time of the last commit, for all timestamps.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

packages=$PWD/.build/package

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# Finds what Packaging/build has made: $release and its $version.
find_release() {
  release=$(find "$packages" -maxdepth 1 -type d -name 'watchrun-*-linux-*')
  [ -d "$release" ] || fail "there is no release; run Packaging/build first"
  version=$("$release/bin/watchrun" --version)
  version=${version#watchrun }
}

say() { printf '\n== %s\n' "$*"; }

# Compresses files, the same way each time.
compress() { gzip --best --no-name "$@"; }

# Gives a tree fixed times and permissions.
settle() {
  find "$1" -type d -exec chmod 755 {} +
  find "$1" -type f ! -perm -u+x -exec chmod 644 {} +
  find "$1" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
}
