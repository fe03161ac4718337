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
        struct focus_sink *sink;
        struct vt *vt;
        int epoll_fd;
};

static int look(struct backend *backend)
{
        pid_t pid = 0;
        int err = vt_foreground(backend->vt, &pid);

        if (err == -EBUSY || err == -ENODATA)
                focus_report_unknown(backend->sink); /* another session's terminal */
        else if (err)
                return err;
        else
                focus_report(backend->sink, pid, "");
        return 0;
}

static const char *probe_console(void)
{
        return getenv("WAYLAND_DISPLAY") || getenv("DISPLAY") ? "the session is graphical" : NULL;
}

static void close_console(struct backend *backend)
{
        vt_close(backend->vt);
        closep(&backend->epoll_fd);
        free(backend);
}

static int start(struct backend *backend)
{
        struct epoll_event event = { .events = EPOLLPRI };
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int err = root_fd < 0 ? -errno : vt_open(root_fd, &backend->vt);

        if (err)
                return err;
        backend->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (backend->epoll_fd < 0 || epoll_ctl(backend->epoll_fd, EPOLL_CTL_ADD, vt_fd(backend->vt),
                                               &event) < 0)
                return -errno;
        return look(backend);
}

static int open_console(struct focus_sink *sink, struct backend **ret)
{
        struct backend *backend = calloc(1, sizeof(*backend));
        int err;

        if (!backend)
                return -ENOMEM;
        backend->sink = sink;
        backend->epoll_fd = -1;
        err = start(backend);
        if (err) {
                close_console(backend);
                return err;
        }
        *ret = backend;
        return 0;
}

static int fd_console(const struct backend *backend)
{
        return backend->epoll_fd;
}

const struct backend_ops console_backend = {
        .name = "console",
        .probe = probe_console,
        .open = open_console,
        .fd = fd_console,
        .dispatch = look,
        .tick = look,
        .close = close_console,
};
