/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Limits: the unit of a control group that counts, limits that the user wishes, and the journal that is written before
 * they are set.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app-units.h"
#include "check.h"
#include "limit/limit-state.h"
#include "limit/limit-wish.h"
#include "util/paths.h"
#include "util/util.h"

static const struct log quiet = { 0 };

static void units(void)
{
#define USER "/user.slice/user-1000.slice/user@1000.service"
        static const struct {
                const char *path, *unit; /* NULL: none */
                bool below;
        } cases[] = {
                { USER "/app.slice/app-gnome-firefox-12.scope", "app-gnome-firefox-12.scope", true },
                { USER "/app.slice/app-org.gnome.Terminal.slice/vte-spawn-1.scope", "vte-spawn-1.scope", true },
                /* Groups of its own. */
                { USER "/app.slice/app-foo@1.service/inner.scope/x.service", "app-foo@1.service", true },
                { USER "/session.slice/org.gnome.Shell@wayland.service", "org.gnome.Shell@wayland.service", false },
                { USER "/init.scope", "init.scope", false },
                { "/user.slice/user-1000.slice/session-2.scope", "session-2.scope", false },
                { USER "/app.slice", NULL, true },
                { USER "/app.slice/x", NULL, true },
                { "/", NULL, false }, { "", NULL, false }, { "/.scope", NULL, false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                char unit[APP_UNIT_MAX] = "";
                bool below, found = app_units_parse(cases[i].path, unit, &below);

                check_int(found, cases[i].unit != NULL);
                check_text(found ? unit : "", cases[i].unit ? cases[i].unit : "");
                check_int(below, cases[i].below);
        }
}

static void wishes(const char *folder)
{
        static struct limit_wishes list, again;
        struct limit_wish wish = { .app = "snap:a=b [c]; d",
                                   .cpu_percent = 12.5,
                                   .since_ns = INT64_C(1795000000000000000) };
        _cleanup_free_ char *path = NULL;

        setenv("XDG_CONFIG_HOME", folder, 1);
        check_int(paths_limits(&path), 0);
        check_int(limit_wishes_read(path, &quiet, &list), 0);
        check_int((int)list.n, 0);
        check_int(limit_wish_set(&list, &wish), 0);
        snprintf(wish.app, sizeof(wish.app), "org.gnome.Maps");
        wish.cpu_percent = 0;
        wish.freeze_after_s = 300;
        check_int(limit_wish_set(&list, &wish), 0);
        check_int(limit_wishes_write(path, &list), 0);
        check_int(limit_wishes_read(path, &quiet, &again), 0);
        check_int((int)again.n, 2);
        check_text(again.list[0].app, "snap:a=b [c]; d");
        check_int(again.list[0].cpu_percent == 12.5 && again.list[1].freeze_after_s == 300, 1);
        check_int(again.list[1].since_ns == wish.since_ns && again.written_ns == list.written_ns, 1);
        snprintf(wish.app, sizeof(wish.app), "a ; b");
        check_int(limit_wish_set(&list, &wish), -EINVAL);
        for (int i = 0; i < LIMIT_WISHES_MAX; i++) {
                snprintf(wish.app, sizeof(wish.app), "app %d", i);
                check_int(limit_wish_set(&list, &wish), i < LIMIT_WISHES_MAX - 2 ? 0 : -ENOSPC);
        }
        limit_wish_remove(&list, "org.gnome.Maps");
        limit_wish_remove(&list, "never there");
        check_int((int)list.n, LIMIT_WISHES_MAX - 1);
}

static void refused(const char *folder)
{
        static const char *const texts[] = {
                "[limit 1]\ncpu_percent = 10\n",
                "[limit 1]\napp = a\n",
                "[limit 1]\napp = a\ncpu_percent = 0\n",
                "[limit 1]\napp = a\ncpu_percent = nan\n",
                "[limit 1]\napp = a\nfreeze_after_s = 1e9\n",
                "[other]\napp = a\n",
                "[limit 1]\napp =\ncpu_percent = 10\n",
                ("[limit 1]\napp = a\ncpu_percent = 10\n[limit 2]\n"
                 "app = a\ncpu_percent = 10\n"),
                "cpu_percent = 10\n",
                "[limit 1]\napp = a\ncpu_percent = 10\nsince_s = -1\n",
        };
        _cleanup_free_ char *path = NULL;
        static struct limit_wishes list;

        check_int(asprintf(&path, "%s/refused.ini", folder) > 0, 1);
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                list.n = 7;
                check_int(util_write_file(path, texts[i], strlen(texts[i]), 0600), 0);
                check_int(limit_wishes_read(path, &quiet, &list), -EINVAL);
                check_int((int)list.n, 7);
        }
}

static void state(const char *folder)
{
        static struct limit_state kept, again;
        char text[] = "unit 18446744073709551615 app-a.scope\nunit 1 ../x\nunit x app-b.scope\n"
                      "unit 5 app-a.scope\nunit 7 \n"
                      "app 9 frozen an app\napp 9 melted b\napp 9 front \nwishes 12\nnonsense\nunit";
        _cleanup_free_ char *path = NULL;

        check_int(asprintf(&path, "%s/state", folder) > 0, 1);
        check_int(limit_state_read(path, &kept), 0);
        limit_state_parse(text, &kept);
        check_int((int)kept.n_units, 1);
        check_int((int)kept.n_apps, 1);
        check_int(limit_state_write(path, &kept), 0);
        check_int(limit_state_read(path, &again), 0);
        check_int(again.n_units == 1 && again.units[0].quota_us == UINT64_MAX && again.wishes_ns == 12, 1);
        check_text(again.units[0].unit, "app-a.scope");
        check_int(again.apps[0].effect, LIMIT_FROZEN);
        check_text(again.apps[0].app, "an app");
        check_int(limit_state_unit(&again, "app-b.scope") == NULL, 1);
}

static void lock(const char *folder)
{
        int fd;

        setenv("XDG_RUNTIME_DIR", folder, 1);
        fd = limit_state_lock();
        check_int(fd >= 0, 1);
        check_int(limit_state_lock(), -EBUSY);
        closep(&fd);
        unsetenv("XDG_RUNTIME_DIR");
        check_int(limit_state_lock(), -ENOENT);
}

int main(void)
{
        char folder[] = "/tmp/joulecast-test-limit-XXXXXX", command[128];

        if (!mkdtemp(folder))
                return 1;
        units();
        wishes(folder);
        refused(folder);
        state(folder);
        lock(folder);
        snprintf(command, sizeof(command), "rm -r %s", folder);
        return system(command) != 0 ? 1 : check_result();
}
