/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-command.h"
#include "app-unit.h"

#include <errno.h>
#include <string.h>

#include "util/util.h"

static bool set_id(struct cgroup_app *ret, enum cgroup_kind kind, const char *prefix, const char *name, size_t length)
{
        char plain[APP_ID_MAX];
        bool stable = app_unit_name(name, length, plain);

        if (kind == CGROUP_CONTAINER)
                app_unit_unescaped(name, length, plain);
        ret->id[0] = '\0';
        if (*plain)
                snprintf(ret->id, sizeof(ret->id), "%.7s%.119s", prefix, plain);
        ret->kind = kind;
        return stable;
}

/* The length of the name without ".service" or ".scope". */
static size_t stem(const char *unit)
{
        const char *end = app_before(unit, ".service");

        end = end ? end : app_before(unit, ".scope");
        return end ? (size_t)(end - unit) : strlen(unit);
}

/* Container engines name the cgroup by a hash of 64 digits, which is another one at each start. */
static bool hash_container(const char *word, const char *before, struct cgroup_app *ret)
{
        static const struct {
                const char *prefix, *engine;
        } engines[] = { { "docker", "docker" }, { "libpod", "podman" }, { "crio", "cri-o" },
                        { "cri-containerd", "containerd" }, { "buildah", "buildah" }, { "nerdctl", "containerd" },
                        { "containerd", "containerd" } };
        const char *colon = strrchr(word, ':'), *hash = word, *engine = NULL;
        bool kubernetes = strstr(word, "kubepods"), inside = false;
        size_t digits;

        for (size_t i = 0; i < ARRAY_SIZE(engines) && !engine; i++) {
                const char *rest = app_after(word, engines[i].prefix);

                if (rest || app_after(before, engines[i].prefix))
                        engine = engines[i].engine;
                inside |= strcmp(before, engines[i].prefix) == 0; /* "/docker/buildkit/..." */
                if (rest && *rest)
                        hash = rest + 1;
        }
        hash = colon ? colon + 1 : hash;
        engine = kubernetes ? "kubernetes" : engine;
        digits = strspn(hash, "0123456789abcdef");
        if (!kubernetes && !inside && digits < (engine ? 12 : 64))
                return false;
        snprintf(ret->id, sizeof(ret->id), "ctr:%s", engine ? engine : "container");
        snprintf(ret->whole, sizeof(ret->whole), "%.*s", (int)MIN(digits, (size_t)64), hash);
        ret->kind = CGROUP_CONTAINER;
        return true;
}

/* libvirt and LXC put a number before a machine's name: "qemu-1-debian". */
static const char *machine_name(const char *name)
{
        size_t driver = strcspn(name, "\\");
        int length = 0;

        if (app_is_listed("qemu lxc xen ch", name, driver))
                sscanf(name + driver, "\\x2d%*u\\x2d%n", &length);
        return length > 0 ? name + driver + length : name;
}

/* @before: the word above, or "". */
static bool container(const char *word, const char *before, struct cgroup_app *ret)
{
        static const char *const prefixes[] = { "lxc.payload.", "lxc.monitor.", "machine-", "systemd-nspawn@" };

        if (app_after(word, "lxc.payload.waydroid") || strcmp(word, "waydroid") == 0) {
                set_id(ret, CGROUP_ANDROID, "", "android", 7);
                return true;
        }
        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
                if (app_after(word, prefixes[i]) && !app_before(word, ".slice")) {
                        const char *name = machine_name(word + strlen(prefixes[i]));

                        set_id(ret, CGROUP_CONTAINER, "ctr:", name, stem(word) - (size_t)(name - word));
                        return true;
                }
        if (strcmp(before, "lxc") == 0 || strcmp(before, "lxc.payload") == 0) {
                set_id(ret, CGROUP_CONTAINER, "ctr:", word, strlen(word));
                return true;
        }
        return hash_container(word, before, ret);
}

