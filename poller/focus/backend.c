/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "backend.h"

#include <errno.h>

#include "util/util.h"

void backend_close(struct backend *backend)
{
        if (!backend)
                return;
        ((struct backend_base *)backend)->ops->stop(backend);
        free(backend);
}

int backend_open(const struct backend_ops *ops, struct focus_sink *sink, struct backend **ret)
{
        struct backend_base *base = calloc(1, ops->size);
        int err;

        if (!base)
                return -ENOMEM;
        *base = (struct backend_base){ .ops = ops, .sink = sink, .fd = -1 };
        err = ops->start((struct backend *)base);
        if (err)
                backend_close((struct backend *)base);
        else
                *ret = (struct backend *)base;
        return err;
}

int backend_fd(const struct backend *backend)
{
        return ((const struct backend_base *)backend)->fd;
}

void focus_state_set(struct focus_state *state, pid_t pid, const char *app_id)
{
        state->pid = pid;
        util_printable(app_id, state->app_id, sizeof(state->app_id));
}

void focus_report(struct focus_sink *sink, pid_t pid, const char *app_id)
{
        struct focus_state state = { .known = true };

        focus_state_set(&state, pid, app_id);
        sink->report(sink, &state);
}

void focus_report_unknown(struct focus_sink *sink)
{
        struct focus_state state = { .known = false };

        sink->report(sink, &state);
}
