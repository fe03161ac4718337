/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ini-text.h"
#include "util.h"

#define DEVICE_FILE_MAX (8u << 20) /* bytes */
#define SYSTEM_PROFILE "/etc/joulecast/profile.ini"
#define SYSTEM_LEARNED "/var/lib/joulecast/profile.ini"
#define SYSTEM_EVERYDAY "/var/lib/joulecast/everyday.db"
#define SYSTEM_CONFIG "/etc/joulecast/joulecast.conf"
#define SYSTEM_USAGE "/var/lib/joulecast/usage.db"
#define SYSTEM_OBSERVATIONS "/var/lib/joulecast-calibrate/observations.db"
#define SYSTEM_JOURNAL "/var/lib/joulecast-calibrate/restore.ini"

static int print_path(char **ret, const char *a, const char *b, const char *c)
{
        return asprintf(ret, "%s%s%s", a, b, c) < 0 ? -ENOMEM : 0;
}

/* $VARIABLE, or ~/OTHERWISE. A relative path in the variable is ignored, as XDG requires. */
static int xdg_path(const char *variable, const char *otherwise, const char *rest, char **ret)
{
        const char *root = getenv(variable), *home = getenv("HOME");
        _cleanup_free_ char *folder = NULL;
        int err;

        if (root && root[0] == '/')
                return print_path(ret, root, "/joulecast/", rest);
        if (!home || home[0] != '/')
                return -ENOENT;
        err = print_path(&folder, home, otherwise, "/joulecast/");
        return err < 0 ? err : print_path(ret, folder, rest, "");
}

const char *paths_virtual(const char *device)
{
        static const char prefix[] = "virtual:";

        return device && strncmp(device, prefix, sizeof(prefix) - 1) == 0 ? device + sizeof(prefix) - 1 : NULL;
}

static bool is_file_name(const char *name)
{
        size_t length = strlen(name);

        return strchr(name, '/') || (length > 4 && strcmp(name + length - 4, ".ini") == 0);
}

/* FNV-1a, so that two files with the same base name have different folders. */
static int hash_file(const char *path, uint32_t *ret)
{
        _cleanup_free_ char *text = NULL;
        uint32_t hash = UINT32_C(2166136261);
        size_t length;
        int err = ini_text_read(path, DEVICE_FILE_MAX, NULL, &text, &length); /* not logged: loading the file logs it */

        if (err < 0)
                return err;
        for (size_t i = 0; i < length; i++)
                hash = (hash ^ (unsigned char)text[i]) * UINT32_C(16777619);
        *ret = hash;
        return 0;
}

static int virtual_state_path(const char *name, const char *rest, char **ret)
{
        char folder[NAME_MAX];
        _cleanup_free_ char *path = NULL;
        const char *base = strrchr(name, '/');
        size_t length;
        uint32_t hash = 0;
        int err;

        base = base ? base + 1 : name;
        length = strlen(base);
        if (length > 4 && strcmp(base + length - 4, ".ini") == 0)
                length -= 4;
        if (length == 0 || length > 100 || base[0] == '.')
                return -EINVAL;
        if (is_file_name(name)) {
                err = hash_file(name, &hash);
                if (err < 0)
                        return err;
                snprintf(folder, sizeof(folder), "virtual/%.*s-%08x/", (int)length, base, hash);
        } else {
                snprintf(folder, sizeof(folder), "virtual/%.*s/", (int)length, base);
        }
        err = print_path(&path, folder, rest, "");
        return err < 0 ? err : xdg_path("XDG_STATE_HOME", "/.local/state", path, ret);
}

bool paths_is_systems(const char *path)
{
        char folder[PATH_MAX];
        char *slash;

        snprintf(folder, sizeof(folder), "%s", path);
        while ((slash = strrchr(folder, '/')) && slash > folder) {
                *slash = '\0';
                if (faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) == 0)
                        return true;
                if (errno != ENOENT)
                        return false;
        }
        return false;
}

