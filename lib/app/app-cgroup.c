/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-unit.h"

#include <errno.h>
#include <string.h>

#include "util/util.h"

static bool starts(const char *text, const char *prefix)
{
        return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends(const char *text, const char *suffix)
{
        size_t length = strlen(text), wanted = strlen(suffix);

        return length > wanted && strcmp(text + length - wanted, suffix) == 0;
}

static void set_id(struct cgroup_app *ret, enum cgroup_kind kind, const char *prefix, const char *name,
                   size_t length)
{
        char plain[APP_ID_MAX], cut[APP_ID_MAX];

        snprintf(cut, sizeof(cut), "%.*s", (int)MIN(length, sizeof(cut) - 1), name);
        util_printable(cut, plain, sizeof(plain) - 8);
        snprintf(ret->id, sizeof(ret->id), "%.7s%.119s", prefix, plain);
        ret->kind = kind;
}

/* The name without ".service" or ".scope". */
static size_t stem(const char *unit)
{
        return strlen(unit) - (ends(unit, ".service") ? 8 : ends(unit, ".scope") ? 6 : 0);
}

/* Container engines name the cgroup by a hash of 64 digits; their tools show the first 12. */
static bool hash_container(const char *word, struct cgroup_app *ret)
{
        static const char *const engines[] = { "docker-", "libpod-", "crio-", "cri-containerd-", "buildah-" };

        for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
                const char *hash = word + strlen(engines[i]);

                if (starts(word, engines[i]) && strspn(hash, "0123456789abcdef") >= 12) {
                        set_id(ret, CGROUP_CONTAINER, "ctr:", hash, 12);
                        return true;
                }
        }
        if (strspn(word, "0123456789abcdef") == 64) { /* cgroupfs driver: docker/HASH */
                set_id(ret, CGROUP_CONTAINER, "ctr:", word, 12);
                return true;
        }
        return false;
}

static bool container(const char *word, struct cgroup_app *ret)
{
        static const char *const prefixes[] = { "lxc.payload.", "machine-", "systemd-nspawn@" };

        if (starts(word, "lxc.payload.waydroid") || strcmp(word, "waydroid") == 0) {
                set_id(ret, CGROUP_ANDROID, "", "android", 7);
                return true;
        }
        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
                size_t skip = strlen(prefixes[i]);

                if (starts(word, prefixes[i]) && !ends(word, ".slice")) {
                        set_id(ret, CGROUP_CONTAINER, "ctr:", word + skip, stem(word) - skip);
                        return true;
                }
        }
        return hash_container(word, ret);
}

/* One component of the path below a user's service manager; called from the root down, the last match wins. */
static void user_word(const char *word, struct cgroup_app *ret)
{
        struct cgroup_app app = *ret;

        if (starts(word, "vte-spawn-")) {
                if (ret->kind != CGROUP_APP)
                        ret->id[0] = '\0';
                ret->kind = CGROUP_SPAWN; /* the enclosing slice belongs to the terminal */
        } else if (app_unit_parse(word, &app)) {
                *ret = app;
        } else if (starts(word, "session-") && ends(word, ".scope")) {
                set_id(ret, CGROUP_SESSION, "", "", 0);
        } else if (strcmp(word, "init.scope") == 0) {
                set_id(ret, CGROUP_USER, "usr:", "systemd", 7);
        } else if (ends(word, ".service") && !starts(word, "user@")) {
                set_id(ret, CGROUP_USER, "usr:", word, stem(word));
        }
}

static void system_word(const char *word, struct cgroup_app *ret)
{
        struct cgroup_app app = *ret;

        if (starts(word, "snap.") && app_unit_parse(word, &app))
                *ret = app;
        else if (ends(word, ".service") || ends(word, ".scope") || ends(word, ".mount") ||
                 ends(word, ".socket"))
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
        bool system = false, user = false;

        *ret = (struct cgroup_app){ .kind = CGROUP_NONE };
        if (strlen(path) >= sizeof(copy))
                return;
        strcpy(copy, path);
        for (char *word = strtok_r(copy, "/", &save); word; word = strtok_r(NULL, "/", &save)) {
                struct cgroup_app inner = { 0 };

                if (container(word, &inner)) {
                        *ret = inner;
                        return; /* units inside a container do not matter */
                }
                if (strcmp(word, "system.slice") == 0 && !user)
                        system = true;
                else if (strcmp(word, "user.slice") == 0 || starts(word, "user@"))
                        user = true;
                else if (system)
                        system_word(word, ret);
                else if (user)
                        user_word(word, ret);
                else if (elogind_session(word))
                        set_id(ret, CGROUP_SESSION, "", "", 0);
                else if (strcmp(word, "init.scope") == 0)
                        set_id(ret, CGROUP_SYSTEM, "sys:", "init", 4);
                else if (ret->kind == CGROUP_NONE)
                        user_word(word, ret); /* snap and app units outside the usual slices */
        }
}

/* The path in a line "NUMBER:NAME:PATH", where @prefix is ":NAME:". */
static bool line_path(const char *line, size_t length, const char *prefix, char *ret, size_t size)
{
        const char *name = memchr(line, ':', length);
        size_t skip;

        if (!name || !starts(name, prefix))
                return false;
        skip = (size_t)(name - line) + strlen(prefix);
        if (skip > length || length - skip >= size)
                return false;
        memcpy(ret, line + skip, length - skip);
        ret[length - skip] = '\0';
        return true;
}

int app_cgroup_choose_path(const char *text, char *ret, size_t size)
{
        static const char *const hierarchies[] = { "::", ":name=systemd:", ":name=elogind:", ":name=openrc:" };
        bool unified = false;

        for (size_t i = 0; i < ARRAY_SIZE(hierarchies); i++)
                for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
                        if (line_path(line, strcspn(line, "\n"), hierarchies[i], ret, size)) {
                                if (*ret && strcmp(ret, "/") != 0)
                                        return 0;
                                unified |= i == 0;
                        }
        if (!unified)
                return -ENODATA;
        snprintf(ret, size, "/");
        return 0;
}
