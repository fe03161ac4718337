/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The grouping of processes into apps, on whole process trees built from a table. */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/app-private.h"
#include "app/app.h"
#include "check.h"
#include "child.h"
#include "util/util.h"

#define USER "/user.slice/user-1000.slice/user@1000.service/"
#define APPS USER "app.slice/"

/* One process of a tree; words and environ are separated by blanks here. */
struct fixture {
        pid_t pid, ppid;
        uid_t uid;
        const char *comm, *cgroup, *exe, *words, *environ, *flatpak;
        const char *app; /* wanted */
};

static char root_path[] = "/tmp/joulecast-app-XXXXXX";
static int root_fd = -1;

static void put(const char *path, const char *text, size_t length)
{
        char full[512];

        snprintf(full, sizeof(full), "%s/%s", root_path, path);
        util_make_parent(full, 0755);
        util_write_file(full, text, length, 0644);
}

static void put_words(pid_t pid, const char *file, const char *words)
{
        char path[64], text[512];
        size_t length = words ? strlen(words) + 1 : 0;

        for (size_t i = 0; i < length; i++)
                text[i] = words[i] == ' ' ? '\0' : words[i];
        snprintf(path, sizeof(path), "proc/%d/%s", (int)pid, file);
        put(path, text, length);
}

static void put_process(const struct fixture *f)
{
        char path[128], text[512];

        snprintf(path, sizeof(path), "proc/%d/stat", (int)f->pid);
        snprintf(text, sizeof(text), "%d (%s) S %d 1 1 0 -1 %u 0 0 0 0 5 5 0 0 20 0 1 0 %d 0 0\n", (int)f->pid,
                 f->comm,
                 (int)f->ppid, f->pid == 2 || f->ppid == 2 ? 0x00200000U /* PF_KTHREAD */ : 0, (int)f->pid * 10);
        put(path, text, strlen(text));
        snprintf(path, sizeof(path), "proc/%d/cgroup", (int)f->pid);
        snprintf(text, sizeof(text), "0::%s\n", f->cgroup);
        put(path, text, strlen(text));
        put_words(f->pid, "cmdline", f->words);
        put_words(f->pid, "environ", f->environ);
        if (f->exe) {
                snprintf(path, sizeof(path), "%s/proc/%d/exe", root_path, (int)f->pid);
                check_int(symlink(f->exe, path), 0);
        }
        if (f->flatpak) {
                static const char mounts[] = "1 0 0:5 / / rw - tmpfs tmpfs rw\n"
                                             "2 1 0:6 /x /.flatpak-info ro - tmpfs tmpfs ro\n";

                snprintf(path, sizeof(path), "proc/%d/mountinfo", (int)f->pid);
                put(path, mounts, strlen(mounts));
                snprintf(path, sizeof(path), "%s/proc/%d/ns", root_path, (int)f->pid);
                mkdir(path, 0755);
                strcat(path, "/mnt");
                check_int(symlink("mnt:[4026532000]", path), 0);
                snprintf(path, sizeof(path), "proc/%d/root/.flatpak-info", (int)f->pid);
                snprintf(text, sizeof(text), "[Application]\nname=%s\nruntime=x\n[Instance]\nname=no\n",
                         f->flatpak);
                put(path, text, strlen(text));
        }
}

static void put_desktop(const char *path, const char *text)
{
        put(path, text, strlen(text));
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
        return remove(path);
}

#define S "/user.slice/user-1000.slice/session-2.scope"
#define SHELL_UNIT USER "session.slice/org.gnome.Shell@wayland.service"
#define SPAWN APPS "app-org.gnome.Terminal.slice/vte-spawn-9.scope"
#define STEAM APPS "app-gnome-steam-70.scope"
#define ROFI APPS "app-rofi-900.scope"

