/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The app of a process that ended between two polls, from its control group and what is known of its parent. */

#include "app-private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int take(const char *app, char *ret)
{
        if (!*app)
                return -ENODATA;
        snprintf(ret, APP_ID_MAX, "%s", app);
        return 0;
}

/* The part of classify() in app.c that needs no files of the process. */
static int classify(const struct app_cgroup *cgroup, const struct app_entry *parent, bool together, char *ret)
{
        enum cgroup_kind kind = cgroup->parsed.kind;
        enum cgroup_kind above = parent ? parent->cgroup->parsed.kind : CGROUP_NONE;

        if (together && (parent->own || parent->sandboxed))
                return take(parent->app, ret);
        if (kind == CGROUP_USER || cgroup->launcher) {
                if (together && parent->top)
                        return take(parent->app, ret);
                if (cgroup->launcher || (together && parent->lead == LEAD_DESKTOP))
                        return -ENODATA;
                return take(cgroup->id, ret);
        }
        if (kind == CGROUP_APP)
                return take(cgroup->id, ret);
        if (kind == CGROUP_NONE)
                return above != CGROUP_NONE && above != CGROUP_SESSION ? take(parent->app, ret) : -ENODATA;
        return together && !parent->lead ? take(parent->app, ret) : -ENODATA;
}

int apps_find_ended(struct apps *apps, const struct app_process *process, const char *path, char *ret)
{
        const struct app_entry *parent = app_entry_find(apps, process->ppid);
        struct app_cgroup group = { 0 };
        const struct app_cgroup *cgroup = &group;
        bool together;

        if (parent && (!parent->cgroup || parent->start_time > process->start_time))
                parent = NULL; /* the parent's pid was reused */
        if (parent && parent->kernel)
                return -ENODATA;
        if (!path || strcmp(path, "/") == 0) {
                if (!parent ||
                    (parent->lead >= LEAD_SESSION && parent->cgroup->parsed.kind != CGROUP_CONTAINER))
                        return -ENODATA; /* a manager moves what it starts to other groups */
                path = parent->cgroup->path;
        }
        together = parent && strcmp(parent->cgroup->path, path) == 0;
        if (together)
                cgroup = parent->cgroup;
        else /* not remembered, since the group has probably ended, too */
                app_cgroup_read(apps, path, &group);
        return app_of_cgroup(cgroup, process->uid, ret) ? 0 : classify(cgroup, parent, together, ret);
}
