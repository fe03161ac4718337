/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The running app of a window, if the desktop reports no pid, or that of an X server. */

#include <errno.h>
#include <fcntl.h>

#include "app/app-private.h"
#include "check.h"
#include "tree.h"

#define APPS "/user.slice/user-1000.slice/user@1000.service/app.slice/"
#define ENTRY "[Desktop Entry]\nType=Application\n"

static char dir[] = "/tmp/joulecast-window-XXXXXX";
static int root_fd;

static void put(const char *path, const char *text)
{
        check(tree_write(dir, path, text, strlen(text)));
}

static void start(pid_t pid, const char *comm, const char *unit)
{
        char path[64], text[512];

        snprintf(path, sizeof(path), "proc/%d/stat", (int)pid);
        snprintf(text, sizeof(text), "%d (%s) S 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 %d 0 0\n", (int)pid,
                 comm, (int)pid);
        put(path, text);
        snprintf(path, sizeof(path), "proc/%d/cgroup", (int)pid);
        snprintf(text, sizeof(text), "0::%s%s\n", strncmp(unit, "app-", 4) ? "" : APPS, unit);
        put(path, text);
}

static const struct {
        const char *comm, *unit;
} running[] = {
        { "chrome", "app-flatpak-com.google.Chrome-10.scope" },
        { "chrome", "app-flatpak-com.google.Chrome-11.scope" },
        { "brave", "app-flatpak-com.brave.Browser-12.scope" },
        { "soffice.bin", "app-flatpak-org.libreoffice.LibreOffice-13.scope" },
        { "firefox", "app-flatpak-org.mozilla.firefox-14.scope" },
        { "steam", "app-flatpak-com.valvesoftware.Steam-15.scope" },
        { "java", "app-niri-idea-16.scope" },
        { "java", "app-flatpak-com.jetbrains.PyCharm\\x2dCommunity-17.scope" },
        { "obs", "app-flatpak-com.obsproject.Studio-18.scope" },
        { "gimp-2.10", "app-gnome-org.gimp.GIMP-19.scope" },
        { "bitwarden", "app-flatpak-com.bitwarden.desktop-20.scope" },
        { "xwayland-satell", "app-niri-xwayland\\x2dsatellite-21.scope" },
        { "Xwayland", "/user.slice/user-1000.slice/user@1000.service/session.slice/niri.service" },
        { "gamescope-wl", "app-niri-gamescope-23.scope" },
        { "waypipe", "app-niri-waypipe-24.scope" },
        { "riot", "app-flatpak-im.riot.Riot-25.scope" },
        { "first", "app-niri-twin.one-26.scope" },
        { "second", "app-niri-twin.two-27.scope" },
        { "maps", "app-gnome-org.gnome.Maps-28.scope" },
        { "sh", "/system.slice/teams.service" },
        { "msedge", "app-gnome-microsoft\\x2dedge-30.scope" },
        { "vivaldi-bin", "app-gnome-vivaldi\\x2dstable-31.scope" },
};

static void start_all(void)
{
        check(mkdtemp(dir) != NULL);
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (size_t i = 0; i < ARRAY_SIZE(running); i++)
                start((pid_t)(10 + i), running[i].comm, running[i].unit);
        put("var/lib/flatpak/exports/share/applications/im.riot.Riot.desktop",
            ENTRY "Name=Element\nExec=/usr/bin/flatpak run im.riot.Riot\nStartupWMClass=Element\n");
        /* Installed, but does not run. */
        put("usr/share/applications/firefox.desktop", ENTRY "Name=Firefox\nExec=firefox %u\n");
        put("usr/share/applications/vivaldi-stable.desktop", ENTRY "Name=Vivaldi\nExec=/usr/bin/vivaldi-stable %U\n");
        put("usr/share/applications/notes.desktop",
            ENTRY "Name=Notes\nExec=/opt/vivaldi/vivaldi --app-id=abcd\nStartupWMClass=crx_abcd\n");
        put("usr/share/applications/gone.desktop", ENTRY "Name=Gone\nExec=gone\nStartupWMClass=Gone\n");
}

