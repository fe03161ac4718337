#!/bin/bash -eu
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# OSS-Fuzz: every fuzzer with its corpus and dictionary, and the libraries that the image which runs them lacks. Give it
# $OUT, $CC and $CFLAGS, as that project does; tried without its image by
#   OUT=/tmp/out CC=clang CFLAGS=-fsanitize=address,fuzzer-no-link WORK=/tmp/work tests/fuzz/oss-fuzz/build.sh

cd "$(dirname "$0")"
[ -f meson.build ] || cd joulecast 2> /dev/null || cd ../../..
meson setup "$WORK/build" . -Dfuzz=true -Db_lundef=false -Dbuildtype=debugoptimized
ninja -C "$WORK/build" fuzzers

mkdir -p "$OUT/lib"
for fuzzer in "$WORK"/build/tests/fuzz/fuzz-*; do
        if [ ! -f "$fuzzer" ] || [ ! -x "$fuzzer" ]; then continue; fi
        name=${fuzzer##*/} kind=${fuzzer##*/fuzz-}
        cp "$fuzzer" "$OUT/"
        ldd "$fuzzer" | awk '$3 ~ /^\// { print $3 }' | grep -v -E '/(libc|libm|libpthread|libdl|librt)\.so' |
                xargs -r -I LIBRARY cp -n -L LIBRARY "$OUT/lib/"
        patchelf --set-rpath "\$ORIGIN/lib" "$OUT/$name"
        (cd "tests/fuzz/corpus/$kind" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
        dictionary=$(grep -l "^# For:.* $kind\( .*\)\?$" tests/fuzz/dictionaries/*.dict | head -n 1)
        [ -z "$dictionary" ] || cp "$dictionary" "$OUT/$name.dict"
done
