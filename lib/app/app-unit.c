/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-unit.h"

#include <ctype.h>
#include <string.h>

#include "app-command.h"
#include "util/util.h"

#define UUID_LENGTH 36
#define PID_DIGITS 3 /* shorter numbers belong to names: "tracker-miner-fs-3" */

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

/* Is it a pid of at least @least digits, or hex digits? */
static bool is_stamp(const char *word, size_t least)
{
        size_t length = strlen(word);

        return (length >= least && strspn(word, DIGITS) == length) ||
               (length >= 8 && strspn(word, HEX_DIGITS) == length && strpbrk(word, DIGITS));
}

/*
 * The end of a name that differs at each start, with its dash: a pid of at least @least digits, hex digits, a UUID.
 * "": there is none. @least 0: the name has one, which may also be any other letters and digits.
 */
static char *find_stamp(char *name, size_t least)
{
        char *end = name + strlen(name), *dash = strrchr(name, '-');

        if (end - name > UUID_LENGTH + 1 && end[-UUID_LENGTH - 1] == '-' &&
            strspn(end - UUID_LENGTH, HEX_DIGITS "-") == UUID_LENGTH)
                return end - UUID_LENGTH - 1;
        if (!dash || dash == name)
                return end;
        if (least == 0 &&
            (strchr(name, '-') < dash || strpbrk(dash, DIGITS) || !dash[1 + strspn(dash + 1, HEX_DIGITS)]))
                return dash;
        return is_stamp(dash + 1, least) ? dash : end;
}

void app_unit_unescaped(const char *name, size_t length, char *ret)
{
        char copy[256];

        snprintf(copy, sizeof(copy), "%.*s", (int)MIN(length, sizeof(copy) - 1), name);
        unescape(copy);
        util_printable(copy, ret, APP_ID_MAX - 8);
}

/* AppImageLauncher's entries are named after a hash of the file's path: "appimagekit_HASH-Obsidian". */
static void cut_hash(char *id)
{
        const char *hash = app_after(id, "appimagekit_"), *name = hash ? hash + strspn(hash, HEX_DIGITS) : NULL;

        if (name && name[0] == '-' && name[1])
                memmove(id, name + 1, strlen(name));
}

/* "LAUNCHER-ID-STAMP" of a scope, "LAUNCHER-ID@STAMP" of a service; without a launcher where there is but one word. */
static bool parse_app(char *body, bool scope, struct cgroup_app *ret)
{
        char *at = scope ? NULL : strrchr(body, '@'), *dash;

        *(at ? at : find_stamp(body, !scope)) = '\0';
        dash = strchr(body, '-');
        app_unit_unescaped(body, strlen(body), ret->whole);
        app_unit_unescaped(body, dash ? (size_t)(dash - body) : 0, ret->launcher);
        app_unit_unescaped(dash ? dash + 1 : body, SIZE_MAX, ret->id);
        ret->whole[strcspn(ret->whole, " ")] = ret->id[strcspn(ret->id, " ")] = '\0'; /* the whole command */
        cut_hash(ret->id);
        ret->kind = CGROUP_APP;
        return *ret->id;
}

/* "snap.NAME.APP-UUID.scope", "snap.NAME.APP.service", "snap.NAME_KEY.hook.X..." */
static bool parse_snap(char *body, bool scope, struct cgroup_app *ret)
{
        char name[APP_ID_MAX];

        app_unit_unescaped(body, strcspn(body, "."), name);
        snprintf(ret->id, sizeof(ret->id), "snap:%.120s", name);
        ret->kind = CGROUP_SNAP;
        return *name;
}

static bool set_app(const char *launcher, const char *id, size_t length, struct cgroup_app *ret)
{
        app_unit_unescaped(id, length, ret->id);
        snprintf(ret->whole, sizeof(ret->whole), "%s", ret->id);
        snprintf(ret->launcher, sizeof(ret->launcher), "%s", launcher);
        ret->kind = CGROUP_APP;
        return *ret->id;
}

/* "dbus-:1.2-org.gnome.Identity@0.service": started by D-Bus activation. */
static bool parse_dbus(char *body, bool scope, struct cgroup_app *ret)
{
        char *name;

        unescape(body);
        name = strchr(body, '-');
        return name && set_app("dbus", name + 1, strcspn(name + 1, "@"), ret);
}

/* "lomiri-app-launch--application-click--calculator_calculator_4.0.5--INSTANCE.service" */
static bool parse_lomiri(char *body, bool scope, struct cgroup_app *ret)
{
        const char *id = strstr(body, "--"), *end = id ? strstr(id + 2, "--") : NULL, *version = end;

        while (end && version > id && *version != '_')
                version--;
        return end && set_app("lomiri", id + 2, (size_t)((isdigit((unsigned char)version[1]) ? version : end) - id) - 2,
                              ret);
}

static const struct {
        const char *prefix;
        bool (*parse)(char *body, bool scope, struct cgroup_app *ret);
        bool only_scope;
} kinds[] = {
        { "snap.", parse_snap }, { "dbus-:", parse_dbus }, { "app-dbus\\x2d:", parse_dbus },
        { "lomiri-app-launch--", parse_lomiri }, { "ubuntu-app-launch--", parse_lomiri },
        { "app-", parse_app }, { "apps-", parse_app }, { "flatpak-", parse_app, true },
};

bool app_unit_parse(const char *unit, struct cgroup_app *ret)
{
        char name[512], *dot;
        bool scope;

        if (strlen(unit) >= sizeof(name))
                return false;
        strcpy(name, unit);
        dot = strrchr(name, '.');
        if (!dot || !util_is_word("scope service slice", dot + 1))
                return false;
        *dot = '\0';
        scope = strcmp(dot + 1, "scope") == 0;
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
                const char *body = app_after(name, kinds[i].prefix);

                if (body && (scope || !kinds[i].only_scope))
                        return kinds[i].parse(name + (body - name), scope, ret);
        }
        return false;
}

/* A number, an address, a date, hex digits: another one at each start. */
static bool is_unstable(char *instance)
{
        return strchr(instance, ':') || *find_stamp(instance, PID_DIGITS) || is_stamp(instance, 1) ||
               (isdigit((unsigned char)*instance) && !instance[strspn(instance, HEX_DIGITS ".-_")]);
}

/* "run-u91", "run-r42e6ac3d", "run-p4004-i4005": systemd-run's own names. */
static bool is_run(const char *name)
{
        return strncmp(name, "run-", 4) == 0 && strpbrk(name, DIGITS) &&
               !name[4 + strspn(name + 4, "uprij-" HEX_DIGITS)];
}

bool app_unit_name(const char *name, size_t length, char *ret)
{
        char copy[256], *at, *end;

        snprintf(copy, sizeof(copy), "%.*s", (int)MIN(length, sizeof(copy) - 1), name);
        at = strchr(copy, '@');
        if (at && is_unstable(at + 1))
                *at = '\0';
        end = is_run(copy) ? copy : find_stamp(copy, PID_DIGITS);
        app_unit_unescaped(copy, (size_t)(end - copy), ret);
        return !*end && *ret;
}
