/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-unit.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "util/util.h"

#define WORDS_MAX 16

static const char *const launchers[] = {
        "app2unit", "budgie", "cinnamon", "cosmic", "dbus", "flatpak", "fuzzel", "gnome", "gnome-session",
        "hyprland", "i3", "kde", "krunner", "labwc", "lxqt", "mate", "niri", "phosh", "plasma", "plasmashell",
        "river", "rofi", "runapp", "sway", "tofi", "uwsm", "walker", "wayfire", "wofi", "xfce", "xfce4",
};

bool app_unit_launcher_known(const char *launcher)
{
        for (size_t i = 0; i < ARRAY_SIZE(launchers); i++)
                if (strcasecmp(launcher, launchers[i]) == 0)
                        return true;
        return false;
}

/* systemd writes '-' and whatever else may not stand in a unit's name as \xNN. */
static void unescape(char *text)
{
        char *out = text;

        while (*text) {
                unsigned value;

                if (text[0] == '\\' && text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
                    isxdigit((unsigned char)text[3]) && sscanf(text + 2, "%2x", &value) == 1 && value) {
                        *out++ = (char)value;
                        text += 4;
                } else {
                        *out++ = *text++;
                }
        }
        *out = '\0';
}

static bool all_hex(const char *text)
{
        return *text && text[strspn(text, "0123456789abcdefABCDEF")] == '\0';
}

static bool has_digit(const char *text)
{
        return strpbrk(text, "0123456789") != NULL;
}

/* The last five words are a UUID with its dashes: 8-4-4-4-12. */
static bool ends_in_uuid(char *const words[], size_t n)
{
        static const size_t lengths[] = { 8, 4, 4, 4, 12 };

        if (n <= ARRAY_SIZE(lengths))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
                const char *word = words[n - ARRAY_SIZE(lengths) + i];

                if (strlen(word) != lengths[i] || !all_hex(word))
                        return false;
        }
        return true;
}

/*
 * The number of words at the end that are <RANDOM>. A scope always has one: a pid, hex digits, a UUID, or any other
 * letters and digits. A service has it after '@', but some versions of KDE wrote hex digits after '-'.
 */
static size_t random_words(char *const words[], size_t n, const char *type)
{
        const char *last = words[n - 1];

        if (n < 2)
                return 0;
        if (ends_in_uuid(words, n))
                return 5;
        if (strcmp(type, "scope") == 0)
                return n > 2 || all_hex(last) || has_digit(last);
        return (all_hex(last) && strlen(last) >= 8) || last[strspn(last, "0123456789")] == '\0';
}

static void join(char *const words[], size_t n, char *buf, size_t size)
{
        size_t length = 0;

        buf[0] = '\0';
        for (size_t i = 0; i < n && length < size; i++)
                length += (size_t)snprintf(buf + length, size - length, "%s%s", i ? "-" : "", words[i]);
}

static bool parse_app(char *body, const char *type, struct cgroup_app *ret)
{
        char *words[WORDS_MAX], joined[256], *save = NULL;
        size_t n = 0, random;
        bool instance = false;

        if (strcmp(type, "scope") != 0) {
                char *at = strrchr(body, '@');

                if (at) {
                        *at = '\0';
                        instance = true;
                }
        }
        for (char *word = strtok_r(body, "-", &save); word && n < WORDS_MAX;
             word = strtok_r(NULL, "-", &save))
                words[n++] = word;
        if (n == 0)
                return false;
        random = instance ? 0 : random_words(words, n, type);
        n -= random;
        for (size_t i = 0; i < n; i++)
                unescape(words[i]);
        join(words, n, joined, sizeof(joined));
        util_printable(joined, ret->whole, sizeof(ret->whole));
        ret->launcher[0] = '\0';
        if (n > 1)
                util_printable(words[0], ret->launcher, sizeof(ret->launcher));
        join(words + (n > 1), n - (n > 1), joined, sizeof(joined));
        util_printable(joined, ret->id, sizeof(ret->id));
        ret->autostart_service = random == 0;
        ret->kind = CGROUP_APP;
        return ret->id[0] != '\0';
}

/* "snap.NAME.APP-UUID.scope", "snap.NAME.APP.service", "snap.NAME_KEY.hook.X..." */
static bool parse_snap(char *body, struct cgroup_app *ret)
{
        char plain[APP_ID_MAX - (sizeof("snap:") - 1)];

        body[strcspn(body, ".")] = '\0';
        unescape(body);
        if (!*body)
                return false;
        util_printable(body, plain, sizeof(plain));
        snprintf(ret->id, sizeof(ret->id), "snap:%s", plain);
        ret->kind = CGROUP_SNAP;
        return true;
}

/* "dbus-:1.2-org.gnome.Identity@0.service": started by D-Bus activation. */
static bool parse_dbus(char *body, struct cgroup_app *ret)
{
        char *name = strchr(body, '-'), *at;

        if (!name)
                return false;
        at = strrchr(++name, '@');
        if (at)
                *at = '\0';
        unescape(name);
        util_printable(name, ret->id, sizeof(ret->id));
        snprintf(ret->whole, sizeof(ret->whole), "%s", ret->id);
        snprintf(ret->launcher, sizeof(ret->launcher), "dbus");
        ret->kind = CGROUP_APP;
        return ret->id[0] != '\0';
}

bool app_unit_parse(const char *unit, struct cgroup_app *ret)
{
        char name[512], *dot;
        const char *type;

        if (strlen(unit) >= sizeof(name))
                return false;
        strcpy(name, unit);
        dot = strrchr(name, '.');
        if (!dot)
                return false;
        *dot = '\0';
        type = dot + 1;
        if (strcmp(type, "scope") != 0 && strcmp(type, "service") != 0 && strcmp(type, "slice") != 0)
                return false;
        if (strncmp(name, "snap.", 5) == 0)
                return parse_snap(name + 5, ret);
        if (strncmp(name, "dbus-:", 6) == 0)
                return parse_dbus(name + 6, ret);
        if (strncmp(name, "app-dbus\\x2d:", 13) == 0) {
                unescape(name + 13);
                return parse_dbus(name + 13, ret);
        }
        if (strncmp(name, "flatpak-", 8) == 0 || strncmp(name, "apps-", 5) == 0)
                return parse_app(name + strcspn(name, "-") + 1, type, ret);
        return strncmp(name, "app-", 4) == 0 && parse_app(name + 4, type, ret);
}
