/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What sway tells of its windows, at a socket of the test's own: who has the focus after each event. */

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../poller/focus/backend.h"
#include "check.h"
#include "util/util.h"

#define EVENT_WINDOW (UINT32_C(1) << 31 | 3)

static struct focus_state last;
static int n_reports;

static void report(struct focus_sink *sink, const struct focus_state *state)
{
        last = *state;
        n_reports++;
}

static void say(struct backend *backend, int fd, const char *event)
{
        char message[512];
        uint32_t head[2] = { (uint32_t)strlen(event), EVENT_WINDOW };

        memcpy(message, "i3-ipc", 6);
        memcpy(message + 6, head, sizeof(head));
        memcpy(message + 14, event, head[0]);
        check_int(send(fd, message, 14 + head[0], MSG_NOSIGNAL), 14 + head[0]);
        check_int(sway_backend.dispatch(backend), 0);
}

#define WINDOW(change, id, app)                                                                              \
        "{\"change\": \"" change "\", \"container\": {\"id\": " #id ", \"pid\": 4" #id ", \"app_id\": \"" app "\"}}"

static void focus_follows_events(struct backend *backend, int fd)
{
        say(backend, fd, WINDOW("focus", 5, "foot"));
        check_text(last.app_id, "foot");
        check_int(last.pid, 45);
        n_reports = 0;
        say(backend, fd, WINDOW("new", 7, "mpv"));
        say(backend, fd, WINDOW("close", 7, "mpv")); /* in the background: foot has the screen */
        check_int(n_reports, 0);
        say(backend, fd, WINDOW("close", 5, "foot"));
        check_int(n_reports, 1);
        check(last.known && !*last.app_id);
        check_int(last.pid, 0);
}

int main(void)
{
        char folder[] = "/tmp/joulecast-sway-XXXXXX";
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        struct focus_sink sink = { .report = report };
        struct backend *backend = NULL;
        int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;

        check(mkdtemp(folder) != NULL);
        snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
        check_int(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
        check_int(listen(listener, 1), 0);
        setenv("SWAYSOCK", address.sun_path, 1);
        check_int(backend_open(&sway_backend, &sink, &backend), 0);
        fd = accept(listener, NULL, NULL);
        if (backend && fd >= 0)
                focus_follows_events(backend, fd);
        else
                check(!"a connection");
        backend_close(backend);
        close(fd);
        close(listener);
        unlink(address.sun_path);
        rmdir(folder);
        return check_result();
}
