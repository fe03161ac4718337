/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* After which of Hyprland's and niri's events the agent asks for the active window, at sockets of the test's own. */

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "focus/backend.h"
#include "check.h"
#include "tree.h"

static char folder[] = "/tmp/joulecast-hypr-XXXXXX";
static const char *active; /* the answer to each request */
static int requests;
static struct focus_state last;

static void report(struct focus_sink *sink, const struct focus_state *state)
{
        last = *state;
}

static int listen_at(const char *name)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, name);
        check_int(util_make_parent(address.sun_path, 0700), 0);
        check_int(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
        check_int(listen(fd, 4), 0);
        return fd;
}

static void *answer(void *data)
{
        int listener = *(const int *)data, fd;

        while ((fd = accept(listener, NULL, NULL)) >= 0) {
                char request[64];

                if (recv(fd, request, sizeof(request), 0) > 0 && send(fd, active, strlen(active), MSG_NOSIGNAL) >= 0)
                        requests++;
                close(fd);
        }
        return NULL;
}

static void say(const struct backend_ops *ops, struct backend *backend, int fd, const char *line)
{
        check_int(send(fd, line, strlen(line), MSG_NOSIGNAL), strlen(line));
        check_int(ops->dispatch(backend), 0);
}

#define FOOT "{\"class\": \"foot\", \"pid\": 5}"

static void hyprland_is_asked(struct backend *backend, int fd)
{
        static const char *const asking[] = {
                "activewindowv2>>55\n",    "closewindow>>55\n",
                "movewindow>>55,3\n",      "movewindowv2>>55,3,3\n",
                "workspace>>4\n",          "focusedmon>>DP-1,2\n",
                "activespecial>>,eDP-1\n", "moveoutofgroup>>55\n",
                "minimized>>55,1\n",       "someday>>1\n",
        };
        static const char *const harmless[] = {
                "windowtitle>>55\n", "windowtitlev2>>55,a title\n", "activelayout>>kbd,us\n", "submap>>\n",
                "urgent>>55\n",
        };

        check_text(last.app_id, "foot"); /* the first state */
        for (size_t i = 0; i < ARRAY_SIZE(asking); i++) {
                active = "{}";
                say(&hyprland_backend, backend, fd, asking[i]);
                check(last.known && !*last.app_id && last.pid == 0);
                active = FOOT;
                say(&hyprland_backend, backend, fd, asking[i]);
                check_text(last.app_id, "foot");
        }
        requests = 0;
        for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
                say(&hyprland_backend, backend, fd, harmless[i]);
        check_int(requests, 0);
        say(&hyprland_backend, backend, fd, "openwindow>>56,1,mpv,x\nactivewindow>>mpv,x\nactivewindowv2>>56\n");
        check_int(requests, 1);
        say(&hyprland_backend, backend, fd, "lockscreen>>1\n");
        check(last.known && !*last.app_id);
        say(&hyprland_backend, backend, fd, "activewindowv2>>56\n"); /* behind the locker */
        check(last.known && !*last.app_id);
        say(&hyprland_backend, backend, fd, "lockscreen>>0\n");
        check_text(last.app_id, "foot");
}

static void niri_may_be_ahead(struct backend *backend, int fd)
{
        say(&niri_backend, backend, fd, "{\"WindowFocusChanged\": {\"id\": 7}}\n");
        check(!last.known); /* the window is not known yet */
        say(&niri_backend, backend, fd, "{\"WindowOpenedOrChanged\": {\"window\": {\"id\": 7, \"app_id\": \"mpv\", "
                                        "\"pid\": 12, \"is_focused\": true}}}\n");
        check_text(last.app_id, "mpv");
        say(&niri_backend, backend, fd, "{\"WindowFocusChanged\": {\"id\": null}}\n");
        check(last.known && !*last.app_id);
}

static void with(const struct backend_ops *ops, int listener, void (*test)(struct backend *backend, int fd))
{
        struct focus_sink sink = { .report = report };
        struct backend *backend = NULL;
        int fd;

        check_int(backend_open(ops, &sink, &backend), 0);
        fd = accept(listener, NULL, NULL);
        if (backend && fd >= 0)
                test(backend, fd);
        else
                check(!"a connection");
        backend_close(backend);
        close(fd);
}

int main(void)
{
        int events, asked, niri;
        char path[128];
        pthread_t thread;

        check(mkdtemp(folder) != NULL);
        setenv("XDG_RUNTIME_DIR", folder, 1);
        setenv("HYPRLAND_INSTANCE_SIGNATURE", "i", 1);
        snprintf(path, sizeof(path), "%s/niri", folder);
        setenv("NIRI_SOCKET", path, 1);
        events = listen_at("hypr/i/.socket2.sock");
        asked = listen_at("hypr/i/.socket.sock");
        niri = listen_at("niri");
        active = FOOT;
        check_int(pthread_create(&thread, NULL, answer, &asked), 0);
        with(&hyprland_backend, events, hyprland_is_asked);
        with(&niri_backend, niri, niri_may_be_ahead);
        shutdown(asked, SHUT_RDWR);
        pthread_join(thread, NULL);
        close(events);
        close(asked);
        close(niri);
        tree_remove(folder);
        return check_result();
}
