/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The app in the name of a unit and in the path of a cgroup, as text. */

#include <errno.h>

#include "app/app-unit.h"
#include "check.h"
#include "util/util.h"

#define USER "/user.slice/user-1000.slice/user@1000.service/"
#define APPS USER "app.slice/"

static void unit_names(void)
{
        static const struct {
                const char *unit, *id, *launcher;
        } cases[] = {
                { "app-firefox-1234.scope", "firefox", "" },
                { "app-gnome-org.gnome.Maps-5123.scope", "org.gnome.Maps", "gnome" },
                { "app-org.kde.dolphin-3f2a9c01d4e84b0f9d6c1b2a3e4f5061.scope", "org.kde.dolphin", "" },
                { "app-org.kde.dolphin-3f2a9c01d4e84b0f9d6c1b2a3e4f5061.service", "org.kde.dolphin", "" },
                { "app-org.kde.konsole-cafe.scope", "org.kde.konsole", "" },
                { "app-org.kde.kate@3f2a9c01d4e84b0f9d6c1b2a3e4f5061.service", "org.kde.kate", "" },
                { "app-Hyprland-firefox-a1b2c3d4.scope", "firefox", "Hyprland" },
                { "app-sway-foot-6f1e2d3c-0a1b-4c2d-8e3f-112233445566.scope", "foot", "sway" },
                { "app-niri-mpv-x7Kq9.scope", "mpv", "niri" },
                { "app-gnome-google\\x2dchrome-77.scope", "google-chrome", "gnome" },
                { "app-gnome-org.gnome.Evolution\\x2dalarm\\x2dnotify@autostart.service",
                  "org.gnome.Evolution-alarm-notify",
                  "gnome" },
                { "app-gnome-mpv-12.service", "mpv", "gnome" },
                { "app-gnome-appimagekit_6a53aa5b7a6e8a67f6bcd4ee4b8f42be\\x2dObsidian-77.scope", "Obsidian", "gnome" },
                { "app-gnome-appimagekit_tool-77.scope", "appimagekit_tool", "gnome" },
                { "app-org.gnome.Terminal.slice", "org.gnome.Terminal", "" },
                { "app-flatpak-org.telegram.desktop-2201.scope", "org.telegram.desktop", "flatpak" },
                { "app-flatpak-com.spotify.Client-2.scope", "com.spotify.Client", "flatpak" },
                { "app-mullvad-vpn-5511.scope", "vpn", "mullvad" },
                { "snap.firefox.firefox-6f1e2d3c-0a1b-4c2d-8e3f-112233445566.scope", "snap:firefox", "" },
                { "snap.spotify_two.spotify.service", "snap:spotify_two", "" },
                { "dbus-:1.2-org.gnome.Identity@0.service", "org.gnome.Identity", "dbus" },
                { "app-dbus\\x2d:1.2\\x2dorg.a11y.atspi.Registry.slice", "org.a11y.atspi.Registry", "dbus" },
                { "session-2.scope", NULL, "" },
                { "app.slice", NULL, "" },
                { "app-.scope", NULL, "" },
                { "app-\x1b[2J-1.scope", "?[2J", "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct cgroup_app app = { 0 };
                bool named = app_unit_parse(cases[i].unit, &app);

                check_int(named, cases[i].id != NULL);
                if (named) {
                        check_text(app.id, cases[i].id);
                        check_text(app.launcher, cases[i].launcher);
                }
        }
}

static void cgroup_texts(void)
{
        static const struct {
                const char *text, *path;
        } cases[] = {
                { "0::/a/b\n", "/a/b" },
                { "5:cpu:/x\n1:name=systemd:/user.slice/c\n0::/\n", "/user.slice/c" }, /* hybrid */
                { "0::/\n", "/" },
                { "1:name=elogind:/3\n0::/\n", "/3" },
                { "9:name=systemd:/\n0::/\n", "/" },
        };
        char path[64];

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                check_int(app_cgroup_choose_path(cases[i].text, path, sizeof(path)), 0);
                check_text(path, cases[i].path);
        }
        check_int(app_cgroup_choose_path("", path, sizeof(path)), -ENODATA);
        check_int(app_cgroup_choose_path("garbage", path, sizeof(path)), -ENODATA);
}

static void cgroup_paths(void)
{
        static const struct {
                const char *path;
                enum cgroup_kind kind;
                const char *id;
        } cases[] = {
                { "/", CGROUP_NONE, "" },
                { "/init.scope", CGROUP_SYSTEM, "sys:init" },
                { "/system.slice/NetworkManager.service", CGROUP_SYSTEM, "sys:NetworkManager" },
                { "/system.slice/system-getty.slice/getty@tty1.service", CGROUP_SYSTEM, "sys:getty@tty1" },
                { "/system.slice/snap.lxd.daemon.service", CGROUP_SNAP, "snap:lxd" },
                { "/machine.slice/machine-box.scope/payload/init.scope", CGROUP_CONTAINER, "ctr:box" },
                { "/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope",
                  CGROUP_CONTAINER, "ctr:docker" },
                { "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                  CGROUP_CONTAINER, "ctr:docker" },
                { "/lxc.payload.web/system.slice/nginx.service", CGROUP_CONTAINER, "ctr:web" },
                { "/lxc.payload.waydroid/uid_10123", CGROUP_ANDROID, "android" },
                { "/user.slice/user-1000.slice/session-2.scope", CGROUP_SESSION, "" },
                { USER "init.scope", CGROUP_USER, "usr:systemd" },
                { USER "session.slice/org.gnome.Shell@wayland.service", CGROUP_USER,
                  "usr:org.gnome.Shell@wayland" },
                { USER "background.slice/tracker-miner-fs-3.service", CGROUP_USER, "usr:tracker-miner-fs-3" },
                { APPS "app-org.gnome.Terminal.slice/vte-spawn-1f2e.scope", CGROUP_SPAWN,
                  "org.gnome.Terminal" },
                { APPS "app-org.gnome.Terminal.slice/gnome-terminal-server.service", CGROUP_USER,
                  "usr:gnome-terminal-server" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct cgroup_app app;

                app_cgroup_parse(cases[i].path, &app);
                check_int(app.kind, cases[i].kind);
                check_text(app.id, cases[i].id);
        }
}

int main(void)
{
        unit_names();
        cgroup_texts();
        cgroup_paths();
        return check_result();
}