static int find_path(const char *device, bool write, const char *variable, const char *otherwise,
                     const char *rest, const char *system, char **ret)
{
        _cleanup_free_ char *own = NULL;
        int err;

        if (device)
                return paths_virtual(device) ? virtual_state_path(paths_virtual(device), rest, ret) : -EINVAL;
        if (paths_is_systems(system))
                return print_path(ret, system, "", "");
        err = xdg_path(variable, otherwise, rest, &own);
        if (err < 0 && (write || err != -ENOENT))
                return err;
        if (!write && (!own || access(own, F_OK) < 0))
                return print_path(ret, system, "", "");
        *ret = TAKE_PTR(own);
        return 0;
}

/* The service learns on top of root's profile in /etc; a later calibration makes the learnt profile outdated. */
static bool is_newer(const char *path, const char *than)
{
        struct stat one, other;

        if (access(path, R_OK) < 0 || stat(path, &one) < 0)
                return false;
        if (stat(than, &other) < 0)
                return true;
        return one.st_mtim.tv_sec != other.st_mtim.tv_sec ? one.st_mtim.tv_sec > other.st_mtim.tv_sec :
                                                            one.st_mtim.tv_nsec > other.st_mtim.tv_nsec;
}

int paths_profile(const char *device, bool write, char **ret)
{
        int err = find_path(device, write, "XDG_CONFIG_HOME", "/.config", "profile.ini", SYSTEM_PROFILE, ret);

        if (err < 0 || write || strcmp(*ret, SYSTEM_PROFILE) != 0 || !is_newer(SYSTEM_LEARNED, SYSTEM_PROFILE))
                return err;
        free(*ret);
        return print_path(ret, SYSTEM_LEARNED, "", "");
}

int paths_learned(const char *device, char **ret)
{
        if (!device && paths_is_systems(SYSTEM_LEARNED))
                return print_path(ret, SYSTEM_LEARNED, "", "");
        return paths_profile(device, true, ret);
}

int paths_everyday(const char *device, char **ret)
{
        if (!device && paths_is_systems(SYSTEM_EVERYDAY))
                return print_path(ret, SYSTEM_EVERYDAY, "", "");
        return paths_observations(device, ret);
}

int paths_usage(const char *device, bool write, char **ret)
{
        return find_path(device, write, "XDG_STATE_HOME", "/.local/state", "usage.db", SYSTEM_USAGE, ret);
}

int paths_observations(const char *device, char **ret)
{
        return find_path(device, true, "XDG_STATE_HOME", "/.local/state", "observations.db",
                         SYSTEM_OBSERVATIONS, ret);
}

int paths_journal(char **ret)
{
        /* If the system has a journal, that must be restored, even if this user cannot write there. */
        if (access(SYSTEM_JOURNAL, F_OK) == 0)
                return print_path(ret, SYSTEM_JOURNAL, "", "");
        return find_path(NULL, true, "XDG_STATE_HOME", "/.local/state", "restore.ini", SYSTEM_JOURNAL, ret);
}

int paths_config(char **ret)
{
        return find_path(NULL, false, "XDG_CONFIG_HOME", "/.config", "joulecast.conf", SYSTEM_CONFIG, ret);
}

int paths_warned(char **ret)
{
        return xdg_path("XDG_STATE_HOME", "/.local/state", "warned", ret);
}

int paths_page(char **ret)
{
        return xdg_path("XDG_CACHE_HOME", "/.cache", "battery.html", ret);
}

int paths_plan(char **ret)
{
        return xdg_path("XDG_STATE_HOME", "/.local/state", "plan", ret);
}

int paths_plan_made(char **ret)
{
        return xdg_path("XDG_STATE_HOME", "/.local/state", "plan-made", ret);
}

int paths_limits(char **ret)
{
        return xdg_path("XDG_CONFIG_HOME", "/.config", "limits.ini", ret);
}

int paths_focus_socket(char **ret)
{
        const char *runtime = getenv("XDG_RUNTIME_DIR");

        if (paths_is_systems(PATHS_FOCUS_SOCKET) || access(PATHS_FOCUS_SOCKET, F_OK) == 0 || !runtime || !*runtime)
                return print_path(ret, PATHS_FOCUS_SOCKET, "", "");
        return print_path(ret, runtime, "/joulecast/focus.sock", "");
}

