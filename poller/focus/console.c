/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A text console: the foreground job of the active virtual terminal. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "backend.h"
#include "focus/vt.h"
#include "util/util.h"

struct backend {
        struct backend_base base;
        struct vt *vt;
};

static int look(struct backend *backend)
{
        pid_t pid = 0;
        int err = vt_foreground(backend->vt, &pid);

        if (err == -EBUSY || err == -ENODATA)
                focus_report_unknown(backend->base.sink); /* the terminal of another session */
        else if (err)
                return err;
        else
                focus_report(backend->base.sink, pid, "");
        return 0;
}

static const char *probe_console(void)
{
        return getenv("WAYLAND_DISPLAY") || getenv("DISPLAY") ? "the session is graphical" : NULL;
}

static void stop(struct backend *backend)
{
        vt_close(backend->vt);
        closep(&backend->base.fd);
}

static int start(struct backend *backend)
{
        struct epoll_event event = { .events = EPOLLPRI };
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int err = root_fd < 0 ? -errno : vt_open(root_fd, &backend->vt);

        if (err)
                return err;
        backend->base.fd = epoll_create1(EPOLL_CLOEXEC);
        if (backend->base.fd < 0 || epoll_ctl(backend->base.fd, EPOLL_CTL_ADD, vt_fd(backend->vt), &event) < 0)
                return -errno;
        return look(backend);
}

const struct backend_ops console_backend = {
        .name = "console",
        .size = sizeof(struct backend),
        .probe = probe_console,
        .start = start,
        .dispatch = look,
        .tick = look,
        .stop = stop,
};