static const struct fixture tree[] = {
        { 1, 0, 0, "systemd", "/init.scope", "/usr/lib/systemd/systemd", "/sbin/init", .app = "sys:init" },
        { 2, 0, 0, "kthreadd", "/", .app = "sys:kernel" },
        { 3, 2, 0, "kworker/0:1", "/", .app = "sys:kernel" },
        { 10, 1, 0, "NetworkManager", "/system.slice/NetworkManager.service", "/usr/sbin/NetworkManager",
          .app = "sys:NetworkManager" },
        /* ids as the desktop knows them */
        { 20, 1, 1000, "telegram", APPS "app-flatpak-org.telegram.desktop-2201.scope", "/app/bin/telegram",
          .app = "org.telegram.desktop" },
        { 21, 1, 1000, "mullvad-gui", APPS "app-mullvad-vpn-5511.scope", "/opt/mullvad", .app = "mullvad-vpn" },
        { 22, 1, 1000, "firefox", APPS "app-gnome-Firefox-12.scope", "/usr/lib/firefox/firefox",
          .app = "firefox" },
        { 23, 1, 1000, "code", APPS "app-gnome-code.desktop-12.scope", "/usr/share/code/code", .app = "code" },
        { 24, 22, 1000, "Web Content", APPS "app-gnome-Firefox-12.scope", "/usr/lib/firefox/firefox",
          .app = "firefox" },
        /* a flatpak without a unit is known by its own file; so is a sandbox within a terminal's scope */
        { 30, 1, 1000, "gimp", "/", "/app/bin/gimp", .flatpak = "org.gimp.GIMP", .app = "org.gimp.GIMP" },
        { 31, 60, 1000, "inkscape", SPAWN, "/app/bin/inkscape", .flatpak = "org.inkscape.Inkscape",
          .app = "org.inkscape.Inkscape" },
        { 32, 1, 1000, "firefox", APPS "snap.firefox.firefox-6f1e2d3c-0a1b-4c2d-8e3f-112233445566.scope",
          "/snap/firefox/1/firefox", .app = "snap:firefox" },
        /* the session's scope: below the leader, and below interactive shells, begin the apps */
        { 40, 1, 0, "login", S, "/usr/bin/login", .app = "login" },
        { 41, 40, 1000, "bash", S, "/usr/bin/bash", "-bash", .app = "bash" },
        { 42, 41, 1000, "sway", S, "/usr/bin/sway", "sway", .app = "sway" },
        { 43, 42, 1000, "foot", S, "/usr/bin/foot", "foot", .app = "foot" },
        { 44, 43, 1000, "zsh", S, "/usr/bin/zsh", "zsh", .app = "foot" },
        { 45, 44, 1000, "make", S, "/usr/bin/make", "make -j2", .app = "make" },
        { 46, 45, 1000, "sh", S, "/usr/bin/dash", "sh -c cc x.c", .app = "make" },
        { 47, 46, 1000, "cc1", S, "/usr/lib/cc1", "cc1", .app = "make" },
        { 48, 42, 1000, "python3", S, "/usr/bin/python3.11", "python3 -u /usr/games/solitaire --hard",
          .app = "org.x.Solitaire" },
        { 53, 42, 1000, "ruby", S, "/usr/bin/ruby", "ruby --encoding=utf-8 /usr/games/solitaire",
          .app = "org.x.Solitaire" }, /* the "c" of a long option is no -c */
        { 54, 42, 1000, "ruby", S, "/usr/bin/ruby", "ruby -wc /usr/games/solitaire", .app = "ruby" },
        { 49, 42, 1000, "AppRun", S, "/tmp/.mount_KritaAbC/usr/bin/krita", "krita",
          "A=b APPIMAGE=/home/u/krita-5.2.AppImage",
          .app = "krita" },
        { 50, 49, 1000, "krita-helper", S, "/tmp/.mount_KritaAbC/usr/bin/helper", "helper",
          .app = "krita" },
        { 51, 42, 1000, "ev\x1b[2Jil", S, NULL, .app = "ev?[2Jil" },
        { 52, 42, 1000, "busy", S, "/bin/busybox", "busy", .app = "busy" },
        /* GNOME Terminal: the shell is the terminal's, what it starts is not */
        { 60, 1, 1000, "bash", SPAWN, "/usr/bin/bash", "bash", .app = "org.gnome.Terminal" },
        { 61, 60, 1000, "stress", SPAWN, "/usr/bin/stress", "stress -c 4", .app = "stress" },
        { 62, 61, 1000, "stress", SPAWN, "/usr/bin/stress", "stress -c 4", .app = "stress" },
        /* the compositor's own unit */
        { 65, 1, 1000, "gnome-shell", SHELL_UNIT, "/usr/bin/gnome-shell",
          .app = "usr:org.gnome.Shell@wayland" },
        { 66, 65, 1000, "Xwayland", SHELL_UNIT, "/usr/bin/Xwayland", .app = "usr:org.gnome.Shell@wayland" },
        { 67, 65, 1000, "mpv", SHELL_UNIT, "/usr/bin/mpv", "mpv film.mkv", .app = "mpv" },
        { 68, 67, 1000, "yt-dlp", SHELL_UNIT, "/usr/bin/yt-dlp", "yt-dlp", .app = "mpv" },
        /* all of Steam's games are in Steam's scope */
        { 70, 1, 1000, "steam", STEAM, "/usr/games/steam", "steam", .app = "steam" },
        { 71, 70, 1000, "reaper", STEAM, "/home/u/reaper", "reaper SteamLaunch AppId=413150 -- game",
          .app = "steam:413150" },
        { 72, 71, 1000, "game", STEAM, "/home/u/game", "game", .app = "steam:413150" },
        { 73, 72, 1000, "child", STEAM, "/home/u/child", "child", .app = "steam:413150" },
        { 76, 70, 1000, "reaper", STEAM, "/home/u/reaper", "reaper SteamLaunch AppId=0 -- shortcut",
          .app = "steam" }, /* a shortcut that the user added has no number */
        { 74, 1, 1000, "orphan", STEAM, "/home/u/game", "game", "SteamAppId=620 X=y", .app = "steam:620" },
        { 75, 1, 1000, "hl2", APPS "app-steam-app220-75.scope", "/home/u/hl2", .app = "steam:220" },
        /* a launcher's scope also contains the apps that it starts */
        { 80, 1, 1000, "rofi", ROFI, "/usr/bin/rofi", "rofi -show drun", .app = "rofi" },
        { 81, 80, 1000, "gimp", ROFI, "/usr/bin/gimp", "gimp", .app = "gimp" },
        { 82, 81, 1000, "script-fu", ROFI, "/usr/lib/script-fu", "script-fu", .app = "gimp" },
        /* Waydroid and containers */
        { 90, 1, 10123, "com.example", "/lxc.payload.waydroid", NULL, "com.example.game:push",
          .app = "android:10123" },
        { 91, 1, 1000, "surfaceflinger", "/lxc.payload.waydroid", .app = "sys:waydroid" },
        { 92, 1, 110123, "com.example", "/lxc.payload.waydroid", .app = "android:110123" },
        { 95, 1, 0, "nginx", "/lxc.payload.web/system.slice/nginx.service", .app = "ctr:web" },
        /* brackets and a blank in comm must not shift the fields of stat */
        { 97, 22, 1000, "a) S 1 (b", APPS "app-gnome-Firefox-12.scope", "/x", .app = "firefox" },
};

