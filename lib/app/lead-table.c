/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lead-table.h"

#include "util/util.h"

/*
 * Programs that are led alike, by name. "TerminalEmulator" is the category of desktop entries: a terminal that is not
 * listed. "*wm" is also uwsm's unit of a compositor, wayland-wm@; "panel-*" a plugin of Xfce's panel; "booster-*" of
 * Sailfish OS becomes the app that it starts.
 */
const struct lead_line lead_table[] = {
        { "brave", LEAD_ALIAS, NULL, NULL, "brave-browser" },
        { "chrome", LEAD_ALIAS, NULL, NULL, "google-chrome" },
        { "msedge", LEAD_ALIAS, NULL, NULL, "microsoft-edge" },
        { "oosplash soffice.bin", LEAD_ALIAS, NULL, NULL, "libreoffice" },
        { "opera", LEAD_ALIAS, NULL, NULL, "opera-stable" },
        { "vivaldi-bin", LEAD_ALIAS, NULL, NULL, "vivaldi-stable" },

        { "Xephyr Xnest muvm-x11bridge sommelier ssh waypipe wayland-proxy-virtwl wl-cross-domain-proxy wprsc "
          "xpra", LEAD_NOT, .bridge = true },

        { "busctl dbus-send exo-open flatpak gapplication gdbus gio gtk-launch hyprctl kde-open kioclient kstart "
          "qdbus snap true waydroid xdg-open", LEAD_SENDER },

        /* Elixir's script, "+iex", another script, the name or folder of a release, the first module */
        { "beam.smp", LEAD_INTERPRETER, NULL, "-S --no-halt -extra -progname -root -s -run", "erl", .by_option = true },
        { "box64 box86 busybox electron FEX* love mono mono-sgen nw R racket rosetta Rscript tclsh "
          "wine-preloader wine64-preloader wish", LEAD_INTERPRETER },
        { "bun dart", LEAD_INTERPRETER, NULL, "run ." },
        { "coverage", LEAD_INTERPRETER, "--rcfile --source --omit --include", "run . -m" },
        { "deno", LEAD_INTERPRETER, "-c --config --import-map", "run ." },
        { "dotnet", LEAD_INTERPRETER, "--depsfile --runtimeconfig", "exec ." },
        { "gjs*", LEAD_INTERPRETER, "-I --include-path", "-m" },
        { "guile", LEAD_INTERPRETER, "-L -l -e" },
        { "java javaw", LEAD_INTERPRETER,
          "-cp -classpath --class-path -p --module-path --add-opens --add-exports --add-modules --add-reads" },
        { "julia", LEAD_INTERPRETER, "-L -J -t -p" },
        { "ld-linux*", LEAD_INTERPRETER, "--library-path --argv0 --preload" },
        { "lua luajit", LEAD_INTERPRETER, "-l" },
        { "node nodejs", LEAD_INTERPRETER, "-r --require --import --loader" },
        { "nodemon", LEAD_INTERPRETER, "-w --watch -i --ignore -e --ext -d --delay" },
        { "php", LEAD_INTERPRETER, "-d -S -t -c" },
        { "pypy python pythonw", LEAD_INTERPRETER, "-W -X" },
        { "qemu-aarch64* qemu-arm* qemu-i386 qemu-riscv64 qemu-x86_64*", LEAD_INTERPRETER, "-L -cpu" },
        { "perl ruby", LEAD_INTERPRETER, "-I -r" },
        { "ts-node", LEAD_INTERPRETER, "-P --project -r --require" },
        { "tsx", LEAD_INTERPRETER, "--tsconfig --import", "watch" },
        { "start.exe", LEAD_INTERPRETER, NULL, "/unix /Unix /wait" },
        { "wasmtime", LEAD_INTERPRETER, "--dir --env", "run" },
        { "wine wine-stable wine-staging", LEAD_INTERPRETER, NULL, "start /unix /Unix /wait" },

        { "accelerate", LEAD_WRAPPER, "--config_file --num_processes --num_machines", "launch!" },
        { "app2unit uwsm-app", LEAD_WRAPPER, "-s -a -u -d -t" },
        { "bottles-cli", LEAD_WRAPPER, "-b -p -e --bottle --program --executable", "run" },
        { "bundle npm", LEAD_WRAPPER, "-w", "exec!" },
        { "bwrap", LEAD_WRAPPER,
          ("--bind2 --bind-try2 --dev-bind2 --dev-bind-try2 --ro-bind2 --ro-bind-try2 --symlink2 --setenv2 --file2 "
           "--bind-data2 --ro-bind-data2 --chmod2 --args --unsetenv --dev --proc --tmpfs --mqueue --dir --chdir "
           "--seccomp --uid --gid --hostname --lock-file --sync-fd --info-fd --perms --cap-add --cap-drop "
           "--exec-label") },
        { "catchsegv chrt command dbus-launch dumb-init fakeroot faketime firejail flatpak-spawn game-performance "
          "gamemoderun host-spawn lxqt-sudo mangohud* nixGL nixVulkan nohup numactl nvidia-offload "
          "obs-gamecapture padsp pressure-vessel-* prime-run primusrun rlwrap runapp setpriv setsid setuidgid "
          "strangle systemd-inhibit taskset torsocks umu-run unbuffer unshare valgrind x11docker "
          "xdg-terminal-exec", LEAD_WRAPPER },
        { "cgexec", LEAD_WRAPPER, "-g" },
        { "conda *mamba", LEAD_WRAPPER, "-n --name -p --prefix --cwd", "run!" },
        { "dbus-run-session", LEAD_WRAPPER, "--config-file --dbus-daemon" },
        { "direnv", LEAD_WRAPPER, NULL, "exec! 1" },
        { "distrobox distrobox-enter", LEAD_WRAPPER, "-n --name", "--! -e!", .bridge = true },
        { "doas gksu* kdesu* pkexec run0 runuser", LEAD_WRAPPER, "-u --user -C -a" },
        { "env", LEAD_WRAPPER, "-u --unset -C --chdir", "-S" },
        { "exec", LEAD_WRAPPER, "-a" },
        { "chroot flock", LEAD_WRAPPER, "-w -E", "1" },
        { "guix", LEAD_WRAPPER, NULL, "--!" },
        { "incus lxc machinectl", LEAD_WRAPPER, NULL, "exec! shell! 1", .bridge = true },
        { "ip", LEAD_WRAPPER, "-n", "netns exec! 1" },
        { "nix nix-shell", LEAD_WRAPPER, NULL, "-c! --command! --run!" },
        { "gdb", LEAD_WRAPPER, "-x -ex" },
        { "gnome-session-inhibit", LEAD_WRAPPER, "--app-id --reason --inhibit" },
        { "ionice nice", LEAD_WRAPPER, "-c -n" },
        { "mise", LEAD_WRAPPER, NULL, "exec! x!" },
        { "npx", LEAD_WRAPPER, "-p --package" },
        { "optirun vglrun", LEAD_WRAPPER, "-b -d" },
        { "parallel", LEAD_WRAPPER, "-j -S -a --jobs" },
        { "hatch pdm pipenv pipx pixi poetry", LEAD_WRAPPER, "-e --environment --manifest-path -C --spec", "run!" },
        { "docker nerdctl podman", LEAD_WRAPPER,
          ("-a -e -h -l -p -u -v -w --cpus --detach-keys --device --entrypoint --env --env-file --hostname --ipc "
           "--label --memory --mount --name --network --pid --security-opt --shm-size --user --userns --volume "
           "--workdir"),
          "exec! run! 1", .bridge = true },
        { "perf", LEAD_WRAPPER, "-e -F -o -g", "record! stat! trace!" },
        { "proot", LEAD_WRAPPER, "-b -r -w" },
        { "proton", LEAD_WRAPPER, NULL, "run waitforexitandrun" },
        { "script", LEAD_WRAPPER, "-c" },
        { "setarch", LEAD_WRAPPER, NULL, "aarch64 i386 i686 linux32 linux64 x86_64" },
        { "stdbuf", LEAD_WRAPPER, "-i -o -e" },
        { "heaptrack ltrace strace", LEAD_WRAPPER, "-e -o -p -s -u -E -P" },
        { "sudo sudo-rs", LEAD_WRAPPER, "-u -g -h -p -C -D -R -T --user --group" },
        { "switcherooctl", LEAD_WRAPPER, "-g --gpu", "launch!" },
        { "systemd-cat", LEAD_WRAPPER, "-t -p" },
        { "systemd-run", LEAD_WRAPPER, "-u -p -M --unit --property --slice --description" },
        { "proxychains time", LEAD_WRAPPER, "-f -o" },
        { "timeout", LEAD_WRAPPER, "-s -k --signal --kill-after" },
        { "toolbox", LEAD_WRAPPER, "-c --container", "run!", .bridge = true },
        { "deepspeed torchrun", LEAD_WRAPPER,
          "--exclude --hostfile --include --master-port --master_port --nnodes --node-rank --nproc-per-node "
          "--nproc_per_node --num_gpus --num_nodes --rdzv-backend --rdzv-endpoint --rdzv-id" },
        { "uv", LEAD_WRAPPER, "--with --python -p", "run! tool" },
        { "uvx", LEAD_WRAPPER, "--with --from --python -p" },
        { "uwsm", LEAD_WRAPPER, "-s -a -u -d -t", "app! app2unit" },
        { "xargs", LEAD_WRAPPER, "-I -n -P -L -d -a" },
        { "xvfb-run", LEAD_WRAPPER, "-e -f -n -p -s -w" },

        { "atlauncher bottles caja cartridges cosmic-files dde-file-manager dolphin doublecmd faugus-launcher "
          "gamehub heroic hgl itch krusader legendary lf lutris minecraft-launcher minigalaxy modrinth-app "
          "modrinthapp multimc nautilus nemo nnn pcmanfm* peony* playonlinux polymc portproton prismlauncher ranger "
          "retroarch steam thunar vifm yazi", LEAD_STARTER },

        { "lutris-wrapper:", LEAD_GAME },
        { "cpw.mods.* net.fabricmc.* net.minecraft.* net.neoforged.* NewLaunch org.multimc.EntryPoint "
          "org.prismlauncher.EntryPoint org.quiltmc.*", LEAD_GAME, NULL, NULL, "Minecraft" },

        { "abduco alacritty blackbox byobu contour cool-retro-term cosmic-term darktile ddterm deepin-terminal dtach "
          "dvtm eterm etserver extraterm fbterm ghostty gnome-console guake havoc hyper io.elementary.terminal kgx "
          "kmscon konsole lomiri-terminal-app lxterm* mate-terminal mlterm mosh-server pantheon-terminal "
          "qmlkonsole qterminal ratty rio roxterm rxvt sakura screen shpool stterm tabby TerminalEmulator terminator "
          "terminology terminus termite termonad tilda tilix tmate tmux ttyd tym uxterm warp-terminal waveterm "
          "x-terminal-emulator xfce4-terminal xst xterm yakuake zellij zutty", LEAD_TERMINAL },
        { "foot footclient", LEAD_TERMINAL,
          "-a -c -f -o -t -T -w -W -D --app-id --title --config --term --working-directory" },
        { "gnome-terminal*", LEAD_TERMINAL, NULL, NULL, "gnome-terminal" },
        { "kitten", LEAD_TERMINAL, NULL, NULL, "kitty" },
        { "kitty", LEAD_TERMINAL, "-c -d -o -T --class --name --title --config --directory --override" },
        { "ptyxis*", LEAD_TERMINAL, NULL, NULL, "ptyxis" },
        { "st", LEAD_TERMINAL, "-c -n -t -T -f -g" },
        { "tmux:server", LEAD_TERMINAL, NULL, NULL, "tmux" },
        { "urxvt*", LEAD_TERMINAL, NULL, NULL, "urxvt" },
        { "warp", LEAD_TERMINAL, NULL, NULL, "warp-terminal" },
        { "wezterm*", LEAD_TERMINAL, "--cwd --class --workspace", "start ssh", "wezterm" },

        { "ash elvish nu pwsh tcsh xonsh yash", LEAD_SHELL },
        { "bash", LEAD_SHELL, "-o -O --rcfile --init-file" },
        { "dash ksh mksh sh zsh", LEAD_SHELL, "-o" },
        { "fish", LEAD_SHELL, "-C -d -o" },
        { "su", LEAD_SHELL, "-s --shell -g --group -G -w -T", "." },

        { "(sd-pam) agetty anacron atd conmon containerd-shim* cron crond cronie dinit docker-init dropbear "
          "elogind-daemon fcron gdm-* getty greetd init lightdm login ly openrc-init runit runsv* s6-sv* s6-supervise "
          "sddm* shepherd sshd* superd supervise-daemon systemd systemd-executor tini turnstiled "
          "xrdp-*", LEAD_SESSION },

        { "*panel *wm ags ags.js albert anyrun ashell awesome bemenu* booster-* brisk-menu budgie-run-dialog "
          "budgie-session cage cagebreak cairo-dock cinnamon cinnamon-session compiz cosmic-app-* cosmic-comp "
          "cosmic-launcher cosmic-osd cosmic-session cosmic-settings-daemon cosmic-workspaces crystal-dock "
          "csd-media-keys cutefish-dock cutefish-launcher cutefish-statusbar dbus* dde-dock dde-launcher dde-session "
          "dde-shell dex dmenu* dms dunst dwl e16 elephant enlightenment espanso eww flatpak-session-helper fluxbox "
          "fnott fusuma fuzzel gala gauntlet gmrun gnome-flashback gnome-kiosk gnome-session* gnome-shell "
          "gsd-media-keys hikari hypr* i3 i3bar icewm-session ignis ironbar jay jgmenu kando kded kdeinit* "
          "kglobalaccel* kickoff kiwmi krunner ksmserver kupfer kwin_* labwc latte-dock launchy leftwm* "
          "libinput-gestures lipstick lomiri lxqt-globalkey* lxqt-runner lxqt-session lxsession mako mango marco "
          "matchbox-window-manager mate-menu mate-session mate-settings-daemon metacity mintmenu muffin mutter "
          "nemo-desktop niri niriswitcher noctalia-shell nwg-bar nwg-dock* nwg-drawer nwg-menu nwggrid onagre openbox "
          "panel-* phoc phosh pinnacle plank plasma_session plasmashell polybar pop-launcher qs qtile quickshell "
          "ratpoison river rofi sawfish scroll sdorfehs sfwbar sherlock sirula start-hyprland startplasma* startxfce4 "
          "sway swaybar swayfx swayidle swaync swayr swhk* sxhkd sxmo_wm.sh synapse tint2 tofi* touchegg treeland "
          "ukui-menu ukui-session ulauncher vicinae vivarium walker waybar waybox wayfire weston wf-dock windowmaker "
          "wldash wleave wlmaker wlogout wlr-which-key wmaker wmenu* wmii wofi wrapper-2.0 xbindkeys xfce4-appfinder "
          "xfce4-popup-* xfce4-session xfdashboard xfdesktop xfsettingsd xinit xmobar xmonad* yambar "
          "yofi", LEAD_DESKTOP },
        { "gamescope gamescope-wl", LEAD_DESKTOP, .bridge = true },
        { "Xorg Xwayland", LEAD_DESKTOP, NULL, NULL, "part", .bridge = true },
        { "xwayland-satellite", LEAD_DESKTOP, NULL, NULL, "part", .bridge = true },
};

const size_t lead_table_length = ARRAY_SIZE(lead_table);
