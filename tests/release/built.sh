# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# For scripts that package what "reproduce" has built in $work.

skip() { echo "skipped: $*"; exit 77; }

fail() { echo "failed: $*"; exit 1; }

source=$(dirname "$(dirname "$here")")
# shellcheck disable=SC2034 # the scripts use them
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$source/meson.build") build=$work/reproduce/one/joulecast/build
[ -d "$build/meson-dist" ] || skip "nothing is built; run the step builds first"
tarball=$build/meson-dist/joulecast-$version.tar.xz
[ -f "$tarball" ] || fail "$tarball is not there"