static void make_tree(void)
{
        check(mkdtemp(root_path) != NULL);
        root_fd = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        put_desktop("usr/share/applications/firefox.desktop",
                    "[Desktop Entry]\nType=Application\nName=Firefox\nName[de]=Feuerfuchs\n"
                    "Exec=/usr/lib/firefox/firefox %u\n"
                    "StartupWMClass=Navigator\n[Desktop Action new]\nName=New\nExec=other\n");
        put_desktop("usr/share/applications/mullvad-vpn.desktop",
                    "[Desktop Entry]\nType=Application\nName=Mullvad\nExec=x\n");
        put_desktop("usr/share/applications/code.desktop",
                    "[Desktop Entry]\nType=Application\nName=Code\nExec=code %F\n");
        put_desktop("usr/share/applications/foot.desktop",
                    "[Desktop Entry]\nType=Application\nName=Foot\nExec=foot\n");
        put_desktop("usr/share/applications/vendor/game.desktop",
                    "[Desktop Entry]\nType=Application\nName=G\nExec=env A=1 vgame\n");
        put_desktop("usr/share/applications/org.x.Solitaire.desktop",
                    "[Desktop Entry]\nType=Application\nName=Solit\x1b[31maire\nExec=\"/usr/games/solitaire\" --new\n");
        put_desktop("var/lib/flatpak/exports/share/applications/org.telegram.desktop.desktop",
                    "[Desktop Entry]\nType=Application\nName=Telegram\n"
                    "Exec=/usr/bin/flatpak run org.telegram.desktop\n");
        put_desktop("var/lib/snapd/desktop/applications/firefox_firefox.desktop",
                    "[Desktop Entry]\nType=Application\nName=Firefox Snap\nExec=env X=y /snap/bin/firefox-snap %u\n");
        put_desktop("usr/local/share/applications/hidden.desktop",
                    "[Desktop Entry]\nType=Application\nHidden=true\nExec=h\n");
        for (size_t i = 0; i < ARRAY_SIZE(tree); i++)
                put_process(&tree[i]);
}

