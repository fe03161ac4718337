# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# For scripts that make a Debian in a folder, from the mirror that apt uses; nothing is installed on the machine itself.

skip() { echo "skipped: $*"; exit 77; }

# The words of a list, without its comments.
words() { sed 's/#.*//; /^$/d' "$1"; }

# find_mirror: sets $mirror, and $ID and $VERSION_CODENAME of this machine
find_mirror()
{
        # shellcheck source=/dev/null
        . /etc/os-release
        [ "$ID" = debian ] ||
                skip "this machine is $ID, and what is made here is a Debian as on the machine: run it on Debian"
        mirror=$(apt-get indextargets --format "\$(REPO_URI) \$(CODENAME) \$(COMPONENT)" 'Identifier: Packages' |
                awk -v suite="$VERSION_CODENAME" '$2 == suite && $3 == "main" { print $1; exit }')
        [ -n "$mirror" ] || skip "apt names no mirror for $VERSION_CODENAME main"
}

# debian_base ROOT: a minimal Debian in that folder, with this machine's sources of packages; no service starts in it
debian_base()
{
        if [ ! -f "$1/.debootstrapped" ]; then
                rm -rf "$1"
                mkdir -p "$1"
                debootstrap --variant=minbase "$VERSION_CODENAME" "$1" "$mirror" > "$1.log" 2>&1 ||
                        skip "debootstrap failed (no network?); the end of $1.log: $(tail -n 3 "$1.log")"
                touch "$1/.debootstrapped"
        fi
        mkdir -p "$1/etc/apt/apt.conf.d"
        for file in sources.list sources.list.d/debian.sources; do
                rm -f "$1/etc/apt/$file" # debootstrap's names the mirror once more
                if [ -f "/etc/apt/$file" ]; then cp "/etc/apt/$file" "$1/etc/apt/$file"; fi
        done
        apt-config dump | grep -i '^Acquire::.*Proxy' > "$1/etc/apt/apt.conf.d/proxy" || true
        cp -L /etc/resolv.conf "$1/etc/resolv.conf"
        printf '#!/bin/sh\nexit 101\n' > "$1/usr/sbin/policy-rc.d"
        chmod 755 "$1/usr/sbin/policy-rc.d"
}

# own_apt FOLDER ARCHITECTURE SUITE...: FOLDER/apt.conf, for APT_CONFIG: apt as if nothing were installed, with
# its own lists
own_apt()
{
        apt_folder=$1 apt_architecture=$2
        shift 2
        mkdir -p "$apt_folder/lists/partial" "$apt_folder/cache/archives/partial"
        : > "$apt_folder/status"
        for apt_suite; do
                echo "deb $mirror $apt_suite main"
        done > "$apt_folder/sources.list"
        cat > "$apt_folder/apt.conf" <<END
APT::Architecture "$apt_architecture";
APT::Architectures { "$apt_architecture"; };
Dir::Etc::SourceList "$apt_folder/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State "$apt_folder";
Dir::State::status "$apt_folder/status";
Dir::Cache "$apt_folder/cache";
END
}

# cross_libraries: those of ./packages that a cross build links
cross_libraries()
{
        words "$1" | awk '$1 ~ /-dev$/ || $1 == "wayland-protocols" { print $1 }'
}

# unpack_packages ROOT PACKAGE...: these and all that they need, by the apt that $APT_CONFIG names, in $1/apt. They are
# only unpacked, as nothing here could run their scripts.
unpack_packages()
{
        unpack_root=$1
        unpack_log=$1/log
        shift
        { apt-get update && apt-get install --yes --download-only --no-install-recommends "$@"; } \
                > "$unpack_log" 2>&1 ||
                skip "no such Debian can be had (no network?); the end of $unpack_log: $(tail -n 3 "$unpack_log")"
        mkdir -p "$unpack_root/usr/lib" "$unpack_root/usr/bin" "$unpack_root/usr/sbin"
        for unpack_name in lib bin sbin; do ln -s "usr/$unpack_name" "$unpack_root/$unpack_name"; done
        for unpack_name in "$unpack_root"/apt/cache/archives/*.deb; do
                dpkg --fsys-tarfile "$unpack_name" | tar -x -C "$unpack_root" --keep-directory-symlink \
                        --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*'
        done
}

# module_files FOLDER KERNEL MODULE...: their files in FOLDER/lib/modules, with those of the modules they need, as
# they load
module_files()
{
        modules_folder=$1 modules_kernel=$2
        shift 2
        for module; do
                modprobe -d "$modules_folder" -S "$modules_kernel" --show-depends "$module"
        done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# make_initrd FILE INIT BUSYBOX FOLDER KERNEL MODULE...: a script, what it runs in, and modules listed in
# /lib/modules/order
make_initrd()
{
        initrd=$1 initrd_folder=$1.folder
        rm -rf "$initrd_folder"
        for folder in bin dev proc sys newroot lib/modules; do mkdir -p "$initrd_folder/$folder"; done
        cp "$2" "$initrd_folder/init"
        cp "$3" "$initrd_folder/bin/busybox"
        shift 3
        module_files "$@" | while read -r file; do
                cp "$file" "$initrd_folder/lib/modules/"
                basename "$file" >> "$initrd_folder/lib/modules/order"
        done
        (cd "$initrd_folder" && find . | cpio --quiet -o -H newc | gzip -1) > "$initrd"
        rm -rf "$initrd_folder"
}