#define BUILD_TREE "joulecast-build-tree" /* meson writes it: it contains the path of the source folder */
#define DEEPEST 3                         /* build/tests/collect/PROGRAM */

/*
 * The folder with that file, at or above the program's own. It must have the program's owner, so that nobody else can
 * decide where an installed program finds its files.
 */
static char *find_build_root(char *source, size_t size)
{
        char exe[PATH_MAX], path[PATH_MAX], *slash;
        ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
        struct stat program, tree;

        if (length <= 0)
                return NULL;
        exe[length] = '\0';
        if (stat("/proc/self/exe", &program) < 0)
                return NULL;
        for (int i = 0; i < DEEPEST && (slash = strrchr(exe, '/')) && slash != exe; i++) {
                *slash = '\0';
                if (snprintf(path, sizeof(path), "%s/" BUILD_TREE, exe) < (int)sizeof(path) &&
                    lstat(path, &tree) == 0 && S_ISREG(tree.st_mode) && tree.st_uid == program.st_uid &&
                    util_read_at(AT_FDCWD, path, source, size) > 0)
                        return strdup(exe);
        }
        return NULL;
}

char *paths_build_root(void)
{
        char source[PATH_MAX];

        return find_build_root(source, sizeof(source));
}

/* Returns "/share/joulecast" for PREFIX/share/joulecast; NULL for a folder outside of the prefix. */
static const char *below_prefix(const char *folder)
{
        size_t length = sizeof(JOULECAST_PREFIX) - 1;

        return strncmp(folder, JOULECAST_PREFIX, length) == 0 && folder[length] == '/' ? folder + length : NULL;
}

/* Cuts "/home/a/.local/bin" to its prefix if @programs, the programs' installed folder, is "/usr/local/bin". */
static bool cut_prefix(char *folder, const char *programs)
{
        const char *below = below_prefix(programs);
        size_t length = strlen(folder), rest = below ? strlen(below) : 0;

        if (!below || length <= rest || strcmp(folder + length - rest, below) != 0)
                return false;
        folder[length - rest] = '\0';
        return true;
}

/* The prefix of the running program. False: it is no program of joulecast, but an app that loads the library. */
static bool own_prefix(char *exe, size_t size)
{
        ssize_t length = readlink("/proc/self/exe", exe, size - 1);
        char *slash;

        exe[MAX(length, 0)] = '\0';
        slash = strrchr(exe, '/');
        if (!slash || strncmp(slash + 1, "joulecast", strlen("joulecast")) != 0)
                return false;
        *slash = '\0';
        return cut_prefix(exe, JOULECAST_BINDIR) || cut_prefix(exe, JOULECAST_LIBEXECDIR);
}

char *paths_installed(const char *folder)
{
        const char *below = below_prefix(folder);
        char exe[PATH_MAX];
        char *moved;

        if (!below || !own_prefix(exe, sizeof(exe)))
                return strdup(folder);
        if (asprintf(&moved, "%s%s", exe, below) < 0)
                return NULL;
        if (access(moved, F_OK) == 0)
                return moved;
        free(moved);
        return strdup(folder);
}

const char *paths_systemctl(void)
{
        _cleanup_free_ char *data = paths_installed(JOULECAST_DATADIR), *list = NULL;

        if (data && asprintf(&list, "%s/installed", data) < 0)
                list = NULL;
        return list && access(list, F_OK) == 0 ? "systemctl --user" : "sudo systemctl";
}

int paths_data(const char *kind, char **ret)
{
        char source[PATH_MAX] = "";
        const char *said = getenv("JOULECAST_DATADIR");
        _cleanup_free_ char *build = NULL, *installed = NULL;

        if (said && said[0])
                return print_path(ret, said, "/", kind);
        build = find_build_root(source, sizeof(source));
        if (source[0]) /* also if there was no memory for the other path */
                return print_path(ret, source, "/data/", kind);
        installed = paths_installed(JOULECAST_DATADIR);
        return installed ? print_path(ret, installed, "/", kind) : -ENOMEM;
}