static struct app_process as_process(const struct fixture *f)
{
        return (struct app_process){ f->pid, f->ppid, (uint64_t)f->pid * 10, f->uid, f->comm };
}

/* The owner of files made here is whoever runs the test; Android's uids come from the caller. */
static void groups(bool backward)
{
        struct apps *apps = NULL;
        char app[APP_ID_MAX];

        check_int(apps_new(root_fd, NULL, &apps), 0);
        for (int pass = 0; pass < 3; pass++) {
                for (size_t i = 0; i < ARRAY_SIZE(tree); i++) {
                        const struct fixture *f = &tree[backward ? ARRAY_SIZE(tree) - 1 - i : i];
                        struct app_process process = as_process(f);

                        check_int(apps_find(apps, &process, app), 0);
                        if (strcmp(app, f->app) != 0)
                                fprintf(stderr, "pid %d, pass %d:\n", (int)f->pid, pass);
                        check_text(app, f->app);
                }
                apps_sweep(apps);
        }
        apps_free(apps);
}

static void find(struct apps *apps, pid_t pid, char *app)
{
        for (size_t i = 0; i < ARRAY_SIZE(tree); i++)
                if (tree[i].pid == pid) {
                        struct app_process process = as_process(&tree[i]);

                        check_int(apps_find(apps, &process, app), 0);
                }
}

static void windows(void)
{
        static const struct {
                pid_t pid;
                const char *app_id, *app;
        } cases[] = {
                { 22, "firefox", "firefox" },
                { 22, "Navigator", "firefox" },           /* StartupWMClass */
                { 22, "org.evil.Other", "firefox" },      /* the app of a unit's first process is the unit's */
                { 0, "Navigator", "firefox" },
                { 0, "steam_app_413150", "steam:413150" },
                { 72, "steam_app_413150", "steam:413150" },
                { 72, "something", "steam:413150" },
                { 32, "firefox_firefox", "snap:firefox" },
                { 0, "firefox_firefox", "snap:firefox" },
                { 43, "foot", "foot" },
                { 67, "mpv", "mpv" },
                { 31, "firefox", "org.inkscape.Inkscape" }, /* a sandbox cannot pose as another */
                { 43, "firefox", "foot" }, /* a terminal stays one */
                { 43, "steam_app_413150", "steam:413150" }, /* but where Steam started it */
                { 52, "firefox", "firefox" },
                { 91, "waydroid.com.example.game", "android:10123" },
                { 52, "", "firefox" },
        };
        struct apps *apps = NULL;
        char app[APP_ID_MAX];

        check_int(apps_new(root_fd, NULL, &apps), 0);
        for (size_t i = 0; i < ARRAY_SIZE(tree); i++)
                find(apps, tree[i].pid, app);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                check_int(apps_find_window(apps, cases[i].pid, (uint64_t)cases[i].pid * 10, cases[i].app_id,
                                           app), 0);
                if (strcmp(app, cases[i].app) != 0)
                        fprintf(stderr, "window of %d \"%s\":\n", (int)cases[i].pid, cases[i].app_id);
                check_text(app, cases[i].app);
        }
        check_int(apps_find_window(apps, 0, 0, "", app), -ENODATA);
        check_int(apps_find_window(apps, 0, 0, "evil\x1b[2J", app), -ENODATA); /* runs nowhere */
        check_int(apps_find_window(apps, 22, 1, "", app), -ENODATA); /* a reused pid */
        check_int(apps_find_window(apps, 99999, 0, "", app), -ENODATA);
        apps_free(apps);
}

/* "firefox" typed in a terminal: its window makes it, and its children, an app of its own. */
static void correction_reaches_children(void)
{
        struct apps *apps = NULL;
        char app[APP_ID_MAX];

        check_int(apps_new(root_fd, NULL, &apps), 0);
        find(apps, 62, app);
        check_text(app, "stress");
        check_int(apps_find_window(apps, 61, 610, "firefox", app), 0);
        check_text(app, "firefox");
        find(apps, 62, app);
        check_text(app, "firefox");
        apps_sweep(apps);
        find(apps, 61, app);
        check_text(app, "firefox");
        find(apps, 62, app);
        check_text(app, "firefox");
        find(apps, 60, app);
        check_text(app, "org.gnome.Terminal");
        apps_free(apps);
}

