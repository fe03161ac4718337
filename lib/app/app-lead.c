/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-private.h"

#include <string.h>
#include <strings.h>

#include "util/util.h"

/* Programs whose children are other apps, by comm, which has at most 15 bytes. */
static const char *const desktops[] = {
        "Hyprland", "Xorg", "Xwayland", "albert", "awesome", "bemenu-run", "budgie-panel", "budgie-wm",
        "cage", "cinnamon", "cosmic-app-list", "cosmic-comp", "cosmic-panel", "cosmic-session", "dmenu_run",
        "dwm", "fuzzel", "gamescope", "gamescope-wl", "gnome-session-b", "gnome-shell", "i3", "kded5",
        "kded6", "krunner", "ksmserver", "kwin_wayland", "kwin_wayland_wr", "kwin_x11", "labwc",
        "lxqt-panel", "lxqt-runner", "lxqt-session", "mate-panel", "mate-session", "metacity", "niri",
        "nwg-drawer", "openbox", "phoc", "phosh", "plasma_session", "plasmashell", "river", "rofi",
        "startplasma-way", "startplasma-x11", "sway", "swaync", "sxmo_wm.sh", "tofi", "tofi-drun", "walker",
        "waybar", "wayfire", "weston", "wofi", "xfce4-appfinder", "xfce4-panel", "xfce4-session",
        "xfdesktop", "xfwm4", "xinit",
};
static const char *const sessions[] = {
        "(sd-pam)", "agetty", "containerd-shim", "cron", "crond", "docker-init", "elogind-daemon",
        "gdm-session-wor", "gdm-wayland-ses", "gdm-x-session", "getty", "greetd", "init", "lightdm",
        "login", "ly", "openrc-init", "runit", "runsvdir", "runsvdir-start", "screen", "sddm",
        "sddm-helper", "sshd", "sshd-session", "su", "sudo", "supervise-daemo", "systemd", "tini",
        "tmux: server",
};
static const char *const shells[] = {
        "ash", "bash", "dash", "elvish", "fish", "ksh", "mksh", "nu", "sh", "tcsh", "xonsh", "yash", "zsh",
};
/* Ids of units that also contain the apps which they start. */
static const char *const launcher_ids[] = {
        "albert", "bemenu", "com.system76.CosmicAppLibrary", "com.system76.CosmicAppList",
        "com.system76.CosmicLauncher", "dmenu", "fuzzel", "krunner", "nwg-drawer", "org.gnome.Nautilus",
        "org.kde.krunner", "org.kde.plasmashell", "rofi", "tofi", "ulauncher", "walker", "waybar", "wofi",
        "xfce4-appfinder", "xfce4-panel",
};

static bool listed(const char *const *list, size_t n, const char *text)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(list[i], text) == 0)
                        return true;
        return false;
}

bool app_lead_is_launcher(const char *id)
{
        for (size_t i = 0; i < ARRAY_SIZE(launcher_ids); i++)
                if (strcasecmp(launcher_ids[i], id) == 0)
                        return true;
        return false;
}

/* "-bash", "bash --login", "zsh -i": interactive. "sh /usr/bin/game", "sh -c '...'": a program of its own. */
static bool interactive(int root_fd, pid_t pid)
{
        char words[1024];
        ssize_t n = app_process_read_words(root_fd, pid, "cmdline", words, sizeof(words));

        if (n <= 0)
                return true;
        for (const char *word = words + strlen(words) + 1; word < words + n; word += strlen(word) + 1) {
                if (*word != '-' && *word != '+')
                        return false;
                if (word[0] == '-' && word[1] != '-' && strchr(word, 'c'))
                        return false;
        }
        return true;
}

enum app_lead app_lead_of(int root_fd, const struct app_entry *entry)
{
        if (entry->pid == 1 || listed(sessions, ARRAY_SIZE(sessions), entry->comm))
                return LEAD_SESSION;
        if (listed(desktops, ARRAY_SIZE(desktops), entry->comm) || app_lead_is_launcher(entry->comm))
                return LEAD_DESKTOP;
        if (listed(shells, ARRAY_SIZE(shells), entry->comm) && interactive(root_fd, entry->pid))
                return LEAD_SHELL;
        return LEAD_NOT;
}
