/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "socket.h"
#include "util/units.h"
#include "util/util.h"

int server_open(struct server *server, const char *path)
{
        for (size_t i = 0; i < CLIENTS_MAX; i++)
                server->clients[i].fd = -1;
        server->fd = socket_listen(path);
        return server->fd < 0 ? server->fd : 0;
}

static void drop(struct client *client)
{
        closep(&client->fd);
        *client = (struct client){ .fd = -1 };
}

/* A client that does not read its answers, or sends too much, is disconnected. */
static void serve(struct physics *physics, struct client *client)
{
        size_t room = sizeof(client->text) - client->length;
        ssize_t n = recv(client->fd, client->text + client->length, room, MSG_DONTWAIT);
        char *line = client->text, *end;

        if (n <= 0) {
                drop(client);
                return;
        }
        client->length += (size_t)n;
        while ((end = memchr(line, '\n', client->length - (size_t)(line - client->text)))) {
                _cleanup_free_ char *answer = NULL;

                *end = '\0';
                answer = control_answer(physics, line);
                if (!answer || socket_send(client->fd, answer, strlen(answer)) < 0 ||
                    socket_send(client->fd, "\n", 1) < 0) {
                        drop(client);
                        return;
                }
                line = end + 1;
        }
        client->length -= (size_t)(line - client->text);
        memmove(client->text, line, client->length);
        if (client->length == sizeof(client->text))
                drop(client);
}

static void greet(struct server *server)
{
        int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);

        for (size_t i = 0; fd >= 0 && i < CLIENTS_MAX; i++) {
                if (server->clients[i].fd >= 0)
                        continue;
                server->clients[i].fd = fd;
                return;
        }
        closep(&fd);
}

void server_run(struct server *server, struct physics *physics, uint64_t until_ns)
{
        for (uint64_t now_ns = physics_now_ns(); now_ns < until_ns && !physics->quit;
             now_ns = physics_now_ns()) {
                struct timespec wait = { .tv_nsec = (long)MIN(until_ns - now_ns, NS_PER_S - 1) };
                struct pollfd fds[CLIENTS_MAX + 1] = { { .fd = server->fd, .events = POLLIN } };

                for (size_t i = 0; i < CLIENTS_MAX; i++)
                        fds[i + 1] = (struct pollfd){ .fd = server->clients[i].fd, .events = POLLIN };
                if (ppoll(fds, ARRAY_SIZE(fds), &wait, NULL) <= 0)
                        continue;
                for (size_t i = 0; i < CLIENTS_MAX; i++)
                        if (fds[i + 1].revents)
                                serve(physics, &server->clients[i]);
                if (fds[0].revents)
                        greet(server);
        }
}

void server_close(struct server *server, const char *path)
{
        if (server->fd < 0)
                return;
        for (size_t i = 0; i < CLIENTS_MAX; i++)
                closep(&server->clients[i].fd);
        closep(&server->fd);
        server->fd = -1;
        unlink(path);
}