static void names(void)
{
        static const struct {
                const char *locale, *app, *name;
        } cases[] = {
                { NULL, "firefox", "Firefox" },
                { "de_AT.UTF-8", "firefox", "Feuerfuchs" },
                { "fr_FR", "firefox", "Firefox" },
                { "de", "org.telegram.desktop", "Telegram" },
                { NULL, "snap:firefox", "Firefox Snap" },
                { NULL, "make", "make" },
                { NULL, "steam:220", "Steam app 220" },
                { NULL, "org.x.Solitaire", "Solit?[31maire" },
                { NULL, "unknown.Id", "unknown.Id" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct desktop_index *index = NULL;
                char name[64];

                check_int(desktop_index_new(root_fd, NULL, cases[i].locale, &index), 0);
                check_text(app_name(index, cases[i].app, name, sizeof(name)), cases[i].name);
                desktop_index_free(index);
        }
}

static void desktop_entries(void)
{
        struct desktop_index *index = NULL;
        const struct desktop_entry *entry;

        check_int(desktop_index_new(root_fd, NULL, NULL, &index), 0);
        entry = desktop_by_program(index, "vgame");
        check(entry && strcmp(entry->id, "vendor-game") == 0);
        check(!desktop_by_program(index, "flatpak"));
        check(!desktop_by_id(index, "hidden"));
        check(!desktop_index_refresh(index));
        put_desktop("usr/share/applications/later.desktop",
                    "[Desktop Entry]\nType=Application\nName=Later\nExec=later\n");
        check(desktop_index_refresh(index));
        check(desktop_by_id(index, "LATER") != NULL);
        desktop_index_free(index);
}

/* Processes that ended unseen get their app from their control group and their parent alone. */
static void ended(void)
{
        static const struct {
                pid_t parent;
                uid_t uid;
                const char *cgroup; /* NULL: unknown, as older kernels do not report it */
                const char *app;    /* NULL: none can be determined */
        } cases[] = {
                { 1, 0, "/system.slice/logrotate.service", "sys:logrotate" }, /* the unit no longer exists */
                { 1, 1000, APPS "app-gnome-code.desktop-99.scope", "code" },
                { 1, 0, "/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope",
                  "ctr:docker" },
                { 90, 10123, "/lxc.payload.waydroid", "android:10123" },
                { 4711, 1000, APPS "app-gnome-Firefox-12.scope", "firefox" }, /* the parent is unknown */
                { 45, 1000, S, "make" },
                { 41, 1000, S, NULL },
                { 4711, 1000, S, NULL },
                { 31, 1000, SPAWN, "org.inkscape.Inkscape" },
                { 71, 1000, STEAM, "steam:413150" },
                { 65, 1000, SHELL_UNIT, NULL }, /* a launcher's child is another app */
                { 67, 1000, SHELL_UNIT, "mpv" },
                { 4711, 1000, USER "session.slice/pipewire.service", "usr:pipewire" },
                { 81, 1000, ROFI, "gimp" },
                { 80, 1000, ROFI, NULL },
                { 10, 0, NULL, "sys:NetworkManager" },
                { 10, 0, "/", "sys:NetworkManager" }, /* the groups are in cgroup v1 */
                { 45, 1000, NULL, "make" },
                { 95, 0, NULL, "ctr:web" },
                { 1, 0, NULL, NULL },
                { 2, 0, "/", NULL },
                { 4711, 1000, NULL, NULL },
        };
        struct apps *apps = NULL;
        char app[APP_ID_MAX];

        check_int(apps_new(root_fd, NULL, &apps), 0);
        for (size_t i = 0; i < ARRAY_SIZE(tree); i++) {
                const struct app_process process = as_process(&tree[i]);

                check_int(apps_find(apps, &process, app), 0);
        }
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct app_process process = { 5000, cases[i].parent, 50000, cases[i].uid, "x" };
                int err = apps_find_ended(apps, &process, cases[i].cgroup, app);

                check_int(err, cases[i].app ? 0 : -ENODATA);
                if (cases[i].app && !err)
                        check_text(app, cases[i].app);
        }
        /* A parent that started after its child has reused the pid of the real one. */
        check_int(apps_find_ended(apps, &(struct app_process){ 5000, 10, 50, 0, "x" }, NULL, app), -ENODATA);
        apps_free(apps);
}

static void check_app(const struct fixture *f)
{
        struct app_process process = as_process(f);
        struct apps *apps = NULL;
        char app[APP_ID_MAX];

        check_int(apps_new(root_fd, NULL, &apps), 0);
        check_int(apps_find(apps, &process, app), 0);
        check_text(app, f->app);
        apps_free(apps);
}

