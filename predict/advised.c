/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "advised.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "action.h"
#include "api/joulecast-private.h"
#include "names.h"
#include "util/util.h"
#include "util/words.h"
#include "whatif.h"

void advised_clear(struct advised *advised)
{
        for (size_t i = 0; i < advised->found.n; i++)
                free(advised->commands[i]);
        *advised = (struct advised){ 0 };
}

/* Are the apps of this machine those that were recorded? */
static bool is_here(const struct ask *ask)
{
        return (ask->usage->live || ask->usage->service) && !ask->context->device && !ask->context->machine;
}

/* Finds the command for each advice; removes advice that cannot be followed on this machine. */
static int find_commands(struct advised *advised)
{
        _cleanup_(user_apps_freep) struct user_apps *apps = NULL;
        int err = user_apps_read(&apps);
        size_t kept = 0;

        for (size_t i = 0; i < advised->found.n && err == 0; i++) {
                char *command = NULL;

                err = action_find(apps, &advised->found.list[i], &command);
                if (err == -ENOENT) {
                        err = 0;
                        continue;
                }
                advised->found.list[kept] = advised->found.list[i];
                advised->commands[kept++] = command;
        }
        if (err == 0)
                advised->found.n = kept;
        return err;
}

int advised_make(const struct ask *ask, struct advised *ret)
{
        _cleanup_(advised_clear) struct advised advised = { 0 };
        int err = api_advise(ask->usage, ask->profile, &advised.found);

        if (!err && is_here(ask) && advised.found.n > 0)
                err = find_commands(&advised);
        if (err < 0)
                return err;
        *ret = advised;
        advised = (struct advised){ 0 };
        return 0;
}

static char *print_action(const struct options *options, const struct advice *advice, char *buf, size_t size)
{
        char name[256], printable[256];

        switch (advice->kind) {
        case ADVICE_CLOSE:
                names_of(options, advice->app, name, sizeof(name));
                snprintf(buf, size, _("close %s"), util_printable(name, printable, sizeof(printable)));
                break;
        case ADVICE_BRIGHTNESS:
                snprintf(buf, size, _("brightness to %.0f %%"), advice->brightness_percent);
                break;
        default:
                snprintf(buf, size, "%s", advice->kind == ADVICE_WIFI ? _("WiFi off") : _("modem off"));
        }
        return buf;
}

char *advised_print(const struct options *options, const struct advice *advice, char *buf)
{
        char minutes[96], action[280];

        snprintf(buf, 512, _("%s: %s longer"), print_action(options, advice, action, sizeof(action)),
                 whatif_minutes(api_value(advice->gain.gained), minutes));
        return buf;
}