/* One component of the path below a user's service manager; called from the root down, the last match wins. */
static void user_word(const char *word, bool *slice, struct cgroup_app *ret)
{
        struct cgroup_app app = *ret;
        bool in_slice = *slice;

        if (app_before(word, "-graphical.slice")) /* uwsm's slices for all apps */
                return;
        if (app_unit_parse(word, &app)) {
                const struct lead_line *launcher = lead_find_unit(app.launcher);

                *slice = app_before(word, ".slice");
                *ret = app;
                if (launcher && launcher->lead == LEAD_TERMINAL && !*slice) {
                        *ret = (struct cgroup_app){ .kind = CGROUP_SPAWN };
                        snprintf(ret->id, sizeof(ret->id), "%s", app.launcher);
                }
        } else if (app_after(word, "session-") && app_before(word, ".scope")) {
                set_id(ret, CGROUP_SESSION, "", "", 0);
        } else if (strcmp(word, "init.scope") == 0) {
                set_id(ret, CGROUP_USER, "usr:", "systemd", 7);
        } else if (app_before(word, ".scope") && (ret->kind != CGROUP_APP || in_slice || strstr(word, "-spawn-"))) {
                if (ret->kind != CGROUP_APP && ret->kind != CGROUP_SPAWN)
                        ret->id[0] = '\0';
                ret->kind = CGROUP_SPAWN; /* an enclosing slice belongs to the terminal */
        } else if (app_before(word, ".service") && !app_after(word, "user@")) {
                if (!set_id(ret, CGROUP_USER, "usr:", word, stem(word)))
                        *ret = (struct cgroup_app){ .kind = CGROUP_SPAWN };
        }
}

static void system_word(const char *word, struct cgroup_app *ret)
{
        struct cgroup_app app = *ret;

        if (app_after(word, "snap.") && app_unit_parse(word, &app))
                *ret = app;
        else if (app_after(word, "dbus-") && app_unit_parse(word, &app))
                set_id(ret, CGROUP_SYSTEM, "sys:", app.id, strlen(app.id));
        else if (app_before(word, ".service") || app_before(word, ".scope") || app_before(word, ".mount") ||
                 app_before(word, ".socket"))
                set_id(ret, CGROUP_SYSTEM, "sys:", word, stem(word));
}

/* elogind: "/3", "/c1" */
static bool elogind_session(const char *word)
{
        word += *word == 'c';
        return *word && word[strspn(word, "0123456789")] == '\0';
}

void app_cgroup_parse(const char *path, struct cgroup_app *ret)
{
        char copy[4096], *save = NULL;
        const char *before = "";
        bool system = false, user = false, slice = false;

        *ret = (struct cgroup_app){ .kind = CGROUP_NONE };
        if (strlen(path) >= sizeof(copy))
                return;
        strcpy(copy, path);
        for (char *word = strtok_r(copy, "/", &save); word; before = word, word = strtok_r(NULL, "/", &save)) {
                struct cgroup_app inner = { 0 };

                if (container(word, before, &inner)) {
                        *ret = inner;
                        return; /* units inside a container do not matter */
                }
                if (strcmp(word, "system.slice") == 0 && !user)
                        system = true;
                else if (strcmp(word, "user.slice") == 0 || app_after(word, "user@"))
                        user = true;
                else if (system)
                        system_word(word, ret);
                else if (user)
                        user_word(word, &slice, ret);
                else if (elogind_session(word))
                        set_id(ret, CGROUP_SESSION, "", "", 0);
                else if (strcmp(word, "init.scope") == 0)
                        set_id(ret, CGROUP_SYSTEM, "sys:", "init", 4);
                else if (ret->kind == CGROUP_NONE)
                        user_word(word, &slice, ret); /* snap and app units outside the usual slices */
        }
}

/* Lines "NUMBER:NAME:PATH". A path that is too long is none. */
int app_cgroup_choose_path(const char *text, char *ret, size_t size)
{
        static const char *const hierarchies[] = { "::", ":name=systemd:", ":name=elogind:", ":name=openrc:" };
        bool root = false;

        for (size_t i = 0; i < ARRAY_SIZE(hierarchies); i++)
                for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                        const char *path = app_after(line + strcspn(line, ":\n"), hierarchies[i]);
                        size_t length = path ? strcspn(path, "\n") : 0;

                        if (!path || length >= size)
                                continue;
                        snprintf(ret, size, "%.*s", (int)length, path);
                        if (length > 1)
                                return 0;
                        root |= i == 0;
                }
        if (root)
                snprintf(ret, size, "/");
        return root ? 0 : -ENODATA;
}