/* Any user can make namespaces with anything at /.flatpak-info; what opens it is root. */
static void hostile_flatpak(void)
{
        static const char mounts[] = "1 0 0:5 / / rw - tmpfs tmpfs rw\n2 1 0:6 /x /.flatpak-info ro - devtmpfs x rw\n";
        static const char secret[] = "[Application]\nname=secret\n";
        struct fixture f = { 1300, 1, 1000, "liar", "/", "/home/u/liar", .flatpak = "org.x.Liar", .app = "sys:init" };
        char info[128];
        pid_t child;

        put_process(&f);
        put("proc/1300/mountinfo", mounts, strlen(mounts));
        check_app(&f);
        f.pid = 1301; /* a link to a file that is not theirs */
        put_process(&f);
        put("proc/1301/root/secret", secret, strlen(secret));
        snprintf(info, sizeof(info), "%s/proc/1301/root/.flatpak-info", root_path);
        check(unlink(info) == 0 && symlink("secret", info) == 0);
        check_app(&f);
        f.pid = 1302; /* a FIFO instead of a device: it shows whether it was opened */
        put_process(&f);
        snprintf(info, sizeof(info), "%s/proc/1302/root/.flatpak-info", root_path);
        check(unlink(info) == 0 && mkfifo(info, 0600) == 0);
        child = start_child();
        if (child == 0) {
                int fd = open(info, O_WRONLY | O_CLOEXEC); /* waits for a reader */

                _exit(fd < 0);
        }
        usleep(100000);
        check_app(&f);
        usleep(100000);
        check(waitpid(child, NULL, WNOHANG) == 0);
        check(end_child(child));
}

/* The class of a Java program follows a class path of many kilobytes. */
static void long_command(void)
{
        static const char before[] = "java\0-classpath", behind[] = "org.example.Editor";
        struct fixture f = { 1310, 1, 1000, "java", S, "/usr/bin/java", .app = "org.example.Editor" };
        char words[20000];
        size_t begin = sizeof(before);

        put_process(&f);
        memset(words, 'x', sizeof(words));
        memcpy(words, before, begin);
        memcpy(words + sizeof(words) - sizeof(behind), behind, sizeof(behind));
        words[sizeof(words) - sizeof(behind) - 1] = '\0';
        put("proc/1310/cmdline", words, sizeof(words));
        check_app(&f);
}

static void endless_ancestors(void)
{
        struct fixture link = { .comm = "fork", .cgroup = S, .exe = "/usr/bin/fork", .words = "fork" };
        struct apps *apps = NULL;
        struct app_process process;
        char app[APP_ID_MAX];

        for (pid_t pid = 1000; pid < 1200; pid++) {
                link.pid = pid;
                link.ppid = pid == 1000 ? 1199 : pid - 1; /* even a circle, which a racing reader may see */
                put_process(&link);
        }
        check_int(apps_new(root_fd, NULL, &apps), 0);
        process = as_process(&link);
        check_int(apps_find(apps, &process, app), 0);
        check_text(app, "fork");
        apps_free(apps);
}

/* A service that runs for months sees a new group with each start of an app. */
static void groups_are_forgotten(void)
{
        struct apps *apps = NULL;
        char app[APP_ID_MAX], cgroup[96];

        check_int(apps_new(root_fd, NULL, &apps), 0);
        for (unsigned i = 0; i < 100; i++) {
                const struct fixture f = { 1400, 1, 1000, "code", cgroup, "/usr/bin/code", .app = "code" };
                struct app_process process = as_process(&f);

                snprintf(cgroup, sizeof(cgroup), APPS "app-gnome-code.desktop-%u.scope", i);
                unlinkat(root_fd, "proc/1400/exe", 0);
                put_process(&f);
                process.start_time += i;
                check_int(apps_find(apps, &process, app), 0);
                check_text(app, "code");
                if (i % 2)
                        apps_forget(apps, 1400, process.start_time);
                apps_sweep(apps);
        }
        check(HASH_COUNT(apps->cgroups) <= 2); /* its own and its parent's */
        apps_sweep(apps);
        apps_sweep(apps);
        check_int(HASH_COUNT(apps->cgroups), 0);
        apps_free(apps);
}

int main(void)
{
        make_tree();
        groups(false);
        groups(true);
        windows();
        correction_reaches_children();
        names();
        desktop_entries();
        ended();
        hostile_flatpak();
        long_command();
        endless_ancestors();
        groups_are_forgotten();
        nftw(root_path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        return check_result();
}