static const struct {
        pid_t pid;
        const char *app_id, *app; /* NULL: unknown */
        bool sure;
} windows[] = {
        { 0, "google-chrome", "com.google.Chrome", true },
        { 21, "Google-chrome", "com.google.Chrome", true },
        { 0, "chrome-abcdefgh-Default", "com.google.Chrome", false }, /* a web app */
        { 0, "brave-browser", "com.brave.Browser", true },
        { 0, "msedge-_abcdefgh-Default", "microsoft-edge", false },
        { 0, "vivaldi-abcdefgh-Default", "vivaldi-stable", false },
        { 0, "crx_abcd", "vivaldi-stable", true }, /* by the program of its entry */
        { 0, "libreoffice-writer", "org.libreoffice.LibreOffice", false },
        { 0, "Soffice", "org.libreoffice.LibreOffice", true },
        { 0, "firefox", "org.mozilla.firefox", true },
        { 0, "firefox-esr", "org.mozilla.firefox", false },
        { 0, "steam_app_413150", "com.valvesoftware.Steam", true },
        { 0, "steam_app_default", NULL, false }, /* any launcher's */
        { 0, "steam_app_0", NULL, false },
        { 21, "jetbrains-idea", "idea", true },
        { 0, "jetbrains-pycharm-ce", "com.jetbrains.PyCharm-Community", true },
        { 0, "jetbrains-studio", NULL, false }, /* not OBS Studio */
        { 0, "obs", "com.obsproject.Studio", true },
        { 22, "Gimp-2.10", "org.gimp.GIMP", true },
        { 0, "Bitwarden", "com.bitwarden.desktop", true },
        { 0, "Element", "im.riot.Riot", true },
        { 23, "org.gimp.GIMP", "org.gimp.GIMP", true },
        { 23, "org.x.unknown", NULL, false },
        { 24, "", NULL, false },
        { 0, "twin", NULL, false },           /* two apps match */
        { 0, "com.google.Maps", NULL, false }, /* another vendor's app */
        { 0, "gone", NULL, false },
        { 0, "teams", NULL, false },          /* a system service has no windows */
        { 0, "xwayland-satellite", NULL, false },
        { 0, "org", NULL, false },
        { 0, "2048", NULL, false },
        { 0, "-._", NULL, false },
        { 12, "org.x.unknown", "com.brave.Browser", false }, /* its process determines the app */
        { 99, "google-chrome", "com.google.Chrome", true },  /* the process has ended */
};

static void windows_belong_to_what_runs(void)
{
        struct apps *apps = NULL;
        char app[APP_ID_MAX];

        check_int(apps_new(root_fd, NULL, &apps), 0);
        for (size_t i = 0; i < ARRAY_SIZE(windows); i++) {
                const char *want = windows[i].app;
                int err = apps_find_window(apps, windows[i].pid, 0, windows[i].app_id, app);

                if (err != (want ? 0 : -ENODATA) || (want && strcmp(app, want) != 0))
                        fprintf(stderr, "window of %d \"%s\":\n", (int)windows[i].pid, windows[i].app_id);
                check_int(err, want ? 0 : -ENODATA);
                if (!err && want)
                        check_text(app, want);
                check_int(apps_find_front(apps, windows[i].app_id, app), windows[i].sure ? 0 : -ENODATA);
        }
        check_int(apps_find_pid(apps, 21, app), 0);
        check_text(app, "xwayland-satellite"); /* no window has changed it */
        check(apps_is_bridge(apps, 21) && apps_is_bridge(apps, 22) && apps_is_bridge(apps, 24));
        check(!apps_is_bridge(apps, 10) && !apps_is_bridge(apps, 99));
        start(99, "gone", "app-niri-gone-99.scope");
        check_int(apps_find_window(apps, 0, 0, "gone", app), 0); /* it has started just now */
        check_text(app, "gone");
        apps_free(apps);
}

static void words(void)
{
        static const struct {
                const char *app, *window;
                enum app_fit fit;
        } cases[] = {
                { "org.chromium.Chromium", "chromium-browser", APP_FIT_WORDS },
                { "com.microsoft.Edge", "microsoft-edge", APP_FIT_WORDS },
                { "telegram-desktop", "org.telegram.desktop", APP_FIT_WORDS },
                { "org.telegram.desktop", "TelegramDesktop", APP_FIT_PART },
                { "pycharm-professional", "jetbrains-pycharm", APP_FIT_WORDS },
                { "com.google.AndroidStudio", "studio", APP_FIT_PART },
                { "com.google.AndroidStudio", "jetbrains-studio", APP_FIT_NOT },
                { "appimagekit_0a1b-Obsidian", "obsidian", APP_FIT_PART },
                { "org.gnome.Maps", "gnome-maps", APP_FIT_WORDS },
                { "org.gnome.Maps", "org.kde.maps", APP_FIT_NOT },
                { "code", "decoder", APP_FIT_NOT },
                { "net-sf-freecol-FreeCol", "freecol", APP_FIT_WORDS },
                { "firefox", "chromium", APP_FIT_NOT },
                { "", "", APP_FIT_NOT },
                { "a", "", APP_FIT_NOT },
                { "com.org.net", "com.org.net", APP_FIT_NOT },
                { "a.b.c.d.e.f.g.h.j.k.l.m.n.o.p.q.r.s.t.u.v.w", "w", APP_FIT_WORDS },
                { "a-b-c-d-e-f-g-h-j-k-l-m-n-o-p-q-r-s-t-u-v-w", "w", APP_FIT_PART },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                if (app_fit_words(cases[i].app, cases[i].window) != cases[i].fit)
                        fprintf(stderr, "app %s, window %s:\n", cases[i].app, cases[i].window);
                check_int(app_fit_words(cases[i].app, cases[i].window), cases[i].fit);
        }
}

int main(void)
{
        start_all();
        words();
        windows_belong_to_what_runs();
        close(root_fd);
        tree_remove(dir);
        return check_result();
}
