# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# nix-build -E '(import <nixpkgs> { }).callPackage ./packaging/nix/package.nix { }'
#
# What the system's daemons read (units, D-Bus, polkit, sysusers) is in the package; NixOS takes it from there by
# systemd.packages, services.dbus.packages, environment.systemPackages and users.users.joulecast.
{ lib, stdenv, meson, ninja, pkg-config, python3, gettext, scdoc, bpftools, llvmPackages, wayland-scanner
, sqlite, inih, uthash, cjson, gsl, linuxPackages, curl, iperf3, libbpf, systemd, libnl, libxcb, wayland
, wayland-protocols, libdrm, libGL, zlib, nettle, libmicrohttpd, postgresql, ncurses, elfutils, expat, libpcap
, libX11, libXtst, libXdamage, libXext }:

stdenv.mkDerivation {
  pname = "joulecast";
  version = "0.1.0";
  src = lib.cleanSource ../..;

  # clang compiles for BPF, without the wrapper's flags for the host.
  nativeBuildInputs = [ meson ninja pkg-config python3 gettext scdoc bpftools llvmPackages.clang-unwrapped
    llvmPackages.llvm wayland-scanner ];
  buildInputs = [ sqlite inih uthash cjson gsl linuxPackages.cpupower curl iperf3 libbpf systemd libnl libxcb wayland
    wayland-protocols libdrm libGL zlib nettle libmicrohttpd postgresql ncurses elfutils expat libpcap libX11 libXtst
    libXdamage libXext ];

  mesonFlags = [ "-Dauto_features=enabled" "-Dtests=false" ];
  postPatch = "patchShebangs .";

  meta = {
    description = "How long apps can run on this battery, and what they cost it";
    license = with lib.licenses; [ lgpl21Plus gpl2Plus gpl3Plus ];
    platforms = lib.platforms.linux;
    mainProgram = "joulecast";
  };
}
