/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The focused app after each of sway's window events, with the test in place of sway at a socket of its own. */

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "focus/backend.h"
#include "check.h"
#include "util/util.h"

#define GET_TREE 4
#define EVENT_WORKSPACE (UINT32_C(1) << 31)
#define EVENT_WINDOW (UINT32_C(1) << 31 | 3)

static struct focus_state last;
static int n_reports;

static void report(struct focus_sink *sink, const struct focus_state *state)
{
        last = *state;
        n_reports++;
}

static void tell(struct backend *backend, int fd, uint32_t type, const char *text)
{
        char message[1024];
        uint32_t head[2] = { (uint32_t)strlen(text), type };

        memcpy(message, "i3-ipc", 6);
        memcpy(message + 6, head, sizeof(head));
        memcpy(message + 14, text, head[0]);
        check_int(send(fd, message, 14 + head[0], MSG_NOSIGNAL), 14 + head[0]);
        check_int(sway_backend.dispatch(backend), 0);
}

static void say(struct backend *backend, int fd, const char *event)
{
        tell(backend, fd, EVENT_WINDOW, event);
}

/* Number of requests for the tree since the last call. */
static size_t trees_asked(int fd)
{
        char bytes[1024];
        ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        size_t trees = 0;

        for (ssize_t at = 0; at + 14 <= n;) {
                uint32_t length, type;

                memcpy(&length, bytes + at + 6, 4);
                memcpy(&type, bytes + at + 10, 4);
                trees += type == GET_TREE;
                at += 14 + (ssize_t)length;
        }
        return trees;
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

#define TREE(workspace) "{\"id\": 1, \"nodes\": [{\"id\": 2, \"nodes\": [" workspace "]}]}"
#define LEAF(id, app, more) "{\"id\": " #id ", \"pid\": 4" #id ", \"app_id\": \"" app "\"" more "}"

/* No event says that no window is visible any more: the tree does. */
static void tree_is_asked_for(struct backend *backend, int fd)
{
        static const char empty[] = TREE("{\"id\": 3, \"type\": \"workspace\", \"focused\": true, \"nodes\": []}");
        static const char *const hiding[] = { "move", "floating", "fullscreen_mode", "some_day" };

        trees_asked(fd);
        tell(backend, fd, GET_TREE, empty); /* the first state, */
        tell(backend, fd, GET_TREE, empty); /* the state after the last window closed */
        check_int(trees_asked(fd), 1);
        for (size_t i = 0; i < ARRAY_SIZE(hiding); i++) {
                char event[256];

                say(backend, fd, WINDOW("focus", 5, "foot"));
                check_int(trees_asked(fd), 0);
                say(backend, fd, WINDOW("title", 5, "foot"));
                say(backend, fd, WINDOW("move", 7, "mpv")); /* another one */
                check_int(trees_asked(fd), 0);
                snprintf(event, sizeof(event),
                         "{\"change\": \"%s\", \"container\": {\"id\": 5, \"pid\": 45}}", hiding[i]);
                say(backend, fd, event);
                check_int(trees_asked(fd), 1);
                check_text(last.app_id, "foot");
                tell(backend, fd, GET_TREE, empty);
                check(last.known && !*last.app_id && last.pid == 0);
        }
        say(backend, fd, WINDOW("focus", 5, "foot"));
        say(backend, fd, "{\"change\": \"move\", \"container\": {\"id\": 40, \"type\": \"con\"}}"); /* foot is in it */
        check_int(trees_asked(fd), 1);
        check_text(last.app_id, "foot");
        tell(backend, fd, GET_TREE, empty);
        check(last.known && !*last.app_id);
        tell(backend, fd, EVENT_WORKSPACE, "{\"change\": \"rename\"}");
        check_int(trees_asked(fd), 0);
        for (unsigned i = 0; i < 50; i++)
                tell(backend, fd, EVENT_WORKSPACE, "{\"change\": \"focus\"}");
        check_int(trees_asked(fd), 1); /* one more request follows, as events came since */
        tell(backend, fd, GET_TREE, empty);
        check_int(trees_asked(fd), 1);
        tell(backend, fd, GET_TREE, empty);
        check_int(trees_asked(fd), 0);
}

/* "focus parent": the window below that had the focus last. */
static void a_parent_shows_its_window(struct backend *backend, int fd)
{
        say(backend, fd, WINDOW("focus", 5, "foot"));
        say(backend, fd, "{\"change\": \"focus\", \"container\": {\"id\": 40, \"type\": \"con\", \"nodes\": []}}");
        check_int(trees_asked(fd), 1);
        check_text(last.app_id, "foot");
        tell(backend, fd, GET_TREE, TREE("{\"id\": 3, \"type\": \"workspace\", \"focused\": true, "
                                         "\"focus\": [40, 9], \"nodes\": [" LEAF(9, "mpv", "") ", "
                                         "{\"id\": 40, \"type\": \"con\", \"focus\": [8, 5], \"nodes\": ["
                                         LEAF(5, "foot", "") "], \"floating_nodes\": [" LEAF(8, "imv", "") "]}]}"));
        check_text(last.app_id, "imv");
        tell(backend, fd, GET_TREE, TREE("{\"id\": 3, \"focused\": true, \"focus\": [77, -1, \"x\"], \"nodes\": []}"));
        check(last.known && !*last.app_id);
        tell(backend, fd, GET_TREE, TREE("{\"id\": 3, \"focused\": true, \"focus\": {}, \"nodes\": 5}"));
        check(last.known && !*last.app_id);
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
        if (backend && fd >= 0) {
                focus_follows_events(backend, fd);
                tree_is_asked_for(backend, fd);
                a_parent_shows_its_window(backend, fd);
        } else
                check(!"a connection");
        backend_close(backend);
        close(fd);
        close(listener);
        unlink(address.sun_path);
        rmdir(folder);
        return check_result();
}
